//! Unknown keys against an earlier report.
//!
//! Which patterns have a finding of their own depends on all the others: only so many are named, and words
//! that are too many become `<word>`. So one key more may rename everything. What is compared is therefore
//! the rate of all unknown keys together; patterns only tell which of them are to blame.

use crate::mask::Masked;
use crate::report::{Change, ChangeVerdict, Finding, Report};
use crate::segment::is_wider;
use crate::share::share;
use keyward_rules::Rule;

/// The unknown keys of a report.
struct Unknown {
    /// All patterns, with their keys: also those without a finding
    patterns: Vec<(Vec<String>, u64)>,
    total: u64,
    share: f64,
    judged: u64,
}

impl Unknown {
    fn of(report: &Report) -> Self {
        let outline = &report.counts.outline;
        let groups = report.counts.counts.leaves.groups(outline.revealed);
        let groups = groups.into_iter().filter(|_| outline.unknown_key.is_some());
        let patterns = groups.map(|group| (group.segments, group.leaf.strangers().keys));
        let mut patterns: Vec<_> = patterns.filter(|(_, keys)| *keys > 0).collect();
        // Of a report without counts, there is only what it names.
        if patterns.is_empty() {
            let named = findings(report)
                .filter_map(|finding| Some((vec![finding.subject.clone()?], finding.count)));
            patterns.extend(named);
        }
        Unknown {
            patterns,
            total: findings(report).map(|finding| finding.count).sum(),
            share: findings(report).map(|finding| finding.share).sum(),
            judged: report.summary.judged,
        }
    }

    fn segments(&self, finding: &Finding) -> Option<&[String]> {
        let subject = finding.subject.as_ref()?;
        let is = |segments: &[String]| {
            Masked::pattern(segments).as_str() == *subject || segments.concat() == *subject
        };
        let found = self.patterns.iter().find(|(segments, _)| is(segments));
        found.map(|(segments, _)| segments.as_slice())
    }

    /// Whether keys are left that are like those of a pattern.
    fn has(&self, pattern: &[String]) -> bool {
        self.patterns.iter().any(|(own, _)| covers(own, pattern) || covers(pattern, own))
    }

    /// The patterns that have no finding of their own.
    fn unnamed<'u>(&'u self, report: &'u Report) -> impl Iterator<Item = &'u [String]> {
        let named: Vec<&[String]> =
            findings(report).filter_map(|finding| self.segments(finding)).collect();
        let all = self.patterns.iter().map(|(segments, _)| segments.as_slice());
        all.filter(move |segments| !named.contains(segments))
    }

    /// How many of these keys the findings of a later report are about, one by one.
    fn held_against(&self, later: &Unknown, findings: &[&Finding]) -> Vec<u64> {
        let mut left: Vec<u64> = self.patterns.iter().map(|(_, keys)| *keys).collect();
        let mut counts = vec![0; findings.len()];
        let segments: Vec<_> = findings.iter().map(|finding| later.segments(finding)).collect();
        let ways: [Way; 3] = [|was, is| was == is, |was, is| covers(is, was), covers];
        for way in ways {
            for (at, is) in segments.iter().enumerate() {
                let Some(is) = is else { continue };
                for (number, (was, _)) in self.patterns.iter().enumerate() {
                    if way(was, is) {
                        // Of keys that are kept apart only now, nobody knows how many were there.
                        let most = if covers(was, is) && was != is {
                            findings[at].count.saturating_sub(counts[at])
                        } else {
                            u64::MAX
                        };
                        let taken = left[number].min(most);
                        left[number] -= taken;
                        counts[at] += taken;
                    }
                }
            }
        }
        // What is not named is about the rest.
        let named: u64 = counts.iter().sum();
        for (count, finding) in counts.iter_mut().zip(findings) {
            if finding.subject.is_none() {
                *count = self.total.saturating_sub(named);
            }
        }
        counts
    }
}

/// Whether keys of an earlier pattern are those of a later one.
type Way = fn(&[String], &[String]) -> bool;

/// Whether a pattern says the same as another, with any word where that has one.
fn covers(wide: &[String], narrow: &[String]) -> bool {
    wide.len() == narrow.len()
        && wide.iter().zip(narrow).all(|(wide, narrow)| wide == narrow || is_wider(wide, narrow))
}

fn findings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| finding.is_about_unknown())
}

/// How the findings about unknown keys have changed, in their order.
pub(super) fn changes(before: &Report, after: &Report, tolerance: f64) -> Vec<Change> {
    let (was, is) = (Unknown::of(before), Unknown::of(after));
    let findings: Vec<&Finding> = findings(after).collect();
    let counts = was.held_against(&is, &findings);
    let rises: Vec<f64> = findings
        .iter()
        .zip(&counts)
        .map(|(finding, count)| (finding.share - share(*count, was.judged)) * 100.0)
        .collect();
    let highest = rises.iter().copied().fold(f64::MIN, f64::max);
    let is_worse = (is.share - was.share) * 100.0 > tolerance;
    // Many small rises may come to one that is not.
    let blamed = |rise: f64| {
        is_worse && (rise > tolerance || highest <= tolerance && (rise > 0.0 || rise >= highest))
    };
    let verdict = |rise: f64, count: u64| match count {
        0 if blamed(rise) => ChangeVerdict::New,
        _ if blamed(rise) => ChangeVerdict::Worse,
        _ if rise < -tolerance => ChangeVerdict::Better,
        _ => ChangeVerdict::Same,
    };
    counts
        .iter()
        .zip(&rises)
        .map(|(count, rise)| Change {
            verdict: verdict(*rise, *count),
            share: share(*count, was.judged),
            count: *count,
        })
        .collect()
}

/// Findings about unknown keys that are only in the first report, by their keys and not by which patterns are named:
/// those of which nothing is in the second one, or with `any` those of which something is not.
pub(super) fn only_in<'r>(report: &'r Report, other: &Report, any: bool) -> Vec<&'r Finding> {
    let (ours, theirs) = (Unknown::of(report), Unknown::of(other));
    // Without counts, nobody knows which patterns a finding about the rest is of.
    let is_cut = |unknown: &Unknown, report: &Report| {
        findings(report).any(|it| it.subject.is_none()) && unknown.unnamed(report).next().is_none()
    };
    if is_cut(&theirs, other) {
        return Vec::new();
    }
    let is_only_here = |finding: &&Finding| match ours.segments(finding) {
        Some(pattern) => !theirs.has(pattern),
        None if is_cut(&ours, report) => theirs.total == 0,
        None if any => ours.unnamed(report).any(|pattern| !theirs.has(pattern)),
        None => !ours.unnamed(report).any(|pattern| theirs.has(pattern)),
    };
    findings(report).filter(is_only_here).collect()
}

/// Whether no keys like those of an earlier finding are left, under any pattern.
pub(super) fn is_gone(finding: &Finding, before: &Report, after: &Report) -> bool {
    let (was, is) = (Unknown::of(before), Unknown::of(after));
    match was.segments(finding) {
        None => is.total == 0,
        Some(was) => !is.has(was),
    }
}

impl Finding {
    /// Whether it is about keys that no definition has.
    pub(super) fn is_about_unknown(&self) -> bool {
        self.rule == Rule::UnknownKey
    }
}
