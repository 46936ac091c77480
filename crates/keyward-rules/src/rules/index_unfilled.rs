use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Definition, Invalidate};

rule! {
    /// ## What it does
    /// Reports a definition whose keys events find by an index now, and by a scan or not at all before.
    ///
    /// ## Why is this bad
    /// The index begins empty. Keys that were written before are not in it, and stay although an event happens that
    /// should remove them.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "scan"
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "index"
    /// ```
    ///
    /// ## Use instead
    /// Remove the keys once with `keyward plan invalidate` after the programs with the index run, and accept the
    /// change; or keep the scan.
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "scan"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    let is_indexed =
        |it: &Definition| it.invalidate.as_ref().is_some_and(|how| how.value == Invalidate::Index);
    for pair in cx.pairs.iter().filter(|pair| is_indexed(pair.new) && !is_indexed(pair.old)) {
        let message = format!(
            "events find keys of `{}` by an index, which does not have those that were written before",
            pair.new.name.value
        );
        let span = |it: &'a Definition| it.invalidate.as_ref().map(|how| &how.span);
        let is = (span(pair.new), "begins empty".to_owned());
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, is, (span(pair.old), "had no index".to_owned()))
                .help("remove them once with `keyward plan invalidate`, when all programs keep the index")
                .touching(cx.touches_all(pair.old)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        let message = "events find keys of `price` by an index, which does not have those that were written before";
        assert_eq!(broken_example(&RULE), [message]);
    }
}
