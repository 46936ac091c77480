use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports an event that is no longer declared.
    ///
    /// ## Why is this bad
    /// Code that emits it does not compile. What it invalidated stays until its TTL ends.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price"]
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
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// ttl = "10m"
    ///
    /// [events.price_changed]
    /// params = { sku = "slug" }
    /// invalidates = ["price"]
    /// ```
    breaking Code, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for event in &cx.old.events {
        let name = &event.name.value;
        if cx.new.events.iter().any(|it| it.name.value == *name) {
            continue;
        }
        out.add(
            Finding::new(format!("the event `{name}` is gone"))
                .changes_other(name.as_str())
                .at(cx.nowhere(), format!("has no event `{name}` any more"))
                .at(&event.name.span, "was declared here")
                .help("keep it until no program emits it"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the event `price_changed` is gone"]);
    }
}
