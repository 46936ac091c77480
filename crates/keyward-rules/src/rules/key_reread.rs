use crate::breaking::{Change, Pair};
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{Definition, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How many keys are read by both versions.
const SAMPLES: usize = 24;

rule! {
    /// ## What it does
    /// Reports a definition that still has its keys but reads other values from them: two parameters have changed
    /// places, or an `encode` is another. It shows a key, and what each version reads from it.
    ///
    /// ## Why is this bad
    /// The keys are found, and taken for those of something else: one customer's data is read as another's.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.market]
    /// pattern = "market:{base:slug}:{quote:slug}"
    /// ttl = "1h"
    /// ```
    /// After:
    /// ```toml
    /// [keys.market]
    /// pattern = "market:{quote:slug}:{base:slug}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.market]
    /// pattern = "pair:{quote:slug}:{base:slug}"
    /// ttl = "1h"
    ///
    /// [migrations.pairs]
    /// phase = "dual-write"
    ///
    /// [migrations.pairs.renames]
    /// market = "market:{base}:{quote}"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| !pair.keys.same) {
        let Some((key, was, is)) = reread(cx, pair) else { continue };
        let message = format!(
            "`{key}` is still a key of `{}`, but means something else",
            pair.new.name.value
        );
        let is = (Some(&pair.new.pattern.span), format!("reads {is}"));
        let was = (Some(&pair.old.pattern.span), format!("read {was}"));
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help("give the new pattern a word of its own, and declare the old one in a migration")
                .touching(cx.touches_at_most(pair.old, pair.new)),
        );
    }
}

/// A key of both versions that they read differently, and what each reads.
fn reread(cx: &Change<'_>, pair: &Pair<'_>) -> Option<(String, String, String)> {
    let shared = pair.keys.shared.clone()?;
    let of = |keyspace: &'_ keyward_pattern::Keyspace, name: &str| keyspace.find(name);
    let old = cx.old.compiled.definition(of(&cx.old.compiled, &pair.old.name)?);
    let new = cx.new.compiled.definition(of(&cx.new.compiled, &pair.new.name)?);
    let tried = keys(old).into_iter().chain(keys(new)).chain([shared]);
    tried.into_iter().find_map(|key| {
        let (was, is) = (values(old, &key)?, values(new, &key)?);
        // Under other names, what stands at the same place is the same value.
        let differs = if was.keys().eq(is.keys()) {
            was != is
        } else {
            let ordered = |definition: Definition<'_>| definition.parse(key.as_bytes());
            let (was, is) = (ordered(old)?, ordered(new)?);
            was.len() == is.len() && was != is
        };
        differs.then(|| (key, listed(&was), listed(&is)))
    })
}

fn values(definition: Definition<'_>, key: &str) -> Option<BTreeMap<String, String>> {
    let values = definition.parse(key.as_bytes())?.into_iter().map(Cow::into_owned);
    Some(definition.params().iter().map(|(name, _)| name.clone()).zip(values).collect())
}

fn listed(values: &BTreeMap<String, String>) -> String {
    values
        .iter()
        .map(|(name, value)| format!("`{name}` as `{value}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Some keys of a definition, always the same ones.
fn keys(definition: Definition<'_>) -> Vec<String> {
    let mut state = 1_usize;
    let mut choose = |ways: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % ways.max(1)
    };
    let mut keys = Vec::new();
    for number in 0..SAMPLES {
        let values: Option<Vec<String>> = (0..definition.params().len())
            .map(|param| {
                let value = definition.sample(param, 1 + number % 4, &mut choose)?;
                // What is spelled otherwise in the key is tried by every second one.
                let spelled = &definition.params()[param].1.encode;
                let special = spelled.get(number / 2).filter(|_| number % 2 == 1);
                Some(special.map_or(value, |(char, _)| format!("a{char}b")))
            })
            .collect();
        let Some(values) = values else { break };
        let values: Vec<Value<'_>> = values.iter().map(|value| Value::Str(value)).collect();
        keys.extend(definition.build(&values).ok());
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let found = broken_example(&RULE);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].ends_with("is still a key of `market`, but means something else"),
            "{found:?}"
        );
    }

    #[test]
    fn another_name_for_the_same_place_reads_the_same() {
        let old = "[keys.a]\npattern = \"a:{x:slug}:{y:slug}\"\n";
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"a:{x:slug}:{z:slug}\"\n"), [""; 0]);
        assert_eq!(broken(&RULE, old, "[keys.a]\npattern = \"a:{x}:{y}\"\n"), [""; 0]);
    }

    #[test]
    fn another_encoding_reads_other_values() {
        let old = "[keys.a]\npattern = \"a:{x}\"\n";
        let new = "[keys.a]\npattern = \"a:{x:encoded}\"\n";
        assert_eq!(broken(&RULE, old, new).len(), 1, "`%41` was three characters, and is one");
        let new = "[keys.a]\npattern = \"a:{x}\"\nparams = { x = { type = \"text\", encode = { \"/\" = \"%2F\", \"%\" = \"%25\" } } }\n";
        assert_eq!(broken(&RULE, old, new).len(), 1);
    }
}
