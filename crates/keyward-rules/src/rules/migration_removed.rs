use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::diagnostic::Touched;
use keyward_schema::model::{Migration, Phase, Rename};

rule! {
    /// ## What it does
    /// Reports an old name that the schema no longer knows, because its migration was removed before `cleanup`, or
    /// because an audit still counts keys under it.
    ///
    /// ## Why is this bad
    /// Keys that have only the old name are not found any more.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "basket:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [migrations.carts]
    /// phase = "read-fallback"
    ///
    /// [migrations.carts.renames]
    /// cart = "cart:{user_id}"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "basket:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
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
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for migration in &cx.old.migrations {
        for rename in &migration.renames {
            let Some(pair) = cx.pair(&rename.definition) else { continue };
            if is_known(cx, &pair.new.name, rename) {
                continue;
            }
            let left = left(cx, &rename.definition, &migration.name);
            let is_over = migration.phase.value == Phase::Cleanup;
            if is_over && left.as_ref().is_none_or(|(touched, _)| touched.keys == Some(0)) {
                continue;
            }
            out.add(finding(cx, migration, rename).touching(left));
        }
    }
}

fn finding<'a>(cx: &Change<'a>, migration: &'a Migration, rename: &'a Rename) -> Finding<'a> {
    let message = format!(
        "`{}`, an old name of `{}`, is not known any more: its migration ended in `{}`",
        rename.from.as_str(),
        rename.definition.value,
        migration.phase.name()
    );
    let place = cx.new.migrations.iter().find(|it| it.name.value == migration.name.value);
    Finding::new(message)
        .changes_other(migration.name.value.as_str())
        .at(place.map_or(cx.nowhere(), |it| &it.name.span), "does not have it")
        .at(&rename.from.span, "was declared here")
        .help("take the migration to `cleanup`, and remove it when an audit finds no old names")
}

/// Whether the new version has an old name.
fn is_known(cx: &Change<'_>, definition: &str, rename: &Rename) -> bool {
    let mut known = cx.new.migrations.iter().flat_map(|migration| &migration.renames);
    known.any(|it| it.definition.value == definition && it.from.as_str() == rename.from.as_str())
}

/// The keys that an audit found under an old name.
fn left(cx: &Change<'_>, definition: &str, migration: &str) -> Option<(Touched, String)> {
    let measured = cx.measured?.definitions.get(definition)?;
    let own = measured.old_names.iter().filter(|it| it.migration == migration);
    let (mut keys, mut bytes) = (0, Some(0));
    for old in own {
        keys += old.keys;
        bytes = bytes.zip(old.bytes).map(|(sum, bytes)| sum + bytes);
    }
    Some(cx.counted(keys, bytes))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::breaking::{Measured, MeasuredDefinition, OldAmount};
    use crate::harness::{broken, broken_example, broken_with};

    const OLD: &str = "[keys.cart]\npattern = \"basket:{id:uint}\"\n[migrations.carts]\nphase = \"cleanup\"\n\
                       [migrations.carts.renames]\ncart = \"cart:{id}\"\n";
    const NEW: &str = "[keys.cart]\npattern = \"basket:{id:uint}\"\n";

    #[test]
    fn the_example_is_reported() {
        let message = "`cart:{user_id}`, an old name of `cart`, is not known any more: its migration ended in \
                       `read-fallback`";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn a_migration_ends_after_cleanup() {
        assert_eq!(broken(&RULE, OLD, NEW), [""; 0]);
    }

    #[test]
    fn what_an_audit_still_finds_under_the_old_name_is_not_over() {
        let measured = |keys| {
            let old = OldAmount { migration: "carts".to_owned(), keys, bytes: Some(2048) };
            let definition =
                MeasuredDefinition { old_names: vec![old], ..MeasuredDefinition::default() };
            let definitions = [("cart".to_owned(), definition)].into();
            Measured { definitions, sampled: None, complete: true }
        };
        assert!(broken_with(&RULE, OLD, NEW, &measured(0)).is_empty());
        let found = broken_with(&RULE, OLD, NEW, &measured(12));
        assert_eq!(found[0].notes, ["touches 12 keys (2.0 KiB)"]);
    }
}
