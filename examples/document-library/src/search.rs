//! Finds documents by their authors and categories, and elements by tags and words.

use crate::document_library::fields;
use crate::import::stored::members_of_all;
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::naming;
use crate::query::{Listed, Named, QueryError, listed, named, placed, sequence, texts};
use crate::server::Library;
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization as _;

/// How many elements are read in one round trip.
const AT_ONCE: usize = 200;

/// What is searched for. What is not given is not asked for; all that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// Words that a heading or a chunk has, in any case
    pub words: Vec<String>,
    /// Names of tags that its document has
    pub tags: Vec<String>,
    /// Names of authors that its document has
    pub authors: Vec<String>,
    /// Names of categories that its document is in
    pub categories: Vec<String>,
    /// How many are found at most
    pub limit: usize,
}

/// What a search found.
#[derive(Debug)]
pub enum Found {
    /// Documents, where neither words nor tags were asked for
    Documents(Vec<Listed>),
    /// Elements that have the words; without words, the chunks with the tags
    Elements(Vec<Named>),
}

/// Searches. Words are looked for in titles, headings and texts themselves: in documents with the tags, authors and
/// categories that are given, otherwise in all.
///
/// # Errors
/// If a name is none, or the server cannot be asked.
pub async fn search(library: &Library, search: &Search) -> Result<Found, QueryError> {
    let nameless = |text: &String| QueryError::Nameless(text.clone());
    let label = |text: &String| naming::label(text).ok_or_else(|| nameless(text));
    let mut lists = Vec::new();
    for text in &search.authors {
        lists.push(keyspace::author(&label(text)?).map_err(|_| nameless(text))?.key());
    }
    for text in &search.categories {
        lists.push(keyspace::category(&label(text)?).map_err(|_| nameless(text))?.key());
    }
    let mut tags = Vec::new();
    for text in &search.tags {
        tags.push(label(text)?);
    }
    let words = search.words.iter().map(|words| normal(words)).filter(|words| !words.is_empty());
    let mut hits =
        Hits { library, words: words.collect(), tags, limit: search.limit, found: Vec::new() };
    if !lists.is_empty() {
        let mut documents = in_all(library, &lists).await?;
        if hits.words.is_empty() && hits.tags.is_empty() {
            documents.truncate(search.limit);
            return Ok(Found::Documents(listed(library, &documents).await?));
        }
        hits.look_in_documents(documents).await?;
    } else if hits.words.is_empty() {
        hits.take_tagged().await?;
    } else {
        let mut from = 0;
        while !hits.are_enough() {
            let some = placed(library, from).await?;
            if some.is_empty() {
                break;
            }
            from += some.len();
            hits.look_in_documents(some.into_iter().map(|(_, key)| key).collect()).await?;
        }
    }
    Ok(Found::Elements(named(library, &hits.found).await?))
}

/// The documents that are in all of these sets.
async fn in_all(library: &Library, sets: &[String]) -> Result<Vec<ElementKey>, QueryError> {
    let mut sets = members_of_all(library, sets).await?.into_iter();
    let mut documents = sets.next().unwrap_or_default();
    for set in sets {
        let set: HashSet<ElementKey> = set.into_iter().collect();
        documents.retain(|document| set.contains(document));
    }
    Ok(documents)
}

/// A text as words are compared: composed, in lower case, with one space between words.
fn normal(text: &str) -> String {
    let text: String = text.nfc().collect();
    // In lower case some letters are decomposed again.
    let text: String = text.to_lowercase().nfc().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the text has these words, and not only as a part of longer ones. Both are [`normal`].
fn has(text: &str, words: &str) -> bool {
    let is_open = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + words.len()..]);
        (is_open(words.chars().next()) || is_open(before.chars().next_back()))
            && (is_open(words.chars().next_back()) || is_open(after.chars().next()))
    })
}

struct Hits<'a> {
    library: &'a Library,
    /// As texts are compared
    words: Vec<String>,
    /// As they are named
    tags: Vec<String>,
    limit: usize,
    found: Vec<ElementKey>,
}

impl Hits<'_> {
    fn are_enough(&self) -> bool {
        self.found.len() >= self.limit
    }

    /// The chunks that all tags have.
    async fn take_tagged(&mut self) -> Result<(), QueryError> {
        let sets: Vec<String> =
            self.tags.iter().filter_map(|tag| Some(keyspace::tag(tag).ok()?.key())).collect();
        let Some((first, others)) = sets.split_first() else { return Ok(()) };
        let mut seen = HashSet::new();
        let mut cursor = 0_u64;
        loop {
            let mut cmd = redis::cmd("SSCAN");
            cmd.arg(first).arg(cursor).arg("COUNT").arg(AT_ONCE);
            let (next, mut some): (u64, Vec<String>) = self.library.ask(&cmd).await?;
            for other in others {
                if some.is_empty() {
                    break;
                }
                let mut cmd = redis::cmd("SMISMEMBER");
                cmd.arg(other).arg(&some);
                let has: Vec<bool> = self.library.ask(&cmd).await?;
                some =
                    some.into_iter().zip(has).filter_map(|(it, has)| has.then_some(it)).collect();
            }
            // A set may return a member twice while it changes.
            some.retain(|name| seen.insert(name.clone()));
            self.take(some.iter().filter_map(|name| keyspace::parse(name)));
            cursor = next;
            if self.are_enough() || cursor == 0 {
                return Ok(());
            }
        }
    }

    fn take(&mut self, some: impl Iterator<Item = ElementKey>) {
        let room = self.limit.saturating_sub(self.found.len());
        self.found.extend(some.take(room));
    }

    async fn look_in_documents(&mut self, documents: Vec<ElementKey>) -> Result<(), QueryError> {
        for document in documents {
            if self.are_enough() {
                break;
            }
            let ElementKey::Document(key) = &document else { continue };
            // Removed meanwhile, or about to be written.
            let Some(it) = self.library.store.at(key.clone()).get().await? else { continue };
            let fields::Document { title, tags, .. } = it;
            if !self.tags.iter().all(|tag| tags.contains(tag)) {
                continue;
            }
            if !self.words.is_empty() && self.has_words(&title) {
                self.take(std::iter::once(document.clone()));
            }
            self.look_in_document(&document).await?;
        }
        Ok(())
    }

    async fn look_in_document(&mut self, document: &ElementKey) -> Result<(), QueryError> {
        let mut from = 0;
        while !self.are_enough() {
            let mut some = sequence(self.library, document, from).await?;
            if some.is_empty() {
                break;
            }
            from += some.len();
            if self.words.is_empty() {
                some.retain(|key| keyspace::kind(key) == Kind::Chunk);
            } else {
                let texts = texts(self.library, &some).await?;
                let with_texts = some.into_iter().zip(texts);
                some = with_texts
                    .filter(|(_, text)| {
                        text.as_ref().is_some_and(|text| self.has_words(&text.source))
                    })
                    .map(|(key, _)| key)
                    .collect();
            }
            self.take(some.into_iter());
        }
        Ok(())
    }

    fn has_words(&self, text: &str) -> bool {
        let text = normal(text);
        self.words.iter().all(|words| has(&text, words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_in_any_case_and_composition() {
        for (text, words, found) in [
            ("Der Kurs fällt.", "kurs", true),
            ("Der KURS", "Kurs", true),
            ("Kursverlauf und Aktienkurs", "kurs", false),
            ("Kursverlauf, Kurs", "kurs", true),
            ("Volatilita\u{308}t", "volatilität", true),
            ("Volatilität", "VOLATILITA\u{308}T", true),
            ("İstanbul", "i\u{307}stanbul", true),
            ("C++ und C", "c++", true),
            ("C++11", "c++", true),
            ("Risk\n  Management", "risk management", true),
            ("Soll-Ist", "ist", true),
            ("", "a", false),
        ] {
            assert_eq!(has(&normal(text), &normal(words)), found, "{text} {words}");
        }
    }
}
