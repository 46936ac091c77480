use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition whose Redis type is not declared: it has no `type`, and no `value`,
    /// `fields`, `member` or role that implies one.
    ///
    /// ## Why is this bad
    /// Readers guess. The second service that writes the key guesses differently, and commands fail
    /// with `WRONGTYPE`. Builders, audits and documentation cannot describe the value either.
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
            Finding::new(format!("the Redis type of `{}` is not declared", definition.name.value))
                .about(definition)
                .at(&definition.name.span, "has no `type`")
                .help("add `type`, or declare what is inside: `value`, `fields` or `member`"),
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
        warning[missing-type]: the Redis type of `profile` is not declared
          ╭▸ keyward.toml:2:7
          │
        2 │ [keys.profile]
          │       ━━━━━━━ has no `type`
          │
          ├ help: add `type`, or declare what is inside: `value`, `fields` or `member`
          ╰ note: `keyward explain missing-type`
        "#);
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
