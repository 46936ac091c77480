use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that will expire although their definition declares `ttl = "none"`, and hash fields with a TTL
    /// (HEXPIRE) for which none is declared. A scan reads the TTLs of fields only where the definition declares one;
    /// a snapshot has all of them.
    ///
    /// ## Why is this bad
    /// The key is declared to stay: a counter, a setting, an index. When its TTL ends, it is
    /// deleted, and nobody knows why.
    ///
    /// ## Example
    /// ```toml
    /// [keys.visits]
    /// pattern = "visits:{page:slug}"
    /// counter = {}
    /// ttl = "none"
    /// ```
    /// ```redis
    /// SET visits:home 42 EX 600
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// SET visits:home 42
    /// ```
    live Lifetime, Error, Recommended
}

/// Whether a key with this remaining TTL breaks it.
#[inline]
pub fn breaks(must_stay: bool, remaining: Option<u64>) -> bool {
    must_stay && remaining.is_some()
}

fn word(case: &Case<'_>) -> Wording {
    if let Some(field) = case.subject {
        return Wording::new(format!(
            "{field} of `{}` has a TTL, but is declared without one",
            case.name()
        ))
        .help(
            "find the program that calls HEXPIRE and `HPERSIST` the field, or declare its `ttl`",
        );
    }
    Wording::new(format!("keys of `{}` have a TTL, but are declared without one", case.name()))
        .help("find the program that sets the TTL and `PERSIST` the keys, or declare the TTL")
}
