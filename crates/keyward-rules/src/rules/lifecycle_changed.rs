use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition with another lifecycle.
    ///
    /// ## Why is this bad
    /// The lifecycle says whether a key may be lost: a cache may be evicted at any time, a protected key never. Rules,
    /// plans, eviction settings and backups follow it.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// lifecycle = "retained"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// lifecycle = "cache"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// type = "hash"
    /// ttl = "7d"
    /// lifecycle = "retained"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| pair.old.lifecycle != pair.new.lifecycle) {
        let (was, is) = (pair.old.lifecycle.name(), pair.new.lifecycle.name());
        let message =
            format!("`{}` has the lifecycle `{is}` now, and had `{was}`", pair.new.name.value);
        let (new, old) = (pair.new.lifecycle_span.as_ref(), pair.old.lifecycle_span.as_ref());
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(pair, (new, format!("is `{is}`")), (old, format!("was `{was}`")))
                .help("make sure that the server's eviction and persistence fit")
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
        assert_eq!(
            broken_example(&RULE),
            ["`cart` has the lifecycle `cache` now, and had `retained`"]
        );
    }
}
