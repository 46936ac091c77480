use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;
use keyward_schema::model::{OnFull, Role};

rule! {
    /// ## What it does
    /// Reports a queue or an index that is trimmed when it is full: it has a `max_len`, its own or
    /// from `[defaults]`, and does not say `on_full = "refuse"`.
    ///
    /// ## Why is this bad
    /// Trimming removes the oldest entries. In a queue these are the jobs that have waited longest,
    /// and nobody is told; in an index, keys that can no longer be found.
    ///
    /// ## Example
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = {}
    /// max_len = 10_000
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = {}
    /// max_len = 10_000
    /// on_full = "refuse"
    /// ```
    Lifetime, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in cx.schema.keys.iter().filter(|it| it.on_full == OnFull::Trim) {
        let (Some(role), Some(max_len)) = (&definition.role, &definition.max_len) else {
            continue;
        };
        let (what, lost) = match role.value {
            Role::Queue(_) => ("queue", "drops the jobs that have waited longest"),
            Role::Index(_) => ("index", "what is trimmed cannot be found any more"),
            _ => continue,
        };
        let name = &definition.name.value;
        let len = thousands(max_len.value);
        out.add(
            Finding::new(format!("the {what} `{name}` is trimmed to {len} entries"))
                .about(definition)
                .at(&max_len.span, lost)
                .help(format!("add `on_full = \"refuse\"` to `{name}`")),
        );
    }
}
