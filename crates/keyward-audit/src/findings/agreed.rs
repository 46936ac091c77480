//! Rules about indexes and chains of keys, where all keys were seen.

use super::finding;
use crate::counts::{Chains, Counts, IndexAgreements, Side};
use crate::outline::{Outline, OutlinedAgreement, OutlinedChain};
use crate::report::{Example, Finding, Source, Unit};
use keyward_fact::thousands;
use keyward_rules::{Case, Rule};

/// How many examples are shown.
const SHOWN: usize = 3;

impl OutlinedAgreement {
    pub(super) fn rule(&self) -> Rule {
        if self.by.is_some() { Rule::IndexContradiction } else { Rule::IndexReverseMismatch }
    }
}

/// The findings about indexes and chains; or notes that say why there are none.
pub(super) fn agreed(outline: &Outline, counts: &Counts, source: &mut Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (outlined, agreements) in outline.agreements.iter().zip(&counts.agreements) {
        if let Some(unread) = unread(outline, counts, outlined, agreements) {
            let index = &outline.definitions[outlined.index].name;
            source.note(format!(
                "not judged: `{}` of `{index}`, because values of `{unread}` were not read",
                outlined.rule()
            ));
        } else {
            findings.extend(disagreeing(outline, outlined, agreements));
        }
    }
    for (outlined, chains) in outline.chains.iter().zip(&counts.chains) {
        if chains.too_many() {
            let name = &outline.definitions[outlined.definition].name;
            let most = thousands(crate::counts::MOST_STEPS as u64);
            source.note(format!(
                "not judged: `{}` of `{name}`, because it has more than {most} references",
                Rule::ReferenceCycle
            ));
        } else {
            findings.extend(cyclic(outline, outlined, chains));
        }
    }
    findings
}

/// The definition whose values would be needed to compare. What was read once more is certain.
fn unread<'o>(
    outline: &'o Outline,
    counts: &Counts,
    outlined: &OutlinedAgreement,
    agreements: &IndexAgreements,
) -> Option<&'o str> {
    let is_unread = |number: &usize| {
        let counted = counts.definitions[*number].as_ref();
        counted.is_some_and(|it| it.unread > 0 || it.in_part > 0 && !agreements.rechecked)
    };
    let number = [outlined.index, outlined.other].into_iter().find(is_unread)?;
    Some(&outline.definitions[number].name)
}

fn disagreeing(
    outline: &Outline,
    outlined: &OutlinedAgreement,
    agreements: &IndexAgreements,
) -> Option<Finding> {
    let (wrong, of, sampled) = agreements.disagreements(outlined.by.is_some());
    if wrong.is_empty() {
        return None;
    }
    let (index, other) =
        (&outline.definitions[outlined.index], &outline.definitions[outlined.other]);
    let case = Case {
        definition: Some(&index.name),
        subject: outlined.by.as_deref(),
        near: Some(&other.name),
        ..Case::default()
    };
    let mut shown: Vec<_> =
        wrong.iter().filter_map(|saying| Some((agreements.shown(saying)?, saying.side))).collect();
    shown.sort_by_key(|((order, _), _)| *order);
    let examples = shown.into_iter().take(SHOWN).map(|((_, (key, element)), side)| {
        let detail = match (&outlined.by, side) {
            (Some(by), _) => format!("has `{element}`, whose `{by}` has another value"),
            (None, Side::Set) => {
                format!("has `{element}`, whose `{}` does not list it", other.name)
            }
            (None, Side::Member) => format!("lists `{element}`, which does not have the member"),
        };
        Example { key: key.clone(), detail: Some(detail) }
    });
    let count = wrong.len() as u64;
    Some(
        Finding {
            schema: Some(outline.schema_of(index).to_owned()),
            definition: Some(index.name.clone()),
            owner: index.owner.clone(),
            contact: index.contact.clone(),
            sampled,
            examples: examples.collect(),
            unit: Unit::Members,
            ..finding(outlined.rule(), outlined.severity, &case, count, of)
        }
        .counting(count, of),
    )
}

fn cyclic(outline: &Outline, outlined: &OutlinedChain, chains: &Chains) -> Option<Finding> {
    let cycles = chains.cycles();
    let count = cycles.iter().map(|cycle| cycle.len() as u64).sum();
    if count == 0 {
        return None;
    }
    let definition = &outline.definitions[outlined.definition];
    let case = Case {
        definition: Some(&definition.name),
        subject: outlined.field.as_deref(),
        ..Case::default()
    };
    let examples = cycles.iter().take(SHOWN).filter_map(|cycle| {
        let detail = match cycle.len() {
            1 => "refers to itself".to_owned(),
            2 => "refers to a key that refers back to it".to_owned(),
            keys => format!("is one of {} keys in a cycle", thousands(keys as u64)),
        };
        Some(Example { key: chains.shown(*cycle.first()?)?.clone(), detail: Some(detail) })
    });
    Some(
        Finding {
            schema: Some(outline.schema_of(definition).to_owned()),
            definition: Some(definition.name.clone()),
            owner: definition.owner.clone(),
            contact: definition.contact.clone(),
            examples: examples.collect(),
            unit: Unit::References,
            ..finding(Rule::ReferenceCycle, outlined.severity, &case, count, chains.seen())
        }
        .counting(count, chains.seen()),
    )
}
