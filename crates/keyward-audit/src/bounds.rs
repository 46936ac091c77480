//! Numbers that cannot be: a report is a file, and anybody may have written it.
//!
//! Every sum that merging and rendering make is over some of the numbers of the reports. So if all of them
//! together fit, no sum can overflow; and where they do not, a sum that stops at its greatest would be a
//! wrong number that looks like a right one.

use crate::report::{Count, Distribution, Facts, Report};

/// What all numbers of all reports may come to: 16 PiB, if they were bytes.
const MOST: u128 = 1 << 54;

/// Whether these reports can be added up.
pub(crate) fn can_be_added<'r>(reports: impl IntoIterator<Item = &'r Report>) -> bool {
    reports.into_iter().map(report).sum::<u128>() <= MOST
}

/// Whether a number alone is no more than there can be.
pub(crate) fn can_be(number: u64) -> bool {
    u128::from(number) <= MOST
}

fn report(report: &Report) -> u128 {
    let summary = &report.summary;
    let numbers = [summary.keys, summary.bytes, summary.judged, summary.compliant, summary.expired];
    let counts = [summary.foreign, summary.unknown, summary.defined];
    let shards = report.source.shards.iter();
    let definitions = report.definitions.iter().map(|it| {
        let old: u128 = it.old_names.iter().map(|old| sum(&[old.keys, old.bytes])).sum();
        facts(&it.facts) + count(it.derived) + old
    });
    let groups = report.unknown.iter().chain(&report.groups).map(|it| facts(&it.facts));
    let leaves = report.state.leaves.iter().map(|it| facts(&it.facts) + count(it.misfits));
    sum(&numbers)
        + counts.into_iter().map(count).sum::<u128>()
        + shards.map(|it| sum(&[it.keys_seen, it.dbsize.unwrap_or(0)])).sum::<u128>()
        + definitions.sum::<u128>()
        + groups.sum::<u128>()
        + leaves.sum::<u128>()
        + report.foreign.iter().map(|it| sum(&[it.keys, it.bytes])).sum::<u128>()
        + report.findings.iter().map(|it| sum(&[it.count, it.of, it.bytes])).sum::<u128>()
}

fn facts(facts: &Facts) -> u128 {
    let ttl = &facts.ttl;
    let more = [&facts.sizes, &facts.lengths, &ttl.remaining];
    let more = more.into_iter().chain(&facts.idle).chain(&facts.freq);
    let named = facts.types.values().chain(facts.encodings.values());
    sum(&[facts.keys, facts.bytes, ttl.none, ttl.expiring, ttl.expired, ttl.too_long])
        + ttl.buckets.iter().map(|it| u128::from(it.keys)).sum::<u128>()
        + named.map(|number| u128::from(*number)).sum::<u128>()
        + more.map(distribution).sum::<u128>()
}

fn distribution(of: &Distribution) -> u128 {
    of.histogram.iter().map(|bar| u128::from(bar.count)).sum()
}

fn count(count: Count) -> u128 {
    sum(&[count.keys, count.bytes])
}

fn sum(numbers: &[u64]) -> u128 {
    numbers.iter().map(|number| u128::from(*number)).sum()
}
