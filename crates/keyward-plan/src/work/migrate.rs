//! `plan migrate`: what the phase of a migration says.

use super::{Work, beside, covering, indexes, old_ttl, prefix_of, queues};
use crate::change::{Change, Condition, How, Outcome, Relocation};
use crate::document::Row;
use crate::error::Error;
use crate::order::RENAMED;
use keyward_pattern::{Glob, derived};
use keyward_schema::model::{Convert, Definition, Derived, Migration, Phase, Rename, Role};
use keyward_schema::{OldNames, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Renames in progress.
pub(super) struct Migrate<'s> {
    schema: &'s Schema,
    /// The old names of each database, each with what is known of its renames
    names: Vec<(OldNames<'s>, Vec<Wanted<'s>>)>,
    /// What is planned: the old names of the wanted migrations, in the order of the schema
    renames: Vec<(&'s Migration, &'s Rename)>,
    values: BTreeMap<String, String>,
    remove_lone: bool,
    phases: BTreeMap<String, String>,
    /// Whether keys are moved, not copied
    gives_up: bool,
    /// The definitions whose old names count: a new name is a copy
    copies: Vec<&'s Definition>,
    /// What old names look like, where that says something
    globs: Vec<OldGlob>,
}

/// What is known of one rename before any key is seen.
struct Wanted<'s> {
    /// `None` if it is not planned
    row: Option<usize>,
    definition: Option<&'s Definition>,
    /// The type that its keys must have, as the server names it
    kind: Option<Arc<str>>,
    is_queue: bool,
    is_lock: bool,
    is_indexed: bool,
    /// Earlier renames of the same definition, which count
    earlier: Vec<usize>,
}

impl<'s> Wanted<'s> {
    fn new(schema: &'s Schema, names: &OldNames<'s>, number: usize, row: Option<usize>) -> Self {
        let name = |number: usize| names.renames[number].1.definition.as_str();
        let definition = schema.keys.iter().find(|it| *it.name == *name(number));
        let role = definition.and_then(|it| it.role.as_deref());
        let has = |it| schema.derived(it).contains(&Derived::Index);
        Wanted {
            row,
            definition,
            kind: definition.and_then(|it| Some(it.key_type.as_ref()?.stored().into())),
            is_queue: definition.is_some_and(|it| queues::is_queue(schema, it)),
            is_lock: matches!(role, Some(Role::Lock(_))),
            is_indexed: definition.is_some_and(has),
            earlier: (0..number).filter(|earlier| name(*earlier) == name(number)).collect(),
        }
    }
}

/// What the old names of one rename look like.
struct OldGlob {
    db: Option<u64>,
    number: usize,
    glob: Glob,
}

impl OldGlob {
    /// `None` if every key looks like that.
    fn new(names: &OldNames<'_>, number: usize) -> Option<Self> {
        let glob = names.glob(number)?;
        let says = glob.bytes().any(|byte| byte.is_ascii_alphanumeric());
        says.then(|| OldGlob { db: names.db, number, glob: Glob::new(&glob) })
    }
}

impl<'s> Migrate<'s> {
    pub(super) fn new(
        schema: &'s Schema,
        migrations: &BTreeMap<String, String>,
        values: &BTreeMap<String, String>,
        remove_lone: bool,
    ) -> Result<Self, Error> {
        for (name, phase) in migrations {
            let Some(known) = schema.migrations.iter().find(|it| *it.name == *name) else {
                return Err(Error::refused(
                    format!("the schema has no migration `{name}`"),
                    "use the schema that the plan was made with",
                ));
            };
            if known.phase.name() != phase {
                return Err(Error::refused(
                    format!(
                        "the plan is for the phase `{phase}` of `{name}`, and the schema is in `{}`",
                        known.phase.name()
                    ),
                    "make a plan for each phase",
                ));
            }
        }
        let wanted = schema.migrations.iter().filter(|it| migrations.contains_key(&it.name.value));
        let renames: Vec<(&Migration, &Rename)> =
            wanted.flat_map(|it| it.renames.iter().map(move |rename| (it, rename))).collect();
        let row = |rename: &Rename| renames.iter().position(|(_, it)| std::ptr::eq(*it, rename));
        let names = schema.old_names_by_db().into_iter().map(|names| {
            let all = names.renames.iter().enumerate();
            let wanted =
                all.map(|(number, (_, rename))| Wanted::new(schema, &names, number, row(rename)));
            let wanted = wanted.collect();
            (names, wanted)
        });
        let names: Vec<(OldNames<'s>, Vec<Wanted<'s>>)> = names.collect();
        if names.is_empty() {
            return Err(Error::refused(
                "the schema has no migration whose old names can be told apart",
                "declare `[migrations.<id>]`, and run `keyward check`",
            ));
        }
        let (values, phases) = (values.clone(), migrations.clone());
        let counts = |(migration, rename): &&(&Migration, &Rename)| {
            *migration.phase == Phase::DualWrite && rename.is_known_to_stores()
        };
        let old: Vec<&str> =
            renames.iter().filter(counts).map(|(_, rename)| rename.definition.as_str()).collect();
        // What stores do not know may have come from anywhere.
        let is_plain = |it: &&Definition| {
            let mut own = renames.iter().filter(|(_, rename)| *rename.definition == *it.name);
            let is_queue = queues::is_queue(schema, it);
            let is_old = old.contains(&it.name.as_str()) && !is_queue;
            is_old && own.all(|(_, rename)| rename.is_known_to_stores())
        };
        let copies = schema.keys.iter().filter(is_plain).collect();
        let gives_up = false;
        let globs = names.iter().flat_map(|(names, wanted)| {
            (0..wanted.len()).filter_map(|number| OldGlob::new(names, number))
        });
        let globs = globs.collect();
        Ok(Migrate { schema, names, renames, values, remove_lone, phases, gives_up, copies, globs })
    }

    /// A rename that no store knows of: the old names are given up at once.
    pub(super) fn rename(
        schema: &'s Schema,
        values: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let phases = BTreeMap::from([(RENAMED.to_owned(), Phase::DualWrite.name().to_owned())]);
        let it = Self::new(schema, &phases, values, false)?;
        Ok(Migrate { gives_up: true, phases: BTreeMap::new(), copies: Vec::new(), ..it })
    }

    fn definition(&self, rename: &Rename) -> Option<&'s Definition> {
        self.schema.keys.iter().find(|it| *it.name == *rename.definition)
    }

    fn is_queue(&self, rename: &Rename) -> bool {
        self.definition(rename).is_some_and(|it| queues::is_queue(self.schema, it))
    }

    /// What is done with a key that stands beside a queue's old name.
    fn beside_queue(
        &self,
        names: &OldNames<'_>,
        wanted: &[Wanted<'_>],
        key: &[u8],
        given: &[(&str, &str)],
    ) -> Option<(usize, Change)> {
        let key = std::str::from_utf8(key).ok().filter(|key| key.contains('~'))?;
        let (number, change) = queues::beside(self.schema, names, key, given)?;
        Some((wanted.get(number)?.row?, change))
    }

    /// The whole pattern of a definition.
    fn pattern(&self, definition: &Definition) -> String {
        let prefix = self.schema.keyspace.prefix.as_ref().map_or("", |it| it.as_str());
        format!("{prefix}{}", definition.pattern.as_str())
    }

    /// What is done with a new name while old ones count: nothing, unless all of these are gone.
    fn orphan(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let id = self.schema.compiled.classify(key)?;
        let definition = self.schema.keys.get(id.index()).filter(|_| db.is_none())?;
        let row = self.copies.iter().position(|it| std::ptr::eq(*it, definition))?;
        let (names, _) = self.names.iter().find(|(names, _)| names.db.is_none())?;
        let own = |(_, (_, rename)): &(usize, &(&Migration, &Rename))| {
            *rename.definition == *definition.name && rename.is_known_to_stores()
        };
        let old = names.renames.iter().enumerate().filter(own);
        let old = old.filter_map(|(number, _)| names.old_name(number, key).ok()).collect();
        let key = std::str::from_utf8(key).ok()?;
        // The version stays for its hour: a copy of an older change that is late must not bring the key back.
        let version = derived(&prefix_of(self.schema, key), key, Derived::Version.word());
        let beside = self.remove_lone.then(|| {
            let all = beside(self.schema, definition, key, key).into_iter();
            all.filter(|it| Some(it) != version.as_ref()).collect()
        });
        Some((self.renames.len() + row, Change::Orphan { old, beside }))
    }

    /// What looks like an old name and cannot be read as one, such as `User:ann` where ids are numbers.
    fn unread(
        &self,
        names: &OldNames<'_>,
        wanted: &[Wanted<'_>],
        key: &[u8],
    ) -> Option<(usize, Change)> {
        let mut globs = self.globs.iter().filter(|it| it.db == names.db);
        let number = globs.find(|it| it.glob.matches(key))?.number;
        let row = wanted.get(number)?.row?;
        // What the schema declares, or leaves to others, is known.
        let is_known = self.schema.compiled.classify(key).is_some()
            || std::str::from_utf8(key).is_ok_and(|key| key.contains('~'));
        (!is_known).then_some((row, Change::Stay(Outcome::Unread)))
    }

    fn row(&self, migration: &Migration, rename: &Rename) -> Row {
        let phase = migration.phase.value;
        let is_queue = self.is_queue(rename);
        let action = match phase {
            _ if self.gives_up => "rename",
            Phase::DualWrite | Phase::ReadFallback if is_queue => "keep",
            Phase::Cleanup if is_queue => "remove",
            Phase::DualWrite | Phase::ReadFallback => "copy",
            Phase::Cleanup if migration.old_ttl.is_some() => "shorten",
            Phase::Cleanup => "remove",
        };
        let to = self.definition(rename).map(|it| self.pattern(it));
        Row {
            to: to.filter(|_| phase != Phase::Cleanup && !is_queue),
            destructive: phase == Phase::Cleanup,
            lossy: action == "copy" && rename.convert.as_ref().is_some_and(|it| is_lossy(it.value)),
            ..Row::new(action, &rename.definition, rename.from.as_str())
        }
    }
}

impl Work for Migrate<'_> {
    fn rows(&self) -> Vec<Row> {
        let own = self.renames.iter().map(|(migration, rename)| self.row(migration, rename));
        let copies = self.copies.iter().map(|definition| Row {
            destructive: true,
            ..Row::new("remove copy", &definition.name, &self.pattern(definition))
        });
        own.chain(copies).collect()
    }

    fn pick(&self, db: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        let given: Vec<(&str, &str)> =
            self.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (names, all) = self.names.iter().find(|(names, _)| names.db == db)?;
        let Some(found) = names.new_name(key, &given) else {
            let beside = || self.beside_queue(names, all, key, &given);
            let unread = || self.unread(names, all, key);
            return self.orphan(db, key).or_else(beside).or_else(unread);
        };
        let wanted = all.get(found.number)?;
        let (row, definition) = (wanted.row?, wanted.definition?);
        let from = std::str::from_utf8(key).ok()?;
        let Ok(to) = found.key else { return Some((row, Change::Stay(Outcome::Nowhere))) };
        let (number, phase) = (found.number, found.migration.phase.value);
        if !self.gives_up && phase != Phase::Cleanup {
            let is_spelled = names.old_name(number, to.as_bytes()).map_or(true, |it| it == from);
            if !is_spelled {
                return Some((row, Change::Stay(Outcome::Misspelt)));
            }
        }
        if wanted.is_queue {
            let rename = (found.migration, found.rename);
            let change = queues::change(self.schema, definition, rename, (from, &to), from)?;
            return Some((row, change));
        }
        if phase == Phase::Cleanup {
            let needs = (to.clone(), wanted.kind.as_deref().map(str::to_owned));
            let then = match &found.migration.old_ttl {
                Some(ttl) => old_ttl(key, ttl.value),
                None => Change::Remove {
                    beside: beside(self.schema, definition, &to, from),
                    unless_lone: Some(to).filter(|_| !self.remove_lone),
                },
            };
            let needs = Some(needs).filter(|_| !self.remove_lone);
            let condition = Condition { needs, unless: Vec::new(), then };
            return Some((row, Change::If(Box::new(condition))));
        }
        let fences = || {
            let prefix = prefix_of(self.schema, &to);
            let fence = |name: &str| derived(&prefix, name, Derived::Fence.word());
            fence(from).zip(fence(&to)).map(Box::new)
        };
        let fences = if wanted.is_lock { fences() } else { None };
        let how = match phase {
            _ if self.gives_up => How::Rename,
            Phase::DualWrite => How::Over,
            _ => How::Absent,
        };
        let indexes =
            if wanted.is_indexed { indexes(self.schema, definition, &to) } else { (Vec::new(), 0) };
        // Of several old names, the first counts, as it does for stores.
        let earlier = wanted.earlier.iter().filter(|_| !self.gives_up);
        let unless: Vec<String> =
            earlier.filter_map(|earlier| names.old_name(*earlier, to.as_bytes()).ok()).collect();
        let kind = wanted.kind.clone();
        let convert = found.rename.convert.as_ref().map(|it| it.value);
        let then = Change::Relocate(Relocation { to, how, kind, fences, convert, indexes });
        let change = if unless.is_empty() {
            then
        } else {
            Change::If(Box::new(Condition { needs: None, unless, then }))
        };
        Some((row, change))
    }

    fn lease(&self, name: &str) -> Option<String> {
        super::lease(self.schema, name)
    }

    fn versions(&self, from: &[u8], to: &str) -> Option<(String, String)> {
        let prefix = prefix_of(self.schema, to);
        let version = |name: &str| derived(&prefix, name, Derived::Version.word());
        version(std::str::from_utf8(from).ok()?).zip(version(to))
    }

    fn is_new_name(&self, key: &[u8]) -> Vec<usize> {
        let Some(id) = self.schema.compiled.classify(key) else { return Vec::new() };
        let Some(definition) = self.schema.keys.get(id.index()) else { return Vec::new() };
        let all = self.renames.iter().enumerate();
        let own = all.filter(|(_, (_, rename))| *rename.definition == *definition.name);
        own.map(|(row, _)| row).collect()
    }

    fn asks_idle(&self) -> bool {
        true
    }

    fn glob(&self) -> Option<String> {
        // What stands beside a queue has no name that begins like its own.
        if self.renames.iter().any(|(_, rename)| self.is_queue(rename)) {
            return None;
        }
        let old = self.names.iter().flat_map(|(names, all)| {
            let wanted = all.iter().enumerate().filter(|(_, it)| it.row.is_some());
            wanted.map(|(number, _)| names.glob(number))
        });
        // New names are copies, or counted.
        let new = self.renames.iter().filter(|_| !self.gives_up).map(|(_, rename)| {
            let id = self.schema.compiled.find(&rename.definition)?;
            self.schema.compiled.definition(id).glob_named(&[]).ok()
        });
        covering(&old.chain(new).collect::<Option<Vec<_>>>()?)
    }

    fn databases(&self, home: u64) -> Vec<u64> {
        let of = |rename: &Rename| rename.database().unwrap_or(home);
        let mut all: Vec<u64> = self.renames.iter().map(|(_, rename)| of(rename)).collect();
        all.push(home);
        all.sort_unstable();
        all.dedup();
        all
    }

    fn fleet(&self) -> Vec<(String, String)> {
        self.phases.clone().into_iter().collect()
    }
}

/// Whether a value says less afterwards: a `null` is no field, and a number becomes text.
fn is_lossy(convert: Convert) -> bool {
    matches!(convert, Convert::LowerCase | Convert::JsonToHash)
}
