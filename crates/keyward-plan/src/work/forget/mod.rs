//! `plan forget`: every key and value that names a person or tenant.
//!
//! A key names them by a parameter, a value by a field, a member or an entry that refers to that parameter. What is found that way
//! has names of its own, such as the id of a session, which others may refer to: so all is looked for first, then what
//! refers to it is removed, and at last it itself. Whoever is killed meanwhile finds it again.

mod pick;
mod places;
mod read;
mod unsearched;

use super::{Stage, Work, beside, prefix_of};
use crate::change::Change;
use crate::document::Row;
use crate::error::Error;
use crate::subject::Subject;
use keyward_pattern::Owners;
use keyward_schema::model::{Definition, Role};
use keyward_schema::{OldNames, Schema};
use places::{Spot, Whose};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything that names a person or tenant.
pub(super) struct Forget<'s> {
    schema: &'s Schema,
    subject: Subject,
    value: String,
    /// The values of the prefix's parameters
    bound: BTreeMap<String, String>,
    /// What each definition has of them
    ways: Vec<Way>,
    old: Vec<(OldNames<'s>, Vec<usize>)>,
    owners: Owners,
    rows: Vec<Row>,
    /// Whether something may refer to what is theirs, which is found first then
    gathers: bool,
    /// All keys, where no others need to be looked at
    known: Option<Vec<String>>,
    stage: AtomicU8,
    found: Mutex<Found>,
}

/// What a definition has of them.
#[derive(Default)]
struct Way {
    /// The value of each parameter that names them
    params: Vec<Option<String>>,
    /// Whether a parameter holds keys of other definitions, which may name them
    holds_keys: bool,
    spots: Vec<Spot>,
    /// The row of keys that are removed, and that of values
    by_name: usize,
    by_value: usize,
}

/// What was found.
#[derive(Default)]
struct Found {
    /// Whole keys that are removed, by definition
    keys: BTreeMap<usize, BTreeSet<String>>,
    /// Keys that the role of such a key says belong to it
    linked: HashSet<String>,
    /// What is looked for in values, since the stage began
    wanted: HashMap<Whose, Arc<Vec<Vec<u8>>>>,
    /// Keys that nothing is known of, by what they are
    strange: BTreeMap<String, u64>,
}

impl<'s> Forget<'s> {
    pub(super) fn new(
        schema: &'s Schema,
        subject: &Subject,
        bound: &BTreeMap<String, String>,
        value: &str,
    ) -> Result<Self, Error> {
        let mut it = Forget {
            schema,
            subject: subject.clone(),
            value: value.to_owned(),
            bound: bound.clone(),
            ways: Vec::new(),
            old: Vec::new(),
            owners: Owners::new(&schema.compiled),
            rows: Vec::new(),
            gathers: false,
            known: None,
            stage: AtomicU8::new(0),
            found: Mutex::default(),
        };
        it.expect_bound()?;
        it.read_definitions()?;
        it.read_old_names();
        it.known = it.all_known();
        it.begin(Stage::All);
        Ok(it)
    }

    fn stage(&self) -> Stage {
        Stage::of(self.stage.load(Ordering::Relaxed))
    }

    fn state(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way {
    fn is_named(&self) -> bool {
        self.params.iter().any(Option::is_some) || self.holds_keys
    }

    fn takes_key(&self) -> bool {
        self.spots.iter().any(|spot| spot.place.takes_key())
    }

    /// Whether keys of it may be removed because they name the person.
    fn may_go(&self) -> bool {
        self.is_named() || self.spots.iter().any(|spot| spot.is_person() && spot.place.takes_key())
    }
}

/// The definitions whose keys this one belongs to, by their roles: the revocation of a session, the reverse of an index.
fn links_to<'s>(
    schema: &'s Schema,
    definition: &'s Definition,
) -> impl Iterator<Item = usize> + 's {
    let find = |name: &str| schema.keys.iter().position(|it| *it.name == *name);
    schema.keys.iter().enumerate().filter_map(move |(at, other)| match other.role.as_deref() {
        Some(Role::Session(it))
            if it.revoked.as_ref().is_some_and(|it| **it == *definition.name) =>
        {
            Some(at)
        }
        Some(Role::Index(it)) if it.reverse.as_ref().is_some_and(|it| **it == *definition.name) => {
            find(&it.of)
        }
        _ => None,
    })
}

impl Work for Forget<'_> {
    fn rows(&self) -> Vec<Row> {
        self.rows.clone()
    }

    fn pick(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let Ok(text) = std::str::from_utf8(key) else {
            self.note_strange(key);
            return None;
        };
        if db.is_some() {
            return self.pick_old(db, text);
        }
        let mut values = Vec::new();
        if let Some(id) = self.schema.compiled.parse_into(key, &mut values) {
            return self.pick_own(id.index(), text, &values);
        }
        if let Some((owner, word)) = self.owners.find(text) {
            return self.pick_beside(owner, word);
        }
        let is_old =
            self.old.iter().any(|(names, _)| names.db.is_none() && names.find(key).is_some());
        if is_old {
            return self.pick_old(None, text);
        }
        self.note_strange(key);
        None
    }

    fn known(&self) -> Option<Vec<String>> {
        let mut known = self.known.clone()?;
        known.extend(self.state().linked.iter().cloned());
        Some(known)
    }

    fn databases(&self, home: u64) -> Vec<u64> {
        let others = self.old.iter().filter_map(|(names, _)| names.db);
        let all: BTreeSet<u64> = others.chain([home]).collect();
        all.into_iter().collect()
    }

    fn stages(&self) -> &'static [Stage] {
        if self.gathers { &[Stage::Gather, Stage::Refer] } else { &[] }
    }

    fn begin(&self, stage: Stage) {
        self.stage.store(stage.number(), Ordering::Relaxed);
        let mut found = self.state();
        found.strange.clear();
        let mut wanted = HashMap::new();
        let spots = self.ways.iter().flat_map(|way| &way.spots).map(|spot| spot.whose.clone());
        for whose in spots {
            let values = whose.values(self.schema, &self.value, &self.ways, &found.keys);
            wanted.insert(whose, Arc::new(values));
        }
        found.wanted = wanted;
    }

    fn found(&self, key: &[u8]) {
        let Some(text) = std::str::from_utf8(key).ok().filter(|_| self.gathers) else { return };
        let mut values = Vec::new();
        let Some(id) = self.schema.compiled.parse_into(key, &mut values) else { return };
        let params = self.schema.compiled.definition(id).params();
        let own: Vec<(&str, &str)> = params
            .iter()
            .map(|(name, _)| name.as_str())
            .zip(values.iter().map(|it| &**it))
            .collect();
        let mut linked = Vec::new();
        for (definition, compiled) in
            self.schema.keys.iter().zip(self.schema.compiled.definitions())
        {
            if links_to(self.schema, definition).all(|of| of != id.index()) {
                continue;
            }
            let has = |name: &str| compiled.params().iter().any(|(it, _)| it == name);
            let values: Vec<(&str, &str)> =
                own.iter().copied().filter(|(name, _)| has(name)).collect();
            linked.extend(compiled.build_named(&values).ok());
        }
        let mut found = self.state();
        found.keys.entry(id.index()).or_default().insert(text.to_owned());
        found.linked.extend(linked);
    }

    fn is_theirs(&self, key: &[u8]) -> bool {
        let Ok(key) = std::str::from_utf8(key) else { return false };
        self.is_named(key) || self.state().keys.values().any(|keys| keys.contains(key))
    }

    fn strange(&self) -> BTreeMap<String, u64> {
        self.state().strange.clone()
    }

    fn unsearched(&self) -> Vec<(String, String)> {
        let is_searched = |at: usize, what: &str| {
            self.ways[at].spots.iter().any(|spot| spot.place.words().1 == what)
        };
        unsearched::of(self.schema, &is_searched, self.known.is_some())
    }
}
