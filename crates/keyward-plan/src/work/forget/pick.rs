//! What is done with a key: whether its name, what it belongs to, or its value names whoever is forgotten.

use super::places::Spot;
use super::{Forget, Stage, Way, beside, prefix_of};
use crate::change::{Change, Forgetting, Look};
use keyward_pattern::Type;
use keyward_schema::model::{Definition, Derived};
use std::borrow::Cow;
use std::sync::Arc;

pub(super) type Picked = Option<(usize, Change)>;

impl Forget<'_> {
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

    pub(super) fn is_named(&self, key: &str) -> bool {
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

    pub(super) fn pick_own(&self, at: usize, key: &str, values: &[Cow<'_, str>]) -> Picked {
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
    pub(super) fn pick_beside(&self, owner: &str, word: &str) -> Picked {
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

    pub(super) fn pick_old(&self, db: Option<u64>, key: &str) -> Picked {
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
    pub(super) fn note_strange(&self, key: &[u8]) {
        let matches = |glob: &str| keyward_pattern::Glob::with_bytes(glob).matches(key);
        let foreign = self.schema.foreign.iter().find(|it| matches(&it.glob));
        let is_own = std::str::from_utf8(key).is_ok_and(|key| key.contains("~plan:{"));
        if is_own {
            return;
        }
        let name = foreign.map_or_else(String::new, |it| it.name.value.clone());
        *self.state().strange.entry(name).or_default() += 1;
    }
}

fn whole(definition: &Definition, beside: Vec<String>) -> Change {
    let definition = definition.name.value.clone();
    Change::Forget(Arc::new(Forgetting { definition, beside, looks: Vec::new(), lists: false }))
}
