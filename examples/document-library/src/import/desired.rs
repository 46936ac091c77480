//! What a file should become: its elements with what is known of them before they have keys.

use super::matching::{Choice, New, Old, choose};
use super::stored::{Labels, Stored};
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::naming;
use crate::tree::{self, Tree};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;
use thiserror::Error;

/// Why a text cannot become a document.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// Its front matter cannot be read
    #[error("{path}: {why}")]
    FrontMatter {
        /// The file
        path: String,
        /// What is wrong
        why: crate::front_matter::FrontMatterError,
    },
    /// A category, an author or a tag without a name
    #[error(
        "{path}: the {what} `{text}` gives no name of two letters or more: write it out in the front matter"
    )]
    Label {
        /// The file
        path: String,
        /// `category`, `author` or `tag`
        what: &'static str,
        /// As it stands in the file
        text: String,
    },
}

/// What a file should become.
pub struct Desired<'t> {
    /// The path of the file
    pub path: &'t str,
    /// The title of the document
    pub title: String,
    /// The identifier of the document
    pub identifier: String,
    /// The sets that it should be in
    pub labels: Labels,
    /// Of the whole text
    pub content_hash: String,
    /// The parsed text
    pub tree: Tree<'t>,
    /// Of each element
    pub hashes: Vec<String>,
    now: SystemTime,
}

impl<'t> Desired<'t> {
    /// Parses a text.
    ///
    /// # Errors
    /// If its front matter cannot be read, or has a label that gives no name.
    pub fn new(path: &'t str, text: &'t str, now: SystemTime) -> Result<Self, TextError> {
        let owned = || path.to_owned();
        let tree =
            tree::parse(text).map_err(|why| TextError::FrontMatter { path: owned(), why })?;
        let front_matter = &tree.front_matter;
        let named = |what, texts: &[String]| {
            let name = |text: &String| {
                let text = text.clone();
                naming::label(&text).ok_or_else(|| TextError::Label { path: owned(), what, text })
            };
            texts.iter().map(name).collect::<Result<BTreeSet<String>, _>>()
        };
        let labels = Labels {
            categories: named("category", &front_matter.categories)?,
            authors: named("author", &front_matter.authors)?,
            tags: named("tag", &front_matter.tags)?,
        };
        let first_chapter = tree.first_chapter().map(|it| &*it.words);
        let title = title(path, front_matter.title.as_deref(), first_chapter);
        let identifier = naming::name(Kind::Document, &title, now);
        let mut content_hash = ContentHash::new(tree.front_matter_source);
        let hashes = tree.elements.iter().map(|it| {
            let hash = element_hash(it.kind, it.words.trim(), it.source);
            content_hash.update(&hash);
            hash
        });
        let hashes = hashes.collect();
        let content_hash = content_hash.finish();
        Ok(Desired { path, title, identifier, labels, content_hash, tree, hashes, now })
    }

    /// The identifier of an element.
    pub fn name(&self, at: usize) -> String {
        let element = &self.tree.elements[at];
        naming::name(element.kind, &element.words, self.now)
    }

    /// Which of them are stored already: the document, and each element.
    pub(super) fn choose(&self, stored: &Stored) -> (Choice, Vec<Choice>) {
        let same = |key: &ElementKey| keyspace::identifier(key) == self.identifier;
        let document = stored.documents.iter().position(|it| same(&it.key));
        let document = document.map_or_else(|| Choice::Named(self.identifier.clone()), Choice::Old);
        let old: Vec<Old<'_>> = stored
            .elements
            .iter()
            .map(|it| Old {
                kind: keyspace::kind(&it.key),
                hash: &it.content_hash,
                identifier: keyspace::identifier(&it.key),
                parent: &it.parent,
                key: &it.name,
            })
            .collect();
        let elements = self.tree.elements.iter().zip(&self.hashes);
        let new: Vec<New<'_>> =
            elements.map(|(it, hash)| New { kind: it.kind, hash, parent: it.parent }).collect();
        let stored_document = stored.documents.first().map_or("", |it| it.name.as_str());
        let elements = choose(&old, &new, stored_document, |at| self.name(at));
        (document, elements)
    }
}

/// The title: from the front matter, then the name of the file, then the first heading `#`.
pub(crate) fn title(path: &str, own: Option<&str>, first_chapter: Option<&str>) -> String {
    if let Some(title) = own {
        return title.to_owned();
    }
    // In a name of a file, these stand for spaces.
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.replace(['-', '_', '.'], " ");
    match first_chapter {
        Some(chapter) if !naming::is_title(&stem) => chapter.trim().to_owned(),
        _ => stem,
    }
}

/// What is stored as `content_hash` of an element: of its text as it stands in the file, and of the title of a heading,
/// which may have words from elsewhere in the file.
pub(crate) fn element_hash(kind: Kind, title: &str, source: &str) -> String {
    let mut hash = Sha256::new().chain_update(kind.prefix()).chain_update([0]);
    if kind != Kind::Chunk {
        hash.update(title);
        hash.update([0]);
    }
    hex(hash.chain_update(source))
}

/// The hash of a document, from the hashes of its elements. The first 128 bits of SHA-256, so that nobody can make two
/// texts that are taken for one.
#[derive(Debug)]
pub(crate) struct ContentHash(Sha256);

impl ContentHash {
    /// With the front matter as it stands in the file.
    pub(crate) fn new(front_matter: &str) -> Self {
        ContentHash(Sha256::new().chain_update(front_matter).chain_update([0]))
    }

    /// Adds the hash of the next element.
    pub(crate) fn update(&mut self, element: &str) {
        self.0.update(element);
    }

    /// The hash, as it is stored.
    pub(crate) fn finish(self) -> String {
        hex(self.0)
    }
}

fn hex(hash: Sha256) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = hash.finalize();
    let digits = digest[..16].iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
