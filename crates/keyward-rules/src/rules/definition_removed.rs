use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition that the old version of the schema has and the new one has not. A definition whose
    /// keys another id has, as its keys or by a migration as old names, is renamed, not removed.
    ///
    /// ## Why is this bad
    /// Its keys stay on the server and belong to no definition, or to another one: nothing reads them, nothing
    /// deletes them, and an audit reports them as unknown.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    /// ```
    ///
    /// ## Use instead
    /// Keep the definition until its keys have expired, or until `keyward plan drop` has removed them. Then
    /// accept the change with `[[accept]]`.
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for gone in &cx.removed {
        let definition = gone.definition;
        let name = &definition.name.value;
        let message = match &gone.lost {
            Some(lost) => match &lost.now {
                Some(now) => {
                    format!("`{name}` is gone: its key `{}` belongs to `{now}` now", lost.key)
                }
                None => format!("`{name}` is gone: its key `{}` is not found any more", lost.key),
            },
            None => format!("`{name}` is gone"),
        };
        let finding = Finding::new(message)
            .removes(cx, definition)
            .at(cx.nowhere(), format!("has no definition `{name}` any more"))
            .at(&definition.name.span, "was declared here")
            .help("keep it until its keys have expired, or `keyward plan drop` has removed them")
            .help("if its keys have another name now, declare a migration with the old one");
        out.add(finding.touching(cx.touches_all(definition)));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(
            broken_example(&RULE),
            ["`cart` is gone: its key `cart:0` is not found any more"]
        );
    }

    #[test]
    fn keys_that_another_definition_takes_are_said_to_be_its() {
        let old = "[keys.a]\npattern = \"x:{id:uint}\"\n[keys.b]\npattern = \"x:{id:slug}:y\"\n";
        let new = "[keys.b]\npattern = \"x:{rest...}\"\n";
        assert_eq!(broken(&RULE, old, new), ["`a` is gone: its key `x:0` belongs to `b` now"]);
    }

    #[test]
    fn another_id_for_the_same_keys_is_not_a_removal() {
        let old = "[keys.a]\npattern = \"x:{id:uint}\"\n";
        assert_eq!(broken(&RULE, old, "[keys.b]\npattern = \"x:{number:uint}\"\n"), [""; 0]);
        let moved = "[keys.b]\npattern = \"y:{id:uint}\"\n[migrations.m]\nphase = \"dual-write\"\n\
                     [migrations.m.renames]\nb = \"x:{id}\"\n";
        assert_eq!(broken(&RULE, old, moved), [""; 0]);
    }

    #[test]
    fn an_unstable_group_may_lose_it() {
        let group = "[groups.beta]\nunstable = true\n";
        let old = format!(
            "{group}[keys.a]\npattern = \"x\"\ngroup = \"beta\"\n[keys.b]\npattern = \"y\"\n"
        );
        assert_eq!(broken(&RULE, &old, &format!("{group}[keys.b]\npattern = \"y\"\n")), [""; 0]);
        let stable = old.replace("true", "false");
        assert_eq!(broken(&RULE, &stable, &format!("{group}[keys.b]\npattern = \"y\"\n")).len(), 1);
    }

    #[test]
    fn an_accept_holds_until_its_day() {
        let old = "[keys.a]\npattern = \"x\"\n[keys.b]\npattern = \"y\"\n";
        let new = |day: &str| {
            format!(
                "[keys.b]\npattern = \"y\"\n[[accept]]\nrule = \"definition-removed\"\nsubject = \"a\"\n\
                 reason = \"its keys are gone\"\nexpires = {day}\n"
            )
        };
        assert_eq!(broken(&RULE, old, &new("2026-11-15")), [""; 0]);
        assert_eq!(broken(&RULE, old, &new("2026-11-14")).len(), 1);
    }
}
