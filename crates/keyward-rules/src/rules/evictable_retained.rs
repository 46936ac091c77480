use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::loss;
use crate::rule::rule;
use keyward_schema::model::Lifecycle;

rule! {
    /// ## What it does
    /// Reports a definition whose keys must live until their TTL ends (`lifecycle = "retained"`) on
    /// a server that may evict them earlier. Locks, counters with a TTL, limits longer than an
    /// hour, dead letters, job status and revocations are retained unless the schema declares
    /// another lifecycle.
    ///
    /// ## Why is this bad
    /// `volatile-*` evicts exactly the keys that have a TTL, and `allkeys-*` evicts any key. When a
    /// lock is evicted, a second holder can take it. When a revocation is evicted, the revoked
    /// token is valid again. Anyone who can fill the cache can cause this.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// maxmemory-policy = "volatile-lru"
    ///
    /// [keys.sync_lock]
    /// pattern = "sync:lock:{platform}"
    /// lock = {}
    /// ttl = "5m"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// maxmemory-policy = "noeviction"
    ///
    /// [keys.sync_lock]
    /// pattern = "sync:lock:{platform}"
    /// lock = {}
    /// ttl = "5m"
    /// ```
    /// If caches on this server need eviction, keep retained keys on a separate server.
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(policy) = cx.evicting() else { return };
    let evicts = if policy.evicts_persistent() {
        "evicts any key, with or without a TTL"
    } else {
        "evicts keys that have a TTL"
    };
    let retained = cx.schema.keys.iter().filter(|it| it.lifecycle == Lifecycle::Retained);
    for definition in retained {
        let name = &definition.name.value;
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.span);
        let place = definition.lifecycle_span.as_ref().or(ttl).unwrap_or(&definition.name.span);
        out.add(
            Finding::new(format!(
                "`{name}` must live until its TTL ends, but the server may evict it"
            ))
            .about(definition)
            .at(place, loss(cx, definition))
            .at(&policy.span, evicts)
            .help(format!("use `noeviction`, or keep `{name}` on a server that does not evict")),
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
        error[evictable-retained]: `sync_lock` must live until its TTL ends, but the server may evict it
          ╭▸ keyward.toml:9:7
          │
        4 │ maxmemory-policy = "volatile-lru"
          │                    ────────────── evicts keys that have a TTL
          ┆
        9 │ ttl = "5m"
          │       ━━━━ two could hold this lock at once
          │
          ├ help: use `noeviction`, or keep `sync_lock` on a server that does not evict
          ╰ note: `keyward explain evictable-retained`
        "#);
    }

    #[test]
    fn what_is_revoked_must_stay_revoked() {
        let schema = r#"
[server]
maxmemory-policy = "volatile-ttl"
[keys.session]
pattern = "session:{id}"
type = "hash"
session = { revoked = "revoked" }
ttl = "7d"
[keys.revoked]
pattern = "revoked:{id}"
value = "timestamp"
ttl = "7d"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`revoked` must live until its TTL ends, but the server may evict it",]
        );
    }

    #[test]
    fn a_short_limit_may_be_evicted() {
        let schema = r#"
[server]
maxmemory-policy = "allkeys-lru"
[keys.limit]
pattern = "limit:{user_id}"
rate_limit = { limit = 10, window = "60s" }
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
