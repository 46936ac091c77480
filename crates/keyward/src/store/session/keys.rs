//! The keys that a session consists of, those that list it, and those that revoke it.

use super::super::core::Core;
use super::super::error::Error;
use super::super::linked::Linked;
use super::super::names::Names;
use super::super::request::Call;
use super::super::ttl::pick;
use super::{LIST, UNLIST, options, word};
use crate::definition::Stamp;
use crate::generated::build_one;
use crate::{Definition, Key, ParamValue as _};
use keyward_pattern::slot;

/// A session, its tombstone and its end.
pub(super) struct Keys {
    pub(super) name: String,
    pub(super) tombstone: String,
    pub(super) end: String,
}

impl Keys {
    pub(super) fn of(names: &Names, definition: &str) -> Result<Self, Error> {
        let derived = |word: &str| {
            names.derived(word).ok_or_else(|| {
                Error::Settings(format!(
                    "no key can stand beside one of `{definition}` in its slot"
                ))
            })
        };
        Ok(Keys {
            name: names.name.clone(),
            tombstone: derived("revoked")?,
            end: derived("until")?,
        })
    }

    pub(super) fn all(&self) -> [&str; 3] {
        [&self.name, &self.tombstone, &self.end]
    }
}

/// The keys by which other programs know that a session was revoked.
pub(super) struct Revocations {
    names: Vec<String>,
    ttl: u64,
    stamp: Option<Stamp>,
}

impl Revocations {
    pub(super) fn new(linked: Option<Linked>, stamp: Option<Stamp>) -> Self {
        let Some(Linked { definition, names }) = linked else {
            return Revocations { names: Vec::new(), ttl: 0, stamp: None };
        };
        let ttl = pick(definition.ttl, definition.behaviour.jitter).unwrap_or(0);
        Revocations { names: names.all().map(str::to_owned).collect(), ttl, stamp }
    }

    /// Those that a script about the session can touch.
    pub(super) fn near<'k>(
        &'k self,
        core: &'k Core,
        session: &'k str,
    ) -> impl Iterator<Item = &'k str> {
        self.names.iter().map(String::as_str).filter(move |name| is_near(core, session, name))
    }

    /// Those in other slots.
    pub(super) fn far<'k>(
        &'k self,
        core: &'k Core,
        session: &'k str,
    ) -> impl Iterator<Item = &'k str> {
        self.names.iter().map(String::as_str).filter(move |name| !is_near(core, session, name))
    }

    /// How long they stand, and what they hold.
    pub(super) fn content(&self) -> (u64, String) {
        (self.ttl, word(self.stamp.unwrap_or(Stamp::Timestamp)))
    }
}

/// The index of a user's sessions.
pub(super) struct Listing {
    pub(super) index: String,
    /// When the sessions end; the index itself, where it is a sorted set
    pub(super) ends: String,
    /// In milliseconds; 0 if it never expires
    pub(super) ttl: u64,
    /// Of the ends, in milliseconds
    pub(super) unit: u64,
    /// How many it may list; 0 if as many as there are
    pub(super) most: u64,
}

impl Listing {
    pub(super) fn new(
        definition: &'static Definition,
        names: &Names,
        score_ms: Option<u64>,
    ) -> Result<Self, Error> {
        let ends = match score_ms {
            Some(_) => Some(names.name.clone()),
            None => names.derived("ends"),
        };
        let ends = ends.ok_or_else(|| {
            let name = definition.name;
            Error::Settings(format!("no key can stand beside one of `{name}` in its slot"))
        })?;
        Ok(Listing {
            index: names.name.clone(),
            ends,
            ttl: pick(definition.ttl, definition.behaviour.jitter).unwrap_or(0),
            unit: score_ms.unwrap_or(1),
            most: definition.behaviour.max_len.unwrap_or(0),
        })
    }

    /// Lists a session until its end, in milliseconds from now or since 1970.
    pub(super) fn list(&self, member: &str, end: &str, since_1970: bool) -> Call {
        LIST.call(&[&self.index, &self.ends], |cmd| {
            cmd.arg(member).arg(end).arg(u8::from(since_1970));
            cmd.arg(self.ttl).arg(self.unit).arg(self.most);
        })
        .repeatable()
    }

    /// Drops sessions that are gone for good.
    pub(super) fn unlist(&self, members: &[&str]) -> Call {
        UNLIST.call(&[&self.index, &self.ends], |cmd| _ = cmd.arg(members)).repeatable()
    }
}

/// Whether one script can touch both keys.
pub(crate) fn is_near(core: &Core, one: &str, other: &str) -> bool {
    !core.is_cluster() || slot(one.as_bytes()) == slot(other.as_bytes())
}

/// What an index holds of a session.
pub(super) fn member<K: Key>(key: &K) -> String {
    let options = options::<K>();
    if options.listed_as_key {
        let mut bare = String::with_capacity(key.bare_len());
        key.write_bare(&mut bare);
        return bare;
    }
    key.values().swap_remove(options.id)
}

/// The session that an index means; `known` has the values of parameters that are not its id.
pub(super) fn session_of<K: Key>(member: &str, known: &[(&str, String)]) -> Option<K> {
    let options = options::<K>();
    if options.listed_as_key {
        return K::from_normal(member);
    }
    with_id(member, known)
}

/// A session with this id; the values of its other parameters are known.
pub(super) fn with_id<K: Key>(id: &str, known: &[(&str, String)]) -> Option<K> {
    let at = options::<K>().id;
    let value = |(number, param): (usize, &crate::Param)| {
        let known = known.iter().find(|(name, _)| *name == param.name);
        Some((param.name, if number == at { id } else { known?.1.as_str() }))
    };
    let values = K::DEFINITION.params.iter().enumerate().map(value).collect::<Option<Vec<_>>>()?;
    build_one(&values).ok()
}

/// The parameters of a key, by name.
pub(super) fn named<K: Key>(key: &K) -> Vec<(&'static str, String)> {
    K::DEFINITION.params.iter().map(|param| param.name).zip(key.values()).collect()
}
