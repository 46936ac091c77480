use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys without a TTL although their definition says that they expire, and fields of hashes without the
    /// TTL of their own that is declared.
    ///
    /// ## Why is this bad
    /// They stay for ever. Most memory that nobody can explain is made of keys whose TTL somebody forgot:
    /// a SET after the EXPIRE took it away, or the program ended between the two.
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
    /// ```
    ///
    /// ## Use instead
    /// Set value and TTL in one step.
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    live Lifetime, Error, Recommended
}

/// Whether a key breaks it that must expire, by what is left of its TTL.
#[inline]
pub fn breaks(must_expire: bool, remaining: Option<u64>) -> bool {
    must_expire && remaining.is_none()
}

fn word(case: &Case<'_>) -> Wording {
    let declared = case.detail.unwrap_or("one");
    if let Some(field) = case.subject {
        return Wording::new(format!("{field} of `{}` has no TTL of its own", case.name()))
            .help(format!("set {declared} with HEXPIRE when the field is written"));
    }
    Wording::new(format!("keys of `{}` have no TTL", case.name()))
        .help(format!("set {declared} together with the value, in one step"))
}
