//! Several schemas that share one server.

use crate::rules;
use keyward_pattern::prove::{self, Claim};
use keyward_schema::Diagnostic;
use keyward_schema::model::{Schema, Severity};

/// Reports the keys that two schemas on one server both claim. The places are in the first.
///
/// Schemas of different databases have no key in common. An `allow` has no effect here: it speaks
/// for one schema only.
pub fn check_between(first: &Schema, second: &Schema) -> Vec<Diagnostic> {
    let db = |schema: &Schema| schema.keyspace.db.as_ref().map_or(0, |db| db.value);
    if db(first) != db(second) {
        return Vec::new();
    }
    let rule = rules::BETWEEN;
    let (name, other) = (&first.keyspace.name.value, &second.keyspace.name.value);
    let place = first.keyspace.name.span.clone();
    if *first.keyspace.separator != *second.keyspace.separator {
        let message = format!("the keyspaces `{name}` and `{other}` cannot be compared");
        return vec![
            Diagnostic::new(rule, Severity::Error, message)
                .at(place, format!("`{other}` has another separator"))
                .help("check them one by one, or give both the same separator"),
        ];
    }
    let found = prove::overlaps_between(&first.compiled, &second.compiled);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for overlap in &found.overlaps {
        let (Claim::Definition(ours), Claim::Definition(theirs)) = (overlap.first, overlap.second)
        else {
            continue;
        };
        let (ours, theirs) = (&first.keys[ours.index()], &second.keys[theirs.index()]);
        let message = format!(
            "the key `{}` belongs to `{}` of `{name}` and to `{}` of `{other}`",
            overlap.witness, ours.name.value, theirs.name.value
        );
        diagnostics.push(
            Diagnostic::new(rule, Severity::Error, message)
                .about(&ours.name.value)
                .at(ours.pattern.span.clone(), "matches it")
                .help("give each keyspace a prefix of its own")
                .note(format!("in `{other}` the pattern is `{}`", theirs.pattern.as_str())),
        );
    }
    if !found.complete {
        let message = format!("not every key of `{name}` could be compared with `{other}`");
        diagnostics.push(
            Diagnostic::new(rule, Severity::Error, message)
                .at(place, "too many patterns meet, or their types are too large")
                .help("give each keyspace a prefix of its own"),
        );
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyward_schema::{Style, read, render};

    fn between(first: &str, second: &str) -> String {
        let first = read(&format!("version = 1\n[keyspace]\nname = \"shop\"\n{first}"));
        let second = read(&format!("version = 1\n[keyspace]\nname = \"blog\"\n{second}"));
        let diagnostics = check_between(&first.schema.unwrap(), &second.schema.unwrap());
        render(&first.sources, &diagnostics, &Style::default())
    }

    #[test]
    fn two_schemas_must_not_claim_one_key() {
        let shop = "[keys.session]\npattern = \"session:{id}\"\n";
        let blog = "[keys.login]\npattern = \"session:{token}\"\n";
        insta::assert_snapshot!(between(shop, blog), @r#"
        error[overlapping-patterns]: the key `session:a` belongs to `session` of `shop` and to `login` of `blog`
          ╭▸ keyward.toml:5:11
          │
        5 │ pattern = "session:{id}"
          │           ━━━━━━━━━━━━━━ matches it
          │
          ├ help: give each keyspace a prefix of its own
          ├ note: in `blog` the pattern is `session:{token}`
          ╰ note: `keyward explain overlapping-patterns`
        "#);
    }

    #[test]
    fn prefixes_and_databases_keep_schemas_apart() {
        let keys = "[keys.session]\npattern = \"session:{id}\"\n";
        assert_eq!(between(&format!("prefix = \"shop:\"\n{keys}"), keys), "");
        assert_eq!(between(&format!("db = 2\n{keys}"), keys), "");
    }
}
