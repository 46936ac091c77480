use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition whose Redis type is another one, unless a migration converts its values.
    ///
    /// ## Why is this bad
    /// The server answers commands of the new type with `WRONGTYPE` as long as a key of the old type is there.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// value = "json"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { items = "json", total = "uint" }
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.cart]
    /// pattern = "basket:{user_id:uint}"
    /// fields = { items = "json", total = "uint" }
    /// ttl = "7d"
    ///
    /// [migrations.carts]
    /// phase = "dual-write"
    ///
    /// [migrations.carts.renames]
    /// cart = { pattern = "cart:{user_id}", convert = "json-to-hash" }
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let (Some(old), Some(new)) = (&pair.old.key_type, &pair.new.key_type) else { continue };
        if old.stored() == new.stored() || cx.converts(pair) {
            continue;
        }
        let message = format!(
            "`{}` is a `{}` now, and its keys are of the type `{}`",
            pair.new.name.value,
            new.stored(),
            old.stored()
        );
        let is = (Some(&new.span), format!("makes it a `{}`", new.stored()));
        let was = (Some(&old.span), format!("made it a `{}`", old.stored()));
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, was)
                .help(
                    "give the new type a pattern of its own, and convert the values in a migration",
                )
                .touching(cx.touches_all(pair.old)),
        );
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
            ["`cart` is a `hash` now, and its keys are of the type `string`"]
        );
    }

    #[test]
    fn what_is_stored_alike_is_the_same_type() {
        let with = |ty: &str| format!("[keys.a]\npattern = \"a\"\ntype = \"{ty}\"\n");
        assert_eq!(broken(&RULE, &with("geo"), &with("zset")), [""; 0]);
        assert_eq!(broken(&RULE, &with("set"), &with("zset")).len(), 1);
    }

    #[test]
    fn a_type_that_was_not_declared_is_not_another() {
        assert_eq!(
            broken(
                &RULE,
                "[keys.a]\npattern = \"a\"\n",
                "[keys.a]\npattern = \"a\"\ntype = \"set\"\n"
            ),
            [""; 0]
        );
    }
}
