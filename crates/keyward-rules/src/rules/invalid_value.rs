mod expected;

pub use expected::{Expected, LOOKED_AT};

use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports values, fields, members and scores that do not match their declaration. A counter, a
    /// quota or a rate limit must be what INCR accepts: an integer of 64 bits without leading zeros,
    /// blanks or a plus sign. A count below zero is reported too, unless the counter has
    /// `negative = true`.
    ///
    /// Only the first 256 bytes of a value are read. JSON is judged by its beginning and its end, a
    /// compressed value by its first bytes.
    ///
    /// ## Why is this bad
    /// Code that reads the value as declared cannot decode it, or decodes something else.
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
    let ty = case.detail.unwrap_or("of the declared type");
    Wording::new(format!("{what} of `{name}` is not {ty}"))
        .help("find the program that writes it, or declare what it holds")
}
