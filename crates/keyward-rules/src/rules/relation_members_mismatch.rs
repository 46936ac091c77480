use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a relation with `same_as` that does not hold the same keys as the other relation. Their order does not
    /// matter.
    ///
    /// Of more than about eight thousand references, a sample is compared, and the report says so. On a live server, what
    /// seems to be wrong is read again before it is reported.
    ///
    /// ## Why is this bad
    /// Mostly one of them answers whether a key is part of something, and the other in which order. A key that only one of
    /// them holds is shown and not found, or found and never shown.
    ///
    /// ## Example
    /// ```toml
    /// [params]
    /// album_key = { key = "album" }
    /// [keys.album]
    /// pattern = "album:{id:uint}"
    /// value = "text"
    /// ttl = "none"
    /// [keys.song]
    /// pattern = "song:{id:uint}"
    /// value = "text"
    /// ttl = "none"
    /// [keys.songs]
    /// pattern = "{album_key}:songs"
    /// member = { key = "song" }
    /// max_len = 1000
    /// ttl = "none"
    /// [keys.tracks]
    /// pattern = "{album_key}:tracks"
    /// member = { key = "song" }
    /// score = "uint"
    /// same_as = "songs"
    /// max_len = 1000
    /// ttl = "none"
    /// ```
    /// ```redis
    /// SET album:1 "kind of blue"
    /// SET song:1 "so what"
    /// SET song:2 "all blues"
    /// SADD album:1:songs song:1 song:2
    /// ZADD album:1:tracks 1 song:1
    /// ```
    ///
    /// ## Use instead
    /// Change both together, in one transaction or script.
    /// ```redis
    /// SET album:1 "kind of blue"
    /// SET song:1 "so what"
    /// SET song:2 "all blues"
    /// SADD album:1:songs song:1 song:2
    /// ZADD album:1:tracks 1 song:1 2 song:2
    /// ```
    live Change, Warn, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, other) = (case.name(), case.near.unwrap_or("the other"));
    Wording::new(format!("the relations `{name}` and `{other}` do not hold the same keys"))
        .help("change both together, and add or remove what is missing")
}
