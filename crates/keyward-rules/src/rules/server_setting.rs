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
        return size(want).is_none() || size(want) != size(got);
    }
    !want.eq_ignore_ascii_case(got.trim())
}

fn word(case: &Case<'_>) -> Wording {
    let setting = case.subject.unwrap_or("a setting");
    let shown = |text: &str| match size(text) {
        Some(size) if setting == "maxmemory" && size.bytes() == 0 => "`0` (no limit)".to_owned(),
        Some(size) if setting == "maxmemory" => format!("`{size}`"),
        _ if text.trim().is_empty() => "empty".to_owned(),
        _ => format!("`{text}`"),
    };
    let got = shown(case.near.unwrap_or("something else"));
    let want = shown(case.detail.unwrap_or("another"));
    Wording::new(format!("`{setting}` is {got}, but the schema declares {want}"))
        .help("change the configuration of the server, or `[server]` in the schema")
}

/// A size as a schema writes it, or as a server answers: in bytes, without a unit.
fn size(text: &str) -> Option<Size> {
    let bytes = text.parse().ok().map(Size::from_bytes);
    bytes.or_else(|| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_compared_in_one_unit() {
        let of = |setting, got, want| {
            let case = Case {
                subject: Some(setting),
                near: Some(got),
                detail: Some(want),
                definition: None,
            };
            word(&case).what
        };
        assert_eq!(
            of("maxmemory", "104857600", "256mb"),
            "`maxmemory` is `100mb`, but the schema declares `256mb`"
        );
        assert_eq!(
            of("save", "900", "3600 1"),
            "`save` is `900`, but the schema declares `3600 1`"
        );
    }

    #[test]
    fn no_limit_and_nothing_are_said_in_words() {
        let of = |setting, got, want| {
            word(&Case {
                subject: Some(setting),
                near: Some(got),
                detail: Some(want),
                definition: None,
            })
            .what
        };
        assert_eq!(
            of("maxmemory", "0", "256mb"),
            "`maxmemory` is `0` (no limit), but the schema declares `256mb`"
        );
        assert_eq!(of("save", "", "3600 1"), "`save` is empty, but the schema declares `3600 1`");
        assert_eq!(of("save", "3600 1", ""), "`save` is `3600 1`, but the schema declares empty");
    }
}
