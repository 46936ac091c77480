use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that exist under both their new and their old name, in the phase `cleanup`.
    /// Only a sample is compared: under each name, the entities with the smallest hashes.
    ///
    /// ## Why is this bad
    /// One of the two values is stale: readers of the old name and readers of the new name see
    /// different data.
    ///
    /// ## Example
    /// ```toml
    /// [keys.token]
    /// pattern = "auth:token:{token:hex}"
    /// value = "text"
    /// ttl = "1h"
    /// [migrations.v2]
    /// phase = "cleanup"
    /// renames = { token = "OAuth:Token:{token}" }
    /// ```
    /// ```redis
    /// SET OAuth:Token:a3f9 x EX 600
    /// SET auth:token:a3f9 y EX 600
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// SET auth:token:a3f9 y EX 600
    /// ```
    live Change, Warn, Recommended
}

/// How many of the sampled entities break it: those that exist under the old name too.
pub fn broken(_looked_at: u64, shared: u64) -> u64 {
    shared
}

fn word(case: &Case<'_>) -> Wording {
    let (name, old) = (case.name(), case.subject.unwrap_or("an old name"));
    Wording::new(format!("keys of `{name}` also exist under the old name `{old}`"))
        .help("delete the keys under the old name")
}
