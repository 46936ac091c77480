use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;
use keyward_pattern::DefinitionId;

rule! {
    /// ## What it does
    /// Reports a definition whose longest key exceeds `max_key_len`, and a prefix without a maximum
    /// length. If a parameter of the pattern has no maximum length, `max_key_len` bounds it, and
    /// only the shortest key is checked.
    ///
    /// ## Why is this bad
    /// Builders refuse a key that is too long, so some values of the declared types cannot be
    /// stored. The prefix is bound later, and its longest value must fit into every key.
    ///
    /// ## Example
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 40
    ///
    /// [keys.asset]
    /// pattern = "asset:bundle:{hash:hex(64)}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    /// max_key_len = 100
    ///
    /// [keys.asset]
    /// pattern = "asset:bundle:{hash:hex(64)}"
    /// ttl = "1h"
    /// ```
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(bound) = &cx.schema.keyspace.max_key_len else { return };
    if let Some(prefix) = &cx.schema.keyspace.prefix
        && cx.schema.compiled.longest_prefix().is_none()
    {
        out.add(
            Finding::new("the prefix has no maximum length, so no key has one")
                .at(&prefix.span, "a parameter's type has no maximum length")
                .at(&bound.span, "the limit")
                .help("give the prefix's parameters types with a maximum length, such as `{ regex = \"[a-z]{1,20}\" }`"),
        );
        return;
    }
    for (id, definition) in (0..).map(DefinitionId).zip(&cx.schema.keys) {
        let compiled = cx.schema.compiled.definition(id);
        let (shortest, longest) =
            (compiled.min_len() as u64, compiled.max_len().map(|len| len as u64));
        let name = &definition.name.value;
        let message = if shortest > **bound {
            format!("every key of `{name}` is longer than {} bytes", thousands(**bound))
        } else if longest.is_some_and(|longest| longest > **bound) {
            format!("a key of `{name}` may be longer than {} bytes", thousands(**bound))
        } else {
            continue;
        };
        let label = match longest {
            Some(longest) if longest == shortest => format!("{} bytes", thousands(longest)),
            Some(longest) => format!("up to {} bytes", thousands(longest)),
            None => format!("at least {} bytes", thousands(shortest)),
        };
        let with_prefix = if cx.schema.keyspace.prefix.is_some() { " with the prefix" } else { "" };
        out.add(
            Finding::new(message)
                .about(definition)
                .at(&definition.pattern.span, label + with_prefix)
                .at(&bound.span, "the limit")
                .help("raise `max_key_len`, or shorten the pattern"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[key-too-long]: every key of `asset` is longer than 40 bytes
          ╭▸ keyward.toml:7:11
          │
        4 │ max_key_len = 40
          │               ── the limit
          ┆
        7 │ pattern = "asset:bundle:{hash:hex(64)}"
          │           ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 77 bytes
          │
          ├ help: raise `max_key_len`, or shorten the pattern
          ╰ note: `keyward explain key-too-long`
        "#);
    }

    #[test]
    fn what_has_no_longest_value_is_bounded_by_the_keyspace() {
        let schema = r#"
[keyspace]
name = "shop"
max_key_len = 40
[keys.search]
pattern = "search:{query}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_pattern_that_never_fits_says_so() {
        let schema = r#"
[keyspace]
name = "shop"
max_key_len = 10
[keys.search]
pattern = "search:results:{query}"
"#;
        assert_eq!(messages(&RULE, schema), ["every key of `search` is longer than 10 bytes",]);
    }

    #[test]
    fn a_prefix_without_a_longest_value_leaves_nothing_to_bound() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{tenant}:"
max_key_len = 200
[keys.user]
pattern = "user:{id:uint}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the prefix has no maximum length, so no key has one"]
        );
    }

    #[test]
    fn the_prefix_counts() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "shop:"
max_key_len = 20
[keys.user]
pattern = "user:{id:uint}"
"#;
        assert_eq!(messages(&RULE, schema), ["a key of `user` may be longer than 20 bytes",]);
    }
}
