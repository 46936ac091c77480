//! `plan fix`: what breaks the rules of the schema, as far as the schema says how it should be.

mod members;
mod misspelt;
mod ttl;

use super::{Stage, Work, old_ttl, queues};
use crate::change::{Change, Condition, Ending, Outcome, Reference, Trim};
use crate::document::Row;
use crate::error::Error;
use keyward_fact::Duration;
use keyward_pattern::nearest;
use keyward_rules::judge::FORGIVEN_TTL;
use keyward_rules::{Live, Rule};
use keyward_schema::model::{
    Date, Definition, Keep, Migration, OnFull, Phase, Rename, Role, Severity,
};
use keyward_schema::{OldNames, Schema};
use members::Members;
use misspelt::Misspelt;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};
use ttl::Lifetime;

/// The TTL of what is left under an old name, where its migration says nothing else.
const OLD_TTL: Duration = Duration::from_secs(60 * 60);

/// Keys that break rules.
pub(super) struct Fix<'s> {
    schema: &'s Schema,
    rows: Vec<Row>,
    /// What is repaired of the keys of each definition, with its row
    repairs: Vec<Vec<(usize, Repair)>>,
    /// The old names of each database, each with the rows of its renames
    old: Vec<(OldNames<'s>, Vec<Option<usize>>)>,
    misspelt: Option<Misspelt<'s>>,
    /// Whether this pass only looks for the names that misspelt keys will get
    gathers: AtomicBool,
    /// Those names: what refers to them leads somewhere once the plan is applied
    meant: RwLock<HashSet<String>>,
}

/// What is wrong with a key of a definition, perhaps.
enum Repair {
    /// It has no TTL
    Endless(Lifetime),
    /// Its TTL is too long
    TooLong(Lifetime),
    /// It has too many entries
    TooLarge(Trim),
    /// Its members name keys that are gone or say otherwise
    Members(Members),
}

impl<'s> Fix<'s> {
    pub(super) fn new(schema: &'s Schema, rules: &[String], today: &str) -> Result<Self, Error> {
        let wanted = wanted(rules)?;
        let today = day(today).ok_or_else(|| {
            Error::refused("the plan does not say for which day it was made", "make the plan again")
        })?;
        let mut fix = Fix {
            schema,
            rows: Vec::new(),
            repairs: schema.keys.iter().map(|_| Vec::new()).collect(),
            old: Vec::new(),
            misspelt: None,
            gathers: AtomicBool::new(false),
            meant: RwLock::default(),
        };
        for rule in wanted {
            match rule {
                Rule::OldName => fix.add_old_names(today),
                Rule::UnknownKey => fix.add_misspelt(),
                rule => fix.add_repairs(rule),
            }
        }
        Ok(fix)
    }

    /// The rows of a rule, for each definition that it judges and that says what to do.
    fn add_repairs(&mut self, rule: Rule) {
        let live = Live::new(self.schema);
        for (number, definition) in self.schema.keys.iter().enumerate() {
            // `stale-index` judges the schema; what it warns of is judged here.
            if rule.is_live() && live.severity(rule, Some(definition)) == Severity::Off {
                continue;
            }
            let lifetime = || Lifetime::new(self.schema, number);
            let (action, repair) = match rule {
                Rule::TtlMissing => ("expire", lifetime().map(Repair::Endless)),
                Rule::OversizedCollection => ("trim", trim(definition).map(Repair::TooLarge)),
                Rule::StaleIndex | Rule::DanglingReference | Rule::IndexContradiction => {
                    ("prune", Members::new(self.schema, number, rule).map(Repair::Members))
                }
                _ => ("shorten", lifetime().map(Repair::TooLong)),
            };
            if let Some(repair) = repair {
                let row = self.add_row(rule, action, definition, &self.pattern(definition));
                self.repairs[number].push((row, repair));
            }
        }
    }

    fn add_row(&mut self, rule: Rule, action: &str, definition: &Definition, keys: &str) -> usize {
        let rule = Some(rule.name().to_owned());
        let row = Row::new(action, &definition.name, keys);
        self.rows.push(Row { rule, destructive: true, ..row });
        self.rows.len() - 1
    }

    fn pattern(&self, definition: &Definition) -> String {
        let prefix = self.schema.keyspace.prefix.as_ref().map_or("", |it| it.as_str());
        format!("{prefix}{}", definition.pattern.as_str())
    }

    /// The rows of keys that a definition nearly has.
    fn add_misspelt(&mut self) {
        if Live::new(self.schema).severity(Rule::UnknownKey, None) == Severity::Off {
            return;
        }
        let mut rows = Vec::new();
        for definition in &self.schema.keys {
            let row = self.add_row(Rule::UnknownKey, "rename", definition, "misspelt");
            self.rows[row].to = Some(self.pattern(definition));
            self.rows[row].destructive = false;
            rows.push(row);
        }
        self.misspelt = Some(Misspelt::new(self.schema, rows));
    }

    /// The rows of old names whose migration should be over.
    fn add_old_names(&mut self, today: Date) {
        let live = Live::new(self.schema);
        for names in self.schema.old_names_by_db() {
            let mut rows = Vec::new();
            for (migration, rename) in &names.renames {
                let definition = self.schema.keys.iter().find(|it| *it.name == *rename.definition);
                let is_judged = |it: &&Definition| {
                    let severity = live.severity_of_old(Rule::OldName, Some(it), migration);
                    severity != Severity::Off && is_over(migration, today)
                };
                let definition = definition.filter(is_judged);
                rows.push(definition.map(|definition| {
                    let is_queue = queues::is_queue(self.schema, definition);
                    let action = if is_queue { "remove" } else { "shorten" };
                    self.add_row(Rule::OldName, action, definition, rename.from.as_str())
                }));
            }
            self.old.push((names, rows));
        }
    }

    fn old_name(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let (names, rows) = self.old.iter().find(|(names, _)| names.db == db)?;
        let number = names.keyspace.classify(key)?.index();
        let row = (*rows.get(number)?)?;
        let (migration, rename) = *names.renames.get(number)?;
        let ttl = migration.old_ttl.as_ref().map_or(OLD_TTL, |ttl| ttl.value);
        Some((
            row,
            match *migration.phase {
                Phase::Cleanup => {
                    let then = old_ttl(key, ttl);
                    let to = names.new_name(key, &[])?.key.ok();
                    let Some(to) = to else { return Some((row, Change::Stay(Outcome::Nowhere))) };
                    let definition = self.schema.keys.iter();
                    let definition = definition.filter(|it| queues::is_queue(self.schema, it));
                    let mut queue = definition.filter(|it| *it.name == *rename.definition);
                    if let Some(queue) = queue.next() {
                        let from = std::str::from_utf8(key).ok()?;
                        let (rename, names) = ((migration, rename), (from, to.as_str()));
                        let change = queues::change(self.schema, queue, rename, names, from)?;
                        return Some((row, change));
                    }
                    let needs = Some((to, None));
                    Change::If(Box::new(Condition { needs, unless: Vec::new(), then }))
                }
                Phase::DualWrite | Phase::ReadFallback => Change::Stay(Outcome::InUse),
            },
        ))
    }

    /// What is repaired of the members of a set, by its row.
    fn members(&self, row: usize, set: &[u8]) -> Option<&Members> {
        let repairs = self.repairs.get(self.schema.compiled.classify(set)?.index())?;
        repairs.iter().find_map(|(own, repair)| match repair {
            Repair::Members(members) if *own == row => Some(members),
            _ => None,
        })
    }

    /// The old names that are repaired.
    fn renames(&self) -> impl Iterator<Item = (&'s Migration, &'s Rename)> {
        let of = |(names, rows): &'_ (OldNames<'s>, Vec<Option<usize>>)| {
            let all = names.renames.clone().into_iter().zip(rows.clone());
            all.filter(|(_, row)| row.is_some()).map(|(it, _)| it)
        };
        self.old.iter().flat_map(of)
    }
}

impl Repair {
    /// What is done with a key of these values.
    fn change(&self, key: &[u8], values: &[Cow<'_, str>]) -> Change {
        match self {
            Repair::Endless(lifetime) => {
                Change::Shorten { ttl: lifetime.spread(key, values), whose: Ending::Never }
            }
            Repair::TooLong(lifetime) => {
                let limit = lifetime.longest(values).saturating_add(FORGIVEN_TTL);
                Change::Shorten { ttl: lifetime.spread(key, values), whose: Ending::After(limit) }
            }
            Repair::TooLarge(trim) => Change::Trim(trim.clone()),
            Repair::Members(_) => Change::Prune,
        }
    }
}

impl Work for Fix<'_> {
    fn rows(&self) -> Vec<Row> {
        self.rows.clone()
    }

    fn pick(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let mut last = None;
        self.picks(db, key, &mut |row, change| last = Some((row, change)));
        last
    }

    fn picks(&self, db: Option<u64>, key: &[u8], give: &mut dyn FnMut(usize, Change)) {
        let gathers = self.gathers.load(Ordering::Relaxed);
        let mut values = Vec::new();
        let own =
            if db.is_none() { self.schema.compiled.parse_into(key, &mut values) } else { None };
        if let Some(repairs) = own.and_then(|id| self.repairs.get(id.index())) {
            let repairs = repairs.iter().filter(|_| !gathers);
            return repairs.for_each(|(row, it)| give(*row, it.change(key, &values)));
        }
        let misspelt = self.misspelt.as_ref().filter(|_| db.is_none());
        let misspelt = || {
            let picked = misspelt?.pick(key)?;
            if let Change::Relocate(it) = &picked.1 {
                self.meant.write().unwrap_or_else(PoisonError::into_inner).insert(it.to.clone());
            }
            Some(picked)
        };
        let picked = self.old_name(db, key).or_else(misspelt);
        if let Some((row, change)) = picked.filter(|_| !gathers) {
            give(row, change);
        }
    }

    fn lease(&self, name: &str) -> Option<String> {
        super::lease(self.schema, name)
    }

    fn refers(&self, row: usize, set: &[u8], member: &[u8]) -> Option<Reference> {
        let reference = self.members(row, set)?.refers(self.schema, set, member)?;
        let is_meant =
            |key: &String| self.meant.read().unwrap_or_else(PoisonError::into_inner).contains(key);
        let stays = matches!(&reference, Reference::Key(key) if is_meant(key));
        (!stays).then_some(reference)
    }

    fn contradicts(&self, row: usize, set: &[u8], value: &[u8]) -> bool {
        self.members(row, set).is_some_and(|it| it.contradicts(self.schema, set, value))
    }

    fn databases(&self, home: u64) -> Vec<u64> {
        let mut all: Vec<u64> =
            self.renames().map(|(_, rename)| rename.database().unwrap_or(home)).collect();
        all.push(home);
        all.sort_unstable();
        all.dedup();
        all
    }

    fn stages(&self) -> &'static [Stage] {
        let is_members = |(_, it): &(usize, Repair)| matches!(it, Repair::Members(_));
        let prunes = self.repairs.iter().flatten().any(is_members);
        if prunes && self.misspelt.is_some() { &[Stage::Gather] } else { &[] }
    }

    fn begin(&self, stage: Stage) {
        self.gathers.store(stage == Stage::Gather, Ordering::Relaxed);
    }

    fn fleet(&self) -> Vec<(String, String)> {
        let over = self.renames().filter(|(migration, _)| *migration.phase == Phase::Cleanup);
        let phase = |it: &Migration| (it.name.value.clone(), it.phase.name().to_owned());
        let phases: BTreeMap<String, String> = over.map(|(it, _)| phase(it)).collect();
        phases.into_iter().collect()
    }

    fn terms(&self) -> String {
        let mut terms = String::new();
        let touched = self.schema.keys.iter().zip(&self.repairs).filter(|(_, it)| !it.is_empty());
        for (definition, _) in touched {
            let ttl = definition.ttl.as_ref().map(|it| it.to_string());
            let jitter = definition.jitter.as_ref().map(|it| it.value);
            let trim = trim(definition);
            let member = definition.member.as_ref().map(|it| &it.value);
            let _ = writeln!(terms, "{ttl:?} {jitter:?} {trim:?} {member:?}");
        }
        for (migration, _) in self.renames() {
            let ttl = migration.old_ttl.as_ref().map(|it| it.value);
            let _ = writeln!(terms, "{} {ttl:?}", migration.phase.name());
        }
        terms
    }
}

/// The rules that are to be repaired.
/// The definitions of a schema of which `plan fix` repairs what breaks a rule: it must be judged, and the schema must say
/// what is right. Of `unknown-key`, those that misspelt keys may have been meant for.
pub fn repairable(schema: &Schema, rule: Rule, today: Date) -> Vec<String> {
    if !Rule::REPAIRED.contains(&rule) {
        return Vec::new();
    }
    if rule == Rule::UnknownKey {
        let is_off = Live::new(schema).severity(rule, None) == Severity::Off;
        let names = schema.keys.iter().filter(|_| !is_off);
        return names.map(|it| it.name.to_string()).collect();
    }
    let rules = [rule.name().to_owned()];
    let Ok(fix) = Fix::new(schema, &rules, &today.to_string()) else { return Vec::new() };
    // Where nobody says which end is trimmed, nothing is.
    let undecided = |name: &str| {
        let definition = schema.keys.iter().find(|it| *it.name == *name);
        rule == Rule::OversizedCollection
            && definition.and_then(trim).is_none_or(|trim| trim.keep.is_empty())
    };
    let names: BTreeSet<String> = fix.rows.into_iter().map(|row| row.definition).collect();
    names.into_iter().filter(|name| !undecided(name)).collect()
}

fn wanted(names: &[String]) -> Result<Vec<Rule>, Error> {
    let known = || Rule::REPAIRED.iter().map(|rule| rule.name());
    if let Some(name) = names.iter().find(|name| known().all(|it| it != name.as_str())) {
        let all: Vec<String> = known().map(|it| format!("`{it}`")).collect();
        let help = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("these can be repaired: {}", all.join(", ")),
        };
        return Err(Error::refused(format!("no plan repairs what breaks the rule `{name}`"), help));
    }
    let is_wanted = |rule: &Rule| names.is_empty() || names.iter().any(|it| *it == rule.name());
    Ok(Rule::REPAIRED.into_iter().filter(is_wanted).collect())
}

/// What the collections of a definition are trimmed to, if they have a bound.
fn trim(definition: &Definition) -> Option<Trim> {
    let max = definition.max_len.as_ref()?.value;
    let kind = definition.key_type.as_ref().map(|it| it.stored().to_owned()).unwrap_or_default();
    let keep = definition.keep.as_ref().map(|it| it.value);
    // A job or a holder of a lock is not one entry too many.
    let is_held = matches!(definition.role.as_deref(), Some(Role::Queue(_) | Role::Lock(_)));
    let keep = match (keep, kind.as_str()) {
        _ if is_held || definition.on_full == OnFull::Refuse => "",
        (Some(Keep::First), _) => "first",
        (Some(Keep::Last), _) | (None, "zset" | "stream") => "last",
        // Its writers decide, by the end where they push.
        (None, _) => "",
    };
    Some(Trim { kind, max, keep })
}

/// Whether the old names of a migration should be gone.
fn is_over(migration: &Migration, today: Date) -> bool {
    migration.remove_after.as_ref().is_some_and(|day| day.value < today)
}

/// A day as it is written in a plan.
fn day(text: &str) -> Option<Date> {
    let mut parts = text.splitn(3, '-');
    let mut part = || parts.next();
    let (year, month, day) = (part()?.parse().ok()?, part()?.parse().ok()?, part()?.parse().ok()?);
    let date = Date { year, month, day };
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    (is_day && date.to_string() == text).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_a_day_and_rules_that_can_be_repaired() {
        assert_eq!(day("2026-11-15"), Some(Date { year: 2026, month: 11, day: 15 }));
        for wrong in
            ["", "2026-11", "2026-1-15", "2026-13-01", "2026-11-15-1", "2026-11-32", "x-y-z"]
        {
            assert_eq!(day(wrong), None, "{wrong}");
        }
        assert_eq!(wanted(&[]).unwrap(), Rule::REPAIRED);
        assert_eq!(wanted(&["ttl-missing".to_owned()]).unwrap(), [Rule::TtlMissing]);
        let error = wanted(&["ttl-mising".to_owned()]).unwrap_err();
        assert_eq!(error.help(), "did you mean `ttl-missing`?");
        assert!(wanted(&["wrong-type".to_owned()]).is_err());
    }
    #[test]
    fn what_only_a_person_can_decide_is_not_repairable() {
        let schema = "version = 1\n[keyspace]\nname = \"shop\"\n\
             [keys.log]\npattern = \"log\"\ntype = \"list\"\nvalue = \"text\"\nmax_len = 2\nttl = \"1d\"\n\
             [keys.rank]\npattern = \"rank\"\ntype = \"zset\"\nmax_len = 2\nttl = \"1d\"\n\
             [keys.rates]\npattern = \"rates\"\ntype = \"hash\"\nopen = true\nttl = \"none\"\n";
        let schema = keyward_schema::read(schema).schema.unwrap();
        let today = Date { year: 2026, month: 11, day: 15 };
        let of = |rule| repairable(&schema, rule, today);
        assert_eq!(of(Rule::OversizedCollection), ["rank"], "a list has two ends");
        assert_eq!(of(Rule::TtlMissing), ["log", "rank"]);
        assert_eq!(of(Rule::UnknownKey), ["log", "rank", "rates"]);
        assert!(of(Rule::OldName).is_empty() && of(Rule::WrongType).is_empty());
    }
}
