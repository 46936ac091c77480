use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::Rule;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, Lifecycle};
use std::collections::HashSet;

/// How old a cached value may become, unless `[rules]` says otherwise.
const BOUND: Duration = Duration::from_hours(24);

rule! {
    /// ## What it does
    /// Reports a cache that no event invalidates and that may live longer than `max`, a day by
    /// default: `stale-cache = { max = "1h" }`. A definition with a role, or one that a role uses,
    /// is not checked.
    ///
    /// ## Why is this bad
    /// The data it was copied from changes, and readers do not see the change for days. If it is
    /// not a copy of anything, it is not a cache: the server may evict a cache at any time.
    ///
    /// ## Example
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// value = { json = "Profile" }
    /// ttl = "30d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.profile]
    /// pattern = "user:{user_id}:profile"
    /// value = { json = "Profile" }
    /// ttl = "30d"
    ///
    /// [events.profile_changed]
    /// params = { user_id = "text" }
    /// invalidates = ["profile"]
    /// ```
    /// Or shorten the TTL. If the value is not a copy, set `lifecycle = "retained"`.
    Change, Warn, Recommended, options = [Max]
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let configured = cx.setting(Rule::StaleCache).and_then(|setting| setting.max.as_ref());
    let bound = configured.map_or(BOUND, |max| max.value);
    let invalidations = cx.schema.events.iter().flat_map(|event| &event.invalidates);
    let invalidated: HashSet<_> = invalidations.map(|it| it.definition.as_str()).collect();
    for definition in cx.schema.keys.iter().filter(|it| is_copy(cx, it)) {
        let Some(ttl) = &definition.ttl else { continue };
        let Some(longest) = ttl.longest().filter(|longest| *longest > bound) else { continue };
        if invalidated.contains(definition.name.as_str()) {
            continue;
        }
        out.add(
            Finding::new(format!(
                "`{}` may be {} old, and no event invalidates it",
                definition.name.value,
                longest.human()
            ))
            .about(definition)
            .at(&ttl.span, format!("longer than {}", bound.human()))
            .help("invalidate it by an event, shorten the TTL, or set `lifecycle = \"retained\"` if it is not a copy"),
        );
    }
}

fn is_copy(cx: &Context<'_>, definition: &Definition) -> bool {
    definition.lifecycle == Lifecycle::Cache
        && definition.role.is_none()
        && cx.used_for(definition).is_none()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[stale-cache]: `profile` may be 30 d old, and no event invalidates it
          ╭▸ keyward.toml:5:7
          │
        5 │ ttl = "30d"
          │       ━━━━━ longer than 1 d
          │
          ├ help: invalidate it by an event, shorten the TTL, or set `lifecycle = "retained"` if it is not a copy
          ╰ note: `keyward explain stale-cache`
        "#);
    }

    #[test]
    fn the_bound_can_be_set() {
        let schema = r#"
[rules]
stale-cache = { max = "10m" }
[keys.profile]
pattern = "profile:{user_id}"
ttl = "1h"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`profile` may be 1 h old, and no event invalidates it",]
        );
    }

    #[test]
    fn what_is_no_copy_is_left_alone() {
        let schema = r#"
[keys.activity]
pattern = "activity:{user_id}"
lifecycle = "retained"
ttl = "90d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
