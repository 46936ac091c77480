use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::DefinitionId;

rule! {
    /// ## What it does
    /// Reports a definition whose keys have no maximum length, in a keyspace without `max_key_len`.
    /// With `max_key_len`, builders refuse longer keys, and parsers and audits match them to no
    /// definition.
    ///
    /// ## Why is this bad
    /// Whoever chooses the value of the parameter chooses the length of the key: a search text of
    /// one megabyte becomes a key of one megabyte, which is compared, logged and sent with every
    /// command.
    ///
    /// ## Example
    /// ```toml
    /// [keys.search]
    /// pattern = "search:{query}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 200
    ///
    /// [keys.search]
    /// pattern = "search:{query}"
    /// ttl = "1h"
    /// ```
    /// Or use a type with a maximum length: `{query_hash:hex(64)}`.
    Soundness, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    if cx.schema.keyspace.max_key_len.is_some() {
        return;
    }
    for (id, definition) in (0..).map(DefinitionId).zip(&cx.schema.keys) {
        if cx.schema.compiled.definition(id).max_len().is_none() {
            out.add(
                Finding::new(format!("keys of `{}` have no maximum length", definition.name.value))
                    .about(definition)
                    .at(&definition.pattern.span, "a parameter's type has no maximum length")
                    .help("set `max_key_len` in `[keyspace]`, or use a type with a maximum length"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unbounded-key-length]: keys of `search` have no maximum length
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "search:{query}"
          │           ━━━━━━━━━━━━━━━━ a parameter's type has no maximum length
          │
          ├ help: set `max_key_len` in `[keyspace]`, or use a type with a maximum length
          ╰ note: `keyward explain unbounded-key-length`
        "#);
    }

    #[test]
    fn a_pattern_of_bounded_types_is_fine() {
        let schema = r#"
[keys.user]
pattern = "user:{id:uuid}:{kind}"
params = { kind = ["a", "b"] }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
