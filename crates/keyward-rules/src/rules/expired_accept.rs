use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports an `[[accept]]` whose last day has passed.
    ///
    /// ## Why is this bad
    /// It accepts nothing any more. The change that it was written for is long in the version that `keyward breaking`
    /// compares with, or it is reported again.
    ///
    /// ## Example
    /// ```toml
    /// [[accept]]
    /// rule = "definition-removed"
    /// subject = "cart"
    /// reason = "the last cart expired in September"
    /// expires = 2025-10-31
    ///
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
    /// ```
    Care, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for accept in cx.schema.accept.iter().filter(|accept| accept.expires.value < cx.today) {
        let message = format!(
            "the `[[accept]]` for `{}` of `{}` has expired",
            accept.rule.value, accept.subject.value
        );
        out.add(
            Finding::new(message)
                .at(&accept.expires.span, "this date has passed")
                .help("remove it, or set a later date if the change is still under way"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{block, example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE));
    }

    #[test]
    fn the_last_day_is_not_over() {
        let schema = block(&RULE, "Example").replace("2025-10-31", "2026-11-15");
        assert_eq!(messages(&RULE, &schema), [""; 0]);
    }
}
