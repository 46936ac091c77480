use crate::live::{Case, Wording};
use crate::rule::rule;
use keyward_fact::KeyType;

rule! {
    /// ## What it does
    /// Reports keys that hold another type of value than their definition declares.
    ///
    /// ## Why is this bad
    /// Whoever reads the key as declared gets WRONGTYPE from the server. Two programs disagree on what the
    /// key is.
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
    let declared = match case.detail.unwrap_or_default() {
        "string" => "strings".to_owned(),
        "hash" => "hashes".to_owned(),
        "list" => "lists".to_owned(),
        "set" => "sets".to_owned(),
        "zset" => "sorted sets".to_owned(),
        "stream" => "streams".to_owned(),
        other => format!("of type `{other}`"),
    };
    Wording::new(format!("keys of `{}` are not {declared}", case.name()))
        .help("find who writes them, or declare the type that they have")
}
