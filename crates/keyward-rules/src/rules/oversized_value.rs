use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports values larger than `max_bytes`. The size of a string is its length; of any other
    /// type, the memory it uses.
    ///
    /// ## Why is this bad
    /// One large value delays every other command while it is read, written or deleted, and fills
    /// the network on the way.
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

/// Whether a value of this size breaks it; not if its size is unknown.
#[inline]
pub fn breaks(max_bytes: Option<u64>, bytes: Option<u64>) -> bool {
    max_bytes.zip(bytes).is_some_and(|(bound, bytes)| bytes > bound)
}

fn word(case: &Case<'_>) -> Wording {
    let bound = case.detail.unwrap_or("declared");
    Wording::new(format!("values of `{}` are larger than {bound}", case.name()))
        .help("split or compress the value, or raise `max_bytes`")
}
