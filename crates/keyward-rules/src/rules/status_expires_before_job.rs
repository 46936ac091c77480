use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::rules::Rule;
use keyward_fact::Duration;
use keyward_schema::model::{Role, Ttl};
use keyward_schema::span::Spanned;

/// How long a job may wait, unless `[rules]` says otherwise.
const WAIT: Duration = Duration::from_hours(24);

rule! {
    /// ## What it does
    /// Reports a job status that may expire before its job: earlier than the dead letters that keep
    /// a failed job, or earlier than a job may wait in the queue. `max` in `[rules]` declares that
    /// wait, a day by default.
    ///
    /// ## Why is this bad
    /// A job waits over a weekend and runs on Monday, but its status is already gone. Failed jobs
    /// stay in the dead letters without a record of what happened to them.
    ///
    /// ## Example
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:job:{job_type}"
    /// queue = { dead_letter = "dead_jobs", status = "job_status" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "queue:dead:{job_type}"
    /// type = "list"
    /// ttl = "7d"
    ///
    /// [keys.job_status]
    /// pattern = "job:status:{job_id}"
    /// type = "hash"
    /// ttl = "1d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:job:{job_type}"
    /// queue = { dead_letter = "dead_jobs", status = "job_status" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "queue:dead:{job_type}"
    /// type = "list"
    /// ttl = "7d"
    ///
    /// [keys.job_status]
    /// pattern = "job:status:{job_id}"
    /// type = "hash"
    /// ttl = "7d"
    /// ```
    Lifetime, Warn, Recommended, options = [Max]
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let configured =
        cx.setting(Rule::StatusExpiresBeforeJob).and_then(|setting| setting.max.as_ref());
    let wait = configured.map_or(WAIT, |max| max.value);
    for queue in &cx.schema.keys {
        let Some(Role::Queue(role)) = queue.role.as_deref() else { continue };
        let Some(status) = role.status.as_ref().and_then(|name| cx.definition(name)) else {
            continue;
        };
        let Some(ttl) = &status.ttl else { continue };
        let Some(kept) = status.shortest_ttl() else { continue };
        let dead = role.dead_letter.as_ref().and_then(|name| cx.definition(name));
        let dead_ttl = dead.and_then(|dead| dead.ttl.as_ref());
        let name = &status.name.value;
        let finding = Finding::new(format!(
            "`{name}` may expire before its job in `{}` ends",
            queue.name.value
        ))
        .about(status)
        .about(queue)
        .at(&ttl.span, format!("kept for {}", kept.human()));
        let outlives = |dead: &&Spanned<Ttl>| match dead.longest() {
            Some(longest) => longest > kept,
            None => !dead.expires(),
        };
        if let Some(dead_ttl) = dead_ttl.filter(outlives) {
            let label = match dead_ttl.longest() {
                Some(longest) => format!("a failed job is kept for {}", longest.human()),
                None => "a failed job is kept forever".to_owned(),
            };
            out.add(
                finding
                    .at(&dead_ttl.span, label)
                    .help(format!("give `{name}` at least the TTL of the dead letters")),
            );
        } else if kept < wait {
            let waits = queue.ttl.as_ref().filter(|ttl| !Ttl::expires(ttl)).map(|ttl| &ttl.span);
            out.add(
                finding.at(waits.unwrap_or(&queue.name.span), "a job may wait here longer").help(
                    format!(
                        "keep `{name}` for at least {}, or set `max` of this rule",
                        wait.human()
                    ),
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[status-expires-before-job]: `job_status` may expire before its job in `jobs` ends
           ╭▸ keyward.toml:14:7
           │
         9 │ ttl = "7d"
           │       ──── a failed job is kept for 7 d
           ┆
        14 │ ttl = "1d"
           │       ━━━━ kept for 1 d
           │
           ├ help: give `job_status` at least the TTL of the dead letters
           ╰ note: `keyward explain status-expires-before-job`
        "#);
    }

    #[test]
    fn dead_letters_that_never_expire_outlive_any_status_that_does() {
        let with = |status: &str| {
            format!(
                "[keys.jobs]\npattern = \"queue:{{name}}\"\nqueue = {{ dead_letter = \"dead\", status = \"status\" }}\n\
                 [keys.dead]\npattern = \"dead:{{name}}\"\ntype = \"list\"\nttl = \"none\"\n\
                 [keys.status]\npattern = \"status:{{job_id}}\"\ntype = \"hash\"\nttl = \"{status}\"\n"
            )
        };
        assert_eq!(
            messages(&RULE, &with("30d")),
            ["`status` may expire before its job in `jobs` ends"]
        );
        assert_eq!(messages(&RULE, &with("none")), [""; 0]);
    }

    #[test]
    fn a_job_may_wait_for_a_day() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{name}"
queue = { status = "status" }
[keys.status]
pattern = "status:{job_id}"
type = "hash"
ttl = "10m"
"#;
        assert_eq!(messages(&RULE, schema), ["`status` may expire before its job in `jobs` ends",]);
    }

    #[test]
    fn how_long_a_job_may_wait_can_be_set() {
        let schema = r#"
[rules]
set = "strict"
status-expires-before-job = { max = "5m" }
[keys.jobs]
pattern = "queue:{name}"
queue = { status = "status" }
[keys.status]
pattern = "status:{job_id}"
type = "hash"
ttl = "10m"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
