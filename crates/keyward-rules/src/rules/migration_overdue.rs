use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::Phase;

rule! {
    /// ## What it does
    /// Reports a migration whose `remove_after` date has passed.
    ///
    /// ## Why is this bad
    /// Each write goes to two names, and newcomers must learn both. A migration that nobody ends
    /// becomes the convention.
    ///
    /// ## Example
    /// ```toml
    /// [keys.tick]
    /// pattern = "market:tick:{symbol}"
    /// ttl = "5s"
    ///
    /// [migrations.v2]
    /// phase = "dual-write"
    /// remove_after = 2025-10-17
    /// [migrations.v2.renames]
    /// tick = "tick:{symbol}"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.tick]
    /// pattern = "market:tick:{symbol}"
    /// ttl = "5s"
    /// ```
    /// Remove the migration when an audit finds no more keys under the old names. Until then, set a
    /// date that you can keep.
    Change, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for migration in &cx.schema.migrations {
        let Some(end) = migration.remove_after.as_ref().filter(|end| end.value < cx.today) else {
            continue;
        };
        let name = &migration.name.value;
        let (label, help) = match migration.phase.value {
            Phase::DualWrite => (
                "both names are still written, and the old one is read",
                "move on to `read-fallback`, or set a later date",
            ),
            Phase::ReadFallback => {
                ("both names are still written", "move on to `cleanup`, or set a later date")
            }
            Phase::Cleanup => (
                "only the old keys are left to delete",
                "remove the migration when an audit finds no old names",
            ),
        };
        out.add(
            Finding::new(format!("the migration `{name}` is overdue"))
                .about_migration(migration)
                .at(&end.span, "this date has passed")
                .at(&migration.phase.span, label)
                .help(help),
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
        warning[migration-overdue]: the migration `v2` is overdue
          ╭▸ keyward.toml:8:16
          │
        7 │ phase = "dual-write"
          │         ──────────── both names are still written, and the old one is read
        8 │ remove_after = 2025-10-17
          │                ━━━━━━━━━━ this date has passed
          │
          ├ help: move on to `read-fallback`, or set a later date
          ╰ note: `keyward explain migration-overdue`
        "#);
    }

    #[test]
    fn the_last_day_is_not_over() {
        let schema = r#"
[keys.tick]
pattern = "market:tick:{symbol}"
[migrations.v2]
phase = "dual-write"
remove_after = 2026-11-15
[migrations.v2.renames]
tick = "tick:{symbol}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
