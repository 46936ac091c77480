use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, Lifecycle, Role, Ttl};

/// The longest TTL of something temporary.
const TEMPORARY: Duration = Duration::from_hours(1);

rule! {
    /// ## What it does
    /// Reports a lifecycle that its TTL contradicts: something protected that expires, something
    /// that is a cache, a session, retained or temporary and never does, something temporary that
    /// lives for more than an hour.
    ///
    /// A cache without a TTL is accepted where the server evicts any key (`allkeys-*`): eviction
    /// is then what ends it.
    ///
    /// ## Why is this bad
    /// One of the two is not what the author meant, and they decide different things: the TTL what
    /// the server removes, the lifecycle what may be lost.
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
        let lifecycle = definition.lifecycle.name();
        let role = definition.role.as_ref().map(|role| &role.span);
        let said = definition.lifecycle_span.as_ref().or(role).unwrap_or(&definition.name.span);
        out.add(
            Finding::new(format!("`{}` is {lifecycle}, but {wrong}", definition.name.value))
                .about(definition)
                .at(&ttl.span, wrong)
                .at(said, format!("makes it {lifecycle}"))
                .help(help),
        );
    }
}

fn contradiction(
    cx: &Context<'_>,
    definition: &Definition,
    ttl: &Ttl,
) -> Option<(&'static str, &'static str)> {
    let written = definition.lifecycle_span.is_some();
    let queue = matches!(definition.role.as_deref(), Some(Role::Queue(_)));
    let lock = matches!(definition.role.as_deref(), Some(Role::Lock(_)));
    let evicted = cx.evicting().is_some_and(|policy| policy.evicts_persistent());
    match definition.lifecycle {
        // `expiring-queue` and `lock-without-ttl` say more.
        Lifecycle::Protected if queue && !written => None,
        _ if lock && !ttl.expires() => None,
        Lifecycle::Protected if ttl.expires() => {
            Some(("it expires", "remove the TTL, or make it `retained`"))
        }
        Lifecycle::Protected => None,
        Lifecycle::Cache if evicted && !ttl.expires() => None,
        _ if !ttl.expires() && queue => {
            Some(("a queue never expires", "leave `lifecycle` out: a queue is protected"))
        }
        _ if !ttl.expires() => Some(("it never expires", "give it a TTL, or make it `protected`")),
        Lifecycle::Temporary if ttl.longest().is_some_and(|longest| longest > TEMPORARY) => {
            Some(("it may live for more than an hour", "shorten the TTL, or make it a `cache`"))
        }
        _ => None,
    }
}
