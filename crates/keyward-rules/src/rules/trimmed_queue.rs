use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::thousands;
use keyward_schema::model::{OnFull, Role};

rule! {
    /// ## What it does
    /// Reports a queue that drops jobs when it is full: it has a `max_len`, its own or from
    /// `[defaults]`, without `on_full = "refuse"`.
    ///
    /// ## Why is this bad
    /// Trimming removes the oldest entries. In a queue these are the jobs that have waited longest,
    /// and nothing reports the loss.
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
        if !matches!(role.value, Role::Queue(_)) {
            continue;
        }
        let (name, len) = (&definition.name.value, thousands(max_len.value));
        out.add(
            Finding::new(format!("the queue `{name}` is trimmed to {len} jobs"))
                .about(definition)
                .at(&role.span, "drops the jobs that have waited longest")
                .at(&max_len.span, "at this length")
                .help(format!("add `on_full = \"refuse\"` to `{name}`")),
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
        warning[trimmed-queue]: the queue `jobs` is trimmed to 10,000 jobs
          ╭▸ keyward.toml:4:9
          │
        4 │ queue = {}
          │         ━━ drops the jobs that have waited longest
        5 │ max_len = 10_000
          │           ────── at this length
          │
          ├ help: add `on_full = "refuse"` to `jobs`
          ╰ note: `keyward explain trimmed-queue`
        "#);
    }

    #[test]
    fn a_ranking_may_be_trimmed() {
        let schema = r#"
[defaults]
max_len = 100
[keys.top]
pattern = "top"
ranking = {}
ttl = "none"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_default_trims_as_well() {
        let schema = r#"
[defaults]
max_len = 100
[keys.jobs]
pattern = "queue:{name}"
queue = {}
"#;
        assert_eq!(messages(&RULE, schema), ["the queue `jobs` is trimmed to 100 jobs",]);
    }
}
