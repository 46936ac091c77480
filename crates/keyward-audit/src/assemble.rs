//! What was counted, as a report.

use crate::clock::rfc3339;
use crate::leaves::redact;
use crate::mask::Mask;
use crate::merge::{absorb, settle};
use crate::plan::{Audit, Planned, Slot};
use crate::report::{
    Count, Definition, Finding, Foreign, Join, Leaf, Nearest, OldName, Param, Report, Source,
    State, Summary, VERSION,
};
use crate::settings::{self, ServerFacts};
use crate::sketch;
use crate::tally::{Broken, Counts, Seen, Tally};
use keyward_rules::{Case, word};
use keyward_schema::{Neighbours, Parting};

/// For so many groups the nearest definition is looked for: those with the most keys.
const MOST_NEIGHBOURS: usize = 256;

impl Audit {
    /// The report of what several observers counted. `now` is when it is written, in milliseconds since
    /// 1970.
    pub fn report(
        &self,
        source: Source,
        tallies: Vec<Tally>,
        server: &ServerFacts,
        now: u64,
    ) -> Report {
        self.report_with(source, tallies, Vec::new(), server, now)
    }

    /// The same, with what was counted earlier.
    pub(crate) fn report_with(
        &self,
        source: Source,
        tallies: Vec<Tally>,
        earlier: Vec<Report>,
        server: &ServerFacts,
        now: u64,
    ) -> Report {
        let mut report = self.empty(source, now);
        for tally in tallies {
            absorb(&mut report, self.part(tally.counts));
        }
        for earlier in earlier {
            absorb(&mut report, Report { source: Source::unknown(), ..earlier });
        }
        let (settings, findings) = settings::judge(self, server);
        if !report.source.bytes.is_known() {
            report.forget_bytes();
        }
        report.settings = settings;
        report.findings.extend(findings);
        if self.selective {
            report.source.notes.push(
                "only some definitions were asked for: all other keys are left out".to_owned(),
            );
        }
        settle(&mut report);
        if !self.mask.reveal {
            redact(&mut report.state.leaves);
        }
        report
    }

    /// The report of no keys.
    pub(crate) fn empty(&self, source: Source, now: u64) -> Report {
        let definitions = self.definitions.iter().filter(|planned| planned.selected);
        let foreign = self.spaces.iter().zip(&self.infos).flat_map(|(space, info)| {
            space.foreign.iter().map(|foreign| Foreign {
                schema: info.name.clone(),
                name: foreign.name.clone(),
                glob: foreign.text.clone(),
                keys: 0,
                bytes: 0,
            })
        });
        Report {
            version: VERSION,
            keyward: env!("CARGO_PKG_VERSION").to_owned(),
            created_at: rfc3339(now),
            source,
            schemas: self.infos.clone(),
            summary: Summary::default(),
            definitions: definitions.map(|planned| self.definition(planned, None)).collect(),
            unknown: Vec::new(),
            groups: Vec::new(),
            foreign: if self.selective { Vec::new() } else { foreign.collect() },
            settings: Vec::new(),
            findings: Vec::new(),
            baseline: None,
            state: State {
                salt: self.mask.salt.fingerprint(),
                schemas: self.fingerprint.clone(),
                revealed: self.mask.reveal,
                approximate: false,
                unknown_key: self.unknown_key.filter(|_| !self.selective),
                top: self.top,
                leaves: Vec::new(),
                joins: Vec::new(),
            },
        }
    }

    /// What one observer counted, as a report that is not settled yet.
    fn part(&self, mut counts: Counts) -> Report {
        let mut part = self.empty(Source::unknown(), 0);
        part.state.approximate = counts.groups.approximate;
        part.summary = Summary {
            keys: 0,
            bytes: 0,
            compliance: None,
            judged: counts.judged,
            compliant: counts.compliant,
            expired: counts.expired,
            foreign: Count::default(),
            unknown: if self.has_schema() { counts.unknown } else { Count::default() },
            defined: counts.defined,
        };
        let selected =
            self.definitions.iter().zip(&counts.definitions).filter(|(it, _)| it.selected);
        part.definitions =
            selected.map(|(planned, seen)| self.definition(planned, seen.as_deref())).collect();
        for (planned, seen) in self.definitions.iter().zip(&counts.definitions) {
            let Some(seen) = seen else { continue };
            for (slot, broken) in planned.slots.iter().zip(&seen.broken) {
                part.findings.extend(self.finding(planned, slot, broken));
            }
        }
        self.old_names(&counts, &mut part);
        for (space, counted) in counts.foreign.iter().enumerate() {
            for (foreign, counted) in self.spaces[space].foreign.iter().zip(counted) {
                let known = part.foreign.iter_mut().find(|known| {
                    known.schema == self.infos[space].name && known.name == foreign.name
                });
                if let Some(known) = known {
                    (known.keys, known.bytes) = (counted.keys, counted.bytes);
                }
            }
        }
        part.state.joins = self
            .joins
            .iter()
            .zip(std::mem::take(&mut counts.joins))
            .map(|(join, (left, right))| {
                let (schema, definition) = self.declared(&self.definitions[join.definition]);
                Join {
                    rule: join.rule.to_owned(),
                    severity: join.severity,
                    schema: schema.keyspace.name.value.clone(),
                    definition: definition.name.value.clone(),
                    subject: join.subject.clone(),
                    what: join.what.clone(),
                    help: join.help.clone(),
                    left: left.into_text(),
                    right: right.into_text(),
                }
            })
            .collect();
        part.state.leaves = self.leaves(counts);
        part
    }

    fn definition(&self, planned: &Planned, seen: Option<&Seen>) -> Definition {
        let (schema, definition) = self.declared(planned);
        let space = &self.spaces[planned.schema];
        let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
        let declared = definition.ttl.as_ref().map(|ttl| ttl.to_string());
        let facts = match seen {
            Some(seen) => seen.gathered.facts(declared),
            None => crate::facts::Gathered::default().facts(declared),
        };
        let params = planned.params.iter().enumerate().map(|(number, param)| {
            let sketch = seen.map(|seen| &seen.sketches[number]);
            Param {
                name: param.name.clone(),
                ty: param.ty.clone(),
                distinct: sketch.map_or(0, sketch::Sketch::estimate),
                error: sketch::ERROR,
                sketch: sketch.map_or_else(String::new, sketch::Sketch::to_text),
            }
        });
        let number = space.first + planned.number;
        let old = space.renames.iter().filter(|old| old.definition == Some(number));
        Definition {
            schema: schema.keyspace.name.value.clone(),
            name: definition.name.value.clone(),
            pattern: format!("{prefix}{}", definition.pattern.as_str()),
            group: definition.group.as_ref().map(|group| group.value.clone()),
            owner: definition.owner.as_ref().map(|owner| owner.value.clone()),
            lifecycle: definition.lifecycle.name().to_owned(),
            declared_type: definition.key_type.as_ref().map(|it| it.name().to_owned()),
            facts,
            params: params.collect(),
            old_names: old
                .map(|old| OldName {
                    migration: old.migration.clone(),
                    pattern: old.pattern.clone(),
                    keys: 0,
                    bytes: 0,
                })
                .collect(),
            derived: seen.map_or(Count::default(), |seen| seen.derived),
        }
    }

    fn finding(&self, planned: &Planned, slot: &Slot, broken: &Broken) -> Option<Finding> {
        let severity = slot.severity.filter(|_| broken.count.keys > 0)?;
        let (schema, definition) = self.declared(planned);
        Some(Finding {
            rule: slot.rule.to_owned(),
            severity,
            schema: Some(schema.keyspace.name.value.clone()),
            definition: Some(definition.name.value.clone()),
            subject: slot.subject.clone(),
            count: broken.count.keys,
            of: 0,
            share: 0.0,
            bytes: broken.count.bytes,
            message: String::new(),
            help: slot.help.clone(),
            examples: broken.examples(),
            sampled: false,
            change: None,
            what: slot.what.clone(),
        })
    }

    fn old_names(&self, counts: &Counts, part: &mut Report) {
        for ((space, info), counted) in self.spaces.iter().zip(&self.infos).zip(&counts.old) {
            for (old, broken) in space.renames.iter().zip(counted) {
                let Some(number) = old.definition else { continue };
                let (_, definition) = self.declared(&self.definitions[number]);
                let known = part
                    .definitions
                    .iter_mut()
                    .find(|known| known.schema == info.name && known.name == definition.name.value);
                let Some(known) = known else { continue };
                let listed = known
                    .old_names
                    .iter_mut()
                    .find(|it| it.pattern == old.pattern && it.migration == old.migration);
                if let Some(listed) = listed {
                    (listed.keys, listed.bytes) = (broken.count.keys, broken.count.bytes);
                }
                let case = Case {
                    definition: Some(definition),
                    subject: Some(&old.pattern),
                    ..Case::default()
                };
                let wording = word("old-name", &case);
                let slot = Slot {
                    rule: "old-name",
                    severity: old.severity,
                    subject: Some(old.pattern.clone()),
                    what: wording.what,
                    help: wording.help,
                };
                part.findings.extend(self.finding(&self.definitions[number], &slot, broken));
            }
        }
    }

    /// The groups of unknown keys; those with the most keys know the definition that was perhaps meant.
    fn leaves(&self, counts: Counts) -> Vec<Leaf> {
        let mut leaves = counts.groups.into_leaves();
        for (leaf, _) in &mut leaves {
            leaf.facts.biggest.truncate(self.top);
            leaf.mark(self.mask.salt, &self.vocabulary);
        }
        if self.has_schema() {
            let mut neighbours = Neighbours::new(&self.schemas, &self.keyspaces);
            let mut order: Vec<usize> = (0..leaves.len()).collect();
            order.sort_by_key(|at| std::cmp::Reverse(leaves[*at].0.facts.keys));
            for at in order.into_iter().take(MOST_NEIGHBOURS) {
                let (leaf, key) = &mut leaves[at];
                leaf.nearest = nearest(&mut neighbours, key, self.mask);
            }
        }
        leaves.into_iter().map(|(leaf, _)| leaf).collect()
    }
}

fn nearest(neighbours: &mut Neighbours<'_>, key: &[u8], mask: Mask) -> Option<Nearest> {
    let near = neighbours.nearest(key).ok()?;
    let at = near.segment;
    let shown = |text: &str| mask.unknown(text.as_bytes());
    let why = match &near.parting {
        Parting::Word { found, expected } => {
            format!("segment {at} is `{}`, not `{expected}`", shown(found))
        }
        Parting::RawAddress { .. } => {
            format!("segment {at} begins a raw IPv6 address, which is 32 hex digits in a key")
        }
        Parting::Braces { .. } => format!("segment {at} lacks the braces of its hash tag"),
        Parting::Value { ty: Some(ty), .. } => format!("segment {at} is no {ty}"),
        Parting::Value { expected, .. } => format!("segment {at} does not fit `{expected}`"),
        Parting::Short { expected } => format!("it ends where `{expected}` is expected"),
        Parting::Long { .. } => format!("segment {at} is one too many"),
        _ => "every segment fits, but not all of them together".to_owned(),
    };
    let prefix = near.schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
    Some(Nearest {
        schema: near.schema.keyspace.name.value.clone(),
        definition: near.definition.name.value.clone(),
        pattern: format!("{prefix}{}", near.definition.pattern.as_str()),
        why,
    })
}
