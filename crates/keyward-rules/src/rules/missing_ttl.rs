use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Role;

rule! {
    /// ## What it does
    /// Reports a definition that does not declare how long its keys live.
    ///
    /// This is about the schema, and `keyward check` reports it. `ttl-missing` is about keys on a server: their
    /// definition declares a TTL, and they have none.
    ///
    /// ## Why is this bad
    /// A key without a TTL stays forever. Most memory that nobody can explain belongs to keys whose
    /// TTL someone forgot. If a key is meant to stay, declare it.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// type = "hash"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// type = "hash"
    /// ttl = "1h"
    /// ```
    /// `ttl = "none"` declares that the keys stay. `[defaults] ttl` applies to every definition
    /// without its own.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in cx.schema.keys.iter().filter(|definition| definition.ttl.is_none()) {
        // `lock-without-ttl` says more about a lock.
        if matches!(definition.role.as_deref(), Some(Role::Lock(_))) {
            continue;
        }
        out.add(
            Finding::new(format!(
                "`{}` does not declare how long its keys live",
                definition.name.value
            ))
            .about(definition)
            .at(&definition.name.span, "has no `ttl`")
            .help("add a `ttl`, or `ttl = \"none\"` if its keys are meant to stay"),
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
        error[missing-ttl]: `profile` does not declare how long its keys live
          ╭▸ keyward.toml:2:7
          │
        2 │ [keys.profile]
          │       ━━━━━━━ has no `ttl`
          │
          ├ help: add a `ttl`, or `ttl = "none"` if its keys are meant to stay
          ╰ note: `keyward explain missing-ttl`
        "#);
    }

    #[test]
    fn a_default_a_role_or_none_is_enough() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{name}"
queue = {}
[keys.limit]
pattern = "limit:{user_id}"
rate_limit = { limit = 10, window = "60s" }
[keys.flag]
pattern = "flag:{name}"
flag = {}
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_default_holds_for_all() {
        let schema = r#"
[defaults]
ttl = "1h"
[keys.profile]
pattern = "profile:{user_id}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_lock_is_the_matter_of_another_rule() {
        let schema = r#"
[keys.lock]
pattern = "lock"
lock = {}
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
