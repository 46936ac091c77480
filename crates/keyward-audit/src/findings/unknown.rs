//! Keys that no definition has.

use super::finding;
use crate::counts::{Amount, Counts};
use crate::leaves::{Group, Near, Parting};
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
    finding(Rule::UnknownKey, severity, &case, keys, judged)
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
fn why(Near { segment: at, parting, .. }: &Near, group: &Group, separator: char) -> String {
    match parting {
        Parting::Word(expected) => match word_at(group, *at, separator) {
            Some(found) => format!("segment {at} is `{found}`, not `{expected}`"),
            None => format!("segment {at} is not `{expected}`"),
        },
        Parting::Capitals(expected) => format!("segment {at} is `{expected}` in other capitals"),
        Parting::Misspelt(expected) => match word_at(group, *at, separator) {
            Some(found) => format!("segment {at} is `{found}`, not `{expected}`"),
            None => format!("segment {at} looks like `{expected}`, misspelt"),
        },
        Parting::RawAddress => {
            format!("segment {at} begins a raw IPv6 address, which is 32 hex digits in a key")
        }
        Parting::Braces => format!("segment {at} lacks the braces of its hash tag"),
        Parting::Type(ty) => format!("segment {at} is no {ty}"),
        Parting::Value(expected) => format!("segment {at} does not fit `{expected}`"),
        Parting::Short(expected) => format!("it ends where `{expected}` is expected"),
        Parting::Long => format!("segment {at} is one too many"),
        Parting::Together => "every segment fits, but not all of them together".to_owned(),
    }
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
