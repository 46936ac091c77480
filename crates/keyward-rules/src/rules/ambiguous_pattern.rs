use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_pattern::prove;

rule! {
    /// ## What it does
    /// Reports a pattern that reads one key in two ways.
    ///
    /// ## Why is this bad
    /// `parse` cannot tell which values the key was built from, and two different sets of values
    /// build the same key: one overwrites the other.
    ///
    /// ## Example
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}-{quote}"
    /// ttl = "5m"
    /// ```
    /// `pair:a-b-c` is `a` and `b-c`, or `a-b` and `c`.
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.pair]
    /// pattern = "pair:{base}:{quote}"
    /// ttl = "5m"
    /// ```
    /// A type that cannot hold the character between the parameters helps as well.
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for ambiguity in prove::ambiguities(&cx.schema.compiled) {
        let definition = &cx.schema.keys[ambiguity.definition.index()];
        let name = &definition.name.value;
        let finding = if ambiguity.witness.is_empty() {
            Finding::new(format!("the keys of `{name}` could not be proved to read in one way"))
                .at(&definition.pattern.span, "too large to be decided")
        } else {
            Finding::new(format!("`{}` in a key of `{name}` reads in two ways", ambiguity.witness))
                .at(&definition.pattern.span, "where one parameter ends is not sure")
                .note(format!(
                    "it is {}, or {}",
                    listed(&ambiguity.left, usize::MAX),
                    listed(&ambiguity.right, usize::MAX)
                ))
        };
        out.add(
            finding
                .about(definition)
                .help("put a separator between the parameters, or give them narrower types"),
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
        error[ambiguous-pattern]: `a--a` in a key of `pair` reads in two ways
          ╭▸ keyward.toml:3:11
          │
        3 │ pattern = "pair:{base}-{quote}"
          │           ━━━━━━━━━━━━━━━━━━━━━ where one parameter ends is not sure
          │
          ├ help: put a separator between the parameters, or give them narrower types
          ├ note: it is `a` and `-a`, or `a-` and `a`
          ╰ note: `keyward explain ambiguous-pattern`
        "#);
    }

    #[test]
    fn a_type_without_the_character_between_is_enough() {
        let schema = r#"
[keys.pair]
pattern = "pair:{base:word}-{quote}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
