use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_fact::Duration;
use keyward_schema::model::Derived;

rule! {
    /// ## What it does
    /// Reports a definition that no longer has some of its derived keys: the keys that the store writes beside its own.
    ///
    /// ## Why is this bad
    /// Derived keys that are on the server stay until they expire, and some never do. What they held is forgotten: who
    /// waits, which jobs run, the last fence of a lock.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "index"
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "scan"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}:{region:slug}"
    /// value = "uint"
    /// ttl = "1d"
    /// invalidate = "index"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let after = cx.new.derived(pair.new);
        let left = cx.old.derived(pair.old).into_iter().filter(|it| !after.contains(it));
        let left: Vec<Derived> = left.collect();
        if left.is_empty() {
            continue;
        }
        let words: Vec<String> = left.iter().map(|it| format!("~{}", it.word())).collect();
        let end = left
            .iter()
            .map(|it| it.longest(pair.old))
            .max_by_key(|end| end.map_or(u64::MAX, Duration::as_millis));
        let stay = match end.flatten() {
            Some(end) => format!("stay for up to {end}"),
            None => "stay on the server".to_owned(),
        };
        let message =
            format!("derived keys {} of `{}` {stay}", listed(&words, 6), pair.new.name.value);
        let touched = cx.of(pair.old, Some(pair.new), |measured| {
            let (keys, bytes) = measured.derived;
            cx.at_most(keys, bytes)
        });
        out.add(
            Finding::new(message)
                .changes(cx, pair, None)
                .was(
                    pair,
                    (None, "does not write them any more".to_owned()),
                    (None, "wrote them".to_owned()),
                )
                .help("`keyward audit` counts what is left, and `keyward plan drop` removes it")
                .touching(touched),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{broken, broken_example};

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["derived keys `~index` of `price` stay for up to 1d"]);
    }

    #[test]
    fn what_never_expires_stays() {
        let old = "[keys.jobs]\npattern = \"jobs\"\nqueue = {}\nvalue = \"json\"\n";
        let new =
            "[keys.jobs]\npattern = \"jobs\"\ntype = \"list\"\nvalue = \"json\"\nttl = \"none\"\n";
        let found = broken(&RULE, old, new);
        assert_eq!(
            found,
            [
                "derived keys `~jobs`, `~taken`, `~leases`, `~due` and `~ready` of `jobs` stay on the server"
            ]
        );
    }
}
