use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports hashes, and entries of streams, with fields that their definition does not declare.
    ///
    /// ## Why is this bad
    /// Someone stores data there that nobody else knows about. Often the field is misspelt, and the
    /// declared one is empty.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET session:7 user 42 usr 42
    /// EXPIRE session:7 600
    /// ```
    ///
    /// ## Use instead
    /// Declare the field, or set `open = true` if the hash may have any field.
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    live Shape, Warn, Recommended
}

/// Whether a field that is not declared breaks it. `closed`: fields are declared, and no others are admitted.
#[inline]
pub fn breaks(closed: bool) -> bool {
    closed
}

fn word(case: &Case<'_>) -> Wording {
    let holders = case.detail.unwrap_or("hashes");
    Wording::new(format!("{holders} of `{}` have fields that are not declared", case.name()))
        .help("declare the fields, or set `open = true`")
}
