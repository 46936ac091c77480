//! Numbers that cannot be: a report is a file, and anybody may have written it.
//!
//! Every sum that merging and rendering make is over some of the numbers of the reports. So if all of them
//! together fit, no sum can overflow; and where they do not, a sum that stops at its greatest would be a
//! wrong number that looks like a right one.

use crate::counts::Counts;
use crate::report::{Count, Distribution, Facts, Report};

/// What all numbers of all reports may come to: 16 PiB, if they were bytes.
const MOST: u128 = 1 << 54;

/// Whether these counts can be added up.
pub(crate) fn can_be_added<'c>(counts: impl IntoIterator<Item = &'c Counts>) -> bool {
    sum(counts.into_iter().flat_map(Counts::numbers)) <= MOST
}

/// Whether a number alone is no more than there can be.
pub(crate) fn can_be(number: u64) -> bool {
    u128::from(number) <= MOST
}

/// Whether a report's own numbers can be added up, and those that it carries.
pub(crate) fn is_sound(report: &Report) -> bool {
    let summary = &report.summary;
    let counts = [summary.foreign, summary.unknown, summary.defined];
    let definitions = report.definitions.iter().flat_map(|it| {
        let old = it.old_names.iter().flat_map(|old| [old.keys, old.bytes.unwrap_or(0)]);
        facts(&it.facts).chain(count(it.derived)).chain(old)
    });
    let groups = report.unknown.iter().chain(&report.groups).flat_map(|it| facts(&it.facts));
    let shards = report.source.shards.iter().flat_map(|it| [it.keys_seen, it.dbsize.unwrap_or(0)]);
    let foreign = report.foreign.iter().flat_map(|it| [it.keys, it.bytes.unwrap_or(0)]);
    let findings = report.findings.iter().flat_map(|it| {
        let unresolved = it.unresolved.unwrap_or_default();
        let in_keys = it.in_keys.map_or(0, |keys| keys.count.max(keys.of));
        [it.count, it.of, it.bytes.unwrap_or(0), in_keys].into_iter().chain([
            unresolved.not_a_key,
            unresolved.elsewhere,
            unresolved.missing,
        ])
    });
    let singles = [summary.keys, summary.judged, summary.compliant, summary.expired];
    let own = (singles.into_iter())
        .chain(summary.bytes)
        .chain(counts.into_iter().flat_map(count))
        .chain(definitions)
        .chain(groups)
        .chain(shards)
        .chain(foreign)
        .chain(findings);
    sum(own) <= MOST && can_be_added([&report.counts.counts])
}

fn facts(facts: &Facts) -> impl Iterator<Item = u64> {
    let ttl = &facts.ttl;
    let distributions = [Some(&facts.lengths), Some(&ttl.remaining), facts.sizes.as_ref()];
    let distributions = distributions.into_iter().chain([facts.idle.as_ref(), facts.freq.as_ref()]);
    [facts.keys, ttl.none, ttl.expiring, ttl.expired, ttl.too_long]
        .into_iter()
        .chain(facts.bytes)
        .chain(ttl.buckets.iter().map(|it| it.keys))
        .chain(facts.types.values().copied())
        .chain(facts.encodings.values().copied())
        .chain(distributions.flatten().flat_map(distribution))
}

fn distribution(of: &Distribution) -> impl Iterator<Item = u64> {
    of.histogram.iter().map(|bar| bar.count)
}

fn count(count: Count) -> impl Iterator<Item = u64> {
    [count.keys, count.bytes.unwrap_or(0)].into_iter()
}

fn sum(numbers: impl Iterator<Item = u64>) -> u128 {
    numbers.map(u128::from).sum()
}
