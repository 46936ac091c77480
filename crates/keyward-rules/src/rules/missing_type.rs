use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition of which nothing says the Redis type: no `type`, and no `value`,
    /// `fields`, `member` or role from which it follows.
    ///
    /// ## Why is this bad
    /// Readers guess, and the second service that writes the key guesses differently: `WRONGTYPE`
    /// at run time. Nor can builders, audits or documentation say what is inside.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// value = { json = "Profile" }
    /// ttl = "1h"
    /// ```
    Shape, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in cx.schema.keys.iter().filter(|definition| definition.key_type.is_none()) {
        out.add(
            Finding::new(format!("nothing says what type `{}` is", definition.name.value))
                .about(definition)
                .at(&definition.name.span, "has no `type`")
                .help("add `type`, or what is inside: `value`, `fields` or `member`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @"
        warning[missing-type]: nothing says what type `profile` is
          ╭▸ keyward.toml:2:7
          │
        2 │ [keys.profile]
          │       ━━━━━━━ has no `type`
          │
          ├ help: add `type`, or what is inside: `value`, `fields` or `member`
          ╰ note: `keyward explain missing-type`
        ");
    }

    #[test]
    fn a_role_or_a_value_is_enough() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{name}"
queue = {}
[keys.state]
pattern = "state:{name}"
value = ["on", "off"]
[keys.members]
pattern = "members:{name}"
member = "text"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
