use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that will expire although their definition says `ttl = "none"`, and fields of hashes with a TTL of
    /// their own (HEXPIRE) although none is declared for the field. The scan of a server reads the TTLs of fields only
    /// where the definition declares one; a snapshot has them all.
    ///
    /// ## Why is this bad
    /// The key is declared to stay: a counter, a setting, an index. When its TTL ends it is gone, and
    /// nobody will know why.
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

/// Whether a key breaks it that must not expire, by what is left of its TTL.
#[inline]
pub fn breaks(must_stay: bool, remaining: Option<u64>) -> bool {
    must_stay && remaining.is_some()
}

fn word(case: &Case<'_>) -> Wording {
    if let Some(field) = case.subject {
        return Wording::new(format!("{field} of `{}` will expire", case.name()))
            .help("declare the `ttl` of the field, or find who calls HEXPIRE and HPERSIST it");
    }
    Wording::new(format!("keys of `{}` will expire", case.name()))
        .help("find who sets the TTL and PERSIST the keys, or declare the TTL")
}
