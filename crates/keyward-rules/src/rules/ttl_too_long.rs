use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys, and hash fields with a TTL, that will live longer than their definition allows. The
    /// remaining TTL is compared with the longest TTL declared; two seconds more are accepted, because
    /// clocks differ.
    ///
    /// ## Why is this bad
    /// The declared TTL is a promise: how stale a value may be, or how long personal data is kept.
    /// A key that lives longer breaks the promise and uses memory longer than planned.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 86400
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 1800
    /// ```
    ///
    /// `keyward plan fix --rule ttl-too-long` plans to shorten the TTL of such keys.
    live Lifetime, Error, Recommended
}

/// How much longer than declared a key may live: a file says when it was written in whole seconds, and keys are still
/// written while that is noted. In milliseconds.
pub const FORGIVEN: u64 = 2_000;

/// Whether a key with this remaining TTL breaks it; both in milliseconds.
#[inline]
pub fn breaks(bound: u64, remaining: u64) -> bool {
    remaining > bound.saturating_add(FORGIVEN)
}

fn word(case: &Case<'_>) -> Wording {
    let longest = case.detail.unwrap_or("declared");
    if let Some(field) = case.subject {
        return Wording::new(format!("{field} of `{}` lives longer than {longest}", case.name()))
            .help("find who calls HEXPIRE, or declare the longer TTL");
    }
    Wording::new(format!("keys of `{}` live longer than {longest}", case.name()))
        .help("find the program that sets the TTL, or declare the longer one")
}
