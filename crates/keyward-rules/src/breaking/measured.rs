//! How many keys a change touches, as far as an audit tells.

use super::change::{Change, Pair, compiled};
use keyward_fact::{Size, thousands};
use keyward_schema::diagnostic::{Told, Touched};
use keyward_schema::model::{Definition, Schema};
use std::collections::{BTreeMap, HashMap};

/// What an audit has counted.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The definitions that it knew, by name
    pub definitions: HashMap<String, MeasuredDefinition>,
    /// How many per cent of the keys were looked at, if not all
    pub sampled: Option<f64>,
    /// Whether everything was looked at that was to be
    pub complete: bool,
}

/// The keys of one definition.
#[derive(Debug, Clone, Default)]
pub struct MeasuredDefinition {
    /// Its whole pattern in the schema of the audit
    pub pattern: String,
    /// Name and type of each parameter in that schema
    pub params: Vec<(String, String)>,
    /// Keys
    pub keys: u64,
    /// Their bytes, where they are known
    pub bytes: Option<u64>,
    /// Keys with a TTL
    pub expiring: u64,
    /// Ranges of lengths of values, and how many keys have one of them
    pub lengths: Vec<(u64, u64, u64)>,
    /// Ranges of sizes in bytes, and how many keys have one of them
    pub sizes: Vec<(u64, u64, u64)>,
    /// Keys that break a rule, by the rule's name and what it is about: a parameter, a field
    pub breaking: BTreeMap<(String, Option<String>), (u64, Option<u64>)>,
    /// Keys that still have a former name
    pub old_names: Vec<OldAmount>,
    /// Derived keys beside its own, and their bytes
    pub derived: (u64, Option<u64>),
}

/// Keys that still have a former name.
#[derive(Debug, Clone, Default)]
pub struct OldAmount {
    /// The migration
    pub migration: String,
    /// Keys
    pub keys: u64,
    /// Their bytes, where they are known
    pub bytes: Option<u64>,
}

/// Numbers, and the sentence that says them.
pub(crate) type Said = Option<(Touched, String)>;

impl Change<'_> {
    /// All keys of a definition.
    pub(crate) fn touches_all(&self, old: &Definition) -> Said {
        self.of(old, None, |measured| self.counted(measured.keys, measured.bytes))
    }

    /// The keys of a definition that break a rule of `audit` in the new version. Only an audit with that version
    /// has counted them; with the old one it may be any of them.
    pub(crate) fn touches_some(&self, pair: &Pair<'_>, rule: &str, subject: Option<&str>) -> Said {
        self.of(pair.old, Some(pair.new), |measured| {
            if is_of(measured, self.new, pair.new) && !is_of(measured, self.old, pair.old) {
                let broken = (rule.to_owned(), subject.map(str::to_owned));
                let (keys, bytes) = measured.breaking.get(&broken).copied().unwrap_or((0, Some(0)));
                return self.counted(keys, bytes);
            }
            self.at_most(measured.keys, measured.bytes)
        })
    }

    /// The keys of a definition that break a rule of `audit`, where the audit judged them alike in both versions, or
    /// any of them.
    pub(crate) fn touches_at_most(&self, old: &Definition, new: &Definition) -> Said {
        self.of(old, Some(new), |measured| self.at_most(measured.keys, measured.bytes))
    }

    /// The keys whose length or size lies above a bound.
    pub(crate) fn touches_above(
        &self,
        pair: &Pair<'_>,
        bound: u64,
        ranges: fn(&MeasuredDefinition) -> &[(u64, u64, u64)],
    ) -> Said {
        self.of(pair.old, Some(pair.new), |measured| {
            let above = ranges(measured).iter().filter(|(_, to, _)| *to > bound);
            let sure: u64 = above.clone().filter(|(from, _, _)| *from > bound).map(|it| it.2).sum();
            let perhaps: u64 = above.map(|(_, _, keys)| keys).sum();
            if sure == perhaps { self.counted(sure, None) } else { self.at_most(perhaps, None) }
        })
    }

    /// What a sentence says of the definition that the audit counted.
    pub(crate) fn of(
        &self,
        old: &Definition,
        new: Option<&Definition>,
        say: impl FnOnce(&MeasuredDefinition) -> (Touched, String),
    ) -> Said {
        let known = &self.measured?.definitions;
        let new = new.and_then(|new| known.get(new.name.as_str()));
        let Some(measured) = known.get(old.name.as_str()).or(new) else {
            let touched = Touched { keys: None, bytes: None, how: Told::AtMost };
            let name = &old.name.value;
            let note = format!(
                "how many keys it touches cannot be told: the report has no definition `{name}`"
            );
            return Some((touched, note));
        };
        Some(say(measured))
    }

    /// As many as the audit counted.
    pub(crate) fn counted(&self, keys: u64, bytes: Option<u64>) -> (Touched, String) {
        if keys == 0 && self.sampled().is_none() {
            let touched = Touched { keys: Some(0), bytes: Some(0), how: Told::Counted };
            let found = if self.is_complete() { "no key" } else { "no key so far" };
            return (touched, format!("the report has {found} that it touches"));
        }
        self.said("touches", keys, bytes, Told::Counted)
    }

    /// At most as many as the audit counted.
    pub(crate) fn at_most(&self, keys: u64, bytes: Option<u64>) -> (Touched, String) {
        match keys {
            0 => self.counted(keys, bytes),
            _ => self.said("touches at most", keys, bytes, Told::AtMost),
        }
    }

    fn said(&self, verb: &str, keys: u64, bytes: Option<u64>, how: Told) -> (Touched, String) {
        let (keys, bytes) = (self.scaled(keys), bytes.map(|bytes| self.scaled(bytes)));
        let how = if self.sampled().is_some() { Told::Estimated } else { how };
        let amount = amount(keys, bytes);
        let note = match (self.sampled(), self.is_complete()) {
            (Some(percent), _) => {
                format!("{verb} about {amount}, estimated from a sample of {percent} %")
            }
            (None, true) => format!("{verb} {amount}"),
            (None, false) => format!("{verb} {amount} that an incomplete audit has seen"),
        };
        (Touched { keys: Some(keys), bytes, how }, note)
    }

    /// What a number of a sample is of all keys.
    pub(crate) fn scaled(&self, number: u64) -> u64 {
        let Some(percent) = self.sampled() else { return number };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an estimate, and the cast saturates"
        )]
        let scaled = (number as f64 * 100.0 / percent).round() as u64;
        scaled
    }

    fn sampled(&self) -> Option<f64> {
        self.measured.and_then(|measured| measured.sampled).filter(|percent| *percent > 0.0)
    }

    fn is_complete(&self) -> bool {
        self.measured.is_some_and(|measured| measured.complete)
    }
}

/// `2,040 keys (1.2 MiB)`
pub(crate) fn amount(keys: u64, bytes: Option<u64>) -> String {
    let plural = if keys == 1 { "" } else { "s" };
    let size =
        bytes.map_or(String::new(), |bytes| format!(" ({})", Size::from_bytes(bytes).human()));
    format!("{} key{plural}{size}", thousands(keys))
}

/// Whether an audit counted by this version of a definition.
fn is_of(measured: &MeasuredDefinition, schema: &Schema, definition: &Definition) -> bool {
    let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
    let Some(compiled) = compiled(schema, definition) else { return false };
    let params = compiled.params().iter().map(|(name, param)| (name.clone(), param.ty.to_string()));
    measured.pattern == format!("{prefix}{}", definition.pattern.as_str())
        && params.eq(measured.params.iter().cloned())
}
