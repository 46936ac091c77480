use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports hashes with fields that their definition does not declare.
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

fn word(case: &Case<'_>) -> Wording {
    Wording::new(format!("hashes of `{}` have fields that are not declared", case.name()))
        .help("declare the fields, or set `open = true`")
}
