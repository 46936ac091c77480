use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::loss;
use crate::rule::rule;
use keyward_schema::model::{Lifecycle, Policy, Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a definition that never expires (`lifecycle = "protected"`, which `ttl = "none"`
    /// implies) on a server whose `maxmemory-policy` can evict any key.
    ///
    /// ## Why is this bad
    /// Under `allkeys-*`, a full server evicts the keys that its policy picks, with or without a
    /// TTL. A counter restarts from nothing, a queue loses its jobs, and nothing reports it.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory = "2gb"
    /// maxmemory-policy = "allkeys-lru"
    ///
    /// [keys.quota_used]
    /// pattern = "quota:{user_id}:used"
    /// counter = {}
    /// ttl = "none"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory = "2gb"
    /// maxmemory-policy = "volatile-lru"
    ///
    /// [keys.quota_used]
    /// pattern = "quota:{user_id}:used"
    /// counter = {}
    /// ttl = "none"
    /// ```
    /// If the value can be computed again and may be lost, set `lifecycle = "cache"`.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(policy) = cx.evicting().filter(|policy| policy.evicts_persistent()) else { return };
    for definition in &cx.schema.keys {
        let expires = definition.ttl.as_deref().is_some_and(Ttl::expires);
        if definition.lifecycle != Lifecycle::Protected || expires {
            continue;
        }
        let name = &definition.name.value;
        let otherwise = match definition.role.as_deref() {
            Some(Role::Queue(_)) => format!("keep `{name}` on a server that does not evict"),
            _ => format!("give `{name}` a TTL"),
        };
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.span);
        let place = ttl.or(definition.lifecycle_span.as_ref()).unwrap_or(&definition.name.span);
        out.add(
            Finding::new(format!("`{name}` never expires, but the server may evict it"))
                .about(definition)
                .at(place, loss(cx, definition))
                .at(&policy.span, "evicts any key, with or without a TTL")
                .help(format!("use `{}`, or {otherwise}", counterpart(**policy).name())),
        );
    }
}

/// The policy that evicts in the same order, but only keys with a TTL.
fn counterpart(policy: Policy) -> Policy {
    match policy {
        Policy::AllkeysLfu => Policy::VolatileLfu,
        Policy::AllkeysLrm => Policy::VolatileLrm,
        Policy::AllkeysRandom => Policy::VolatileRandom,
        _ => Policy::VolatileLru,
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, RULE, counterpart};
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[evictable-persistent]: `quota_used` never expires, but the server may evict it
          ╭▸ keyward.toml:9:7
          │
        4 │ maxmemory-policy = "allkeys-lru"
          │                    ───────────── evicts any key, with or without a TTL
          ┆
        9 │ ttl = "none"
          │       ━━━━━━ this counter would restart from nothing
          │
          ├ help: use `volatile-lru`, or give `quota_used` a TTL
          ╰ note: `keyward explain evictable-persistent`
        "#);
    }

    #[test]
    fn the_policy_to_use_evicts_in_the_same_order() {
        for policy in Policy::ALL.into_iter().filter(|policy| policy.evicts_persistent()) {
            let instead = counterpart(policy);
            assert_eq!(instead.name(), policy.name().replace("allkeys", "volatile"));
            assert!(!instead.evicts_persistent() && instead.evicts_expiring());
        }
    }

    #[test]
    fn only_what_never_expires_is_reported() {
        let schema = r#"
[server]
maxmemory-policy = "allkeys-lfu"
[keys.cache]
pattern = "cache:{id}"
ttl = "1h"
[keys.jobs]
pattern = "queue:{name}"
queue = {}
"#;
        assert_eq!(messages(&RULE, schema), ["`jobs` never expires, but the server may evict it",]);
    }

    #[test]
    fn what_may_vanish_is_a_cache() {
        let schema = r#"
[server]
maxmemory-policy = "allkeys-lru"
[keys.cache]
pattern = "cache:{id}"
ttl = "none"
lifecycle = "cache"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_server_without_a_limit_evicts_nothing() {
        let schema = r#"
[server]
maxmemory = "0"
maxmemory-policy = "allkeys-lru"
[keys.total]
pattern = "total"
counter = {}
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
