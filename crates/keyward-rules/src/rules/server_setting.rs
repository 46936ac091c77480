use crate::live::{Case, Wording};
use crate::rule::rule;
use keyward_fact::Size;

rule! {
    /// ## What it does
    /// Reports a server setting that differs from `[server]`. A setting that the server does not
    /// show is listed as not seen; it is not a finding.
    ///
    /// ## Why is this bad
    /// The schema was checked against the settings in `[server]`: counters are not evicted, queues
    /// survive a restart. With other settings none of this is guaranteed.
    ///
    /// ## Example
    /// ```toml
    /// [server]
    /// maxmemory-policy = "noeviction"
    /// [keys.visits]
    /// pattern = "visits:{page:slug}"
    /// counter = {}
    /// ttl = "none"
    /// ```
    /// ```redis
    /// CONFIG SET maxmemory-policy allkeys-lru
    /// SET visits:home 42
    /// ```
    ///
    /// ## Use instead
    /// ```redis
    /// CONFIG SET maxmemory-policy noeviction
    /// SET visits:home 42
    /// ```
    live Lifetime, Error, Recommended
}

/// Whether a server's setting differs from what the schema declares.
pub fn breaks(name: &str, want: &str, got: &str) -> bool {
    if name == "maxmemory" {
        let bytes = |text: &str| {
            text.parse::<u64>().ok().or_else(|| Some(text.parse::<Size>().ok()?.bytes()))
        };
        return bytes(want).is_none() || bytes(want) != bytes(got);
    }
    !want.eq_ignore_ascii_case(got.trim())
}

fn word(case: &Case<'_>) -> Wording {
    let setting = case.subject.unwrap_or("a setting");
    let (got, want) = (case.near.unwrap_or("something else"), case.detail.unwrap_or("another"));
    Wording::new(format!("`{setting}` is `{got}`, but the schema declares `{want}`"))
        .help("change the configuration of the server, or `[server]` in the schema")
}
