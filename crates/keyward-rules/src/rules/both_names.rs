use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports entities that exist under their new name and under a former one, in the phase `cleanup`.
    /// A sample is looked at: of both names, the entities with the least hashes.
    ///
    /// ## Why is this bad
    /// One of the two is stale. Whoever reads the other one sees another truth.
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

/// How many entities break it, of those that were looked at under the new name: those that have the old one too.
pub fn broken(_looked_at: u64, shared: u64) -> u64 {
    shared
}

fn word(case: &Case<'_>) -> Wording {
    let (name, old) = (case.name(), case.subject.unwrap_or("an old name"));
    Wording::new(format!("entities of `{name}` also exist as `{old}`"))
        .help("remove the keys under the old name")
}
