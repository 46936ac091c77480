use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, Role, Ttl};
use keyward_schema::span::Spanned;

rule! {
    /// ## What it does
    /// Reports a rate limit or a quota whose TTL does not fit its window: it expires before the
    /// window ends, or never.
    ///
    /// ## Why is this bad
    /// A limit that expires in the middle of its window admits too much. One that never expires
    /// leaves a key behind for everyone who was ever counted.
    ///
    /// ## Example
    /// ```toml
    /// [keys.login_limit]
    /// pattern = "limit:login:{user_id}"
    /// rate_limit = { limit = 5, window = "15m" }
    /// ttl = "1m"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.login_limit]
    /// pattern = "limit:login:{user_id}"
    /// rate_limit = { limit = 5, window = "15m" }
    /// ```
    /// The TTL follows from the window.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let (Some(window), Some(ttl)) = (window(definition), &definition.ttl) else { continue };
        let name = &definition.name.value;
        let (message, label) = if !Ttl::expires(ttl) {
            (format!("`{name}` never expires, although its window ends"), "never expires")
        } else if ttl.shortest().or(ttl.longest()).is_some_and(|ttl| ttl < window.value) {
            (format!("`{name}` expires before its window ends"), "shorter than the window")
        } else {
            continue;
        };
        out.add(
            Finding::new(message)
                .about(definition)
                .at(&ttl.span, label)
                .at(&window.span, format!("the window is {}", window.human()))
                .help("remove the `ttl`: it follows from the window"),
        );
    }
}

fn window(definition: &Definition) -> Option<&Spanned<Duration>> {
    match definition.role.as_deref()? {
        Role::RateLimit(limit) => Some(&limit.window),
        Role::Quota(quota) => quota.window.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[window-ttl-mismatch]: `login_limit` expires before its window ends
          ╭▸ keyward.toml:5:7
          │
        4 │ rate_limit = { limit = 5, window = "15m" }
          │                                    ───── the window is 15 min
        5 │ ttl = "1m"
          │       ━━━━ shorter than the window
          │
          ├ help: remove the `ttl`: it follows from the window
          ╰ note: `keyward explain window-ttl-mismatch`
        "#);
    }

    #[test]
    fn a_quota_that_starts_again_must_expire() {
        let schema = r#"
[keys.usage]
pattern = "usage:{user_id}"
quota = { limit = 100, window = "1d" }
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), ["`usage` never expires, although its window ends"]);
    }

    #[test]
    fn a_longer_ttl_and_a_quota_without_a_window_are_fine() {
        let schema = r#"
[keys.limit]
pattern = "limit:{user_id}"
rate_limit = { limit = 5, window = "15m" }
ttl = "30m"
[keys.storage]
pattern = "storage:{user_id}"
quota = { limit = "caller" }
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
