//! `plan forget`: every key and value that names a person or tenant.
//!
//! A key names them by a parameter, a value by a field, a member or an entry that refers to that parameter. What is found that way
//! has names of its own, such as the id of a session, which others may refer to: so all is looked for first, then what
//! refers to it is removed, and at last it itself. Whoever is killed meanwhile finds it again.

mod places;
mod unsearched;

use super::{Stage, Work, beside, prefix_of};
use crate::change::{Change, Forgetting, Look};
use crate::document::Row;
use crate::error::Error;
use crate::subject::Subject;
use keyward_pattern::{Keyspace, Owners, Param, Template, Type};
use keyward_schema::model::{Definition, Derived, Role};
use keyward_schema::{OldNames, Schema};
use places::{Spot, Whose, spots};
use std::borrow::Cow;
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

    /// Whether a parameter of a definition is the one that is asked for.
    fn is_meant(&self, definition: &str, param: &str) -> bool {
        let (of, name) = self.subject.parts();
        name == param && of.is_none_or(|of| of == definition)
    }

    /// One id may be that of several people, each in a keyspace of their own.
    fn expect_bound(&self) -> Result<(), Error> {
        let prefix = self.schema.keyspace.prefix.as_ref();
        let (_, name) = self.subject.parts();
        for hole in prefix.iter().flat_map(|it| it.holes()) {
            if hole.name != name && !self.bound.contains_key(&hole.name) {
                return Err(Error::refused(
                    format!("the prefix has a parameter `{}`: whose keys are meant?", hole.name),
                    format!("give its value: `--bind {}=…`", hole.name),
                ));
            }
        }
        Ok(())
    }

    fn read_definitions(&mut self) -> Result<(), Error> {
        let schema = self.schema;
        let (mut is_known, mut fits) = (false, false);
        for (definition, compiled) in schema.keys.iter().zip(schema.compiled.definitions()) {
            let mut way = Way::default();
            for (name, param) in compiled.params() {
                let is_meant = self.is_meant(&definition.name, name);
                is_known |= is_meant;
                let value = is_meant.then(|| canonical(schema, param, &self.value)).flatten();
                fits |= value.is_some();
                way.params.push(value);
                way.holds_keys |= matches!(param.ty, Type::Key(_));
            }
            self.ways.push(way);
        }
        if !is_known {
            let (_, name) = self.subject.parts();
            let all = schema.keys.iter().flat_map(|it| &it.params).map(|it| it.name.as_str());
            let near = keyward_pattern::nearest(name, all);
            let help = near.map_or_else(
                || "name a parameter of a pattern: `user_id=…`, or `user.id=…`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            let why = format!("no definition has a parameter `{}`", self.subject.param);
            return Err(Error::refused(why, help));
        }
        if !fits {
            return Err(Error::refused(
                format!("the value is not one of `{}`", self.subject.param),
                "look at its type in the schema",
            ));
        }
        let all: Vec<Vec<Spot>> =
            schema.keys.iter().map(|it| spots(schema, it, &|d, p| self.is_meant(d, p))).collect();
        for (way, spots) in self.ways.iter_mut().zip(all) {
            way.spots = spots;
        }
        // What nobody is removed from is not looked for.
        let goes: Vec<bool> = self.ways.iter().map(Way::may_go).collect();
        for way in &mut self.ways {
            way.spots.retain(|spot| spot.whose.is_possible(&goes));
        }
        for (at, definition) in schema.keys.iter().enumerate() {
            let links = links_to(schema, definition).any(|of| goes[of]);
            let way = &self.ways[at];
            let pattern = definition.pattern.as_str();
            if way.is_named() || links || way.takes_key() {
                self.ways[at].by_name = self.rows.len();
                self.rows.push(row("erase", &definition.name, pattern));
            }
            let way = &self.ways[at];
            let has_index = schema.derived(definition).contains(&Derived::Index) && goes[at];
            if has_index || way.spots.iter().any(|spot| !spot.place.takes_key()) {
                self.ways[at].by_value = self.rows.len();
                self.rows.push(row("erase parts", &definition.name, pattern));
            }
        }
        Ok(())
    }

    fn read_old_names(&mut self) {
        for names in self.schema.old_names_by_db() {
            let mut rows = Vec::new();
            for (_, rename) in &names.renames {
                rows.push(self.rows.len());
                self.rows.push(row("erase", &rename.definition, rename.from.as_str()));
            }
            self.old.push((names, rows));
        }
    }

    /// All keys, if each is known: none has another parameter, and no value needs to be looked at.
    fn all_known(&self) -> Option<Vec<String>> {
        let schema = self.schema;
        let mut keys = Vec::new();
        for (definition, (compiled, way)) in
            schema.keys.iter().zip(schema.compiled.definitions().zip(&self.ways))
        {
            let has_index = schema.derived(definition).contains(&Derived::Index);
            if way.holds_keys || !way.spots.is_empty() || (has_index && way.may_go()) {
                return None;
            }
            if !way.is_named() {
                continue;
            }
            let named = compiled.params().iter().zip(&way.params);
            let named: Vec<(&str, &str)> = named
                .filter_map(|((name, _), value)| {
                    let value = value.as_deref().or(self.bound.get(name).map(String::as_str));
                    Some((name.as_str(), value?))
                })
                .collect();
            let key = compiled.build_named(&named).ok()?;
            for (names, _) in &self.old {
                for (number, (_, rename)) in names.renames.iter().enumerate() {
                    if *rename.definition != *definition.name {
                        continue;
                    }
                    if names.db.is_some() {
                        return None;
                    }
                    let old = names.old_name(number, key.as_bytes()).ok()?;
                    keys.extend(beside(schema, definition, &key, &old));
                    keys.push(old);
                }
            }
            keys.extend(beside(schema, definition, &key, &key));
            keys.push(key);
        }
        Some(keys)
    }

    fn stage(&self) -> Stage {
        Stage::of(self.stage.load(Ordering::Relaxed))
    }

    fn state(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a key is of this definition and names them, or one that it holds does.
    fn names(&self, at: usize, key: &str, values: &[Cow<'_, str>]) -> bool {
        let way = &self.ways[at];
        let is_same =
            |(value, wanted): (&Cow<'_, str>, &Option<String>)| wanted.as_deref() == Some(&**value);
        if values.iter().zip(&way.params).any(is_same) {
            return true;
        }
        if !way.holds_keys {
            return false;
        }
        let prefix = prefix_of(self.schema, key);
        let id = self.schema.compiled.classify(key.as_bytes());
        let params = id.map_or(&[][..], |id| self.schema.compiled.definition(id).params());
        params.iter().zip(values).any(|((_, param), value)| {
            matches!(param.ty, Type::Key(_)) && self.is_named(&format!("{prefix}{value}"))
        })
    }

    fn is_named(&self, key: &str) -> bool {
        let mut values = Vec::new();
        let id = self.schema.compiled.parse_into(key.as_bytes(), &mut values);
        let is_it = |at: usize| self.is_inside(at, &values) && self.names(at, key, &values);
        id.is_some_and(|id| is_it(id.index()))
    }

    /// Whether a key belongs to the keyspace that is meant, where the prefix has parameters.
    fn is_inside(&self, at: usize, values: &[Cow<'_, str>]) -> bool {
        let Some(compiled) = self.schema.compiled.definitions().nth(at) else { return false };
        let prefix = compiled.params().iter().take(compiled.prefix_params()).zip(values);
        prefix
            .into_iter()
            .all(|((name, _), value)| self.bound.get(name).is_none_or(|it| **it == **value))
    }

    fn pick_own(&self, at: usize, key: &str, values: &[Cow<'_, str>]) -> Picked {
        if !self.is_inside(at, values) {
            return None;
        }
        let definition = &self.schema.keys[at];
        let way = &self.ways[at];
        let beside = beside(self.schema, definition, key, key);
        if self.names(at, key, values) {
            // What refers to it goes first.
            let is_early = self.stage() == Stage::Refer;
            return (!is_early).then(|| (way.by_name, whole(definition, beside)));
        }
        if self.state().linked.contains(key) {
            return Some((way.by_name, whole(definition, beside)));
        }
        self.pick_value(definition, way, beside)
    }

    fn pick_value(&self, definition: &Definition, way: &Way, beside: Vec<String>) -> Picked {
        if way.spots.is_empty() {
            return None;
        }
        let (stage, found) = (self.stage(), self.state());
        let look = |spot: &Spot| {
            let is_early = stage == Stage::Refer && spot.place.takes_key() && spot.is_person();
            let wanted = found.wanted.get(&spot.whose).filter(|it| !it.is_empty() && !is_early)?;
            Some(Look { place: spot.place.clone(), wanted: Arc::clone(wanted) })
        };
        let looks: Vec<Look> = way.spots.iter().filter_map(look).collect();
        if looks.is_empty() {
            return None;
        }
        let goes = looks.iter().any(|look| look.place.takes_key());
        let row = if goes { way.by_name } else { way.by_value };
        let definition = definition.name.value.clone();
        Some((
            row,
            Change::Forget(Arc::new(Forgetting { definition, beside, looks, lists: false })),
        ))
    }

    /// A key that Keyward keeps beside another one.
    fn pick_beside(&self, owner: &str, word: &str) -> Picked {
        let id = self.owners.definition(&self.schema.compiled, owner, word)?;
        let definition = self.schema.keys.get(id.index())?;
        let way = &self.ways[id.index()];
        if word == Derived::Index.word() {
            let definition = definition.name.value.clone();
            let (beside, looks) = (Vec::new(), Vec::new());
            let it = Forgetting { definition, beside, looks, lists: true };
            return way.may_go().then(|| (way.by_value, Change::Forget(Arc::new(it))));
        }
        self.is_named(owner).then(|| (way.by_name, whole(definition, Vec::new())))
    }

    fn pick_old(&self, db: Option<u64>, key: &str) -> Picked {
        let (names, rows) = self.old.iter().find(|(names, _)| names.db == db)?;
        let parsed = names.keyspace.parse(key.as_bytes())?;
        let (_, rename) = names.renames.get(parsed.definition.index())?;
        let row = *rows.get(parsed.definition.index())?;
        let at = self.schema.keys.iter().position(|it| *it.name == *rename.definition)?;
        let own = self.schema.compiled.definitions().nth(at)?.params();
        let mut names_them = false;
        for ((name, _), value) in
            names.keyspace.definition(parsed.definition).params().iter().zip(&parsed.values)
        {
            if self.bound.get(name).is_some_and(|bound| **bound != **value) {
                return None;
            }
            let param = own.iter().position(|(it, _)| it == name);
            let wanted = param.and_then(|it| self.ways[at].params[it].as_deref());
            let value = match rename.recase(name) {
                Some(recase) => recase.new_value(value).into(),
                None => Cow::Borrowed(&**value),
            };
            names_them |= wanted == Some(&*value);
        }
        let definition = &self.schema.keys[at];
        let bound: Vec<(&str, &str)> =
            self.bound.iter().map(|(it, value)| (it.as_str(), value.as_str())).collect();
        let new = names.new_name(key.as_bytes(), &bound).and_then(|it| it.key.ok());
        let beside = beside(self.schema, definition, new.as_deref().unwrap_or(key), key);
        if names_them {
            let is_early = self.stage() == Stage::Refer;
            return (!is_early).then(|| (row, whole(definition, beside)));
        }
        if rename.convert.is_some() {
            return None;
        }
        let (_, change) = self.pick_value(definition, &self.ways[at], beside)?;
        Some((row, change))
    }

    /// Counts keys that nothing is known of.
    fn note_strange(&self, key: &[u8]) {
        let matches = |glob: &str| keyward_pattern::Glob::new(glob).matches(key);
        let foreign = self.schema.foreign.iter().find(|it| matches(&it.glob));
        let is_own = std::str::from_utf8(key).is_ok_and(|key| key.contains("~plan:{"));
        if is_own {
            return;
        }
        let name = foreign.map_or_else(String::new, |it| it.name.value.clone());
        *self.state().strange.entry(name).or_default() += 1;
    }
}

type Picked = Option<(usize, Change)>;

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

fn whole(definition: &Definition, beside: Vec<String>) -> Change {
    let definition = definition.name.value.clone();
    Change::Forget(Arc::new(Forgetting { definition, beside, looks: Vec::new(), lists: false }))
}

fn row(action: &str, definition: &str, keys: &str) -> Row {
    Row { destructive: true, not_undoable: true, ..Row::new(action, definition, keys) }
}

/// The value as keys spell it, where it is one of the type.
fn canonical(schema: &Schema, param: &Param, value: &str) -> Option<String> {
    let mut builder = Keyspace::builder(*schema.keyspace.separator).ok()?;
    let id = builder.define("it", &Template::parse("{it}").ok()?, |_| Some(param.clone()));
    let alone = builder.finish().ok()?;
    let key = alone.definition(id).build_named(&[("it", value)]).ok()?;
    alone.definition(id).parse(key.as_bytes())?.pop().map(Cow::into_owned)
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
        &[Stage::Gather, Stage::Refer]
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
        let Ok(text) = std::str::from_utf8(key) else { return };
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
            self.ways[at].params.iter().any(Option::is_some)
                || self.ways[at].spots.iter().any(|spot| spot.place.words().1 == what)
        };
        unsearched::of(self.schema, &is_searched, self.known.is_some())
    }
}
