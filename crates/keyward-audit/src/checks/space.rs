//! One schema's keys: its definitions' own, derived ones, former names, and other software's.

use crate::mask::MaskedParam;
use crate::outline::OutlinedOldName;
use crate::report::Severity;
use keyward_pattern::{Glob, Keyspace, Owners, Part, Template, Type};
use keyward_rules::judge::Misfits;
use keyward_rules::{Live, Rule};
use keyward_schema::model::{Date, Migration, Phase, Rename, Schema};
use std::ops::Range;

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// A definition's own key; its number among all definitions
    Defined(usize),
    /// A key that a role or a strategy added beside a definition's: its number, and which of its words it is;
    /// `None` where it has no such word
    Derived { definition: usize, word: Option<usize> },
    /// A former name
    Old { space: usize, rename: usize },
    /// What says that a plan was started
    Marker,
    /// Other software's
    Foreign { space: usize, foreign: usize },
    /// Nobody's
    Unknown,
}

/// One schema's keys.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) keyspace: Keyspace,
    pub(crate) misfits: Misfits,
    pub(crate) owners: Owners,
    /// The number of its first definition
    pub(crate) first: usize,
    /// The database that its keys are in, if the schema names one
    db: Option<u64>,
    /// What every key begins with, as far as that is fixed
    begins: Vec<u8>,
    beginning: Beginning,
    old: Option<Keyspace>,
    /// The prefix and whatever follows it, where the prefix has parameters
    pub(super) prefix: Option<Keyspace>,
    pub(crate) renames: Vec<OldPlan>,
    pub(crate) foreign: Vec<ForeignPlan>,
}

/// The first eight bytes of a text: enough to pass over keys with another prefix, without a call
/// for each schema that compares the whole of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    word: u64,
    /// The bits that are of the text, which may be shorter
    mask: u64,
}

impl Beginning {
    #[inline]
    pub(super) fn new(text: &[u8]) -> Self {
        if let Some(word) = text.first_chunk() {
            return Beginning { word: u64::from_le_bytes(*word), mask: u64::MAX };
        }
        let word = |byte: fn(&u8) -> u64| text.iter().rev().fold(0, |all, it| all << 8 | byte(it));
        Beginning { word: word(|it| u64::from(*it)), mask: word(|_| 0xff) }
    }
}

/// A former name.
#[derive(Debug)]
pub(crate) struct OldPlan {
    /// The number of its definition
    pub(crate) definition: Option<usize>,
    pub(crate) params: Vec<MaskedParam>,
    /// The parameters' names, in the order of the old pattern
    pub(crate) names: Vec<String>,
    /// How serious it is that an entity has both names
    pub(crate) both: Option<Severity>,
    /// The join that looks for entities with both names
    pub(crate) join: Option<usize>,
}

/// Other software's keys.
#[derive(Debug)]
pub(crate) struct ForeignPlan {
    pub(crate) name: String,
    pub(crate) glob: Glob,
}

impl Space {
    pub(super) fn new(
        schema: &Schema,
        keyspace: &Keyspace,
        live: &Live<'_>,
        first: usize,
        today: Date,
    ) -> (Self, Vec<OutlinedOldName>) {
        let begins = match keyspace.prefix().map_or(&[][..], Template::parts) {
            [Part::Literal(text), ..] => text.as_bytes().to_vec(),
            _ => Vec::new(),
        };
        let old = schema.old_names();
        let renames = old.iter().flat_map(|old| old.renames.iter().zip(old.keyspace.definitions()));
        let renames = renames.map(|((migration, rename), compiled)| {
            let params = compiled.params().iter();
            let params = params.map(|(name, param)| (name.clone(), param.ty.clone())).collect();
            OldPlan::new(schema, live, migration, rename, params, first, today)
        });
        let foreign = schema.foreign.iter().map(|foreign| ForeignPlan {
            name: foreign.name.value.clone(),
            glob: Glob::with_bytes(&foreign.glob),
        });
        let (renames, outlined) = renames.unzip();
        let space = Space {
            keyspace: keyspace.clone(),
            misfits: Misfits::new(schema, keyspace),
            owners: Owners::new(keyspace),
            first,
            db: schema.keyspace.db.as_ref().map(|db| u64::from(db.value)),
            beginning: Beginning::new(&begins),
            begins,
            renames,
            old: old.as_ref().map(|old| old.keyspace.clone()),
            prefix: prefix(keyspace),
            foreign: foreign.collect(),
        };
        (space, outlined)
    }

    /// Whether keys of this keyspace can be in a database.
    #[inline]
    pub(super) fn is_in(&self, db: u64) -> bool {
        self.db.is_none_or(|own| own == db)
    }

    /// Whether a key of this keyspace can have this beginning.
    #[inline]
    pub(super) fn may_begin_with(&self, key: Beginning) -> bool {
        (key.word ^ self.beginning.word) & self.beginning.mask == 0
    }

    /// Whether a key of this keyspace can begin so.
    #[inline]
    pub(crate) fn may_begin(&self, key: &[u8]) -> bool {
        key.starts_with(&self.begins)
    }

    /// The former name that a key has.
    pub(super) fn old_name(&self, key: &[u8], places: &mut Vec<Range<usize>>) -> Option<usize> {
        let rename = self.old.as_ref()?.locate(key, places)?.index();
        (rename < self.renames.len()).then_some(rename)
    }
}

/// What follows a prefix.
pub(super) const REST: &str = "rest";

/// A prefix that has parameters, and whatever follows it.
fn prefix(keyspace: &Keyspace) -> Option<Keyspace> {
    let prefix = keyspace.prefix()?;
    prefix.holes().next()?;
    let whole = Template::parse(&format!("{}{{{REST}...}}", prefix.as_str())).ok()?;
    let definition = keyspace.definitions().next()?;
    let mut builder = Keyspace::builder(keyspace.separator().into()).ok()?;
    builder.define("prefix", &whole, |name| {
        let own = definition.params().iter().find(|(own, _)| own == name);
        own.map(|(_, param)| param.clone()).or_else(|| (name == REST).then(|| Type::Text.into()))
    });
    builder.finish().ok()
}

impl OldPlan {
    fn new(
        schema: &Schema,
        live: &Live<'_>,
        migration: &Migration,
        rename: &Rename,
        params: Vec<(String, Type)>,
        first: usize,
        today: Date,
    ) -> (Self, OutlinedOldName) {
        let at = schema.keys.iter().position(|key| *key.name == rename.definition.value);
        let definition = at.map(|at| &schema.keys[at]);
        let over = migration.phase.value == Phase::Cleanup
            || migration.remove_after.as_ref().is_some_and(|day| day.value < today);
        let severity =
            |rule| Severity::of(live.severity_of_old(rule, definition, migration)).filter(|_| over);
        let definition = at.map(|at| first + at);
        let outlined = OutlinedOldName {
            definition,
            migration: migration.name.value.clone(),
            pattern: rename.from.as_str().to_owned(),
            severity: severity(Rule::OldName),
        };
        let plan = OldPlan {
            definition,
            params: (params.iter())
                .map(|(name, ty)| MaskedParam::new(&rename.params, name, ty))
                .collect(),
            names: params.into_iter().map(|(name, _)| name).collect(),
            both: severity(Rule::BothNames),
            join: None,
        };
        (plan, outlined)
    }
}
