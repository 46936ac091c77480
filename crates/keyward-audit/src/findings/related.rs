//! Rules about relations that must agree, where all keys were seen.

use super::finding;
use crate::counts::{Counts, MOST_RELATED, Side, Verdict};
use crate::outline::{Outline, OutlinedRelation};
use crate::report::{Example, Finding, Source, Unit};
use keyward_fact::thousands;
use keyward_rules::Case;
use keyward_schema::model::Law;

/// The findings about relations; or notes that say why there are none.
pub(super) fn related(outline: &Outline, counts: &Counts, source: &mut Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (outlined, relations) in outline.relations.iter().zip(&counts.relations) {
        let Some(law) = outlined.law() else { continue };
        let OutlinedRelation { rule, own, other, .. } = outlined;
        let name = |number: usize| &outline.definitions[number].name;
        let is_unread = |number: &usize| {
            let counted = counts.definitions[*number].as_ref();
            counted.is_some_and(|it| it.unread > 0 || it.in_part > 0 && !relations.rechecked())
        };
        let of = name(*own);
        if let Some(unread) = [*own, *other].into_iter().find(is_unread) {
            let unread = name(unread);
            source.note(format!(
                "not judged: `{rule}` of `{of}`, because values of `{unread}` were not read"
            ));
            continue;
        }
        if relations.too_many() {
            let (steps, most) = (name(*other), thousands(MOST_RELATED as u64));
            source.note(format!(
                "not judged: `{rule}` of `{of}`, because `{steps}` has more than {most} references"
            ));
            continue;
        }
        let verdict = relations.verdict(law, outlined.is_symmetric());
        if verdict.sampled {
            let compared = thousands(verdict.of);
            source.note(format!(
                "judged on a sample: `{rule}` of `{of}`, by {compared} of its references"
            ));
        }
        findings.extend(disagreeing(outline, outlined, law, verdict));
    }
    findings
}

fn disagreeing(
    outline: &Outline,
    outlined: &OutlinedRelation,
    law: Law,
    verdict: Verdict,
) -> Option<Finding> {
    let Verdict { wrong, of, sampled, examples } = verdict;
    if wrong == 0 {
        return None;
    }
    let (own, other) = (&outline.definitions[outlined.own], &outline.definitions[outlined.other]);
    let case = Case { definition: Some(&own.name), near: Some(&other.name), ..Case::default() };
    let example = |(side, (key, element))| {
        let (own, other) = (&own.name, &other.name);
        let detail = match (law, side) {
            (Law::Inverse, Side::Set) => {
                format!("has `{element}`, whose `{other}` does not have it")
            }
            (Law::Inverse, Side::Member) => {
                format!("has `{element}`, whose `{own}` does not have it")
            }
            (Law::Closure, Side::Set) => {
                format!("has `{element}`, which `{other}` does not reach")
            }
            (Law::Closure, Side::Member) => {
                format!("reaches `{element}` by `{other}`, which `{own}` lacks")
            }
            (Law::Same, Side::Set) => format!("has `{element}`, which `{other}` lacks"),
            (Law::Same, Side::Member) => format!("has `{element}`, which `{own}` lacks"),
        };
        Example { key, detail: Some(detail) }
    };
    Some(
        Finding {
            schema: Some(outline.schema_of(own).to_owned()),
            definition: Some(own.name.clone()),
            owner: own.owner.clone(),
            contact: own.contact.clone(),
            sampled,
            examples: examples.into_iter().map(example).collect(),
            unit: Unit::References,
            ..finding(outlined.rule, outlined.severity, &case, wrong, of)
        }
        .counting(wrong, of),
    )
}
