use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports members of an index that contradict its `by`: a set has the member, but the field or parameter that the
    /// index is by has another value. Members that do not exist are the matter of `dangling-reference`.
    ///
    /// Of more than about a thousand members, a sample is compared. On a live server, what seems to be wrong is read
    /// again before it is reported.
    ///
    /// ## Why is this bad
    /// A search finds what it must not find: the sessions of somebody else, a draft among what is published. Mostly a
    /// writer has changed the field and not moved the member.
    ///
    /// ## Example
    /// ```toml
    /// [keys.page]
    /// pattern = "page:{id:uint}"
    /// fields = { status = "text" }
    /// ttl = "none"
    /// [keys.by_status]
    /// pattern = "status:{status:slug}"
    /// index = { of = "page", by = "status" }
    /// member = { ref = "page.id" }
    /// ttl = "none"
    /// ```
    /// ```redis
    /// HSET page:7 status draft
    /// SADD status:published 7
    /// ```
    ///
    /// ## Use instead
    /// Move the member when the field changes, with `move_to` or `assign` of the store, or in one transaction.
    /// ```redis
    /// HSET page:7 status published
    /// SADD status:published 7
    /// ```
    ///
    /// `keyward plan fix --rule index-contradiction` plans to remove such members.
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, by) = (case.name(), case.subject.unwrap_or("value"));
    let other = case.near.unwrap_or("member");
    Wording::new(format!(
        "the index `{name}` has members of `{other}` whose `{by}` has another value"
    ))
    .help("move members when they change, and rebuild the index")
}
