use crate::breaking::Change;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_schema::model::{CacheOptions, Definition};

rule! {
    /// ## What it does
    /// Reports a cache with other options: `l1`, `early_refresh`, `stale_if_error`, `stale_if_slow`, `negative_ttl`,
    /// `load_lock`.
    ///
    /// ## Why is this bad
    /// They decide how old a value may be that is served, how often the source is asked, and how much memory copies and
    /// marks take.
    ///
    /// ## Example
    /// Before:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// ```
    /// After:
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// stale_if_error = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// ```
    breaking Ops, Warn
}

fn check<'a>(cx: &Change<'a>, out: &mut Findings<'a>) {
    for pair in &cx.pairs {
        let both = options(pair.old).into_iter().zip(options(pair.new));
        let changed: Vec<_> = both.filter(|(old, new)| old != new).collect();
        if changed.is_empty() {
            continue;
        }
        let names: Vec<&str> = changed.iter().map(|((name, _), _)| *name).collect();
        let message =
            format!("the cache `{}` has another {}", pair.new.name.value, listed(&names, 6));
        let finding = Finding::new(message).changes(cx, pair, None).was(
            pair,
            (None, "the cache now".to_owned()),
            (None, "the cache before".to_owned()),
        );
        let finding = changed.iter().fold(finding, |finding, ((name, was), (_, is))| {
            finding.note(format!("`{name}` is {is}, and was {was}"))
        });
        out.add(finding.help("make sure that readers can do with values of that age"));
    }
}

fn options(definition: &Definition) -> [(&'static str, String); 6] {
    let CacheOptions { l1, early_refresh, stale_if_error, stale_if_slow, negative_ttl, load_lock } =
        &definition.cache;
    let time = |it: &Option<keyward_schema::Spanned<keyward_fact::Duration>>| {
        it.as_ref().map_or("not set".to_owned(), |it| it.value.to_string())
    };
    let early = early_refresh.as_ref().is_some_and(|it| it.value);
    [
        ("l1", time(l1)),
        ("early_refresh", early.to_string()),
        ("stale_if_error", time(stale_if_error)),
        ("stale_if_slow", time(stale_if_slow)),
        ("negative_ttl", time(negative_ttl)),
        ("load_lock", time(load_lock)),
    ]
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::broken_example;

    #[test]
    fn the_example_is_reported() {
        assert_eq!(broken_example(&RULE), ["the cache `price` has another `stale_if_error`"]);
    }
}
