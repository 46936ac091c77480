use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Migration, Phase};

rule! {
    /// ## What it does
    /// Reports a migration that takes more than one step at a time: it begins in `read-fallback` or `cleanup` for a
    /// name that the old version uses, or goes from `dual-write` to `cleanup` or back.
    ///
    /// ## Why is this bad
    /// While a version is rolled out, programs of both run. Two phases that follow each other are made to work
    /// together; others are not: one program writes only the name that the other does not read.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "basket:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [migrations.carts]
    /// phase = "cleanup"
    ///
    /// [migrations.carts.renames]
    /// cart = "cart:{user_id}"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.cart]
    /// pattern = "basket:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [migrations.carts]
    /// phase = "dual-write"
    ///
    /// [migrations.carts.renames]
    /// cart = "cart:{user_id}"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for migration in &cx.new.migrations {
        let before = cx.old.migrations.iter().find(|it| it.name.value == migration.name.value);
        let skips = match before {
            Some(before) => step(before.phase.value).abs_diff(step(migration.phase.value)) > 1,
            None => step(migration.phase.value) > 1 && renames_what_is_used(cx, migration),
        };
        if !skips {
            continue;
        }
        let (name, phase) = (&migration.name.value, migration.phase.name());
        let message = match before {
            Some(before) => {
                format!(
                    "the migration `{name}` goes from `{}` to `{phase}` in one step",
                    before.phase.name()
                )
            }
            None => format!("the migration `{name}` begins in `{phase}`"),
        };
        let next = if before.is_some() { "read-fallback" } else { "dual-write" };
        let finding = Finding::new(message)
            .changes_other(name.as_str())
            .at(&migration.phase.span, "programs of both versions run for a while");
        let finding = match before {
            Some(before) => finding.at(&before.phase.span, "the phase before"),
            None => finding,
        };
        out.add(finding.help(format!("release a version in `{next}` first")));
    }
}

fn step(phase: Phase) -> u8 {
    match phase {
        Phase::DualWrite => 1,
        Phase::ReadFallback => 2,
        Phase::Cleanup => 3,
    }
}

/// Whether an old name of a migration is a name that the old version writes.
fn renames_what_is_used(cx: &Change<'_>, migration: &Migration) -> bool {
    let own = migration.renames.iter().map(|rename| rename.definition.value.as_str());
    own.into_iter().any(|name| {
        let pair = cx.pairs.iter().find(|pair| pair.new.name.value == name);
        pair.is_some_and(|pair| !pair.keys.same && pair.keys.lost.is_none())
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    fn with(phase: &str) -> String {
        format!(
            "[keys.cart]\npattern = \"basket:{{id:uint}}\"\n[migrations.carts]\nphase = \"{phase}\"\n\
             [migrations.carts.renames]\ncart = \"cart:{{id}}\"\n"
        )
    }

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the migration `carts` begins in `cleanup`"]);
    }

    #[test]
    fn one_step_in_either_direction_is_safe() {
        assert_eq!(broken(&RULE, &with("dual-write"), &with("read-fallback")), [""; 0]);
        assert_eq!(broken(&RULE, &with("read-fallback"), &with("dual-write")), [""; 0]);
        assert_eq!(
            broken(&RULE, &with("dual-write"), &with("cleanup")),
            ["the migration `carts` goes from `dual-write` to `cleanup` in one step"]
        );
    }

    #[test]
    fn names_that_the_old_version_did_not_use_may_begin_anywhere() {
        let old = "[keys.cart]\npattern = \"basket:{id:uint}\"\n";
        assert_eq!(broken(&RULE, old, &with("cleanup")), [""; 0]);
    }
}
