use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports values with more bytes than `max_bytes` allows: of a string its length, of anything else
    /// what it takes in memory.
    ///
    /// ## Why is this bad
    /// One big value holds up every other command while it is read, written or deleted, and fills the
    /// network card on the way.
    ///
    /// ## Example
    /// ```toml
    /// [keys.page]
    /// pattern = "page:{path:slug}"
    /// value = "text"
    /// ttl = "10m"
    /// max_bytes = "16b"
    /// ```
    /// ```redis
    /// SET page:home "a text that is longer than sixteen bytes" EX 600
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// SET page:home "a short text" EX 600
    /// ```
    live Shape, Warn, Recommended
}

/// Whether a value of so many bytes breaks it; where they were not seen, nothing is said.
#[inline]
pub fn breaks(max_bytes: Option<u64>, bytes: Option<u64>) -> bool {
    max_bytes.zip(bytes).is_some_and(|(bound, bytes)| bytes > bound)
}

fn word(case: &Case<'_>) -> Wording {
    let bound = case.detail.unwrap_or("declared");
    Wording::new(format!("keys of `{}` have more than {bound}", case.name()))
        .help("split or compress the value, or raise `max_bytes`")
}
