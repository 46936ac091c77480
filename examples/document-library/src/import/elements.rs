//! First step: every element has a key.

use super::batch::{Args, Writer};
use super::bound;
use super::desired::Desired;
use super::matching::Choice;
use super::stored::{Labels, Stored};
use crate::document_library::keys;
use crate::keyspace::{self, ElementKey, HIGHEST};
use crate::kind::Kind;
use crate::naming;
use crate::server::{ServerError, SourceKeys, fenced};
use redis::{Script, from_redis_value};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use std::time::SystemTime;

static ALLOT: LazyLock<Script> = LazyLock::new(|| fenced(include_str!("allot.lua")));

/// How many elements one script writes at most, and how many bytes, roughly.
const ELEMENTS: usize = 500;
const BYTES: usize = 1 << 20;

/// The document and its elements in reading order. The document's place is 0, that of an element is its position.
pub(super) struct Slots {
    pub(super) all: Vec<Slot>,
}

/// An element with its key.
pub(super) struct Slot {
    pub(super) key: ElementKey,
    pub(super) name: String,
    /// Its place among what was stored, if it was
    pub(super) old: Option<usize>,
    /// The place of its parent; the document has none
    pub(super) parent: Option<usize>,
    /// The place after the last that is below it
    pub(super) end: usize,
    /// The places of its children
    pub(super) children: Vec<usize>,
}

/// What an element is written with.
struct New {
    slot: usize,
    kind: Kind,
    identifier: String,
    fields: Vec<Vec<u8>>,
}

impl Slots {
    /// Finds the keys of elements that are stored, and writes new ones.
    pub(super) async fn fill(
        writer: &Writer<'_>,
        source: &SourceKeys,
        desired: &Desired<'_>,
        stored: &Stored,
    ) -> Result<Slots, ServerError> {
        begin(writer, desired, stored).await?;
        let (document, elements) = desired.choose(stored);
        let choices: Vec<Choice> = std::iter::once(document).chain(elements).collect();
        let mut keys: Vec<Option<ElementKey>> = Vec::with_capacity(choices.len());
        let mut new = Vec::new();
        for (slot, choice) in choices.iter().enumerate() {
            keys.push(match choice {
                Choice::Old(at) if slot == 0 => Some(stored.documents[*at].key.clone()),
                Choice::Old(at) => Some(stored.elements[*at].key.clone()),
                Choice::Named(identifier) => {
                    let identifier = identifier.clone();
                    new.push(match slot.checked_sub(1) {
                        None => {
                            let fields = document_fields(desired, &union(desired, stored));
                            New { slot, kind: Kind::Document, identifier, fields }
                        }
                        Some(at) => {
                            let kind = desired.tree.elements[at].kind;
                            New { slot, kind, identifier, fields: element_fields(desired, at) }
                        }
                    });
                    None
                }
            });
        }
        allot(writer, source, desired, new, &mut keys).await?;
        let parents = desired.tree.elements.iter().map(|it| Some(it.parent.map_or(0, |at| at + 1)));
        let parents = std::iter::once(None).chain(parents);
        let mut all = Vec::with_capacity(keys.len());
        for ((key, choice), parent) in keys.into_iter().zip(choices).zip(parents) {
            let key = key.ok_or_else(|| ServerError::Strange {
                key: source.elements.clone(),
                why: "the server gave an element no number".to_owned(),
            })?;
            let old = if let Choice::Old(at) = choice { Some(at) } else { None };
            let name = keyspace::text(&key);
            all.push(Slot { name, key, old, parent, end: 0, children: Vec::new() });
        }
        for at in (0..all.len()).rev() {
            // What is below an element follows it directly, so that the last one's end is known first.
            all[at].end = all[at].end.max(at + 1);
            if let Some(parent) = all[at].parent {
                all[parent].end = all[parent].end.max(all[at].end);
                all[parent].children.push(at);
            }
        }
        for slot in &mut all {
            slot.children.reverse();
        }
        Ok(Slots { all })
    }

    pub(super) fn document(&self) -> &ElementKey {
        &self.all[0].key
    }

    /// How many elements are new.
    pub(super) fn added(&self) -> usize {
        self.all[1..].iter().filter(|slot| slot.old.is_none()).count()
    }

    /// What was stored and is not any more.
    pub(super) fn gone(&self, stored: &Stored) -> Vec<ElementKey> {
        let kept: HashSet<&ElementKey> = self.all.iter().map(|slot| &slot.key).collect();
        let documents = stored.documents.iter().map(|it| &it.key);
        let elements = stored.elements.iter().map(|it| &it.key);
        let all = documents.chain(elements).chain(&stored.missing);
        all.filter(|key| !kept.contains(key)).cloned().collect()
    }
}

/// Takes the mark of a finished import away, and notes all sets that something of the document may be in from now on.
async fn begin(
    writer: &Writer<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
) -> Result<(), ServerError> {
    let mut batch = writer.batch();
    for document in &stored.documents {
        batch.command(&["HDEL", &document.name, "content_hash"]);
        let mut labels = document.labels.clone();
        labels.merge(&union(desired, stored));
        let [authors, categories, tags] = json(&labels);
        batch.command(&[
            "HSET",
            &document.name,
            "authors",
            &authors,
            "categories",
            &categories,
            "tags",
            &tags,
        ]);
    }
    batch.send().await
}

fn union(desired: &Desired<'_>, stored: &Stored) -> Labels {
    let mut labels = stored.labels();
    labels.merge(&desired.labels);
    labels
}

/// Writes new elements, in batches. An element whose name has no number left gets the next name.
async fn allot(
    writer: &Writer<'_>,
    source: &SourceKeys,
    desired: &Desired<'_>,
    mut new: Vec<New>,
    keys: &mut [Option<ElementKey>],
) -> Result<(), ServerError> {
    let now = SystemTime::now();
    let mut names = Names::default();
    let mut from = 0;
    while from < new.len() {
        let mut args: Vec<Vec<u8>> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut size = 0;
        let mut identifiers = Vec::new();
        for it in &mut new[from..] {
            if places.len() >= ELEMENTS || size >= BYTES {
                break;
            }
            let parent = it
                .slot
                .checked_sub(1)
                .map(|at| desired.tree.elements[at].parent.map_or(0, |at| at + 1));
            let parent = match parent.map(|parent| (parent, &keys[parent])) {
                None => String::new(),
                Some((_, Some(key))) => keyspace::text(key),
                Some((parent, None)) => {
                    places.get(&parent).map(|at| format!("@{at}")).unwrap_or_default()
                }
            };
            let (identifier, number) = names.next(it.kind, &it.identifier, now);
            args.push(it.kind.prefix().as_bytes().to_vec());
            args.push(identifier.clone().into_bytes());
            args.push(number.to_string().into_bytes());
            args.push(parent.into_bytes());
            args.push(it.fields.len().to_string().into_bytes());
            size += it.fields.iter().map(Vec::len).sum::<usize>();
            // Sent once, or again if a name is full: then it is taken from the text again.
            args.extend(it.fields.iter().cloned());
            places.insert(it.slot, places.len() + 1);
            identifiers.push(identifier);
        }
        let mut call = ALLOT.key(&writer.fence_key);
        call.key(&source.elements).arg(writer.fence).arg(writer.remembered_ms);
        call.arg(bound::<keys::SourceElements>()).arg(HIGHEST).arg(Args(&args));
        let numbers: Vec<u16> = from_redis_value(writer.library.run(&call).await?)
            .map_err(|error| ServerError::Client(error.into()))?;
        for ((it, identifier), number) in new[from..].iter().zip(identifiers).zip(&numbers) {
            if *number == 0 {
                names.full(it.kind, &it.identifier);
                break;
            }
            names.given(it.kind, &identifier, *number);
            let key = keyspace::element(it.kind, &identifier, *number);
            keys[it.slot] = Some(key.map_err(|error| ServerError::Strange {
                key: identifier,
                why: error.to_string(),
            })?);
        }
        from += numbers.iter().filter(|number| **number > 0).count();
    }
    Ok(())
}

/// What this import knows about names: which are full, and which numbers were given.
#[derive(Default)]
struct Names {
    full: HashMap<(Kind, String), u32>,
    given: HashMap<(Kind, String), u16>,
}

impl Names {
    /// The identifier to try, and the first number to try.
    fn next(&self, kind: Kind, identifier: &str, now: SystemTime) -> (String, u16) {
        let full = self.full.get(&(kind, identifier.to_owned())).copied().unwrap_or(0);
        let identifier = naming::timed(identifier, full, now);
        let last = self.given.get(&(kind, identifier.clone())).copied().unwrap_or(0);
        (identifier, last + 1)
    }

    fn full(&mut self, kind: Kind, identifier: &str) {
        *self.full.entry((kind, identifier.to_owned())).or_default() += 1;
    }

    fn given(&mut self, kind: Kind, identifier: &str, number: u16) {
        self.given.insert((kind, identifier.to_owned()), number);
    }
}

/// The fields of a document, except those that say that it is complete.
pub(super) fn document_fields(desired: &Desired<'_>, labels: &Labels) -> Vec<Vec<u8>> {
    let [authors, categories, tags] = json(labels);
    let mut fields = texts(&[
        "title",
        &desired.title,
        "source",
        desired.path,
        "authors",
        &authors,
        "categories",
        &categories,
        "tags",
        &tags,
    ]);
    if !desired.tree.front_matter_source.is_empty() {
        fields.extend(texts(&["front_matter", desired.tree.front_matter_source]));
    }
    fields
}

/// The fields of an element, except its parent.
pub(super) fn element_fields(desired: &Desired<'_>, at: usize) -> Vec<Vec<u8>> {
    let element = &desired.tree.elements[at];
    let position = (at + 1).to_string();
    let common = ["content_hash", &desired.hashes[at], "position", &position];
    let own: &[&str] = if element.kind == Kind::Chunk {
        &["text", element.source]
    } else {
        &["title", element.words.trim(), "heading", element.source]
    };
    texts(own).into_iter().chain(texts(&common)).collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Authors, categories and tags as they are stored.
pub(super) fn json(labels: &Labels) -> [String; 3] {
    [&labels.authors, &labels.categories, &labels.tags]
        .map(|names| names.iter().map(String::as_str).collect::<serde_json::Value>().to_string())
}
