use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports references to keys that are not there: a field, value or member that is declared as `ref` or
    /// `key` of another definition. A sample is looked at: of both sides, the values with the least hashes.
    ///
    /// ## Why is this bad
    /// Whoever follows the reference finds nothing. Indexes that are not cleaned up when their members
    /// expire grow for ever.
    ///
    /// ## Example
    /// ```toml
    /// [keys.session]
    /// pattern = "session:{session_id:uint}"
    /// value = "json"
    /// ttl = "30m"
    /// [keys.sessions_of]
    /// pattern = "user:{user_id:uint}:sessions"
    /// type = "set"
    /// member = { ref = "session.session_id" }
    /// ttl = "30m"
    /// ```
    /// ```redis
    /// SADD user:42:sessions 7
    /// EXPIRE user:42:sessions 600
    /// ```
    ///
    /// ## Use instead
    /// Remove the reference together with what it points to.
    /// ```redis
    /// SET session:7 "{}" EX 600
    /// SADD user:42:sessions 7
    /// EXPIRE user:42:sessions 600
    /// ```
    live Change, Warn, Recommended
}

/// How many references break it, of those that were looked at: those whose target was not found.
pub fn broken(looked_at: u64, found: u64) -> u64 {
    looked_at.saturating_sub(found)
}

fn word(case: &Case<'_>) -> Wording {
    let (name, what) = (case.name(), case.subject.unwrap_or("a value"));
    Wording::new(format!("{what} of `{name}` leads to keys that are not there"))
        .help("remove references together with what they point to")
}
