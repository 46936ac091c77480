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
        let title = title(path, &tree);
        let identifier = naming::name(Kind::Document, &title, now);
        let hashes = tree.elements.iter().map(|it| element_hash(it.kind, it.source)).collect();
        let content_hash = hash("", text);
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
fn title(path: &str, tree: &Tree<'_>) -> String {
    if let Some(title) = &tree.front_matter.title {
        return title.clone();
    }
    // In a name of a file, these stand for spaces.
    let stem = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.replace(['-', '_', '.'], " ");
    match (naming::label(&stem), tree.first_chapter()) {
        (None, Some(chapter)) => chapter.words.trim().to_owned(),
        _ => stem,
    }
}

/// What is stored as `content_hash` of an element.
pub(crate) fn element_hash(kind: Kind, source: &str) -> String {
    hash(kind.prefix(), source)
}

fn hash(kind: &str, text: &str) -> String {
    let mut hash = ContentHash(Sha256::new().chain_update(kind).chain_update([0]));
    hash.update(text);
    hash.finish()
}

/// The hash of a text that comes in parts: the first 128 bits of SHA-256, so that nobody can make two texts that are
/// taken for one.
#[derive(Debug)]
pub struct ContentHash(Sha256);

impl Default for ContentHash {
    /// Of a whole file.
    fn default() -> Self {
        ContentHash(Sha256::new().chain_update([0]))
    }
}

impl ContentHash {
    /// Adds a part.
    pub fn update(&mut self, text: &str) {
        self.0.update(text);
    }

    /// The hash, as it is stored.
    pub fn finish(self) -> String {
        let digest = self.0.finalize();
        digest[..16].iter().fold(String::with_capacity(32), |mut hex, byte| {
            for digit in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
            hex
        })
    }
}
