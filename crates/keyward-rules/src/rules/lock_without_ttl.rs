use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a lock that never expires.
    ///
    /// ## Why is this bad
    /// If the holder crashes, nobody can take the lock until a person deletes the key.
    ///
    /// ## Example
    /// ```toml
    /// [keys.settlement_lock]
    /// pattern = "settlement:lock"
    /// lock = {}
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.settlement_lock]
    /// pattern = "settlement:lock"
    /// lock = {}
    /// ttl = "30s"
    /// ```
    /// The store renews a lock while it is held, so that the work may take longer than the TTL.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(role) = definition.role.as_ref().filter(|it| matches!(it.value, Role::Lock(_)))
        else {
            continue;
        };
        if definition.ttl.as_deref().is_some_and(Ttl::expires) {
            continue;
        }
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.span);
        out.add(
            Finding::new(format!("the lock `{}` never expires", definition.name.value))
                .about(definition)
                .at(ttl.unwrap_or(&role.span), "a holder that crashes would keep it forever")
                .help("give it a `ttl`: how long a holder that crashed may keep it, such as `ttl = \"30s\"`"),
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
        error[lock-without-ttl]: the lock `settlement_lock` never expires
          ╭▸ keyward.toml:4:8
          │
        4 │ lock = {}
          │        ━━ a holder that crashes would keep it forever
          │
          ├ help: give it a `ttl`: how long a holder that crashed may keep it, such as `ttl = "30s"`
          ╰ note: `keyward explain lock-without-ttl`
        "#);
    }

    #[test]
    fn none_is_no_ttl() {
        let schema = r#"
[keys.lock]
pattern = "lock"
lock = {}
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), ["the lock `lock` never expires",]);
    }

    #[test]
    fn the_caller_may_know() {
        let schema = r#"
[keys.lock]
pattern = "lock"
lock = {}
ttl = { caller = true, max = "5m" }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
