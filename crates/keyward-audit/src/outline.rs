//! What is counted: definitions, former names, other software's keys, and what may be wrong with them.
//!
//! It is taken from the schemas when an audit begins and stays beside the counts, so that findings and a report
//! can be made of a file, without the schemas. Nothing of it depends on keys.

use crate::report::{ChecklistItem, Severity, Unit};
use keyward_rules::Rule;
use keyward_rules::judge::Target;
use serde::{Deserialize, Serialize};

/// What is counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Tells salts apart: hashes of one salt mean the same; `None` where counts of several were merged
    pub(crate) salt: Option<String>,
    /// Tells the texts of schemas apart; `None` where counts against different ones were merged
    pub(crate) texts: Option<String>,
    /// Whether keys are shown as they are
    pub(crate) revealed: bool,
    /// Whether only some definitions were asked for
    pub(crate) selective: bool,
    /// Which keys were looked at, if the prefix was bound
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) narrowed: Option<String>,
    /// How serious it is that no definition has a key; `None` where that is not judged
    pub(crate) unknown_key: Option<Severity>,
    pub(crate) schemas: Vec<OutlinedSchema>,
    /// The definitions of all schemas, one schema after the other
    pub(crate) definitions: Vec<OutlinedDefinition>,
    /// Former names whose entities are looked for under the new name too
    pub(crate) joins: Vec<OutlinedJoin>,
    /// How many sets of names references are looked up in
    pub(crate) pools: usize,
    pub(crate) references: Vec<OutlinedReference>,
    /// Indexes that must agree with what they find
    #[serde(default)]
    pub(crate) agreements: Vec<OutlinedAgreement>,
    /// References from a definition to itself
    #[serde(default)]
    pub(crate) chains: Vec<OutlinedChain>,
    /// Relations that must agree
    #[serde(default)]
    pub(crate) relations: Vec<OutlinedRelation>,
}

/// A schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutlinedSchema {
    pub(crate) name: String,
    pub(crate) path: Option<String>,
    /// What all its patterns begin with, parameters without their types: `{tenant}:shop:`
    #[serde(default)]
    pub(crate) prefix: String,
    pub(crate) separator: char,
    pub(crate) old_names: Vec<OutlinedOldName>,
    pub(crate) foreign: Vec<OutlinedForeign>,
    /// What it asks of the server
    pub(crate) settings: Vec<OutlinedSetting>,
    /// How serious it is that a setting differs
    pub(crate) server_setting: Option<Severity>,
    /// The per cent of `maxmemory` that may be used
    pub(crate) memory: Option<f64>,
    /// How serious it is to use more
    pub(crate) memory_high: Option<Severity>,
    /// Its check-list, as far as the schema alone decides it; `NotJudged` is what keys decide
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) checklist: Vec<ChecklistItem>,
}

/// A former name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedOldName {
    /// The number of its definition
    pub(crate) definition: Option<usize>,
    pub(crate) migration: String,
    pub(crate) pattern: String,
    /// How serious it is that keys still have it
    pub(crate) severity: Option<Severity>,
}

/// Other software's keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedForeign {
    pub(crate) name: String,
    pub(crate) glob: String,
}

/// A setting that a schema asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedSetting {
    pub(crate) name: String,
    pub(crate) want: String,
    pub(crate) why: String,
}

/// A definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedDefinition {
    /// The number of its schema
    pub(crate) schema: usize,
    /// Whether it was asked for
    pub(crate) selected: bool,
    pub(crate) name: String,
    /// Its whole pattern, prefix included
    pub(crate) pattern: String,
    pub(crate) group: Option<String>,
    pub(crate) owner: Option<String>,
    /// How to reach the owner
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) contact: Option<String>,
    pub(crate) lifecycle: String,
    pub(crate) key_type: Option<String>,
    pub(crate) ttl: Option<String>,
    pub(crate) params: Vec<OutlinedParam>,
    /// What may be wrong with its keys, by number
    pub(crate) slots: Vec<Slot>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedParam {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: String,
}

/// Something that may be wrong with keys of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub(crate) rule: Rule,
    /// `None` where it is not judged
    pub(crate) severity: Option<Severity>,
    /// What in the definition it is about
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    /// What is declared
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
    /// What is counted
    pub(crate) unit: Unit,
    /// Whether only the value shows it
    pub(crate) stored: bool,
}

/// A former name whose entities are looked for under the new name too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedJoin {
    pub(crate) severity: Severity,
    /// The definition whose keys are judged
    pub(crate) definition: usize,
    pub(crate) subject: String,
}

/// A value that is declared to name keys of other definitions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedReference {
    pub(crate) severity: Severity,
    /// The definition whose keys are judged
    pub(crate) definition: usize,
    pub(crate) subject: String,
    pub(crate) target: Target,
    /// Whether it is in values rather than in names
    pub(crate) stored: bool,
    /// The sets of names that it is declared to be in
    pub(crate) pools: Vec<usize>,
}

/// An index, and the definition that its members are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedAgreement {
    pub(crate) severity: Severity,
    /// The definition of the sets
    pub(crate) index: usize,
    /// The definition of the members, or of their reverse
    pub(crate) other: usize,
    /// What of the members decides in which set they are; `None` where a reverse does
    pub(crate) by: Option<String>,
}

/// A reference from a definition to itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedChain {
    pub(crate) severity: Severity,
    pub(crate) definition: usize,
    /// The field that has it; `None` where the value does
    pub(crate) field: Option<String>,
}

/// Two relations that must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutlinedRelation {
    /// How they must agree
    pub(crate) rule: Rule,
    pub(crate) severity: Severity,
    /// The definition that declares it
    pub(crate) own: usize,
    /// The definition that it names; the same where it is symmetric
    pub(crate) other: usize,
}

impl OutlinedSchema {
    /// Takes over another state of the same check-list, where that is worse. Of two different ones, neither is
    /// ticked.
    fn merge_checklist(&mut self, theirs: Vec<ChecklistItem>) {
        let is_same = |ours: &[ChecklistItem]| {
            ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(one, other)| one.is(other))
        };
        if !is_same(&self.checklist) {
            self.checklist.clear();
        }
        for (ours, theirs) in self.checklist.iter_mut().zip(theirs) {
            if (theirs.state, theirs.findings) > (ours.state, ours.findings) {
                *ours = theirs;
            }
        }
    }
}

impl Outline {
    /// Whether keys are checked against a schema at all.
    pub(crate) fn has_schema(&self) -> bool {
        !self.schemas.is_empty()
    }

    /// The name of a definition's schema.
    pub(crate) fn schema_of(&self, definition: &OutlinedDefinition) -> &str {
        &self.schemas[definition.schema].name
    }

    /// Whether two list the same, one by one and in the same order, so that their numbers can be added. How
    /// serious a rule is may differ, and so may where a schema was read, how its
    /// owners are reached and how its check-list is ticked.
    pub(crate) fn lists_the_same(&self, other: &Outline) -> bool {
        let bare = |outline: &Outline| {
            let mut bare = outline.clone();
            bare.weigh(|severity| *severity = None);
            bare.joins.iter_mut().for_each(|join| join.severity = Severity::Warning);
            bare.references.iter_mut().for_each(|it| it.severity = Severity::Warning);
            bare.agreements.iter_mut().for_each(|it| it.severity = Severity::Warning);
            bare.chains.iter_mut().for_each(|it| it.severity = Severity::Warning);
            bare.relations.iter_mut().for_each(|it| it.severity = Severity::Warning);
            for schema in &mut bare.schemas {
                schema.path = None;
                schema.checklist.clear();
            }
            bare.definitions.iter_mut().for_each(|it| it.contact = None);
            let compared = (bare.joins, bare.pools, bare.references, bare.agreements, bare.chains);
            (bare.selective, bare.schemas, bare.definitions, compared, bare.relations)
        };
        bare(self) == bare(other)
    }

    /// Takes over what may differ between two that list the same: whatever is stricter counts.
    pub(crate) fn merge(&mut self, other: Outline) {
        if self.texts != other.texts {
            self.texts = None;
        }
        self.revealed |= other.revealed;
        let mut theirs = Vec::new();
        let mut other = other;
        other.weigh(|severity| theirs.push(*severity));
        let mut theirs = theirs.into_iter();
        self.weigh(|ours| {
            *ours = [*ours, theirs.next().flatten()].into_iter().flatten().min();
        });
        for (ours, theirs) in self.joins.iter_mut().zip(&other.joins) {
            ours.severity = ours.severity.min(theirs.severity);
        }
        for (ours, theirs) in self.references.iter_mut().zip(&other.references) {
            ours.severity = ours.severity.min(theirs.severity);
        }
        for (ours, theirs) in self.agreements.iter_mut().zip(&other.agreements) {
            ours.severity = ours.severity.min(theirs.severity);
        }
        for (ours, theirs) in self.chains.iter_mut().zip(&other.chains) {
            ours.severity = ours.severity.min(theirs.severity);
        }
        for (ours, theirs) in self.relations.iter_mut().zip(&other.relations) {
            ours.severity = ours.severity.min(theirs.severity);
        }
        for (ours, theirs) in self.schemas.iter_mut().zip(other.schemas) {
            if ours.path != theirs.path {
                ours.path = None;
            }
            ours.merge_checklist(theirs.checklist);
        }
    }

    /// Visits every severity that may be off.
    fn weigh(&mut self, mut visit: impl FnMut(&mut Option<Severity>)) {
        visit(&mut self.unknown_key);
        for schema in &mut self.schemas {
            visit(&mut schema.server_setting);
            visit(&mut schema.memory_high);
            schema.old_names.iter_mut().for_each(|it| visit(&mut it.severity));
        }
        self.definitions
            .iter_mut()
            .flat_map(|it| &mut it.slots)
            .for_each(|it| visit(&mut it.severity));
    }

    /// Fails where it refers to what is not there: an outline may come from a file.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let old_names = self.schemas.iter().flat_map(|schema| &schema.old_names);
        let mut definitions = (self.joins.iter().map(|join| join.definition))
            .chain(self.references.iter().map(|it| it.definition))
            .chain(self.agreements.iter().flat_map(|it| [it.index, it.other]))
            .chain(self.chains.iter().map(|it| it.definition))
            .chain(self.relations.iter().flat_map(|it| [it.own, it.other]))
            .chain(old_names.filter_map(|old| old.definition));
        let mut rules = self.definitions.iter().flat_map(|it| &it.slots).map(|slot| slot.rule);
        let mut pools = self.references.iter().flat_map(|it| &it.pools);
        let is_whole = definitions.all(|number| number < self.definitions.len())
            && self.definitions.iter().all(|it| it.schema < self.schemas.len())
            && self.definitions.iter().all(|it| it.slots.len() >= 2 * it.params.len())
            && pools.all(|pool| *pool < self.pools)
            && self.relations.iter().all(|it| it.law().is_some())
            && rules.all(Rule::is_live);
        if is_whole { Ok(()) } else { Err("its outline refers to what it does not list") }
    }
}
