//! Which keys a plan changes, and how: the order of a plan, worked out with its schema.

mod drop;
mod fix;
mod forget;
mod invalidate;
mod letters;
mod migrate;
pub(crate) mod queues;

pub use fix::repairable;

use crate::change::{Change, Ending, Reference, StatusKey};
use crate::document::Row;
use crate::error::Error;
use crate::order::Order;
use keyward_fact::Duration;
use keyward_pattern::{Part, derived};
use keyward_rules::Rule;
use keyward_schema::Schema;
use keyward_schema::model::{Definition, Derived};
use std::collections::{BTreeMap, BTreeSet};

/// The rules whose findings `plan fix` repairs, so that whoever shows a finding can show the command too.
///
/// ```
/// use keyward_rules::Rule;
///
/// assert!(keyward_plan::repaired().contains(&Rule::TtlMissing));
/// assert!(!keyward_plan::repaired().contains(&Rule::WrongType));
/// ```
pub fn repaired() -> &'static [Rule] {
    &Rule::REPAIRED
}

/// Which keys are changed, and how. Every key of the servers is shown to it.
pub(crate) trait Work: Sync {
    /// The kinds of changes, without counts.
    fn rows(&self) -> Vec<Row>;

    /// What is done with a key, and the row to which that belongs. `db` is the key's database, if it is not that
    /// of the keyspace.
    fn pick(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)>;

    /// The same where several things may be done with a key: each is given to `give`.
    fn picks(&self, db: Option<u64>, key: &[u8], give: &mut dyn FnMut(usize, Change)) {
        if let Some((row, change)) = self.pick(db, key) {
            give(row, change);
        }
    }

    /// The lease beside a new name in another slot or of another value, which whoever writes that name ends.
    fn lease(&self, _name: &str) -> Option<String> {
        None
    }

    /// The versions that stores keep beside an old name and the new one, which are in different slots.
    fn versions(&self, _from: &[u8], _to: &str) -> Option<(String, String)> {
        None
    }

    /// What a member of a set names, where its row prunes such members.
    fn refers(&self, _row: usize, _set: &[u8], _member: &[u8]) -> Option<Reference> {
        None
    }

    /// Whether what a field says contradicts the set that its key is in.
    fn contradicts(&self, _row: usize, _set: &[u8], _value: &[u8]) -> bool {
        false
    }

    /// The rows for which a key is one of the new names.
    fn is_new_name(&self, _: &[u8]) -> Vec<usize> {
        Vec::new()
    }

    /// Whether it matters for how long keys were not used.
    fn asks_idle(&self) -> bool {
        false
    }

    /// The databases where its keys are, beside that of the keyspace.
    fn databases(&self, home: u64) -> Vec<u64> {
        vec![home]
    }

    /// A glob that all its keys match, where there is one.
    fn glob(&self) -> Option<String> {
        None
    }

    /// All its keys, where they are known without looking at every key of the servers.
    fn known(&self) -> Option<Vec<String>> {
        None
    }

    /// The stages before the one that changes everything.
    fn stages(&self) -> &'static [Stage] {
        &[]
    }

    /// A pass of this stage begins.
    fn begin(&self, _: Stage) {}

    /// Whether a key belongs to whoever is forgotten.
    fn is_theirs(&self, _: &[u8]) -> bool {
        false
    }

    /// A key was found that will be erased.
    fn found(&self, _: &[u8]) {}

    /// Keys that the schema does not know: how many, by the name of the software, or without one.
    fn strange(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    /// What is not searched, and why.
    fn unsearched(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Where the status of a job is written, if it is.
    fn status(&self, _queue: &str, _id: &str) -> Result<Option<StatusKey>, Error> {
        Ok(None)
    }

    /// Whether it is over only when nothing is left; otherwise after all keys were seen once.
    fn repeats(&self) -> bool {
        true
    }

    /// The definitions that it touches.
    fn definitions(&self) -> BTreeSet<String> {
        self.rows().into_iter().map(|row| row.definition).filter(|it| !it.is_empty()).collect()
    }

    /// What else of the schema it depends on: a plan is not applied once that has changed.
    fn terms(&self) -> String {
        String::new()
    }

    /// The migrations that it is a step of, with their phases: programs that are connected matter then.
    fn fleet(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// To know what there is; changes nothing
    Gather,
    /// To remove what refers to it
    Refer,
    /// To change everything
    All,
}

impl Stage {
    pub(crate) fn number(self) -> u8 {
        match self {
            Stage::Gather => 0,
            Stage::Refer => 1,
            Stage::All => 2,
        }
    }

    pub(crate) fn of(number: u8) -> Self {
        match number {
            0 => Stage::Gather,
            1 => Stage::Refer,
            _ => Stage::All,
        }
    }
}

/// Works an order out. `subject` is whom it forgets: a parameter and its value.
pub(crate) fn of<'s>(
    order: &Order,
    schema: &'s Schema,
    subject: Option<&(String, String)>,
) -> Result<Box<dyn Work + 's>, Error> {
    Ok(match order {
        Order::Migrate { migrations, values, remove_lone } => {
            Box::new(migrate::Migrate::new(schema, migrations, values, *remove_lone)?)
        }
        Order::Rename { values, .. } => Box::new(migrate::Migrate::rename(schema, values)?),
        Order::Fix { rules, today } => Box::new(fix::Fix::new(schema, rules, today)?),
        Order::Invalidate { event, values } => {
            Box::new(invalidate::Invalidate::new(schema, event, values)?)
        }
        Order::Drop { target, no_backup } => {
            Box::new(drop::DropKeys::new(schema, target, *no_backup)?)
        }
        Order::Requeue(which) => Box::new(letters::DeadLetters::new(schema, which, false)?),
        Order::Purge(which) => Box::new(letters::DeadLetters::new(schema, which, true)?),
        Order::Forget { subject: planned, values } => {
            let value = planned.expect(subject)?;
            Box::new(forget::Forget::new(schema, planned, values, value)?)
        }
    })
}

/// The work of a plan that is undone; an error where nothing of it was kept.
pub(crate) fn for_undo<'s>(
    order: &Order,
    schema: &'s Schema,
) -> Result<Option<Box<dyn Work + 's>>, Error> {
    match order {
        // Its phase may be another by now, and the names are in the journal.
        Order::Migrate { .. } | Order::Rename { .. } | Order::Fix { .. } => Ok(None),
        Order::Drop { no_backup: false, .. } | Order::Purge(_) => of(order, schema, None).map(Some),
        Order::Forget { .. } => Err(Error::refused(
            "`plan forget` keeps nothing that could be brought back",
            "what was exported is in the file of `--export`",
        )),
        Order::Requeue(_) => Err(Error::refused(
            "`plan requeue` cannot be undone: the jobs may have run",
            "cancel those that still wait",
        )),
        Order::Invalidate { .. } | Order::Drop { no_backup: true, .. } => Err(Error::refused(
            format!("`plan {}` keeps nothing that could be brought back", order.name()),
            "what was cached is loaded again when it is asked for",
        )),
    }
}

/// A number between two that a key decides: always the same one, and another one for most keys.
fn between(key: &[u8], least: u64, most: u64) -> u64 {
    let [a, b, c, d, ..] = sha1_smol::Sha1::from(key).digest().bytes();
    let share = u128::from(u32::from_be_bytes([a, b, c, d]));
    let width = most.saturating_sub(least);
    let part = u128::from(width) * share / u128::from(u32::MAX);
    least + u64::try_from(part).unwrap_or(width)
}

/// What `old_ttl` leaves a key: up to a tenth less, so that keys that get it together do not end together.
fn old_ttl(key: &[u8], ttl: Duration) -> Change {
    let most = ttl.as_millis();
    Change::Shorten { ttl: between(key, most - most / 10, most), whose: Ending::Late }
}

/// A glob for all that some globs match: the only one, or what all begin with.
fn covering(globs: &[String]) -> Option<String> {
    let (first, others) = globs.split_first()?;
    if others.iter().all(|other| other == first) {
        return Some(first.clone());
    }
    // An escaped character is not taken apart.
    let is_plain = |byte: u8| !b"*?[]\\".contains(&byte);
    let begin = |other: &String| {
        let pairs = first.bytes().zip(other.bytes());
        pairs.take_while(|(one, other)| one == other && is_plain(*one)).count()
    };
    let length = others.iter().map(begin).min().filter(|length| *length > 0)?;
    first.get(..length).map(|begin| format!("{begin}*"))
}

/// What Keyward keeps beside a key under one of its names. Indexes are not: they gather many keys.
pub(crate) fn beside(
    schema: &Schema,
    definition: &Definition,
    own: &str,
    name: &str,
) -> Vec<String> {
    let prefix = prefix_of(schema, own);
    let words = schema.derived(definition).into_iter().filter(|it| *it != Derived::Index);
    words.filter_map(|it| derived(&prefix, name, it.word())).collect()
}

/// The lease beside a key.
fn lease(schema: &Schema, key: &str) -> Option<String> {
    derived(&prefix_of(schema, key), key, Derived::Lease.word())
}

/// What a key begins with that the prefix of its schema says.
pub(crate) fn prefix_of(schema: &Schema, own: &str) -> String {
    let Some(template) = schema.keyspace.prefix.as_ref() else { return String::new() };
    let mut values = Vec::new();
    if template.holes().next().is_some() {
        schema.compiled.parse_into(own.as_bytes(), &mut values);
    }
    let mut values = values.into_iter();
    let mut prefix = String::new();
    for part in template.parts() {
        match part {
            Part::Literal(text) => prefix.push_str(text),
            Part::Hole(_) => prefix.push_str(&values.next().unwrap_or_default()),
        }
    }
    prefix
}

/// The indexes by which events find a key: one for each set of parameters that an event binds while it leaves others
/// free.
/// With for how many milliseconds they remember a key longer than it lives.
pub(crate) fn indexes(schema: &Schema, definition: &Definition, own: &str) -> (Vec<String>, u64) {
    let longer = definition.cache.stale_if_error.as_ref().map_or(0, |it| it.as_millis());
    (index_names(schema, definition, own).unwrap_or_default(), longer)
}

/// `None` if it has none.
fn index_names(schema: &Schema, definition: &Definition, own: &str) -> Option<Vec<String>> {
    if !schema.derived(definition).contains(&Derived::Index) {
        return None;
    }
    let compiled = schema.compiled.definition(schema.compiled.find(&definition.name)?);
    let values = compiled.parse(own.as_bytes())?;
    let calls =
        schema.events.iter().flat_map(|it| it.invalidates.iter().map(move |call| (it, call)));
    let mut found = BTreeSet::new();
    for (event, call) in calls.filter(|(_, call)| call.definition == *definition.name) {
        let all = compiled.params().iter().map(|(name, _)| name.as_str()).zip(&values);
        let is_bound = |at: usize, name: &str| {
            let is_given = call.bindings.iter().any(|it| it.param == name)
                || event.params.iter().any(|it| *it.name == name);
            at < compiled.prefix_params() || is_given && !call.leaves_free(name)
        };
        let bound = all.enumerate().filter(|(at, (name, _))| is_bound(*at, name));
        let bound: Vec<(&str, &str)> = bound.map(|(_, (name, value))| (name, &**value)).collect();
        if bound.len() == values.len() {
            continue;
        }
        let glob = compiled.glob_named(&bound).ok();
        let index =
            glob.and_then(|glob| derived(&prefix_of(schema, own), &glob, Derived::Index.word()));
        found.extend(index);
    }
    Some(found.into_iter().collect())
}
