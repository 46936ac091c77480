use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports relations that are declared as each other's `inverse` and disagree: one leads from a key to another, and the
    /// other does not lead back. A relation that is its own inverse is symmetric.
    ///
    /// Of more than about eight thousand references, a sample is compared, and the report says so. On a live server, what
    /// seems to be wrong is read again before it is reported.
    ///
    /// ## Why is this bad
    /// Whoever goes forward and back ends somewhere else, and code that removes a key and follows only one of the two
    /// relations leaves references to it behind. Mostly a writer stopped between the two writes.
    ///
    /// ## Example
    /// ```toml
    /// [params]
    /// page_key = { key = "page" }
    /// [keys.page]
    /// pattern = "page:{id:uint}"
    /// value = "text"
    /// ttl = "none"
    /// [keys.next]
    /// pattern = "{page_key}:next"
    /// value = { key = "page" }
    /// inverse = "previous"
    /// ttl = "none"
    /// [keys.previous]
    /// pattern = "{page_key}:previous"
    /// value = { key = "page" }
    /// ttl = "none"
    /// ```
    /// ```redis
    /// SET page:1 "one"
    /// SET page:2 "two"
    /// SET page:1:next page:2
    /// ```
    ///
    /// ## Use instead
    /// Change both together, in one transaction or script.
    /// ```redis
    /// SET page:1 "one"
    /// SET page:2 "two"
    /// SET page:1:next page:2
    /// SET page:2:previous page:1
    /// ```
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, inverse) = (case.name(), case.near.unwrap_or("its inverse"));
    let what = if name == inverse {
        format!("the relation `{name}` is not symmetric")
    } else {
        format!("the relation `{name}` disagrees with its inverse `{inverse}`")
    };
    Wording::new(what).help("change both directions together, and add or remove what is missing")
}
