use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Lifecycle;

rule! {
    /// ## What it does
    /// Reports sessions on a server that may evict them before their TTL ends.
    ///
    /// ## Why is this bad
    /// A full server logs people out. Many teams accept that, so only the rule set `strict` reports
    /// it.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// maxmemory-policy = "allkeys-lru"
    ///
    /// [keys.session]
    /// pattern = "session:{session_id}"
    /// type = "hash"
    /// session = {}
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// maxmemory-policy = "noeviction"
    ///
    /// [keys.session]
    /// pattern = "session:{session_id}"
    /// type = "hash"
    /// session = {}
    /// ttl = "7d"
    /// ```
    Lifetime, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let Some(policy) = cx.evicting() else { return };
    for definition in cx.schema.keys.iter().filter(|it| it.lifecycle == Lifecycle::Session) {
        let role = definition.role.as_ref().map(|role| &role.span);
        let place = definition.lifecycle_span.as_ref().or(role).unwrap_or(&definition.name.span);
        out.add(
            Finding::new(format!(
                "the server may evict `{}` before its TTL ends",
                definition.name.value
            ))
            .about(definition)
            .at(place, "a user would be logged out")
            .at(&policy.span, "evicts when memory is full")
            .help("use `noeviction`, or keep sessions on a separate server"),
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
        warning[session-evictable]: the server may evict `session` before its TTL ends
          ╭▸ keyward.toml:9:11
          │
        4 │ maxmemory-policy = "allkeys-lru"
          │                    ───────────── evicts when memory is full
          ┆
        9 │ session = {}
          │           ━━ a user would be logged out
          │
          ├ help: use `noeviction`, or keep sessions on a separate server
          ╰ note: `keyward explain session-evictable`
        "#);
    }

    #[test]
    fn a_cache_is_no_session() {
        let schema = r#"
[server]
maxmemory-policy = "allkeys-lru"
[keys.cache]
pattern = "cache:{id}"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
