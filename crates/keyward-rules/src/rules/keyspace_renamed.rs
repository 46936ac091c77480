use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a keyspace that has another name.
    ///
    /// ## Why is this bad
    /// Clients name themselves after the keyspace, and migrations wait for the clients of theirs: those of the old name
    /// are not seen. Reports and metrics of the two cannot be compared.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keyspace]
    /// name = "store"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keyspace]
    /// name = "shop"
    ///
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// ttl = "7d"
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let (old, new) = (&cx.old.keyspace.name, &cx.new.keyspace.name);
    if old.value != new.value {
        out.add(
            Finding::new(format!(
                "the keyspace is called `{}` now, and was `{}`",
                new.value, old.value
            ))
            .changes_other(new.value.as_str())
            .at(&new.span, "the name now")
            .at(&old.span, "the name before")
            .help("keep the name, or rename it while no migration is under way"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the keyspace is called `store` now, and was `shop`"]);
    }
}
