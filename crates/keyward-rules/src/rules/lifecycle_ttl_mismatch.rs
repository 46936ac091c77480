use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, Lifecycle, Role, Ttl};

/// The longest TTL of something temporary.
const TEMPORARY: Duration = Duration::from_hours(1);

rule! {
    /// ## What it does
    /// Reports a lifecycle that the TTL contradicts: a protected key that expires; a cache,
    /// session, retained or temporary key that never expires; a temporary key that lives longer
    /// than an hour.
    ///
    /// A cache without a TTL is accepted if the server evicts any key (`allkeys-*`): eviction
    /// removes it.
    ///
    /// ## Why is this bad
    /// One of the two is not what the author meant. The TTL decides when the server deletes the
    /// key; the lifecycle declares whether it may be lost.
    ///
    /// ## Example
    /// ```toml
    /// [keys.export]
    /// pattern = "temp:export:{job_id}"
    /// lifecycle = "temporary"
    /// ttl = "2d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.export]
    /// pattern = "temp:export:{job_id}"
    /// lifecycle = "temporary"
    /// ttl = "10m"
    /// ```
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let Some(ttl) = &definition.ttl else { continue };
        let Some((wrong, help)) = contradiction(cx, definition, ttl) else { continue };
        let is = is(definition);
        let role = definition.role.as_ref().map(|role| &role.span);
        let said = definition.lifecycle_span.as_ref().or(role).unwrap_or(&definition.name.span);
        out.add(
            Finding::new(format!("`{}` is {is}, but {wrong}", definition.name.value))
                .about(definition)
                .at(&ttl.span, wrong)
                .at(said, format!("it is {is}"))
                .help(help),
        );
    }
}

fn contradiction(
    cx: &Context<'_>,
    definition: &Definition,
    ttl: &Ttl,
) -> Option<(&'static str, &'static str)> {
    let role = definition.role.as_deref();
    let evicted = cx.evicting().is_some_and(|policy| policy.evicts_persistent());
    if ttl.expires() {
        return match definition.lifecycle {
            // `expiring-queue` says more.
            Lifecycle::Protected if matches!(role, Some(Role::Queue(_))) => None,
            Lifecycle::Protected => Some(("it expires", "remove the TTL, or make it `retained`")),
            Lifecycle::Temporary if ttl.longest().is_some_and(|longest| longest > TEMPORARY) => {
                Some(("it may live for more than an hour", "shorten the TTL, or make it a `cache`"))
            }
            _ => None,
        };
    }
    match (role, definition.lifecycle) {
        (Some(Role::Session(_) | Role::RefreshToken(_)), _) => {
            Some(("it never expires", "give it a TTL"))
        }
        // `lock-without-ttl` says more about a lock.
        (Some(Role::Lock(_)), _) | (_, Lifecycle::Protected) => None,
        (Some(Role::Queue(_)), _) => {
            Some(("a queue never expires", "remove `lifecycle`: a queue is protected"))
        }
        (_, Lifecycle::Cache) if evicted => None,
        _ => Some(("it never expires", "give it a TTL, or make it `protected`")),
    }
}

fn is(definition: &Definition) -> &'static str {
    match definition.lifecycle {
        _ if matches!(definition.role.as_deref(), Some(Role::Session(_))) => "a session",
        Lifecycle::Protected => "protected",
        Lifecycle::Retained => "retained",
        Lifecycle::Session => "a session",
        Lifecycle::Cache => "a cache",
        Lifecycle::Temporary => "temporary",
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[lifecycle-ttl-mismatch]: `export` is temporary, but it may live for more than an hour
          ╭▸ keyward.toml:5:7
          │
        4 │ lifecycle = "temporary"
          │             ─────────── it is temporary
        5 │ ttl = "2d"
          │       ━━━━ it may live for more than an hour
          │
          ├ help: shorten the TTL, or make it a `cache`
          ╰ note: `keyward explain lifecycle-ttl-mismatch`
        "#);
    }

    #[test]
    fn a_limit_that_counts_over_two_windows_is_not_temporary_by_itself() {
        let schema = r#"
[keys.limit]
pattern = "limit:{ip}"
rate_limit = { limit = 5, window = "45m", algorithm = "sliding-window" }
"#;
        assert!(messages(&RULE, schema).is_empty());
    }

    #[test]
    fn a_queue_is_never_temporary() {
        let schema = r#"
[keys.queue]
pattern = "queue:{name}"
queue = {}
lifecycle = "temporary"
"#;
        assert_eq!(messages(&RULE, schema), ["`queue` is temporary, but a queue never expires",]);
    }

    #[test]
    fn something_protected_does_not_expire() {
        let schema = r#"
[keys.entity]
pattern = "entity:{id}"
lifecycle = "protected"
ttl = "1d"
"#;
        assert_eq!(messages(&RULE, schema), ["`entity` is protected, but it expires",]);
    }

    #[test]
    fn a_session_ends() {
        let schema = r#"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = {}
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), ["`session` is a session, but it never expires",]);
    }

    #[test]
    fn eviction_may_be_what_ends_a_cache() {
        let schema = r#"
[server]
maxmemory-policy = "allkeys-lru"
[keys.page]
pattern = "page:{id}"
lifecycle = "cache"
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn an_hour_is_temporary() {
        let schema = r#"
[keys.export]
pattern = "export:{id}"
lifecycle = "temporary"
ttl = "1h"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
