//! Old names of keys: found, and built as the phase of their migration says.

use crate::definition::{Definition, Former, FormerPart, Language, Phase};
use crate::generated::{Texts, spell_former};
use crate::{Keyspace, Prefix};
use keyward_pattern::{DefinitionId, Recase, escape_glob};

/// A key under an old name, as `Key::parse_former` of a generated module finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormerKey<S: Keyspace> {
    /// The migration that renames it
    pub migration: &'static str,
    /// How far that is
    pub phase: Phase,
    /// The database of keys with this old name, if it is not the keyspace's own
    pub db: Option<u64>,
    /// What the schema says about it
    pub definition: &'static Definition,
    /// What the new name begins with; `None` if the old name does not say which
    pub prefix: Option<S::Prefix>,
    /// The key, which writes its new name; `None` if it cannot be told from the old one. That happens only in
    /// [`Phase::Cleanup`], where an old name may lack a parameter or have values that the new one refuses.
    pub key: Option<S>,
}

/// The names of a key that a program without a [`Store`](crate::Store) reads and writes. Outside a migration, both
/// are its only name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyNames {
    /// Those to read, in this order: the first that exists has the value
    pub read: Vec<String>,
    /// Those to write and to delete, the one that counts first
    pub write: Vec<String>,
}

impl KeyNames {
    pub(crate) fn new<S: Keyspace>(
        definition: &Definition,
        key: String,
        prefix: &S::Prefix,
        values: impl FnOnce() -> Vec<String>,
    ) -> Self {
        let mut write = vec![(key, "")];
        let old = !definition.former.is_empty() && {
            let values: Vec<String> = prefix.values().into_iter().chain(values()).collect();
            add_former::<S>(definition, &values, &mut write)
        };
        let write: Vec<String> = write.into_iter().map(|(name, _)| name).collect();
        let mut read = write.clone();
        if old {
            // While an old name counts, the new one is a copy of it.
            read.remove(1);
        }
        KeyNames { read, write }
    }
}

/// The old names of a definition while a migration lasts, by their numbers.
pub(crate) fn of<S: Keyspace>(
    definition: &Definition,
) -> impl Iterator<Item = (u32, &'static Former)> {
    let number = |number: &u32| S::FORMER.get(DefinitionId(*number).index());
    definition.former.iter().filter_map(move |it| Some((*it, number(it)?)))
}

/// Adds the old names that are written besides the new one, each with its migration. Where one of them counts, it becomes
/// the first, and the answer is true.
pub(crate) fn add_former<S: Keyspace>(
    definition: &Definition,
    values: &[String],
    names: &mut Vec<(String, &'static str)>,
) -> bool {
    let mut old = false;
    for (number, former) in of::<S>(definition) {
        let Some(name) = build::<S>(former.parts, values) else { continue };
        // A narrower old name may take the key, which then belongs under another new name.
        let owner = S::tables().find_former(name.as_bytes()).map(|found| found.definition().0);
        if owner != Some(number) {
            continue;
        }
        if former.phase == Phase::DualWrite && !old {
            old = true;
            names.insert(0, (name, former.migration));
        } else {
            names.push((name, former.migration));
        }
    }
    old
}

/// Those whose values a plan converts, once the new name counts. No store reads or writes them, but what is removed must not
/// come back through them. While an old name counts, only a plan and old programs touch such names.
#[cfg(feature = "store")]
pub(crate) fn converted<S: Keyspace>(
    definition: &Definition,
) -> impl Iterator<Item = &'static Former> {
    let is_converted = |(number, it): &(u32, &Former)| {
        it.definition == definition.number
            && it.phase == Phase::ReadFallback
            && it.db.is_none()
            && !definition.former.contains(number)
    };
    (0..).zip(S::FORMER).filter(is_converted).map(|(_, it)| it)
}

/// The old names of a key that stores neither read nor write.
#[cfg(feature = "store")]
pub(crate) fn left<S: Keyspace>(
    definition: &Definition,
    values: impl FnOnce() -> Vec<String>,
) -> Vec<String> {
    let is_over = |it: &&Former| {
        it.definition == definition.number && it.phase == Phase::Cleanup && it.db.is_none()
    };
    let over = S::FORMER.iter().filter(is_over);
    let mut left = over.chain(converted::<S>(definition)).peekable();
    if left.peek().is_none() {
        return Vec::new();
    }
    let values = values();
    let own = &values[S::Prefix::PARAMS.len()..];
    // An old name that lacks a parameter is the name of several keys.
    let is_its_own = |name: &String| {
        let found = parse::<S>(name.as_bytes()).and_then(|found| found.key);
        found.is_some_and(|key| key.definition().number == definition.number && key.values() == own)
    };
    left.filter_map(|it| build::<S>(it.parts, &values)).filter(is_its_own).collect()
}

/// The old name for these values, those of the prefix first; `None` if the old type refuses one.
fn build<S: Keyspace>(parts: &[FormerPart], values: &[String]) -> Option<String> {
    let mut name = String::new();
    for part in parts {
        match part {
            FormerPart::Literal(text) => name.push_str(text),
            FormerPart::Value(at, language, recase) => {
                name.push_str(&spell_former::<S>(*language, *recase, values.get((*at)?)?)?);
            }
        }
    }
    Some(name)
}

/// A glob that finds the old names with these values of the definition's own parameters.
pub(crate) fn glob<S: Keyspace>(
    parts: &[FormerPart],
    prefix: &S::Prefix,
    values: &[Option<String>],
) -> Option<String> {
    let known: Vec<Option<String>> =
        prefix.values().into_iter().map(Some).chain(values.iter().cloned()).collect();
    let mut glob = String::new();
    let mut free = false;
    for part in parts {
        let text = match part {
            FormerPart::Literal(text) => Some((*text).to_owned()),
            FormerPart::Value(at, language, recase) => match known.get((*at)?)? {
                Some(text) => Some(spell_former::<S>(*language, *recase, text)?),
                None => None,
            },
        };
        match &text {
            Some(text) => escape_glob(text, &mut glob),
            None if free => {}
            None => glob.push('*'),
        }
        free = text.is_none();
    }
    Some(glob)
}

/// Reads a key under an old name.
pub(crate) fn parse<S: Keyspace>(key: &[u8]) -> Option<FormerKey<S>> {
    let found = S::tables().find_former(key)?;
    let former = S::FORMER.get(found.definition().index())?;
    let number = DefinitionId(former.definition).index();
    let (definition, entry) = (S::DEFINITIONS.get(number)?, S::entries().get(number)?);
    let first = S::Prefix::PARAMS.len();
    let mut values: Vec<Option<String>> = vec![None; first + definition.params.len()];
    let holes = former.parts.iter().filter_map(|part| match part {
        FormerPart::Literal(_) => None,
        FormerPart::Value(at, language, recase) => Some((*at, *language, *recase)),
    });
    let mut whole = true;
    for (hole, (param, language, recase)) in holes.enumerate() {
        match param.and_then(|at| values.get_mut(at)) {
            Some(value) => *value = unspell::<S>(language, recase, found.spelling(hole)),
            // The new name cannot say what this one said, so that it is not known.
            None => whole = false,
        }
    }
    let (of_prefix, own) = values.split_at(first);
    let prefix = Texts::given::<S>("prefix", S::Prefix::PARAMS, of_prefix);
    let key = Texts::given::<S>(definition.name, definition.params, own);
    Some(FormerKey {
        migration: former.migration,
        phase: former.phase,
        db: former.db,
        definition,
        prefix: prefix.make(S::Prefix::make).ok(),
        key: entry.build(key).ok().filter(|_| whole),
    })
}

/// The value of the new name that an old name spells so.
fn unspell<S: Keyspace>(
    language: Language,
    recase: Option<Recase>,
    spelling: &str,
) -> Option<String> {
    let value = match language {
        Language::Of(language) => S::tables().unspell(language, spelling)?,
        Language::Keys(_) | Language::Own => spelling.into(),
    };
    Some(recase.map_or_else(|| value.to_string(), |recase| recase.new_value(&value)))
}
