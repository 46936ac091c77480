//! Numbers and labels that every form of a report shares.

use crate::report::{
    BytesKind, ChangeVerdict, Finding, KeyLengths, Report, SourceKind, TtlBucket, Unread, WhyUnread,
};
use keyward_fact::{Duration, Size, thousands};

pub(super) use crate::share::{percent, share};

/// `1 key`, `7 keys`
pub(super) fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

/// `1.5 MiB`
pub(super) fn size(bytes: u64) -> String {
    Size::from_bytes(bytes).human()
}

/// `27.3 bytes on average`
pub(super) fn average_length(lengths: KeyLengths) -> String {
    format!("{:.1} bytes on average", lengths.average)
}

/// `longest 77 bytes`
pub(super) fn longest(lengths: KeyLengths) -> String {
    format!("longest {}", counted(lengths.longest, "byte"))
}

/// What stands for a number that is not known.
pub(super) const UNKNOWN: &str = "–";

/// The same, or `–`.
pub(super) fn size_if_known(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| UNKNOWN.to_owned(), size)
}

/// `6 d 23 h`
pub(super) fn seconds(seconds: u64) -> String {
    Duration::from_secs(seconds).human()
}

/// The bound of a bucket: `1 h`, or `later`.
pub(super) fn bound(bucket: &TtlBucket) -> String {
    match bucket.up_to {
        Some(31_536_000) => "1 y".to_owned(),
        Some(bound) => seconds(bound),
        None => "later".to_owned(),
    }
}

/// `Redis 7.0.15`, as far as it is known.
pub(super) fn server(report: &Report) -> Option<String> {
    let server = &report.source.server;
    let family = match server.family.as_deref() {
        Some("redis") | None => "Redis",
        Some("valkey") => "Valkey",
        Some(other) => other,
    };
    match (&server.family, &server.version) {
        (None, None) => None,
        (_, Some(version)) => Some(format!("{family} {version}")),
        (Some(_), None) => Some(family.to_owned()),
    }
}

/// How the keys were read.
pub(super) fn kind(report: &Report) -> &'static str {
    match report.source.kind {
        SourceKind::Rdb => "RDB file",
        SourceKind::Scan => "live scan",
        SourceKind::Snapshot => "replication snapshot",
    }
}

/// How bytes were got.
pub(super) fn bytes_kind(report: &Report) -> String {
    match report.source.bytes {
        BytesKind::MemoryUsage => "memory, by MEMORY USAGE".to_owned(),
        BytesKind::Estimated if report.source.checked => "memory, estimated".to_owned(),
        BytesKind::Estimated => match server(report) {
            Some(server) => format!("memory, estimated; not checked for {server}"),
            None => "memory, estimated; not checked for this server".to_owned(),
        },
        BytesKind::Serialized => "serialized, not the server's memory".to_owned(),
        BytesKind::Unknown => "not known".to_owned(),
    }
}

/// `2026-11-15 10:12 UTC`
pub(super) fn moment(rfc3339: &str) -> String {
    match rfc3339.split_once('T') {
        Some((date, time)) if time.is_char_boundary(5) && time.len() > 5 => {
            format!("{date} {} UTC", &time[..5])
        }
        _ => rfc3339.to_owned(),
    }
}

/// What was sampled, in words.
pub(super) fn sampled(report: &Report) -> Option<String> {
    let sample = report.source.sample?;
    Some(format!(
        "a sample of {} % of the keys: counts are of the sample, shares may be off by ± {:.1} points",
        sample.percent, sample.error
    ))
}

/// What was not read of an audit that is incomplete, and what would help.
pub(super) fn incomplete(report: &Report) -> String {
    let unread = report.source.values_unread.filter(|it| it.why != WhyUnread::LeftOut);
    let values = unread.map(|Unread { keys, why }| {
        let ways = match why {
            WhyUnread::Eviction => "--touch, --via snapshot or --no-values",
            WhyUnread::Denied => "see the notes for the ACL rules, or --no-values",
            _ => "--via snapshot or --no-values",
        };
        format!("values of {} were not read ({ways})", counted(keys, "key"))
    });
    let keys = report.source.keys_unread.then(|| "not all keys were read".to_owned());
    let missing: Vec<String> = keys.into_iter().chain(values).collect();
    if missing.is_empty() {
        return "incomplete: the numbers cover only what was read".to_owned();
    }
    format!("incomplete: {}", missing.join(", and "))
}

/// How a finding compares with the baseline, to be put after its message.
pub(super) fn change(finding: &Finding) -> String {
    let Some(change) = &finding.change else { return String::new() };
    match change.verdict {
        ChangeVerdict::New => "; new since the baseline".to_owned(),
        ChangeVerdict::Worse => format!("; worse: it was {}", percent(change.share)),
        ChangeVerdict::Same => "; as in the baseline".to_owned(),
        ChangeVerdict::Better => format!("; better: it was {}", percent(change.share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_is_none_stays_as_it_is() {
        assert_eq!(moment("2026-11-15T10:12:44Z"), "2026-11-15 10:12 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
        assert_eq!(moment("T12\u{e9}\u{e9}"), "T12\u{e9}\u{e9}");
    }
}
