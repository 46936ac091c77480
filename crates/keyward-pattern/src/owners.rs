//! Whose a derived key is.

use crate::{DefinitionId, Glob, Keyspace, Part, Template, owner_of};

/// How many places of a key are tried as the beginning of a derived key. More than one occurs only
/// where a prefix has parameters that contain `~`.
const MAX_TRIES: usize = 8;

/// Finds the owners of a keyspace's derived keys, also where parameters of its prefix are not bound.
///
/// ```
/// use keyward_pattern::{Keyspace, Owners, Template};
///
/// let mut builder = Keyspace::builder(':')?;
/// builder.prefix(&Template::parse("{tenant:slug}:")?, |_| None);
/// builder.define("meta", &Template::parse("file:{file_id:uint}:meta")?, |_| None);
/// let owners = Owners::new(&builder.finish().unwrap());
///
/// assert_eq!(owners.find("acme:~lease:{acme:file:7:meta}"), Some(("acme:file:7:meta", "lease")));
/// assert_eq!(owners.find("acme:file:7:meta"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Owners {
    prefix: Prefix,
    /// A glob for all keys of each definition, and how many separators they have: at least, if some value may
    /// contain them
    globs: Vec<(DefinitionId, Glob, usize, bool)>,
    separator: u8,
}

/// What every key starts with.
#[derive(Debug, Clone)]
enum Prefix {
    Fixed(String),
    /// With parameters that are not bound, as a keyspace of its own
    Open(Keyspace),
}

impl Owners {
    /// For the derived keys of this keyspace.
    pub fn new(keyspace: &Keyspace) -> Self {
        let fixed = match keyspace.prefix().map_or(&[][..], Template::parts) {
            [] => Some(String::new()),
            [Part::Literal(text)] => Some(text.clone()),
            _ => None,
        };
        let prefix = match fixed {
            Some(prefix) => Prefix::Fixed(prefix),
            None => alone(keyspace).map_or(Prefix::Fixed(String::new()), Prefix::Open),
        };
        let separator = keyspace.separator();
        let globs = keyspace.definitions().filter(|it| !it.params().is_empty()).filter_map(|it| {
            let glob = it.glob_named(&[]).ok()?;
            Some((it.id(), Glob::new(&glob), count(separator, &glob), it.spans()))
        });
        Owners { prefix, globs: globs.collect(), separator }
    }

    /// The definition of a derived key's owner. An index belongs to a glob, not to a key, with
    /// those parameters bound that events bind.
    pub fn definition(&self, keyspace: &Keyspace, owner: &str, word: &str) -> Option<DefinitionId> {
        if let Some(id) = keyspace.classify(owner.as_bytes()) {
            return Some(id);
        }
        if word != "index" || !owner.contains('*') {
            return None;
        }
        let separators = count(self.separator, owner);
        let found = self.globs.iter().find(|(_, glob, has, spans)| {
            let as_many = *has == separators || *spans && *has < separators;
            as_many && glob.matches(owner.as_bytes())
        });
        found.map(|(id, ..)| *id)
    }

    /// The owner's key and the word of a derived key; `None` if it is not one.
    pub fn find<'k>(&self, key: &'k str) -> Option<(&'k str, &'k str)> {
        match &self.prefix {
            Prefix::Fixed(prefix) => owner_of(prefix, key),
            Prefix::Open(alone) => {
                let starts = key.match_indices('~').take(MAX_TRIES);
                let mut prefixes = starts.map(|(at, _)| &key[..at]);
                prefixes.find_map(|prefix| {
                    let (owner, word) = owner_of(prefix, key)?;
                    // The key with a tag of its own has no prefix before the `~`.
                    let bound = alone.classify(prefix.as_bytes()).is_some();
                    (owner.starts_with(prefix) && (bound || owner == prefix))
                        .then_some((owner, word))
                })
            }
        }
    }
}

fn count(separator: u8, text: &str) -> usize {
    text.bytes().filter(|byte| *byte == separator).count()
}

/// The prefix as a keyspace of its own.
fn alone(keyspace: &Keyspace) -> Option<Keyspace> {
    let params = keyspace.definitions().next()?.params();
    let mut builder = Keyspace::builder(keyspace.separator().into()).ok()?;
    builder.define("prefix", keyspace.prefix()?, |name| {
        params.iter().find(|(param, _)| param == name).map(|(_, param)| param.clone())
    });
    builder.finish().ok()
}
