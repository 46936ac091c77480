use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports lists, sets, sorted sets, hashes and streams with more entries than `max_len` allows.
    ///
    /// ## Why is this bad
    /// A collection without a limit can use up the memory, and every command that reads all of it
    /// blocks the server for everyone.
    ///
    /// ## Example
    /// ```toml
    /// [keys.recent]
    /// pattern = "recent:{user_id:uint}"
    /// type = "list"
    /// ttl = "7d"
    /// max_len = 3
    /// ```
    /// ```redis
    /// RPUSH recent:7 a b c d
    /// EXPIRE recent:7 600
    /// ```
    ///
    /// ## Use instead
    /// Trim the collection where entries are added: `LTRIM`, `ZREMRANGEBYRANK`, `XADD … MAXLEN`.
    /// ```redis
    /// RPUSH recent:7 b c d
    /// EXPIRE recent:7 600
    /// ```
    ///
    /// `keyward plan fix --rule oversized-collection` plans to trim lists, sorted sets and streams as declared.
    live Shape, Warn, Recommended
}

/// Whether a collection of this length breaks it; not if its length is unknown.
#[inline]
pub fn breaks(max_len: Option<u64>, length: Option<u64>) -> bool {
    max_len.zip(length).is_some_and(|(bound, length)| length > bound)
}

fn word(case: &Case<'_>) -> Wording {
    let bound = case.detail.unwrap_or("declared");
    Wording::new(format!("keys of `{}` have more than {bound} entries", case.name()))
        .help("trim them where entries are added, or raise `max_len`")
}
