//! Keys that no definition has.

use super::finding;
use crate::counts::{Amount, Counts};
use crate::leaves::{Group, Near};
use crate::mask::Masked;
use crate::outline::Outline;
use crate::report::{BytesKind, Example, Finding, Nearest, Severity};
use crate::segment::{cut, is_word};
use keyward_fact::thousands;
use keyward_rules::{Case, Rule};
use std::cmp::Reverse;

/// The most unknown patterns with a finding of their own.
const MOST_UNKNOWN: usize = 20;

/// Findings about the unknown keys that are not a definition's with a wrong parameter.
pub(crate) fn unknown(
    outline: &Outline,
    counts: &Counts,
    groups: &[Group],
    known: BytesKind,
) -> Vec<Finding> {
    let Some(severity) = outline.unknown_key else { return Vec::new() };
    let mut groups: Vec<(&Group, Amount)> =
        groups.iter().map(|group| (group, group.leaf.strangers())).collect();
    groups.retain(|(_, strangers)| strangers.keys > 0);
    groups.sort_by_key(|(group, strangers)| (Reverse(strangers.keys), group.segments.clone()));
    let (named, others) = groups.split_at(groups.len().min(MOST_UNKNOWN));
    let one = |(group, strangers): &(&Group, Amount)| Finding {
        bytes: known.of(strangers.bytes),
        examples: examples(outline, group),
        ..about(outline, group, severity, strangers.keys, counts.judged)
    };
    let mut findings: Vec<Finding> = named.iter().map(one).collect();
    if !others.is_empty() {
        let all = Amount::sum(others.iter().map(|(_, strangers)| *strangers));
        let patterns = thousands(others.len() as u64);
        let case = Case { detail: Some(&patterns), ..Case::default() };
        let rest = finding(Rule::UnknownKey, severity, &case, all.keys, counts.judged);
        findings.push(Finding { bytes: known.of(all.bytes), ..rest });
    }
    findings
}

fn about(outline: &Outline, group: &Group, severity: Severity, keys: u64, judged: u64) -> Finding {
    let pattern = Masked::pattern(&group.segments);
    let near = nearest(outline, group);
    let case = Case {
        subject: Some(pattern.as_str()),
        near: near.as_ref().map(|near| near.pattern.as_str()),
        detail: near.as_ref().map(|near| near.why.as_str()),
        definition: None,
    };
    let mut finding = finding(Rule::UnknownKey, severity, &case, keys, judged);
    finding.help.extend(breach(outline, group));
    finding
}

fn examples(outline: &Outline, group: &Group) -> Vec<Example> {
    let shown = |key: &Masked| {
        if outline.revealed { key.clone() } else { key.within(&group.segments) }
    };
    group.leaf.examples.iter().map(|it| Example { key: shown(&it.key), detail: None }).collect()
}

/// The definition that was perhaps meant by the keys of a group.
pub(crate) fn nearest(outline: &Outline, group: &Group) -> Option<Nearest> {
    let near = group.leaf.near()?;
    let definition = outline.definitions.get(near.definition)?;
    Some(Nearest {
        schema: outline.schema_of(definition).to_owned(),
        definition: definition.name.clone(),
        pattern: definition.pattern.clone(),
        why: why(near, group, outline.schemas[definition.schema].separator),
    })
}

/// Where the keys of a group part from the definition. What they have there is said only if it is shown.
fn why(near: &Near, group: &Group, separator: char) -> String {
    let others = near.also.iter().map(|(at, why)| (*at, why));
    let all = std::iter::once((near.segment, &near.why)).chain(others);
    let all: Vec<String> =
        all.map(|(at, why)| why.describe(at, word_at(group, at, separator))).collect();
    all.join(", and ")
}

/// Where the keys of a group break the layout of a schema.
fn breach(outline: &Outline, group: &Group) -> Option<String> {
    let (schema, breach) = group.leaf.breach()?;
    let separator = outline.schemas.get(*schema)?.separator;
    Some(breach.describe(word_at(group, breach.segment, separator)))
}

/// The word that is shown in a segment, where segments end as the schema's do.
fn word_at(group: &Group, at: usize, separator: char) -> Option<&str> {
    let mut encoded = [0; 4];
    let separator = &*separator.encode_utf8(&mut encoded);
    let before = group.segments.get(..at.checked_sub(1)?)?;
    let (inside, end) = cut(group.segments.get(at - 1)?);
    let is_cut_alike =
        before.iter().all(|it| cut(it).1 == separator) && (end.is_empty() || end == separator);
    (is_cut_alike && is_word(inside) && !inside.contains('<')).then_some(inside)
}
