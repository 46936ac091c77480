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

/// Whether a number is within what can exist.
pub(crate) fn can_be(number: u64) -> bool {
    u128::from(number) <= MOST
}

/// Fails where a report's numbers cannot be, with the place in the document.
pub(crate) fn check(report: &Report) -> Result<(), String> {
    if !is_sound(report) {
        return Err("its counts are too large".to_owned());
    }
    is_share("summary.compliance", report.summary.compliance)?;
    for (number, it) in report.definitions.iter().enumerate() {
        check_facts(&format!("definitions[{number}]"), &it.facts)?;
    }
    for (number, it) in report.unknown.iter().enumerate() {
        check_facts(&format!("unknown[{number}]"), &it.facts)?;
    }
    for (number, it) in report.groups.iter().enumerate() {
        check_facts(&format!("groups[{number}]"), &it.facts)?;
    }
    for (number, it) in report.findings.iter().enumerate() {
        // Memory may be over its limit.
        if !(it.share.is_finite() && it.share >= 0.0) {
            return Err(format!("`findings[{number}].share` is {}", it.share));
        }
    }
    Ok(())
}

fn check_facts(place: &str, facts: &Facts) -> Result<(), String> {
    is_share(&format!("{place}.share"), facts.share)?;
    let distributions = [
        ("lengths", Some(&facts.lengths)),
        ("ttl.remaining", Some(&facts.ttl.remaining)),
        ("sizes", facts.sizes.as_ref()),
        ("idle", facts.idle.as_ref()),
        ("freq", facts.freq.as_ref()),
    ];
    for (name, of) in distributions {
        let mut before = None;
        for (number, bar) in of.into_iter().flat_map(|of| of.histogram.iter().enumerate()) {
            let place = format!("`{place}.{name}.histogram[{number}]`");
            if bar.from > bar.to {
                return Err(format!("{place} runs from {} to {}", bar.from, bar.to));
            }
            if before.is_some_and(|before| before >= bar.from) {
                return Err(format!("{place} does not come after the bar before it"));
            }
            before = Some(bar.to);
        }
    }
    Ok(())
}

fn is_share(place: &str, share: Option<f64>) -> Result<(), String> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(format!("`{place}` is {share}, and a share is from 0 to 1"))
        }
        _ => Ok(()),
    }
}

/// Whether a report's own numbers can be added up, and those that it carries.
fn is_sound(report: &Report) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Bar;

    #[test]
    fn a_bar_or_a_share_that_cannot_be_is_named() {
        let with = |bars: &[(u64, u64)], share| {
            let bar = |(from, to): &(u64, u64)| Bar { from: *from, to: *to, count: 1 };
            let sizes = Distribution {
                histogram: bars.iter().map(bar).collect(),
                ..Distribution::default()
            };
            Facts { sizes: Some(sizes), share, ..Facts::default() }
        };
        let check = |facts| check_facts("groups[0]", &facts);
        assert_eq!(check(with(&[(0, 0), (8, 9)], Some(1.0))), Ok(()));
        let wrong = [
            (with(&[(1 << 63, 9)], None), "histogram[0]` runs from 9223372036854775808 to 9"),
            (with(&[(8, 9), (0, 0)], None), "histogram[1]` does not come after the bar before it"),
            (with(&[], Some(1.5)), "`groups[0].share` is 1.5"),
        ];
        for (facts, why) in wrong {
            assert!(check(facts).is_err_and(|error| error.contains(why)), "{why}");
        }
    }
}
