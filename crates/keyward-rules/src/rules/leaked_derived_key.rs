use super::ttl_too_long;
use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that Keyward derived from a definition's keys (`~lease`, `~index` and others) and that live longer
    /// than they may, or that the definition does not have any more.
    ///
    /// ## Why is this bad
    /// Nobody looks at derived keys. One that never expires stays for ever, and a lease or a tombstone that
    /// outlives its purpose changes what the store does. Either something other than Keyward wrote it, or the
    /// schema was changed while such keys existed.
    ///
    /// ## Example
    /// ```toml
    /// [keys.price]
    /// pattern = "price:{sku:slug}"
    /// value = "uint"
    /// ttl = "10m"
    /// negative_ttl = "1m"
    /// ```
    /// ```redis
    /// SET ~none:{price:lamp} ""
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// SET ~none:{price:lamp} ""
    /// EXPIRE ~none:{price:lamp} 60
    /// ```
    live Lifetime, Warn, Recommended
}

/// Whether a derived key with this remaining TTL lives too long; both in milliseconds.
pub fn breaks(longest: Option<u64>, remaining: Option<u64>) -> bool {
    let Some(longest) = longest else { return false };
    remaining.is_none_or(|remaining| ttl_too_long::breaks(longest, remaining))
}

fn word(case: &Case<'_>) -> Wording {
    let (name, word) = (case.name(), case.subject.unwrap_or("derived"));
    match case.detail {
        Some(longest) => {
            Wording::new(format!("`~{word}` keys derived from `{name}` live longer than {longest}"))
                .help("remove them; the store writes them again where it needs them")
        }
        None => Wording::new(format!(
            "keys are derived from `{name}` by a word that its definition does not have"
        ))
        .help("remove them, if the schema no longer has the option that they were for"),
    }
}
