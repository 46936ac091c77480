//! An example key where the schema gives none: built from a plausible value for each parameter, so
//! that it is certainly a key of its definition.

use keyward_pattern::{Definition, Keyspace, Param, Template, Type};
use keyward_schema::Schema;
use std::collections::HashMap;

/// How many values are tried before a definition has no example.
const TRIES: usize = 32;

/// Values that keys of this schema have.
pub(super) struct Samples<'a> {
    keyspace: &'a Keyspace,
    /// What the prefix becomes with a value for each of its parameters
    pub(super) prefix: String,
    /// Values from the schema's own examples, by parameter
    seen: HashMap<String, Vec<String>>,
}

impl<'a> Samples<'a> {
    /// Collects the values of the schema's examples.
    pub(super) fn new(schema: &Schema, keyspace: &'a Keyspace) -> Self {
        let mut samples = Samples { keyspace, prefix: String::new(), seen: HashMap::new() };
        samples.prefix = keyspace.prefix().map(|it| samples.spelled(it)).unwrap_or_default();
        for definition in &schema.keys {
            for example in &definition.examples {
                let key = format!("{}{}", samples.prefix, **example);
                let Some(parsed) = keyspace.parse(key.as_bytes()) else { continue };
                let params = keyspace.definition(parsed.definition).params();
                for ((name, _), value) in params.iter().zip(parsed.values) {
                    let values = samples.seen.entry(name.clone()).or_default();
                    if !values.iter().any(|known| *known == value) {
                        values.push(value.into_owned());
                    }
                }
            }
        }
        samples
    }

    /// A key of the definition; `None` if no value was found for some parameter.
    pub(super) fn key(&self, definition: Definition<'_>) -> Option<String> {
        self.key_below(definition, 0)
    }

    fn key_below(&self, definition: Definition<'_>, depth: usize) -> Option<String> {
        let params = definition.params();
        let candidates: Vec<Vec<String>> = params
            .iter()
            .enumerate()
            .map(|(at, (name, param))| {
                let seen = self.seen.get(name).into_iter().flatten().cloned();
                seen.chain(self.values(&param.ty, depth)).chain(any(definition, at)).collect()
            })
            .collect();
        let mut chosen = vec![0; params.len()];
        for _ in 0..TRIES {
            let values: Option<Vec<(&str, &str)>> = params
                .iter()
                .zip(candidates.iter().zip(&chosen))
                .map(|((name, _), (values, &at))| Some((name.as_str(), values.get(at)?.as_str())))
                .collect();
            match definition.build_named(&values?) {
                Ok(key) => return Some(key),
                Err(error) => {
                    // No single parameter is to blame for a word that another definition has reserved.
                    let wrong = params.iter().position(|(name, _)| *name == error.param);
                    *chosen.get_mut(wrong.or(params.len().checked_sub(1))?)? += 1;
                }
            }
        }
        None
    }

    /// Plausible values of a type, the best first.
    fn values(&self, ty: &Type, depth: usize) -> Vec<String> {
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        match ty {
            Type::Uuid => owned(&["550e8400-e29b-41d4-a716-446655440000"]),
            Type::Int | Type::Uint => owned(&["42", "7"]),
            Type::Digits(len) => vec!["1234567890".chars().cycle().take((*len).into()).collect()],
            Type::Hex(len) => {
                vec!["a1b2c3d4e5f60718".chars().cycle().take(len.unwrap_or(8).into()).collect()]
            }
            Type::Locale => owned(&["en_US", "en-US", "en"]),
            Type::Date => owned(&["2026-11-15"]),
            Type::Unix => owned(&["1794700800"]),
            Type::UnixMs => owned(&["1794700800000"]),
            Type::Ip => owned(&["192.0.2.1", "20010db8000000000000000000000001"]),
            Type::RawIp => owned(&["2001:db8::1", "192.0.2.1"]),
            Type::Ulid => owned(&["01ARZ3NDEKTSV4RRFFQ69G5FAV"]),
            Type::Email => owned(&["anna@example.com"]),
            Type::Base64Url(len) | Type::Alnum(len) => {
                vec!["V1StGXR8Z5jdHi6BmyT0".chars().cycle().take(len.unwrap_or(8).into()).collect()]
            }
            Type::Enum(words) => words.clone(),
            Type::Regex(_) => Vec::new(),
            Type::Any(types) => types.iter().flat_map(|ty| self.values(ty, depth)).collect(),
            Type::Key(names) if depth < 8 => names
                .iter()
                .filter_map(|name| self.keyspace.find(name))
                .filter_map(|id| self.key_below(self.keyspace.definition(id), depth + 1))
                .filter_map(|key| key.strip_prefix(&self.prefix).map(str::to_owned))
                .collect(),
            _ => owned(&["example", "sample", "a"]),
        }
    }

    /// The prefix with a value for each of its parameters; as it is written if there is none.
    fn spelled(&self, prefix: &Template) -> String {
        let alone = || {
            let first = self.keyspace.definitions().next()?;
            let params = &first.params()[..first.prefix_params()];
            let declared = |name: &str| -> Option<Param> {
                params.iter().find(|(param, _)| param == name).map(|(_, param)| param.clone())
            };
            let mut builder = Keyspace::builder(self.keyspace.separator().into()).ok()?;
            let id = builder.define("prefix", prefix, declared);
            let alone = builder.finish().ok()?;
            self.key(alone.definition(id))
        };
        alone().unwrap_or_else(|| prefix.to_string())
    }
}

/// Some value of a parameter, as long as a word and then as short as can be: letters in a row where
/// letters may stand.
fn any(definition: Definition<'_>, at: usize) -> impl Iterator<Item = String> {
    [3, 0].into_iter().filter_map(move |len| {
        let mut steps = 0..;
        definition.sample(at, len, &mut |_| steps.next().unwrap_or(0) / 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyward_schema::read;

    fn key(types: &str, pattern: &str) -> String {
        let text = format!(
            "version = 1\n[keyspace]\nname = \"a\"\nprefix = \"{{tenant:slug}}:\"\n[params]\n{types}\n\
             [keys.target]\npattern = \"target:{{n:uint}}\"\nttl = \"1h\"\n\
             [keys.it]\npattern = \"{pattern}\"\nttl = \"1h\"\n"
        );
        let schema = read(&text).schema.expect("a schema without errors");
        let samples = Samples::new(&schema, &schema.compiled);
        let id = schema.compiled.find("it").unwrap();
        let key = samples.key(schema.compiled.definition(id)).expect("a key");
        assert_eq!(schema.compiled.classify(key.as_bytes()), Some(id));
        key
    }

    #[test]
    fn every_type_has_a_value() {
        for name in Type::NAMES {
            let name = name.replace("(n)", "(12)");
            key(&format!("x = \"{name}\""), "it:{x}");
        }
        assert_eq!(key("x = [\"a\", \"b\"]", "it:{x}"), "example:it:a");
        assert_eq!(key("x = { key = \"target\" }", "it:{x}"), "example:it:target:42");
        assert_eq!(key("x = { any = [\"uuid\", \"ip\"] }", "it:{x}").len(), 11 + 36);
        assert_eq!(key("", "it:{x...}"), "example:it:example");
        assert_eq!(key("", "it:{x...}:{n:uint}"), "example:it:example:42");
    }

    #[test]
    fn regular_expressions_have_a_value() {
        for regex in [
            "[A-Za-z0-9_-]{16,64}",
            "00[1-9]|0[1-9][0-9]|[1-9][0-9]{2}",
            r"\\$?[a-z0-9_]{1,63}",
            r"[a-z0-9_-]{1,32}(\\.[a-z0-9_-]{1,32}){0,3}",
            "[1-9][0-9]?[hdw]",
            "a*b+c?",
        ] {
            key(&format!("x = {{ regex = \"{regex}\" }}"), "it:{x}");
        }
    }
}
