mod expected;

pub use expected::{Expected, LOOKED_AT};

use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports values, fields, members and scores that are not what their definition declares. The first
    /// 256 bytes are looked at; of JSON, whether it begins and ends as JSON does; of what is compressed,
    /// whether it begins so. The number of a counter, a quota or a rate limit must not be below zero, unless the
    /// counter is declared with `negative = true`.
    ///
    /// ## Why is this bad
    /// Whoever reads the value as declared cannot decode it, or decodes something else.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// ttl = "30m"
    /// fields = { user = "uint", ip = "text?" }
    /// ```
    /// ```redis
    /// HSET session:7 user alice
    /// EXPIRE session:7 600
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// HSET session:7 user 42
    /// EXPIRE session:7 600
    /// ```
    live Shape, Error, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, what) = (case.name(), case.subject.unwrap_or("a value"));
    let ty = case.detail.unwrap_or("of its type");
    Wording::new(format!("{what} of `{name}` is no {ty}"))
        .help("find who writes it, or declare what it holds")
}
