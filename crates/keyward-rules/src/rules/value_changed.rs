use crate::breaking::{Change, Pair, Reading, parts, reading, words};
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_schema::model::{Algorithm, Role};

rule! {
    /// ## What it does
    /// Reports a value, field, member or score whose encoding is another one, so that some of what is stored cannot be
    /// read any more, or is read as something else; with such a value where there is a simple one. The same goes for
    /// the `algorithm` of a rate limit.
    ///
    /// ## Why is this bad
    /// A read fails, or yields a wrong number or moment, for every value that was written before.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { total = "int", updated_at = "unix" }
    /// ttl = "7d"
    /// ```
    /// After:
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { total = "int", updated_at = "unix_ms" }
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// Add a field, and stop reading the old one when all values are written anew.
    /// ```toml
    /// [keys.cart]
    /// pattern = "cart:{user_id:uint}"
    /// fields = { total = "int", updated_at = "unix", updated_ms = "unix_ms?" }
    /// ttl = "7d"
    /// ```
    breaking Data, Error
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in cx.pairs.iter().filter(|pair| !cx.converts(pair)) {
        out.extend(counted_otherwise(cx, pair));
        let stored = |it: &'a keyward_schema::model::Definition| {
            it.key_type.as_ref().map(|it| it.stored().to_owned())
        };
        if stored(pair.old) != stored(pair.new) {
            continue; // see `type-changed`
        }
        for part in parts(pair.old, pair.new) {
            let Reading::Broken(such_as) = reading(part.old.0, part.new.0) else { continue };
            let what = match part.name {
                None => format!("the value of `{}`", pair.new.name.value),
                Some("*") => format!("each other field of `{}`", pair.new.name.value),
                Some(name) => format!("`{name}` of `{}`", pair.new.name.value),
            };
            let (is, was) = (words::value(part.new.0), words::value(part.old.0));
            let message = match such_as {
                Some(value) => {
                    format!("{what} is `{is}` now, which `{value}` is not or means otherwise")
                }
                None => {
                    format!("{what} is `{is}` now, and what was stored as `{was}` cannot be read")
                }
            };
            out.add(
                Finding::new(message)
                    .changes(cx, pair, part.name)
                    .at(part.new.1, format!("is `{is}`"))
                    .at(part.old.1, format!("was `{was}`"))
                    .help("write the new encoding to a key or a field of its own")
                    .touching(cx.touches_some(pair, "invalid-value", part.name)),
            );
        }
    }
}

/// The same number in a key means something else to another algorithm.
fn counted_otherwise<'a>(cx: &Change<'a>, pair: &Pair<'a>) -> Option<Finding<'a>> {
    let (Some(old), Some(new)) = (&pair.old.role, &pair.new.role) else { return None };
    let (Role::RateLimit(before), Role::RateLimit(after)) = (&old.value, &new.value) else {
        return None;
    };
    let name = |algorithm| match algorithm {
        Algorithm::FixedWindow => "fixed-window",
        Algorithm::SlidingWindow => "sliding-window",
        Algorithm::Gcra => "gcra",
    };
    let (was, is) = (name(before.algorithm), name(after.algorithm));
    let message = format!(
        "`{}` counts by `{is}`, and what was counted by `{was}` means otherwise",
        pair.new.name.value
    );
    let spans =
        ((Some(&new.span), format!("is `{is}`")), (Some(&old.span), format!("was `{was}`")));
    (was != is).then(|| {
        Finding::new(message)
            .changes(cx, pair, None)
            .was(pair, spans.0, spans.1)
            .help("give the new limit a pattern of its own")
            .touching(cx.touches_all(pair.old))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        let message =
            "`updated_at` of `cart` is `unix_ms` now, which `1763337600` is not or means otherwise";
        assert_eq!(broken_example(&RULE), [message]);
    }

    #[test]
    fn what_can_be_read_all_the_same_is_not_reported() {
        let with = |value: &str| format!("[keys.a]\npattern = \"a\"\nvalue = \"{value}\"\n");
        assert_eq!(broken(&RULE, &with("uint"), &with("text")), [""; 0]);
        assert_eq!(broken(&RULE, &with("text"), &with("uint")).len(), 1);
    }

    #[test]
    fn another_algorithm_reads_the_counter_otherwise() {
        let with = |algorithm: &str| {
            format!(
                "[keys.a]\npattern = \"a\"\nrate_limit = {{ limit = 10, window = \"1m\", algorithm = \"{algorithm}\" }}\n"
            )
        };
        assert_eq!(
            broken(&RULE, &with("fixed-window"), &with("gcra")),
            ["`a` counts by `gcra`, and what was counted by `fixed-window` means otherwise"]
        );
    }
}
