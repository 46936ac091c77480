use crate::live::{Case, Wording};
use crate::rule::rule;
use keyward_fact::KeyType;

rule! {
    /// ## What it does
    /// Reports keys whose Redis type is not the declared one.
    ///
    /// ## Why is this bad
    /// A reader that relies on the declared type gets `WRONGTYPE` from the server. Two programs
    /// disagree on what the key is.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// SET session:7 "{\"user\":42}"
    /// EXPIRE session:7 600
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    live Soundness, Error, Minimal
}

/// Whether a key breaks it. A bitmap is stored as a string and a geo index as a sorted set, so these are the same.
#[inline]
pub fn breaks(declared: &KeyType, stored: &KeyType) -> bool {
    declared.stored() != stored.stored()
}

fn word(case: &Case<'_>) -> Wording {
    let declared = match case.detail {
        Some("hash") => "hashes".to_owned(),
        Some("zset") => "sorted sets".to_owned(),
        Some(plain @ ("string" | "list" | "set" | "stream")) => format!("{plain}s"),
        Some(other) => format!("of type `{other}`"),
        None => "of the declared type".to_owned(),
    };
    Wording::new(format!("keys of `{}` are not {declared}", case.name()))
        .help("find the program that writes them, or declare the type that they have")
}
