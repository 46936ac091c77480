//! Golden vectors: values with the key that they must make, or the refusal, and keys with what they
//! must be read as. Code in any language can be run against them.
//!
//! Expectations come from the compiled schema, not from a list: `candidates` only knows which
//! values are worth trying.
//!
//! # The format, version 1
//!
//! One JSON object. A text is a string, or `{"utf16": "d800"}` for units that are not text, or
//! `{"hex": "ff"}` for bytes that are none: a language that cannot hold such a thing leaves it out.
//!
//! - `prefix`: the values of the prefix's parameters under which everything else holds.
//! - `prefixes`: `params`, and either `prefix` or `refused`.
//! - `build`: `definition` and `params`, and either `key` with its `slot`, or `refused`: the
//!   parameter whose value is none of its type, or an empty string where the key belongs to another
//!   definition, which `reserved` then names.
//! - `parse`: `key`, and `definition` with its `params`; `definition` is null where the key is nobody's.
//!   `prefix` has the values of the prefix's parameters, where it has any.
//! - `glob`: `definition`, the bound `params`, and the `glob`.
//! - `events`: `event` and `params`, and the `keys` and `globs` it invalidates, under all names that are written as long
//!   as a migration lasts, or `refused`.
//! - `former`: `key`, and what it is an old name of: `definition`, `migration`, `phase`, and `db` where the old keys
//!   are in another database; `definition` is null where it is no old name. `params` are those of the new name, and
//!   `prefix` has the values of the prefix's parameters, where it has any; each is null where the old name does
//!   not say.
//! - `names`: `definition` and `params`, and the names to `read` and to `write` as long as a migration lasts.

mod candidates;
mod former;

use candidates::{Candidates, Text};
use keyward_codegen::Files;
use keyward_pattern::{BuildErrorKind, Definition, Type, slot};
use keyward_schema::Schema;
use keyward_schema::model::{BindingSource, Event, Invalidation};
use serde_json::{Map, Value, json};

/// How many keys are also tried in damaged forms, a definition.
const DAMAGED: usize = 4;

/// The vectors of a schema, as a file for each keyspace.
pub fn vectors(schema: &Schema) -> Files {
    let name = keyward_codegen::model::Name::new(&schema.keyspace.name).kebab;
    let mut files = Files::new(&format!("vectors/{name}"));
    files.add(format!("{name}.vectors.json"), lines(&document(schema)));
    files
}

/// JSON with a line for each vector.
fn lines(document: &Map<String, Value>) -> String {
    let entry = |(name, value): (&String, &Value)| match value {
        Value::Array(vectors) if !vectors.is_empty() => {
            let vectors: Vec<String> = vectors.iter().map(|it| format!("    {it}")).collect();
            format!("  {}: [\n{}\n  ]", Value::from(name.as_str()), vectors.join(",\n"))
        }
        value => format!("  {}: {value}", Value::from(name.as_str())),
    };
    let entries: Vec<String> = document.iter().map(entry).collect();
    format!("{{\n{}\n}}\n", entries.join(",\n"))
}

fn document(schema: &Schema) -> Map<String, Value> {
    let mut maker = Maker::new(schema);
    let prefixes = maker.prefixes();
    let build = maker.build();
    let glob = maker.glob();
    let events = maker.events();
    let parse = maker.parse();
    let former = maker.former();
    let names = maker.names();
    let document = json!({
        "generated_by": "keyward generate --vectors",
        "version": 1,
        "keyspace": *schema.keyspace.name,
        "prefix": object(&maker.prefix),
        "prefixes": prefixes,
        "build": build,
        "parse": parse,
        "glob": glob,
        "events": events,
        "former": former,
        "names": names,
    });
    if let Value::Object(document) = document { document } else { Map::new() }
}

/// Values by the names of their parameters.
type Values = Vec<(String, String)>;

struct Maker<'s> {
    schema: &'s Schema,
    candidates: Candidates<'s>,
    /// The values of the prefix's parameters
    prefix: Values,
    /// Keys that were built, by definition
    built: Vec<Vec<String>>,
}

impl<'s> Maker<'s> {
    fn new(schema: &'s Schema) -> Self {
        let mut candidates = Candidates::new(schema);
        let first = schema.compiled.definitions().next();
        let prefix = first.map(|definition| {
            (0..definition.prefix_params())
                .filter_map(|at| {
                    Some((definition.params()[at].0.clone(), candidates.ordinary(definition, at)?))
                })
                .collect()
        });
        let built = vec![Vec::new(); schema.keys.len()];
        Maker { schema, candidates, prefix: prefix.unwrap_or_default(), built }
    }

    /// An ordinary value for each parameter after the prefix.
    fn ordinary(&mut self, definition: Definition<'s>) -> Values {
        let params = definition.params();
        (definition.prefix_params()..params.len())
            .filter_map(|at| {
                Some((params[at].0.clone(), self.candidates.ordinary(definition, at)?))
            })
            .collect()
    }

    fn prefixes(&mut self) -> Vec<Value> {
        let Some(first) = self.schema.compiled.definitions().next() else { return Vec::new() };
        let mut vectors = Vec::new();
        for at in 0..first.prefix_params() {
            for text in self.candidates.of(first, at) {
                let mut params = object(&self.prefix);
                params[&first.params()[at].0] = text.json();
                let Some(value) = text.string() else {
                    vectors.push(json!({ "params": params, "refused": first.params()[at].0 }));
                    continue;
                };
                let bound = with(&self.prefix, &first.params()[at].0, value);
                vectors.push(match self.schema.compiled.bind(&pairs(&bound)) {
                    Ok(keyspace) => {
                        let prefix = keyspace.prefix().map(literal).unwrap_or_default();
                        json!({ "params": params, "prefix": prefix })
                    }
                    Err(error) => json!({ "params": params, "refused": error.param }),
                });
            }
        }
        vectors
    }

    fn build(&mut self) -> Vec<Value> {
        let mut vectors = Vec::new();
        for definition in self.schema.compiled.definitions() {
            let ordinary = self.ordinary(definition);
            // A typed call cannot leave out what no value was found for.
            if ordinary.len() < definition.params().len() - definition.prefix_params() {
                continue;
            }
            vectors.push(self.built(definition, &ordinary, None));
            for at in definition.prefix_params()..definition.params().len() {
                let name = &definition.params()[at].0;
                let longest = self.longest(definition, &ordinary, name);
                for text in self.candidates.of(definition, at).into_iter().chain(longest) {
                    vectors.push(self.built(definition, &ordinary, Some((name, &text))));
                }
            }
        }
        vectors
    }

    /// Values of a parameter that make the longest key and one that is a byte too long, where a key
    /// could be longer than the keyspace allows.
    fn longest(&self, definition: Definition<'_>, ordinary: &Values, name: &str) -> Vec<Text> {
        /// Longer bounds would make vectors that nobody reads.
        const LONGEST: usize = 4096;
        let Some(max) = self.schema.compiled.max_bare_len().filter(|max| *max <= LONGEST) else {
            return Vec::new();
        };
        let all: Values = self.prefix.iter().chain(ordinary).cloned().collect();
        let built = definition.build_named(&pairs(&all)).map(|key| key.len());
        let value = ordinary.iter().find(|(own, _)| own == name).map(|(_, value)| value.len());
        let (Ok(built), Some(value)) = (built, value) else { return Vec::new() };
        let prefix: usize = self.prefix_len();
        let Some(room) = (max + value + prefix).checked_sub(built) else { return Vec::new() };
        [room, room + 1].map(|len| Text::String("a".repeat(len))).to_vec()
    }

    fn prefix_len(&self) -> usize {
        let bound = self.schema.compiled.bind(&pairs(&self.prefix));
        bound.map_or(0, |keyspace| keyspace.prefix().map_or(0, |prefix| literal(prefix).len()))
    }

    fn built(
        &mut self,
        definition: Definition<'_>,
        values: &Values,
        tried: Option<(&str, &Text)>,
    ) -> Value {
        let mut params = object(values);
        let mut vector = json!({ "definition": definition.name() });
        let values = match tried {
            None => values.clone(),
            Some((name, text)) => {
                params[name] = text.json();
                let Some(value) = text.string() else {
                    vector["params"] = params;
                    vector["refused"] = name.into();
                    return vector;
                };
                with(values, name, value)
            }
        };
        vector["params"] = params;
        let all: Values = self.prefix.iter().chain(&values).cloned().collect();
        match definition.build_named(&pairs(&all)) {
            Ok(key) => {
                vector["slot"] = slot(key.as_bytes()).into();
                vector["key"] = key.clone().into();
                self.built[definition.id().index()].push(key);
            }
            Err(error) => {
                vector["refused"] = error.param.into();
                if let BuildErrorKind::Reserved { by } = error.kind {
                    vector["reserved"] = by.into();
                }
            }
        }
        vector
    }

    fn parse(&self) -> Vec<Value> {
        let mut keys: Vec<Vec<u8>> = vec![Vec::new(), b":".to_vec(), vec![0xff, 0xfe]];
        for built in &self.built {
            keys.extend(built.iter().map(|key| key.clone().into_bytes()));
            let step = built.len().div_ceil(DAMAGED).max(1);
            keys.extend(built.iter().step_by(step).flat_map(|key| damaged(key)));
        }
        for foreign in ["foo", "xc", "*", "bull:queue:1"] {
            keys.push(foreign.into());
        }
        keys.sort();
        keys.dedup();
        keys.iter().map(|key| self.parsed(key)).collect()
    }

    fn parsed(&self, key: &[u8]) -> Value {
        let mut vector = json!({ "key": Text::from_bytes(key).json() });
        let Some(parsed) = self.schema.compiled.parse(key) else {
            vector["definition"] = Value::Null;
            return vector;
        };
        let definition = self.schema.compiled.definition(parsed.definition);
        let values: Values = definition
            .params()
            .iter()
            .zip(parsed.values)
            .map(|((name, _), value)| (name.clone(), value.into_owned()))
            .collect();
        let (prefix, own) = values.split_at(definition.prefix_params());
        vector["definition"] = definition.name().into();
        if !prefix.is_empty() {
            vector["prefix"] = object(prefix);
        }
        vector["params"] = object(own);
        vector
    }

    fn glob(&mut self) -> Vec<Value> {
        let mut vectors = Vec::new();
        for definition in self.schema.compiled.definitions() {
            let ordinary = self.ordinary(definition);
            let mut subsets: Vec<Values> = vec![Vec::new(), ordinary.clone()];
            subsets.extend(ordinary.iter().map(|value| vec![value.clone()]));
            for at in definition.prefix_params()..definition.params().len() {
                for text in ["*", "a*b", "[x]", "a?b\\"] {
                    subsets.push(vec![(definition.params()[at].0.clone(), text.to_owned())]);
                }
            }
            subsets.dedup();
            for subset in subsets {
                let all: Values = self.prefix.iter().chain(&subset).cloned().collect();
                // A refused value has been tried already.
                if let Ok(glob) = definition.glob_named(&pairs(&all)) {
                    let params = object(&subset);
                    vectors.push(
                        json!({ "definition": definition.name(), "params": params, "glob": glob }),
                    );
                }
            }
        }
        vectors
    }

    fn events(&mut self) -> Vec<Value> {
        let schema = self.schema;
        let mut vectors = Vec::new();
        for event in &schema.events {
            let mut ordinary = Values::new();
            for declared in &event.params {
                if let Some(value) = self.candidates.ordinary_of(&declared.param) {
                    ordinary.push((declared.name.value.clone(), value));
                }
            }
            vectors.push(self.event(event, &ordinary));
            for declared in &event.params {
                if matches!(declared.param.ty, Type::Key(_)) {
                    continue;
                }
                for text in self.candidates.of_param(&declared.param) {
                    let Some(value) = text.string() else { continue };
                    vectors.push(self.event(event, &with(&ordinary, &declared.name, value)));
                }
            }
        }
        vectors
    }

    fn event(&mut self, event: &Event, values: &Values) -> Value {
        let mut vector = json!({ "event": *event.name, "params": object(values) });
        let refused = event
            .params
            .iter()
            .zip(values)
            .find(|(declared, (_, value))| !self.candidates.admits(&declared.param, value));
        if let Some((declared, _)) = refused {
            vector["refused"] = declared.name.value.clone().into();
            return vector;
        }
        let meant = event.params.iter().zip(values).map(|(declared, (name, text))| {
            (name.clone(), self.candidates.meant(&declared.param, text))
        });
        let values: &Values = &meant.collect();
        let schema = self.schema;
        let old_names = schema.old_names_by_db();
        let (mut keys, mut globs) = (Vec::new(), Vec::new());
        for call in &event.invalidates {
            let Some(id) = schema.compiled.find(&call.definition) else { continue };
            let definition = schema.compiled.definition(id);
            let bound = bound(call, definition, values);
            let named: Values = self.prefix.iter().chain(&bound).cloned().collect();
            if bound.len() + self.prefix.len() == definition.params().len() {
                // A key that belongs to another definition cannot be there as one of this.
                if let Ok(key) = definition.build_named(&pairs(&named)) {
                    keys.extend(former::names_of(&old_names, definition, key).1);
                }
            } else if let Ok(glob) = definition.glob_named(&pairs(&named)) {
                globs.push(glob);
                globs.extend(self.old_globs(&old_names, definition, &named));
            }
        }
        vector["keys"] = keys.into();
        vector["globs"] = globs.into();
        vector
    }
}

/// The values that an event gives a definition.
fn bound(call: &Invalidation, definition: Definition<'_>, values: &Values) -> Values {
    let of_event =
        |name: &str| values.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let params = definition.params()[definition.prefix_params()..].iter();
    params
        .filter_map(|(name, _)| {
            let written = call.bindings.iter().find(|binding| binding.param == *name);
            let value = match written.map(|binding| &binding.source) {
                Some(BindingSource::Param(source)) => of_event(source),
                Some(BindingSource::Word(word)) => Some(word.clone()),
                Some(BindingSource::Free) => None,
                None => of_event(name),
            };
            Some((name.clone(), value?))
        })
        .collect()
}

/// Keys that look almost like this one.
fn damaged(key: &str) -> Vec<Vec<u8>> {
    let bytes = key.as_bytes();
    let mut keys = vec![
        [bytes, b":"].concat(),
        [bytes, b"x"].concat(),
        [bytes, b"\n"].concat(),
        [bytes, b":~lease"].concat(),
        [b" ", bytes].concat(),
        key.to_uppercase().into_bytes(),
        [&bytes[..bytes.len() / 2], &[0xff], &bytes[bytes.len() / 2..]].concat(),
        // A surrogate, which is no UTF-8
        [bytes, &[0xed, 0xa0, 0x80]].concat(),
    ];
    if let Some((_, shorter)) = bytes.split_last() {
        keys.push(shorter.to_vec());
    }
    if let Some((_, rest)) = key.split_once(':') {
        keys.push(rest.into());
    }
    keys
}

fn with(values: &Values, name: &str, value: &str) -> Values {
    let replace = |(own, old): &(String, String)| {
        (own.clone(), if own == name { value.to_owned() } else { old.clone() })
    };
    values.iter().map(replace).collect()
}

fn pairs(values: &Values) -> Vec<(&str, &str)> {
    values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn object(values: &[(String, String)]) -> Value {
    let entries = values.iter().map(|(name, value)| (name.clone(), value.clone().into()));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// The text of a pattern without parameters.
fn literal(template: &keyward_pattern::Template) -> String {
    let text = |part: &keyward_pattern::Part| match part {
        keyward_pattern::Part::Literal(text) => text.clone(),
        keyward_pattern::Part::Hole(_) => String::new(),
    };
    template.parts().iter().map(text).collect()
}
