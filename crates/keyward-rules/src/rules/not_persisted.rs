use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::loss::loss;
use crate::rule::rule;
use keyward_schema::model::{Definition, Lifecycle, Role, Ttl};

rule! {
    /// ## What it does
    /// Reports a definition that must survive a restart on a server that persists nothing: `save`
    /// is empty and `appendonly` is not on. Keys that never expire must survive, and so must
    /// retained keys, except locks, limits and counters, which can start again.
    ///
    /// ## Why is this bad
    /// The next restart, planned or not, empties the queues, loses the flags and makes every
    /// revoked token valid again.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// save = ""
    /// appendonly = false
    ///
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = {}
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [server]
    /// maxmemory = "4gb"
    /// save = ""
    /// appendonly = true
    ///
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = {}
    /// ```
    Lifetime, Error, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let server = &cx.schema.server;
    let Some(save) = server.save.as_ref().filter(|save| save.trim().is_empty()) else { return };
    if server.appendonly.as_ref().is_some_and(|appendonly| appendonly.value) {
        return;
    }
    for definition in cx.schema.keys.iter().filter(|definition| must_survive(definition)) {
        let ttl = definition.ttl.as_ref().map(|ttl| &ttl.span);
        let place = definition.lifecycle_span.as_ref().or(ttl).unwrap_or(&definition.name.span);
        let name = &definition.name.value;
        let mut finding =
            Finding::new(format!("`{name}` does not survive a restart of the server"))
                .about(definition)
                .at(place, loss(cx, definition))
                .at(&save.span, "turns snapshots off");
        if let Some(appendonly) = &server.appendonly {
            finding = finding.at(&appendonly.span, "turns the append-only file off");
        }
        out.add(finding.help(format!(
            "set `appendonly = true` or `save = \"900 1\"`, or keep `{name}` on a server that persists"
        )));
    }
}

fn must_survive(definition: &Definition) -> bool {
    let starts_again = matches!(
        definition.role.as_deref(),
        Some(Role::Lock(_) | Role::RateLimit(_) | Role::Counter(_))
    );
    match definition.lifecycle {
        Lifecycle::Protected => !definition.ttl.as_deref().is_some_and(Ttl::expires),
        Lifecycle::Retained => !starts_again,
        Lifecycle::Session | Lifecycle::Cache | Lifecycle::Temporary => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[not-persisted]: `jobs` does not survive a restart of the server
          ╭▸ keyward.toml:9:9
          │
        4 │ save = ""
          │        ── turns snapshots off
        5 │ appendonly = false
          │              ───── turns the append-only file off
          ┆
        9 │ queue = {}
          │         ━━ its jobs would be lost
          │
          ├ help: set `appendonly = true` or `save = "900 1"`, or keep `jobs` on a server that persists
          ╰ note: `keyward explain not-persisted`
        "#);
    }

    #[test]
    fn without_the_settings_the_server_saves_snapshots() {
        let schema = r#"
[server]
maxmemory = "1gb"
appendonly = false
[keys.jobs]
pattern = "queue:{name}"
queue = {}
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn locks_limits_and_caches_may_be_lost() {
        let schema = r#"
[server]
save = ""
[keys.lock]
pattern = "lock"
lock = {}
ttl = "30s"
[keys.limit]
pattern = "limit:{user_id}"
rate_limit = { limit = 10, window = "1d" }
[keys.cache]
pattern = "cache:{id}"
ttl = "7d"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_flag_a_counter_and_dead_letters_must_survive() {
        let schema = r#"
[server]
save = ""
[keys.flag]
pattern = "flag:{name}"
flag = {}
ttl = "none"
[keys.dead]
pattern = "dead:{name}"
type = "list"
lifecycle = "retained"
ttl = "7d"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`flag` does not survive a restart of the server",
                "`dead` does not survive a restart of the server",
            ]
        );
    }
}
