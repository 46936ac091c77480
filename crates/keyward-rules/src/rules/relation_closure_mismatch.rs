use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a relation with `closure_of` that does not hold exactly the keys which the other relation reaches in one or
    /// more steps: one is missing, or one is too many.
    ///
    /// Up to 65,536 steps are followed; of more, it is not judged, and the report says so. If they reach very many keys, the
    /// closures of a sample of keys are compared. On a live server, what seems to be wrong is read again before it is
    /// reported.
    ///
    /// ## Why is this bad
    /// A closure is stored so that a whole tree is read at once. What it lacks is not found, exported or deleted with the
    /// tree; what it has too many is deleted with a tree that it is not part of.
    ///
    /// ## Example
    /// ```toml
    /// [params]
    /// folder_key = { key = "folder" }
    /// [keys.folder]
    /// pattern = "folder:{id:uint}"
    /// value = "text"
    /// ttl = "none"
    /// [keys.children]
    /// pattern = "{folder_key}:children"
    /// member = { key = "folder" }
    /// max_len = 1000
    /// ttl = "none"
    /// [keys.descendants]
    /// pattern = "{folder_key}:descendants"
    /// member = { key = "folder" }
    /// closure_of = "children"
    /// max_len = 10_000
    /// ttl = "none"
    /// ```
    /// ```redis
    /// SET folder:1 "music"
    /// SET folder:2 "jazz"
    /// SET folder:3 "bebop"
    /// SADD folder:1:children folder:2
    /// SADD folder:2:children folder:3
    /// SADD folder:1:descendants folder:2
    /// SADD folder:2:descendants folder:3
    /// ```
    ///
    /// ## Use instead
    /// When a key gets a child, add the child and all below it to the closure of every key above.
    /// ```redis
    /// SET folder:1 "music"
    /// SET folder:2 "jazz"
    /// SET folder:3 "bebop"
    /// SADD folder:1:children folder:2
    /// SADD folder:2:children folder:3
    /// SADD folder:1:descendants folder:2 folder:3
    /// SADD folder:2:descendants folder:3
    /// ```
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, steps) = (case.name(), case.near.unwrap_or("its steps"));
    Wording::new(format!("the relation `{name}` is not the closure of `{steps}`")).help(format!(
        "change `{name}` of every key above together with `{steps}`, or compute it again"
    ))
}
