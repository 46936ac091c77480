use crate::live::{Case, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports that the server uses a larger share of `maxmemory` than `[alerts] memory` allows. If
    /// the server does not show its `maxmemory`, the value in `[server]` is used.
    ///
    /// ## Why is this bad
    /// At `maxmemory` the server evicts keys or refuses writes, depending on its policy. Neither
    /// should be a surprise.
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
    /// Find the definition that uses the memory: the report shows it.
    /// ```redis
    /// INFO used_memory 314572
    /// SET page:home x EX 600
    /// ```
    live Lifetime, Warn, Recommended
}

/// Whether a server that uses this share of `maxmemory` breaks it; `bound` is in per cent.
pub fn breaks(bound: f64, share: f64) -> bool {
    share * 100.0 > bound
}

fn word(case: &Case<'_>) -> Wording {
    let (used, bound) = (case.near.unwrap_or("too much"), case.detail.unwrap_or("its bound"));
    Wording::new(format!("the server uses {used} of `maxmemory`, more than {bound}"))
        .help("see in the report which definition uses most, or raise `maxmemory`")
}
