use crate::live::{Case, Wording};
use crate::rule::rule;

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

fn word(case: &Case<'_>) -> Wording {
    let declared = case.detail.unwrap_or("declared");
    Wording::new(format!("keys of `{}` are no {declared}", case.name()))
        .help("find who writes them, or declare the type that they have")
}
