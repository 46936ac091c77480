use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys under an old name after their migration should have ended: in the phase
    /// `cleanup`, or after the `remove_after` date. Before that, an audit only counts them.
    ///
    /// ## Why is this bad
    /// Nothing reads these keys any more, but they use memory. A program that still writes them
    /// writes data that nobody reads.
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
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// SET auth:token:a3f9 x EX 600
    /// ```
    ///
    /// `keyward plan fix --rule old-name` plans a short TTL for what is left after `remove_after`.
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, old) = (case.name(), case.subject.unwrap_or("an old name"));
    Wording::new(format!("keys of `{name}` still use the old name `{old}`"))
        .help("find the program that writes them, then delete them")
}
