//! What is wrong, made of counts: which rule, how many keys of how many, and what to say about it.

mod agreed;
mod joined;
mod related;
mod server;
mod unknown;

pub(crate) use joined::joined;
pub(crate) use server::of_server;
pub(crate) use unknown::{nearest, unknown};

use crate::counts::{Amount, Broken, Counts, Detail, Example as Counted};
use crate::outline::{Outline, OutlinedDefinition};
use crate::report::{BytesKind, Example, Finding, InKeys, Severity, Unit};
use crate::share::{percent_of_count, share};
use keyward_fact::{Duration, Size, thousands};
use keyward_rules::{Case, Rule, word};
use std::cmp::Reverse;

/// What is wrong with keys of definitions, former names included.
pub(crate) fn of_keys(outline: &Outline, counts: &Counts, known: BytesKind) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, definition) in outline.definitions.iter().enumerate() {
        if let Some(counted) = &counts.definitions[number] {
            let own = counted.keys.amount.keys;
            let of_slots = || definition.slots.iter().zip(&counted.broken);
            let misfits = of_slots().filter(|(slot, _)| slot.rule == Rule::InvalidParam);
            let misfits = misfits.map(|(_, it)| it.amount.keys).sum::<u64>();
            for (slot, broken) in of_slots() {
                let Some(severity) = slot.severity else { continue };
                let case = Case {
                    definition: Some(&definition.name),
                    subject: slot.subject.as_deref(),
                    detail: slot.detail.as_deref(),
                    near: None,
                };
                let all = match slot.rule {
                    // A key with a wrong parameter is not one of the definition's own.
                    Rule::InvalidParam => own + misfits,
                    Rule::LeakedDerivedKey => counted.derived.keys,
                    _ => own,
                };
                let finding = Of { rule: slot.rule, severity, all, known };
                let sampled = slot.stored && counted.in_part > 0;
                let found = finding.broken(outline, definition, &case, broken);
                findings.extend(found.map(|found| match slot.unit {
                    Unit::Keys => Finding { sampled, ..found },
                    unit => {
                        let in_keys = InKeys { count: found.count, of: found.of };
                        let found = Finding { sampled, unit, in_keys: Some(in_keys), ..found };
                        found.counting(broken.elements, counted.elements)
                    }
                }));
            }
        }
        findings.extend(old_names(outline, counts, number, definition, known));
    }
    findings
}

fn old_names(
    outline: &Outline,
    counts: &Counts,
    number: usize,
    definition: &OutlinedDefinition,
    known: BytesKind,
) -> Vec<Finding> {
    let outlined = outline.schemas.iter().flat_map(|schema| &schema.old_names);
    let all = outlined.zip(counts.old_names.iter().flatten());
    let own: Vec<_> = all.filter(|(old, _)| old.definition == Some(number)).collect();
    let keys = counts.definitions[number].as_ref().map_or(0, |it| it.keys.amount.keys);
    let all = keys + own.iter().map(|(_, broken)| broken.amount.keys).sum::<u64>();
    let finding = |(old, broken): &(&crate::outline::OutlinedOldName, &Broken)| {
        let case = Case {
            definition: Some(&definition.name),
            subject: Some(&old.pattern),
            ..Case::default()
        };
        let finding = Of { rule: Rule::OldName, severity: old.severity?, all, known };
        finding.broken(outline, definition, &case, broken)
    };
    own.iter().filter_map(finding).collect()
}

/// What a finding is of.
struct Of {
    rule: Rule,
    severity: Severity,
    all: u64,
    known: BytesKind,
}

impl Of {
    fn broken(
        &self,
        outline: &Outline,
        definition: &OutlinedDefinition,
        case: &Case<'_>,
        broken: &Broken,
    ) -> Option<Finding> {
        let Amount { keys, bytes } = broken.amount;
        (keys > 0).then(|| Finding {
            schema: Some(outline.schema_of(definition).to_owned()),
            definition: Some(definition.name.clone()),
            owner: definition.owner.clone(),
            contact: definition.contact.clone(),
            bytes: self.known.of(bytes),
            examples: broken.examples.iter().map(example).collect(),
            ..finding(self.rule, self.severity, case, keys, self.all)
        })
    }
}

/// A finding about so many keys of so many, in a rule's own words.
fn finding(rule: Rule, severity: Severity, case: &Case<'_>, count: u64, of: u64) -> Finding {
    let wording = word(rule, case);
    let finding = Finding {
        rule,
        severity,
        schema: None,
        definition: None,
        owner: None,
        contact: None,
        subject: case.subject.map(str::to_owned),
        count,
        of,
        share: 0.0,
        unit: Unit::Keys,
        in_keys: None,
        bytes: None,
        message: String::new(),
        details: Vec::new(),
        unresolved: None,
        help: wording.help,
        examples: Vec::new(),
        sampled: false,
        change: None,
        what: wording.what,
    };
    finding.counting(count, of)
}

impl Finding {
    /// The same with other numbers: `3 of 1,204 entries (0.2 %), in 2 of 8 keys`.
    fn counting(self, count: u64, of: u64) -> Finding {
        let share = share(count, of);
        let in_keys =
            |keys: InKeys| format!(", in {} of {} keys", thousands(keys.count), thousands(keys.of));
        let message = format!(
            "{}: {} of {}{} ({}){}",
            self.what,
            thousands(count),
            thousands(of),
            self.unit.after_number(),
            percent_of_count(share),
            self.in_keys.map(in_keys).unwrap_or_default()
        );
        Finding { count, of, share, message, ..self }
    }
}

fn example(counted: &Counted) -> Example {
    Example { key: counted.key.clone(), detail: counted.detail.as_ref().map(Detail::text) }
}

impl Detail {
    fn text(&self) -> String {
        match self {
            Detail::Type(name) => name.clone(),
            Detail::Ttl(left) => {
                format!("TTL {}", Duration::from_millis(left / 1000 * 1000).human())
            }
            Detail::Field(name) => format!("field `{name}`"),
            Detail::Entries(entries) => format!("{} entries", thousands(*entries)),
            Detail::Bytes(bytes) => Size::from_bytes(*bytes).human(),
        }
    }
}

/// Errors first, then what is about the server, then keys that must not be lost, then those with the most keys.
pub(crate) fn sort(outline: &Outline, findings: &mut [Finding]) {
    let loss = |finding: &Finding| {
        let is_it = |it: &&OutlinedDefinition| {
            finding.definition.as_ref() == Some(&it.name)
                && finding.schema.as_deref() == Some(outline.schema_of(it))
        };
        let lifecycle = outline.definitions.iter().find(is_it).map(|it| it.lifecycle.as_str());
        // An undeclared key may be anything, but a cache is known to be replaceable.
        let order = ["protected", "retained", "session"];
        lifecycle.map_or(order.len(), |lifecycle| {
            order.iter().position(|it| *it == lifecycle).unwrap_or(order.len() + 1)
        })
    };
    findings.sort_by(|left, right| {
        let rank = |finding: &Finding| {
            (finding.severity, !finding.is_about_server(), loss(finding), Reverse(finding.count))
        };
        let name = |finding: &Finding| {
            let Finding { rule, schema, definition, subject, what, .. } = finding.clone();
            (rule, schema, definition, subject, what)
        };
        rank(left).cmp(&rank(right)).then_with(|| name(left).cmp(&name(right)))
    });
}
