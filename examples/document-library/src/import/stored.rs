//! What the server has of a file.

use crate::document_library::fields;
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::server::{Library, ServerError, SourceKeys};
use std::collections::BTreeSet;

/// How many elements are read in one round trip.
const AT_ONCE: usize = 1000;
/// How many sets are read in one round trip.
const SETS: usize = 100;

/// What the server has of a file.
pub(crate) struct Stored {
    /// The documents: one, or two where an import that changed the title was stopped
    pub(crate) documents: Vec<StoredDocument>,
    /// The elements below it, by their positions
    pub(crate) elements: Vec<StoredElement>,
    /// Keys that were noted, but are not there
    pub(crate) missing: Vec<ElementKey>,
}

/// A document.
pub(crate) struct StoredDocument {
    pub(crate) key: ElementKey,
    pub(crate) name: String,
    /// Missing after an import that was stopped
    pub(crate) content_hash: Option<String>,
    pub(crate) title: String,
    /// As it stands in the file
    pub(crate) front_matter: String,
    pub(crate) labels: Labels,
}

/// An element below a document.
pub(crate) struct StoredElement {
    pub(crate) key: ElementKey,
    pub(crate) name: String,
    pub(crate) content_hash: String,
    pub(crate) position: u64,
    pub(crate) parent: String,
}

/// The sets that a document and its chunks are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Names of categories
    pub categories: BTreeSet<String>,
    /// Names of authors
    pub authors: BTreeSet<String>,
    /// Names of tags
    pub tags: BTreeSet<String>,
}

impl Labels {
    pub(crate) fn merge(&mut self, other: &Labels) {
        self.categories.extend(other.categories.iter().cloned());
        self.authors.extend(other.authors.iter().cloned());
        self.tags.extend(other.tags.iter().cloned());
    }
}

impl Stored {
    /// Reads it. Whoever changes it afterwards holds the lock.
    pub(crate) async fn read(library: &Library, source: &SourceKeys) -> Result<Self, ServerError> {
        let mut stored = Stored { documents: vec![], elements: vec![], missing: vec![] };
        let keys: Vec<ElementKey> = members(library, &source.elements).await?;
        let (documents, elements): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| keyspace::kind(key) == Kind::Document);
        for key in documents {
            match StoredDocument::read(library, &key).await? {
                Some(document) => stored.documents.push(document),
                None => stored.missing.push(key),
            }
        }
        for keys in elements.chunks(AT_ONCE) {
            let mut all = redis::pipe();
            for key in keys {
                all.cmd("HMGET").arg(keyspace::text(key)).arg(&[
                    "content_hash",
                    "position",
                    "parent",
                ]);
            }
            let rows: Vec<(Option<String>, Option<u64>, Option<String>)> =
                library.ask_all(&all).await?;
            for (key, row) in keys.iter().zip(rows) {
                let (key, name) = (key.clone(), keyspace::text(key));
                match row {
                    (Some(content_hash), Some(position), Some(parent)) => {
                        let it = StoredElement { key, name, content_hash, position, parent };
                        stored.elements.push(it);
                    }
                    _ => stored.missing.push(key),
                }
            }
        }
        stored.elements.sort_by(|a, b| (a.position, &a.name).cmp(&(b.position, &b.name)));
        stored.documents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(stored)
    }

    /// Whether an import of this text was finished, and nothing has changed since.
    pub(crate) fn is(&self, content_hash: &str) -> Option<&StoredDocument> {
        match &self.documents[..] {
            [only] if only.content_hash.as_deref() == Some(content_hash) => Some(only),
            _ => None,
        }
    }

    /// All sets that something of it may be in.
    pub(crate) fn labels(&self) -> Labels {
        let mut labels = Labels::default();
        self.documents.iter().for_each(|document| labels.merge(&document.labels));
        labels
    }
}

impl StoredDocument {
    async fn read(library: &Library, key: &ElementKey) -> Result<Option<Self>, ServerError> {
        let name = keyspace::text(key);
        let ElementKey::Document(document) = key else { return Ok(None) };
        let Some(fields) = library.store.at(document.clone()).get().await? else { return Ok(None) };
        let fields::Document { content_hash, title, front_matter, .. } = fields;
        let fields::Document { authors, categories, tags, .. } = fields;
        let labels = Labels {
            categories: categories.into_iter().collect(),
            authors: authors.into_iter().collect(),
            tags: tags.into_iter().collect(),
        };
        let (key, front_matter) = (key.clone(), front_matter.unwrap_or_default());
        Ok(Some(StoredDocument { key, name, content_hash, title, front_matter, labels }))
    }
}

/// The elements in a set, however large it is.
pub(crate) async fn members(library: &Library, key: &str) -> Result<Vec<ElementKey>, ServerError> {
    let all = members_of_all(library, &[key.to_owned()]).await?;
    Ok(all.into_iter().flatten().collect())
}

/// The elements in each of many sets. Most are small, and many of those are read in one round trip.
pub(crate) async fn members_of_all(
    library: &Library,
    keys: &[String],
) -> Result<Vec<Vec<ElementKey>>, ServerError> {
    let mut found: Vec<BTreeSet<String>> = vec![BTreeSet::new(); keys.len()];
    let mut open: Vec<(usize, u64)> = (0..keys.len()).map(|at| (at, 0)).collect();
    while !open.is_empty() {
        let some: Vec<(usize, u64)> = open.drain(open.len().saturating_sub(SETS)..).collect();
        let mut all = redis::pipe();
        for (at, cursor) in &some {
            all.cmd("SSCAN").arg(&keys[*at]).arg(*cursor).arg("COUNT").arg(AT_ONCE);
        }
        let steps: Vec<(u64, Vec<String>)> = library.ask_all(&all).await?;
        for ((at, _), (next, members)) in some.into_iter().zip(steps) {
            found[at].extend(members);
            if next != 0 {
                open.push((at, next));
            }
        }
    }
    let parse = |key: &str, member: &str| {
        keyspace::parse(member).ok_or_else(|| ServerError::Strange {
            key: key.to_owned(),
            why: format!("`{member}` is not the key of an element"),
        })
    };
    let sets = keys.iter().zip(found);
    sets.map(|(key, members)| members.iter().map(|member| parse(key, member)).collect()).collect()
}
