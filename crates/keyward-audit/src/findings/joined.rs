//! Rules that compare keys with each other, where all keys were seen.

use super::agreed::agreed;
use super::finding;
use super::related::related;
use crate::counts::{Counts, References, Referrer};
use crate::outline::{Outline, OutlinedAgreement, OutlinedJoin, OutlinedReference};
use crate::rare::{Compared, Rare};
use crate::report::{Example, Finding, Source, Unit};
use keyward_rules::judge::{Unresolved, UnresolvedCounts};
use keyward_rules::{Case, Rule, judge};
use std::collections::BTreeMap;

const TOGETHER: &str = "shards of a cluster were read one by one: the keys that their keys refer to were \
                        looked up in these shards alone";

/// The findings of rules that look at two definitions at once; or a note that says why there are none.
pub(crate) fn joined(outline: &Outline, counts: &Counts, source: &mut Source) -> Vec<Finding> {
    let rules = compared(outline);
    if rules.is_empty() || outline.salt.is_none() {
        return Vec::new();
    }
    if let Some(why) = source.hides_keys() {
        let rules = rules.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(" and ");
        source.note(format!("not judged: {rules}, because {why}"));
        return Vec::new();
    }
    if source.shards.iter().any(|shard| shard.alone) {
        source.note(TOGETHER);
    }
    let joins = outline.joins.iter().zip(&counts.joins);
    let joins = joins.filter_map(|(join, (left, right))| both_names(outline, join, left, right));
    let (read, unread): (Vec<_>, Vec<_>) =
        outline.references.iter().zip(&counts.references).partition(|(it, _)| {
            let counted = counts.definitions[it.definition].as_ref();
            !it.stored || counted.is_none_or(|counted| counted.unread == 0)
        });
    for (reference, _) in unread {
        let name = &outline.definitions[reference.definition].name;
        source.note(format!(
            "not judged: `{}` of `{name}`, because its values were not read",
            Rule::DanglingReference
        ));
    }
    let references =
        read.into_iter().filter_map(|(it, values)| unresolved(outline, counts, it, values));
    let mut findings: Vec<Finding> = references.chain(joins).collect();
    findings.extend(agreed(outline, counts, source));
    findings.extend(related(outline, counts, source));
    findings
}

/// The rules that compare keys with each other here.
fn compared(outline: &Outline) -> Vec<Rule> {
    let mut rules = Vec::new();
    rules.extend((!outline.references.is_empty()).then_some(Rule::DanglingReference));
    rules.extend((!outline.joins.is_empty()).then_some(Rule::BothNames));
    rules.extend(outline.agreements.iter().map(OutlinedAgreement::rule));
    rules.extend((!outline.chains.is_empty()).then_some(Rule::ReferenceCycle));
    let mut relations: Vec<Rule> = outline.relations.iter().map(|it| it.rule).collect();
    relations.sort();
    rules.extend(relations);
    rules.dedup();
    rules
}

impl Source {
    /// Why keys may exist that were not read.
    fn hides_keys(&self) -> Option<String> {
        // A sample is chosen by the names of keys: what a chosen key refers to was most likely not chosen.
        if self.sample.is_some_and(|sample| sample.percent < 100.0) {
            return Some("only a sample of the keys was read".to_owned());
        }
        if let Some(narrowed) = &self.narrowed {
            return Some(narrowed.clone());
        }
        if self.keys_unread {
            return Some("not all keys were read".to_owned());
        }
        let is_alone = matches!(&self.shards[..], [only] if only.alone);
        is_alone.then(|| {
            "this is one shard of a cluster: merge the reports of all shards to judge them"
                .to_owned()
        })
    }
}

fn both_names(
    outline: &Outline,
    join: &OutlinedJoin,
    left: &Rare,
    right: &Rare,
) -> Option<Finding> {
    let Compared { looked_at, shared, sampled } = left.compare(right);
    let count = judge::both_names(looked_at, shared);
    let definition = &outline.definitions[join.definition];
    let case = Case {
        definition: Some(&definition.name),
        subject: Some(&join.subject),
        ..Case::default()
    };
    (count > 0).then(|| Finding {
        schema: Some(outline.schema_of(definition).to_owned()),
        definition: Some(definition.name.clone()),
        owner: definition.owner.clone(),
        contact: definition.contact.clone(),
        sampled,
        ..finding(Rule::BothNames, join.severity, &case, count, looked_at)
    })
}

/// References that do not resolve: how many and why, with one example of each.
fn unresolved(
    outline: &Outline,
    counts: &Counts,
    reference: &OutlinedReference,
    values: &References,
) -> Option<Finding> {
    let (lookups, sampled) = values.lookups(&counts.pools, &reference.pools);
    let counted = counts.definitions[reference.definition].as_ref();
    let is_in_part = reference.stored && counted.is_some_and(|counted| counted.in_part > 0);
    let sampled = sampled || is_in_part;
    let mut unresolved = UnresolvedCounts::default();
    let mut examples: BTreeMap<Unresolved, &Referrer> = BTreeMap::new();
    let mut of = 0u64;
    for lookup in &lookups {
        of = of.saturating_add(lookup.weight);
        let Err(why) = judge::dangling_reference(lookup.fits, lookup.found) else { continue };
        unresolved.add(why, lookup.weight);
        if let Some(referrer) = lookup.referrer {
            let first = examples.entry(why).or_insert(referrer);
            if referrer.order < first.order {
                *first = referrer;
            }
        }
    }
    let definition = &outline.definitions[reference.definition];
    let target = &reference.target;
    let case = Case {
        definition: Some(&definition.name),
        subject: Some(&reference.subject),
        ..Case::default()
    };
    let example = |(why, it): (Unresolved, &Referrer)| Example {
        key: it.key.clone(),
        detail: Some(why.describe(it.value.as_str(), target)),
    };
    (unresolved.total() > 0)
        .then(|| Finding {
            schema: Some(outline.schema_of(definition).to_owned()),
            definition: Some(definition.name.clone()),
            owner: definition.owner.clone(),
            contact: definition.contact.clone(),
            sampled,
            examples: examples.into_iter().map(example).collect(),
            details: unresolved.describe(target),
            unresolved: Some(unresolved),
            unit: Unit::References,
            ..finding(Rule::DanglingReference, reference.severity, &case, unresolved.total(), of)
        })
        .map(|found| found.counting(unresolved.total(), of))
}
