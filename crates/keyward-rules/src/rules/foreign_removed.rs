use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys of other software that the schema no longer knows: a `[foreign]` entry whose glob is gone.
    ///
    /// ## Why is this bad
    /// An audit reports these keys as unknown, and a plan that fixes unknown keys may remove them.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [foreign.bull]
    /// glob = "bull:*"
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
    /// ```toml
    /// [foreign.bull]
    /// glob = "bull:*"
    ///
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for foreign in &cx.old.foreign {
        if cx.new.foreign.iter().any(|it| it.glob.value == foreign.glob.value) {
            continue;
        }
        let (name, glob) = (&foreign.name.value, &foreign.glob.value);
        let place = cx.new.foreign.iter().find(|it| it.name.value == *name);
        out.add(
            Finding::new(format!("`{glob}` are not keys of other software any more"))
                .changes_other(name.as_str())
                .at(place.map_or(cx.nowhere(), |it| &it.glob.span), "does not have the glob")
                .at(&foreign.glob.span, "was declared here")
                .help("keep it as long as the other software uses the server"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["`bull:*` are not keys of other software any more"]);
    }
}
