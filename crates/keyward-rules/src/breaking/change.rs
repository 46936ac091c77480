//! Which definition became which, and what happened to its keys.

use super::Measured;
use super::taken::{self, Taken};
use keyward_pattern::prove::{self, Claim, OverlapKind, Uncompared};
use keyward_pattern::{self as pattern, Type};
use keyward_schema::OldNames;
use keyward_schema::model::{Definition, Schema};
use keyward_schema::span::Span;
use std::collections::{HashMap, HashSet};

/// Two versions of a schema, and what several rules need to know about them.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) old: &'a Schema,
    pub(crate) new: &'a Schema,
    /// What is in both versions, in the order of the old one
    pub(crate) pairs: Vec<Pair<'a>>,
    /// What the new version no longer has
    pub(crate) removed: Vec<Gone<'a>>,
    /// Keys of one definition that are another one's now
    pub(crate) taken: Vec<Taken<'a>>,
    /// Whether all patterns could be compared
    pub(crate) complete: bool,
    pub(crate) measured: Option<&'a Measured>,
    by_old_name: HashMap<&'a str, usize>,
}

/// A definition in both versions.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) old: &'a Definition,
    pub(crate) new: &'a Definition,
    pub(crate) keys: Keys,
}

/// What happened to the keys of a definition.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// Whether patterns, types and prefix are what they were
    pub(crate) same: bool,
    /// A shortest old key that is neither one of its keys nor one of its old names
    pub(crate) lost: Option<Lost>,
    /// A shortest new key that it did not have
    pub(crate) gained: Option<String>,
    /// Whether some key belongs to it in both versions
    pub(crate) shared: Option<String>,
    /// The patterns were too large to be compared
    pub(crate) uncompared: bool,
}

/// A key that its definition has lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) key: String,
    /// The definition of the new version that has it
    pub(crate) now: Option<String>,
}

/// A definition that the new version does not have.
#[derive(Debug)]
pub(crate) struct Gone<'a> {
    pub(crate) definition: &'a Definition,
    /// A shortest of its keys, and whose it is now
    pub(crate) lost: Option<Lost>,
}

impl<'a> Change<'a> {
    pub(crate) fn new(old: &'a Schema, new: &'a Schema, measured: Option<&'a Measured>) -> Self {
        let compared = Compared::new(old, new);
        let by_name: HashMap<&str, &Definition> =
            new.keys.iter().map(|key| (key.name.as_str(), key)).collect();
        let known: HashSet<&str> = old.keys.iter().map(|key| key.name.as_str()).collect();
        let (mut pairs, mut removed) = (Vec::new(), Vec::new());
        let mut met: HashSet<&str> = HashSet::new();
        for definition in &old.keys {
            if let Some(same) = by_name.get(definition.name.as_str()) {
                let keys = compared.keys(definition, same);
                pairs.push(Pair { old: definition, new: same, keys });
                continue;
            }
            let first = compared.first(definition);
            let successor = first
                .as_ref()
                .and_then(|key| compared.owner_or_old_name(key))
                .filter(|name| !known.contains(name) && !met.contains(name))
                .and_then(|name| by_name.get(name));
            if let Some(&successor) = successor {
                let keys = compared.keys(definition, successor);
                if keys.lost.is_none() && !keys.uncompared {
                    met.insert(successor.name.as_str());
                    pairs.push(Pair { old: definition, new: successor, keys });
                    continue;
                }
            }
            let lost = first.map(|key| compared.lost(key));
            removed.push(Gone { definition, lost });
        }
        let by_old_name =
            pairs.iter().enumerate().map(|(at, pair)| (pair.old.name.as_str(), at)).collect();
        let mut change = Change {
            old,
            new,
            pairs,
            removed,
            taken: Vec::new(),
            complete: true,
            measured,
            by_old_name,
        };
        (change.taken, change.complete) = taken::find(&change);
        change
    }

    /// The pair of a definition of the old version.
    pub(crate) fn pair(&self, old_name: &str) -> Option<&Pair<'a>> {
        self.by_old_name.get(old_name).map(|&at| &self.pairs[at])
    }

    /// Where to point in the new version for what is not there.
    pub(crate) fn nowhere(&self) -> &'a Span {
        &self.new.keyspace.name.span
    }

    /// Whether all keys of a definition have another name now, and a migration converts their values.
    pub(crate) fn converts(&self, pair: &Pair<'_>) -> bool {
        let renames = self.new.migrations.iter().flat_map(|migration| &migration.renames);
        let mut own = renames.filter(|rename| rename.definition.value == pair.new.name.value);
        let is_moved = !pair.keys.same && pair.keys.shared.is_none() && pair.keys.lost.is_none();
        is_moved && own.any(|rename| rename.convert.is_some())
    }

    /// Whether the two versions have the same prefix and separator, and are in the same database.
    pub(crate) fn is_in_place(&self) -> bool {
        let prefix =
            |schema: &Schema| schema.keyspace.prefix.as_ref().map(|it| it.as_str().to_owned());
        prefix(self.old) == prefix(self.new)
            && *self.old.keyspace.separator == *self.new.keyspace.separator
    }
}

impl Pair<'_> {
    /// Whether it has another id.
    pub(crate) fn is_renamed(&self) -> bool {
        self.old.name.value != self.new.name.value
    }

    /// Whether the text of its pattern is the same but for the types and names of parameters.
    pub(crate) fn has_same_shape(&self) -> bool {
        shape(self.old) == shape(self.new)
    }
}

/// A pattern's literals, with the kind of each parameter.
fn shape(definition: &Definition) -> Vec<String> {
    let parts = definition.pattern.parts().iter().map(|part| match part {
        pattern::Part::Literal(text) => format!("\"{text}"),
        pattern::Part::Hole(hole) => format!("{}{}", hole.tag, hole.rest),
    });
    parts.collect()
}

/// What comparing keys needs, made once.
struct Compared<'a> {
    old: &'a Schema,
    new: &'a Schema,
    old_names: Vec<OldNames<'a>>,
    /// For each definition of a version some of whose keys narrower ones take, those
    narrower: [HashMap<usize, Vec<usize>>; 2],
}

impl<'a> Compared<'a> {
    fn new(old: &'a Schema, new: &'a Schema) -> Self {
        let narrower = [old, new].map(narrower);
        Compared { old, new, old_names: new.old_names_by_db(), narrower }
    }

    fn keys(&self, old: &Definition, new: &Definition) -> Keys {
        if self.is_same(old, new) {
            return Keys { same: true, ..Keys::default() };
        }
        let mut keys = Keys::default();
        if self.compare(old, new, &mut keys).is_err() {
            keys.uncompared = true;
        }
        keys
    }

    fn compare(
        &self,
        old: &Definition,
        new: &Definition,
        keys: &mut Keys,
    ) -> Result<(), Uncompared> {
        let (Some(before), Some(after)) = (compiled(self.old, old), compiled(self.new, new)) else {
            return Ok(());
        };
        keys.shared = prove::common(before, after)?;
        let mut covering = vec![after];
        covering.extend(self.narrower(0, before));
        for names in &self.old_names {
            let renames = (0u32..).zip(&names.renames);
            let to_it = renames.filter(|(_, (_, it))| it.definition.value == new.name.value);
            covering.extend(
                to_it.filter_map(|(number, _)| names.keyspace.definitions().nth(number as usize)),
            );
        }
        keys.lost = prove::uncovered(before, &covering)?.map(|key| self.lost(key));
        let mut covering = vec![before];
        covering.extend(self.narrower(1, after));
        keys.gained = prove::uncovered(after, &covering)?;
        Ok(())
    }

    /// The definitions that take keys of one.
    fn narrower(
        &self,
        version: usize,
        of: pattern::Definition<'_>,
    ) -> impl Iterator<Item = pattern::Definition<'a>> {
        let schema = [self.old, self.new][version];
        let numbers = self.narrower[version].get(&of.id().index()).into_iter().flatten();
        let names = numbers.filter_map(|&number| compiled(schema, &schema.keys[number]));
        names.collect::<Vec<_>>().into_iter()
    }

    /// Whether nothing that decides the keys differs; a `key` in the pattern depends on other definitions.
    fn is_same(&self, old: &Definition, new: &Definition) -> bool {
        let prefix =
            |schema: &'a Schema| schema.keyspace.prefix.as_ref().map(|it| it.value.as_str());
        let (Some(before), Some(after)) = (compiled(self.old, old), compiled(self.new, new)) else {
            return false;
        };
        let refers = |(_, param): &(String, pattern::Param)| matches!(param.ty, Type::Key(_));
        *self.old.keyspace.separator == *self.new.keyspace.separator
            && prefix(self.old) == prefix(self.new)
            && old.pattern.as_str() == new.pattern.as_str()
            && before.params() == after.params()
            && !before.params().iter().any(refers)
    }

    /// A shortest key of a definition of the old version that no narrower one takes.
    fn first(&self, definition: &Definition) -> Option<String> {
        let before = compiled(self.old, definition)?;
        let narrower: Vec<_> = self.narrower(0, before).collect();
        prove::uncovered(before, &narrower).ok().flatten()
    }

    /// Whose a key is in the new version.
    fn owner(&self, key: &str) -> Option<&'a str> {
        let id = self.new.compiled.classify(key.as_bytes())?;
        Some(&self.new.keys[id.index()].name.value)
    }

    fn owner_or_old_name(&self, key: &str) -> Option<&'a str> {
        let old_name = |names: &OldNames<'a>| {
            names.find(key.as_bytes()).map(|(_, rename)| rename.definition.value.as_str())
        };
        self.owner(key).or_else(|| self.old_names.iter().find_map(old_name))
    }

    fn lost(&self, key: String) -> Lost {
        let now = self.owner(&key).map(str::to_owned);
        Lost { key, now }
    }
}

/// A definition, compiled.
pub(super) fn compiled<'a>(
    schema: &'a Schema,
    definition: &Definition,
) -> Option<pattern::Definition<'a>> {
    let id = schema.compiled.find(&definition.name)?;
    Some(schema.compiled.definition(id))
}

/// The definitions that take keys of others, by whom they take them from.
fn narrower(schema: &Schema) -> HashMap<usize, Vec<usize>> {
    let mut narrower: HashMap<usize, Vec<usize>> = HashMap::new();
    if !schema.compiled.definitions().any(|it| it.is_shadowed()) {
        return narrower;
    }
    for overlap in prove::overlaps(&schema.compiled).overlaps {
        if let (OverlapKind::Reserved { .. }, Claim::Definition(taker), Claim::Definition(of)) =
            (&overlap.kind, overlap.first, overlap.second)
        {
            narrower.entry(of.index()).or_default().push(taker.index());
        }
    }
    narrower
}
