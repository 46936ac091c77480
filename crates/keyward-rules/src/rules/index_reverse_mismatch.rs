use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports an index that disagrees with its `reverse`: a set has a member whose reverse does not list the set, or a
    /// reverse lists a set that does not have the member.
    ///
    /// Of more than about a thousand members, a sample is compared. On a live server, what seems to be wrong is read
    /// again before it is reported.
    ///
    /// ## Why is this bad
    /// The reverse decides which sets a member leaves when it changes. A set that it does not list keeps the member for
    /// ever, and a set that it lists in vain misses the member in every search.
    ///
    /// ## Example
    /// ```toml
    /// [keys.page]
    /// pattern = "page:{id:uint}"
    /// value = "text"
    /// ttl = "none"
    /// [keys.word]
    /// pattern = "word:{word:slug}"
    /// index = { of = "page", reverse = "words_of" }
    /// member = { ref = "page.id" }
    /// ttl = "none"
    /// [keys.words_of]
    /// pattern = "words_of:{id:uint}"
    /// type = "set"
    /// member = { ref = "word.word" }
    /// ttl = "none"
    /// ```
    /// ```redis
    /// SET page:7 "modern art"
    /// SADD word:modern 7
    /// SADD word:art 7
    /// SADD words_of:7 modern
    /// ```
    ///
    /// ## Use instead
    /// Change sets and reverse together, with `assign` of the store, or in one transaction. A rebuild repairs them.
    /// ```redis
    /// SET page:7 "modern art"
    /// SADD word:modern 7
    /// SADD word:art 7
    /// SADD words_of:7 modern art
    /// ```
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, reverse) = (case.name(), case.near.unwrap_or("its reverse"));
    Wording::new(format!("the index `{name}` disagrees with its reverse `{reverse}`"))
        .help("change both together, as the store does, and rebuild the index")
}
