//! First step: every element has a key.

use super::args::Args;
use super::batch::Writer;
use super::bound;
use super::desired::Desired;
use super::matching::Choice;
use super::stored::{Labels, Stored};
use crate::document_library::keys;
use crate::keyspace::{self, ElementKey, HIGHEST};
use crate::kind::Kind;
use crate::naming;
use crate::numbers::Numbers;
use crate::server::{ServerError, SourceKeys, fenced};
use redis::{Script, from_redis_value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;
use std::time::SystemTime;

static ALLOT: LazyLock<Script> = LazyLock::new(|| fenced(include_str!("allot.lua")));

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

/// An element that gets a key.
struct New {
    slot: usize,
    kind: Kind,
    identifier: String,
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
        let count = elements.len() + 1;
        let mut keys: Vec<Option<ElementKey>> = Vec::with_capacity(count);
        let mut olds: Vec<Option<usize>> = Vec::with_capacity(count);
        let mut new = Vec::new();
        for (slot, choice) in std::iter::once(document).chain(elements).enumerate() {
            match choice {
                Choice::Old(at) => {
                    let key = if slot == 0 {
                        &stored.documents[at].key
                    } else {
                        &stored.elements[at].key
                    };
                    keys.push(Some(key.clone()));
                    olds.push(Some(at));
                }
                Choice::Named(identifier) => {
                    let kind = slot
                        .checked_sub(1)
                        .map_or(Kind::Document, |at| desired.tree.elements[at].kind);
                    new.push(New { slot, kind, identifier });
                    keys.push(None);
                    olds.push(None);
                }
            }
        }
        let labels = union(desired, stored);
        Allotment { writer, source, desired, labels, names: Names::new(&writer.library.numbers) }
            .run(&new, &mut keys)
            .await?;
        let parents = desired.tree.elements.iter().map(|it| Some(it.parent.map_or(0, |at| at + 1)));
        let parents = std::iter::once(None).chain(parents);
        let mut all = Vec::with_capacity(keys.len());
        for ((key, old), parent) in keys.into_iter().zip(olds).zip(parents) {
            let key = key.ok_or_else(|| ServerError::Strange {
                key: source.elements.clone(),
                why: "the server gave an element no number".to_owned(),
            })?;
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

    /// Elements that follow each other, all of them stored before or all of them new; at most so many.
    pub(super) fn runs(&self, are_old: bool, most: usize) -> Vec<Range<usize>> {
        let is_wanted = |at: usize| self.all[at].old.is_some() == are_old;
        runs((1..self.all.len()).filter(|at| is_wanted(*at)), most)
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

/// Numbers that follow each other, as ranges of at most so many.
pub(super) fn runs(numbers: impl Iterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number && run.len() < most => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// Takes the mark of a finished import away, and notes all sets that something of the document may be in from now on.
async fn begin(
    writer: &Writer<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
) -> Result<(), ServerError> {
    let mut batch = writer.batch(&[]);
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

/// Writes new elements.
struct Allotment<'a, 't> {
    writer: &'a Writer<'a>,
    source: &'a SourceKeys,
    desired: &'a Desired<'t>,
    /// The sets that the document is noted in
    labels: Labels,
    names: Names<'a>,
}

impl Allotment<'_, '_> {
    /// Writes them in batches. An element whose name has no number left gets the next name.
    async fn run(
        &mut self,
        new: &[New],
        keys: &mut [Option<ElementKey>],
    ) -> Result<(), ServerError> {
        let now = SystemTime::now();
        let limits = &self.writer.library.limits;
        let mut left = new;
        while !left.is_empty() {
            let mut args = Args::default();
            let mut places: HashMap<usize, usize> = HashMap::new();
            let mut identifiers = Vec::new();
            self.names.ahead = Default::default();
            for it in left {
                if places.len() >= limits.elements || args.size() >= limits.bytes {
                    break;
                }
                let (identifier, number) = self.names.next(it.kind, &it.identifier, now);
                args.joined(&[it.kind.prefix(), ":", &identifier, &format!(":{number:03}")]);
                self.parent(it.slot, keys, &places, &mut args);
                self.fields(it.slot, &mut args);
                places.insert(it.slot, places.len() + 1);
                identifiers.push(identifier);
            }
            let mut call = self.writer.call(&ALLOT, &[&self.source.elements]);
            call.arg(bound::<keys::SourceElements>()).arg(HIGHEST).arg(args);
            let numbers: Vec<u16> = from_redis_value(self.writer.run(&call).await?)
                .map_err(|error| ServerError::Client(error.into()))?;
            let mut done = 0;
            for ((it, identifier), number) in left.iter().zip(identifiers).zip(numbers) {
                if number == 0 {
                    self.names.given(it.kind, &identifier, HIGHEST);
                    break;
                }
                self.names.given(it.kind, &identifier, number);
                let key = keyspace::element(it.kind, &identifier, number);
                keys[it.slot] = Some(key.map_err(|error| ServerError::Strange {
                    key: identifier,
                    why: error.to_string(),
                })?);
                done += 1;
            }
            left = &left[done..];
        }
        Ok(())
    }

    /// The parent of an element: its key, or its place among those that are written with it.
    fn parent(
        &self,
        slot: usize,
        keys: &[Option<ElementKey>],
        places: &HashMap<usize, usize>,
        args: &mut Args,
    ) {
        let at = slot.checked_sub(1);
        let parent = at.map(|at| self.desired.tree.elements[at].parent.map_or(0, |at| at + 1));
        match parent.map(|parent| (&keys[parent], places.get(&parent))) {
            Some((Some(key), _)) => args.text(&keyspace::text(key)),
            Some((None, Some(place))) => args.joined(&["@", &place.to_string()]),
            Some((None, None)) | None => args.text(""),
        }
    }

    /// What it is, and its fields.
    fn fields(&self, slot: usize, args: &mut Args) {
        let Some(at) = slot.checked_sub(1) else {
            let fields = document_fields(self.desired, &self.labels);
            args.text("document");
            args.place(fields.len());
            args.texts(fields.iter().map(String::as_str));
            return;
        };
        let element = &self.desired.tree.elements[at];
        if element.kind == Kind::Chunk {
            args.texts(["chunk", element.source]);
        } else {
            args.texts(["heading", element.words.trim(), element.source]);
        }
        args.text(&self.desired.hashes[at]);
        args.place(slot);
    }
}

/// What is known about names: which are full, and which numbers were given.
struct Names<'a> {
    /// By this process
    numbers: &'a Numbers,
    /// By this import: how often a name was full, and the last number
    full: [HashMap<String, u32>; Kind::ALL.len()],
    given: [HashMap<String, u16>; Kind::ALL.len()],
    /// In this batch: the last number to try. What is not written, is after something that could not be written, so that
    /// no number is left out.
    ahead: [HashMap<String, u16>; Kind::ALL.len()],
}

impl<'a> Names<'a> {
    fn new(numbers: &'a Numbers) -> Self {
        let (full, given, ahead) = Default::default();
        Names { numbers, full, given, ahead }
    }

    /// The identifier to try, and the first number to try.
    fn next(&mut self, kind: Kind, identifier: &str, now: SystemTime) -> (String, u16) {
        loop {
            let full = self.full[kind as usize].get(identifier).copied().unwrap_or(0);
            let candidate = naming::timed(identifier, full, now);
            let ahead = self.ahead[kind as usize].get_mut(&candidate);
            let last = ahead.as_ref().map_or_else(
                || {
                    let given = self.given[kind as usize].get(&candidate).copied().unwrap_or(0);
                    given.max(self.numbers.last(kind, &candidate))
                },
                |last| **last,
            );
            if last < HIGHEST {
                match ahead {
                    Some(ahead) => *ahead = last + 1,
                    None => _ = self.ahead[kind as usize].insert(candidate.clone(), last + 1),
                }
                return (candidate, last + 1);
            }
            self.full(kind, identifier);
        }
    }

    /// The name that was tried has no number left.
    fn full(&mut self, kind: Kind, identifier: &str) {
        *self.full[kind as usize].entry(identifier.to_owned()).or_default() += 1;
    }

    fn given(&mut self, kind: Kind, identifier: &str, number: u16) {
        self.numbers.given(kind, identifier, number);
        match self.given[kind as usize].get_mut(identifier) {
            Some(last) => *last = number,
            None => _ = self.given[kind as usize].insert(identifier.to_owned(), number),
        }
    }
}

/// The fields of a document, except those that say that it is complete.
fn document_fields(desired: &Desired<'_>, labels: &Labels) -> Vec<String> {
    let [authors, categories, tags] = json(labels);
    let mut fields = vec!["title", &desired.title, "source", desired.path];
    fields.extend(["authors", &authors, "categories", &categories, "tags", &tags]);
    if !desired.tree.front_matter_source.is_empty() {
        fields.extend(["front_matter", desired.tree.front_matter_source]);
    }
    fields.into_iter().map(str::to_owned).collect()
}

/// The fields of an element that its text decides.
pub(super) fn element_fields<'d>(desired: &'d Desired<'_>, at: usize) -> Vec<&'d str> {
    let element = &desired.tree.elements[at];
    let own: &[&str] = if element.kind == Kind::Chunk {
        &["text", element.source]
    } else {
        &["title", element.words.trim(), "heading", element.source]
    };
    [own, &["content_hash", &desired.hashes[at]]].concat()
}

/// Authors, categories and tags as they are stored.
pub(super) fn json(labels: &Labels) -> [String; 3] {
    [&labels.authors, &labels.categories, &labels.tags]
        .map(|names| names.iter().map(String::as_str).collect::<serde_json::Value>().to_string())
}
