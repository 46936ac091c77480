//! Which definition became which, and what happened to its keys.

use super::Measured;
use super::taken::{self, Taken};
use keyward_pattern::prove::{Keys as KeySet, Uncompared, Version};
use keyward_pattern::{self as pattern, DefinitionId, Glob, Type};
use keyward_schema::OldNames;
use keyward_schema::model::{Definition, Schema};
use keyward_schema::span::Span;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Two versions of a schema, and what several rules need to know about them.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    compared: Compared<'a>,
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
    /// The keyspace is in another database, and no old name has all of the keys in the former one
    pub(crate) left_behind: bool,
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
            compared,
            old,
            new,
            pairs,
            removed,
            taken: Vec::new(),
            complete: true,
            measured,
            by_old_name,
        };
        (change.taken, change.complete) = taken::find(&change, &change.compared);
        change
    }

    /// The pair of a definition of the old version.
    pub(crate) fn pair(&self, old_name: &str) -> Option<&Pair<'a>> {
        self.by_old_name.get(old_name).map(|&at| &self.pairs[at])
    }

    /// A shortest key of a definition that a glob does not match; also where the patterns are too large to tell.
    pub(crate) fn outside(&self, pair: &Pair<'_>, glob: &Glob) -> Option<String> {
        match self
            .compared
            .after(pair.new)
            .and_then(|keys| keys.map_or(Ok(None), |it| it.outside(glob)))
        {
            Ok(key) => key,
            Err(Uncompared) => pair.keys.gained.clone().filter(|key| !glob.matches(key.as_bytes())),
        }
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
#[derive(Debug)]
pub(super) struct Compared<'a> {
    old: &'a Schema,
    new: &'a Schema,
    before: Version<'a>,
    after: Version<'a>,
    old_names: Vec<OldNames<'a>>,
    /// The keys under the old names of each definition, where the old version's keys are
    covered: HashMap<&'a str, Vec<Result<KeySet, Uncompared>>>,
    /// The keys of the definitions that were asked for, of the old and of the new version
    kept: [RefCell<HashMap<DefinitionId, Found>>; 2],
}

/// The keys of a definition, if there is one.
type Found = Result<Option<Rc<KeySet>>, Uncompared>;

impl<'a> Compared<'a> {
    fn new(old: &'a Schema, new: &'a Schema) -> Self {
        let (before, after) = (Version::new(&old.compiled), Version::new(&new.compiled));
        let mut old_names = new.old_names_by_db();
        old_names.retain(|names| names.db.unwrap_or(db(new)) == db(old));
        let mut covered: HashMap<&str, Vec<_>> = HashMap::new();
        for names in &old_names {
            let version = Version::new(&names.keyspace);
            for (number, (_, rename)) in (0u32..).zip(&names.renames) {
                let keys = version.keys(DefinitionId(number));
                covered.entry(&rename.definition.value).or_default().push(keys);
            }
        }
        Compared {
            old,
            new,
            before,
            after,
            old_names,
            covered,
            kept: [RefCell::default(), RefCell::default()],
        }
    }

    fn keys(&self, old: &Definition, new: &Definition) -> Keys {
        let left_behind = self.is_left_behind(old, new);
        if self.is_same(old, new) {
            return Keys { same: true, left_behind, ..Keys::default() };
        }
        let mut keys = Keys { left_behind, ..Keys::default() };
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
        let (Some(before), Some(after)) = (self.before(old)?, self.after(new)?) else {
            return Ok(());
        };
        keys.shared = before.common(&after)?;
        keys.gained = after.beside(&[&before])?;
        let lost = before.beside(&[&[&*after], &*self.old_names_of(new)?].concat())?;
        keys.lost = lost.map(|key| self.lost(key));
        Ok(())
    }

    /// Whether keys stay in another database.
    fn is_left_behind(&self, old: &Definition, new: &Definition) -> bool {
        let is_left = || {
            let before = self.before(old)?;
            let left = before.map(|before| before.beside(&self.old_names_of(new)?)).transpose()?;
            Ok::<_, Uncompared>(left.flatten().is_some())
        };
        db(self.old) != db(self.new) && is_left().unwrap_or(true)
    }

    /// The keys under the old names of a definition.
    fn old_names_of(&self, new: &Definition) -> Result<Vec<&KeySet>, Uncompared> {
        let covered = self.covered.get(new.name.as_str()).into_iter().flatten();
        covered.map(|keys| keys.as_ref().map_err(|error| *error)).collect()
    }

    /// The keys of a definition of the old version.
    pub(super) fn before(&self, definition: &Definition) -> Found {
        kept(&self.before, self.old.compiled.find(&definition.name), &self.kept[0])
    }

    /// The keys of a definition of the new version.
    pub(super) fn after(&self, definition: &Definition) -> Found {
        kept(&self.after, self.new.compiled.find(&definition.name), &self.kept[1])
    }

    /// Whether one definition of the new version takes whatever another one's pattern has in common with its own.
    pub(super) fn takes_from(&self, narrow: &Definition, wide: &Definition) -> bool {
        let id = |definition: &Definition| self.new.compiled.find(&definition.name);
        id(narrow).zip(id(wide)).is_some_and(|(narrow, wide)| self.after.takes_from(narrow, wide))
    }

    /// Whether all overlaps of both versions are known.
    pub(super) fn is_complete(&self) -> bool {
        self.before.is_complete() && self.after.is_complete()
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

    /// A shortest key of a definition of the old version.
    fn first(&self, definition: &Definition) -> Option<String> {
        self.before(definition).ok()??.shortest().ok()?
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

/// The keys of a definition, which are put together once.
fn kept(
    version: &Version<'_>,
    id: Option<DefinitionId>,
    kept: &RefCell<HashMap<DefinitionId, Found>>,
) -> Found {
    let Some(id) = id else { return Ok(None) };
    let put_together = || version.keys(id).map(|keys| Some(Rc::new(keys)));
    kept.borrow_mut().entry(id).or_insert_with(put_together).clone()
}

/// The database of a keyspace.
fn db(schema: &Schema) -> u64 {
    schema.keyspace.db.as_ref().map_or(0, |db| db.value.into())
}

/// A definition, compiled.
pub(super) fn compiled<'a>(
    schema: &'a Schema,
    definition: &Definition,
) -> Option<pattern::Definition<'a>> {
    let id = schema.compiled.find(&definition.name)?;
    Some(schema.compiled.definition(id))
}
