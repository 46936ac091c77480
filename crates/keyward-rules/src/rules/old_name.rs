use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys under a former name once their migration should be over: in its phase `cleanup`, or
    /// after the day that `remove_after` names. Before that, an audit counts them and reports nothing.
    ///
    /// ## Why is this bad
    /// Nothing reads them any more, but they take memory; and whatever still writes them writes into the
    /// void.
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
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, old) = (case.name(), case.subject.unwrap_or("an old name"));
    Wording::new(format!("keys of `{name}` still have the old name `{old}`"))
        .help("find who writes them, then remove them")
}
