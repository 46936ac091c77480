use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports references to keys that do not exist: a field, value or member that is declared as
    /// `ref` or `key` of another definition. Only a sample is compared: on each side, the values
    /// with the smallest hashes.
    ///
    /// ## Why is this bad
    /// Code that follows the reference finds nothing. An index whose members are not removed when
    /// they expire grows forever.
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
    /// Remove the reference together with the key it points to.
    /// ```redis
    /// SET session:7 "{}" EX 600
    /// SADD user:42:sessions 7
    /// EXPIRE user:42:sessions 600
    /// ```
    live Change, Warn, Recommended
}

/// How many of the sampled references break it: those whose target was not found.
pub fn broken(looked_at: u64, found: u64) -> u64 {
    looked_at.saturating_sub(found)
}

fn word(case: &Case<'_>) -> Wording {
    let (name, what) = (case.name(), case.subject.unwrap_or("a value"));
    Wording::new(format!("{what} of `{name}` refers to keys that do not exist"))
        .help("remove each reference together with the key it points to")
}
