use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports that the server uses more of `maxmemory` than `[alerts] memory` allows. Where the server does
    /// not say what its `maxmemory` is, the one in `[server]` counts.
    ///
    /// ## Why is this bad
    /// At `maxmemory` the server evicts keys or refuses writes, as its policy says. Neither should come as a
    /// surprise.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory = "1mb"
    /// maxmemory-policy = "allkeys-lru"
    /// [alerts]
    /// memory = "80%"
    /// [keys.page]
    /// pattern = "page:{path:slug}"
    /// value = "text"
    /// ttl = "10m"
    /// ```
    /// ```redis
    /// INFO used_memory 943718
    /// SET page:home x EX 600
    /// ```
    ///
    /// ## Use instead
    /// Find out which definition takes the memory: the report says it.
    /// ```redis
    /// INFO used_memory 314572
    /// SET page:home x EX 600
    /// ```
    live Lifetime, Warn, Recommended
}

/// Whether a server breaks it that uses such a share of its memory, where so many per cent are allowed.
pub fn breaks(bound: f64, share: f64) -> bool {
    share * 100.0 > bound
}

fn word(case: &Case<'_>) -> Wording {
    let (used, bound) = (case.near.unwrap_or("too much"), case.detail.unwrap_or("its bound"));
    Wording::new(format!("the server uses {used} of its memory, more than {bound}"))
        .help("see which definition takes the most, or raise `maxmemory`")
}
