//! Second and third step: how elements are linked, what is below each, and where the document is found.

use super::batch::{Batch, Writer};
use super::desired::Desired;
use super::elements::{Slots, element_fields, json, runs};
use super::stored::{Labels, Stored, members_of_all};
use super::{bound, reach};
use crate::document_library::keys;
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::server::ServerError;
use std::collections::HashSet;
use std::ops::Range;

/// How many elements are looked at in one round trip for what is stored below them.
const PARENTS: usize = 500;

/// Links all elements to their neighbours, and puts chunks into their sets. New elements come first: whoever gets to one
/// of them finds the way on.
pub(super) async fn link(
    batch: &mut Batch<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
    slots: &Slots,
    most: usize,
) -> Result<(), ServerError> {
    let sets = Sets::new(desired, stored)?;
    for are_old in [false, true] {
        for run in slots.runs(are_old, most) {
            for at in run.clone() {
                if are_old {
                    refresh(batch, desired, stored, slots, at);
                }
                if keyspace::kind(&slots.all[at].key) == Kind::Chunk {
                    sets.put(batch, slots, at);
                }
            }
            batch.link(run).await?;
            batch.send_if_full().await?;
        }
        for parent in slots.all.iter().filter(|slot| !slot.children.is_empty()) {
            for run in siblings(slots, &parent.children, are_old, most) {
                batch.siblings(&parent.children, run, reach());
                batch.send_if_full().await?;
            }
        }
    }
    Ok(())
}

/// Which children have siblings to write: those that were stored before, or those that are new.
fn siblings(slots: &Slots, children: &[usize], are_old: bool, most: usize) -> Vec<Range<usize>> {
    // A new child that is alone has none, and had none.
    if children.len() == 1 && !are_old {
        return Vec::new();
    }
    let is_wanted = |at: &usize| slots.all[children[*at]].old.is_some() == are_old;
    runs((0..children.len()).filter(is_wanted), most)
}

/// Writes what has changed in an element that was stored before.
fn refresh(
    batch: &mut Batch<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
    slots: &Slots,
    at: usize,
) {
    let slot = &slots.all[at];
    let Some(old) = slot.old.map(|old| &stored.elements[old]) else { return };
    let parent = &slots.all[slot.parent.unwrap_or(0)].name;
    let position = at.to_string();
    let mut parts = vec!["HSET", slot.name.as_str()];
    if old.content_hash != desired.hashes[at - 1] {
        parts.extend(element_fields(desired, at - 1));
    }
    if old.position != at as u64 || old.parent != *parent {
        parts.extend(["position", &position, "parent", parent]);
    }
    if parts.len() > 2 {
        batch.command(&parts);
    }
}

/// The sets of a document's chunks.
struct Sets {
    levels: [String; Kind::ALL.len()],
    /// Of tags that it has, and of those that it had
    tags: Vec<String>,
    old_tags: Vec<String>,
}

impl Sets {
    fn new(desired: &Desired<'_>, stored: &Stored) -> Result<Self, ServerError> {
        let tags = tag_keys(&desired.labels)?;
        let mut old_tags = tag_keys(&stored.labels())?;
        old_tags.retain(|tag| !tags.contains(tag));
        Ok(Sets { levels: Kind::ALL.map(|kind| keyspace::level(kind).key()), tags, old_tags })
    }

    /// Puts a chunk into its sets, and takes it from others.
    fn put(&self, batch: &mut Batch<'_>, slots: &Slots, at: usize) {
        let slot = &slots.all[at];
        let parent = keyspace::kind(&slots.all[slot.parent.unwrap_or(0)].key);
        for kind in Kind::ALL {
            let level = &self.levels[kind as usize];
            if kind == Kind::Chunk || kind == parent {
                batch.add(level, bound::<keys::LevelChunks>(), &slot.name);
            } else if slot.old.is_some() {
                batch.remove(level, &slot.name);
            }
        }
        for tag in &self.tags {
            batch.add(tag, bound::<keys::TagChunks>(), &slot.name);
        }
        if slot.old.is_some() {
            self.old_tags.iter().for_each(|tag| batch.remove(tag, &slot.name));
        }
    }
}

/// Writes what is below each element, from the bottom up: whoever finds a child finds the child's own children.
pub(super) async fn gather(
    writer: &Writer<'_>,
    batch: &mut Batch<'_>,
    slots: &Slots,
) -> Result<(), ServerError> {
    let most = writer.library.limits.members;
    let mut parents: Vec<usize> = (0..slots.all.len())
        .filter(|at| keyspace::kind(&slots.all[*at].key) != Kind::Chunk)
        .collect();
    parents.sort_by_key(|at| std::cmp::Reverse(keyspace::kind(&slots.all[*at].key)));
    let bound = bound::<keys::AllDescendants>()
        .min(bound::<keys::Sequence>())
        .min(bound::<keys::Children>());
    for some in parents.chunks(PARENTS) {
        let there = there(writer, slots, some).await?;
        for (at, there) in some.iter().zip(there) {
            let slot = &slots.all[*at];
            // What is new has as many members in the end as it is given here.
            let fits = slot.old.is_none() && (slot.end - at) as u64 <= bound;
            for from in (at + 1..slot.end).step_by(most) {
                let places = from..slot.end.min(from + most);
                // In each step all three agree, also for whoever reads in between.
                let [first, last] = [places.start, places.end]
                    .map(|it| slot.children.partition_point(|at| *at < it));
                let children = &slot.children[first..last];
                batch.below(if fits { 0 } else { bound }, *at, places.clone(), children).await?;
                if slot.old.is_some() {
                    let grandchildren = places.filter(|it| children.binary_search(it).is_err());
                    not_children(batch, slots, *at, grandchildren);
                }
                batch.send_if_full().await?;
            }
            let wanted = &slots.all[at + 1..slot.end];
            let wanted: HashSet<&str> = if there.is_empty() {
                HashSet::new()
            } else {
                wanted.iter().map(|slot| slot.name.as_str()).collect()
            };
            let extra: Vec<String> = there.iter().map(keyspace::text).collect();
            let extra: Vec<&str> =
                extra.iter().map(String::as_str).filter(|name| !wanted.contains(name)).collect();
            for extra in extra.chunks(most) {
                not_below(batch, &slot.key, extra);
                batch.send_if_full().await?;
            }
        }
    }
    Ok(())
}

/// What is below a child may have been a child before.
fn not_children(
    batch: &mut Batch<'_>,
    slots: &Slots,
    at: usize,
    grandchildren: impl Iterator<Item = usize>,
) {
    let Some(below) = keyspace::below(&slots.all[at].key) else { return };
    let mut parts = vec!["SREM", &below.children];
    parts.extend(grandchildren.map(|it| slots.all[it].name.as_str()));
    if parts.len() > 2 {
        batch.command(&parts);
    }
}

/// Takes what is below an element no more from its sets.
fn not_below(batch: &mut Batch<'_>, key: &ElementKey, names: &[&str]) {
    let Some(below) = keyspace::below(key) else { return };
    let sets =
        [("SREM", &below.children), ("ZREM", &below.sequence), ("SREM", &below.all_descendants)];
    for (command, set) in sets {
        batch.command(&[&[command, set.as_str()], names].concat());
    }
}

/// What is stored below each of these elements; nothing below new ones.
async fn there(
    writer: &Writer<'_>,
    slots: &Slots,
    parents: &[usize],
) -> Result<Vec<Vec<ElementKey>>, ServerError> {
    let old = |at: &usize| slots.all[*at].old.is_some();
    let sets =
        parents.iter().filter(|at| old(at)).filter_map(|at| keyspace::below(&slots.all[*at].key));
    let sets: Vec<String> = sets.map(|below| below.all_descendants).collect();
    let mut found = members_of_all(writer.library, &sets).await?.into_iter();
    let of = |at: &usize| if old(at) { found.next().unwrap_or_default() } else { Vec::new() };
    Ok(parents.iter().map(of).collect())
}

/// Writes the document, and lists it under its categories and authors.
pub(super) fn catalogue(
    batch: &mut Batch<'_>,
    desired: &Desired<'_>,
    slots: &Slots,
) -> Result<(), ServerError> {
    let name = &slots.all[0].name;
    if slots.all[0].old.is_some() {
        batch.command(&["HSET", name, "title", &desired.title, "source", desired.path]);
        match desired.tree.front_matter_source {
            "" => batch.command(&["HDEL", name, "front_matter"]),
            source => batch.command(&["HSET", name, "front_matter", source]),
        }
    }
    for key in document_keys(&desired.labels)? {
        // The bound of both is the schema's default.
        batch.add(&key, bound::<keys::CategoryDocs>(), name);
    }
    Ok(())
}

/// Takes the document from the lists that it should not be in, and marks the import as finished.
pub(super) fn finish(
    batch: &mut Batch<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
    slots: &Slots,
) -> Result<(), ServerError> {
    let name = &slots.all[0].name;
    let wanted = document_keys(&desired.labels)?;
    for key in document_keys(&stored.labels())? {
        if !wanted.contains(&key) {
            batch.remove(&key, name);
        }
    }
    let [authors, categories, tags] = json(&desired.labels);
    batch.command(&[
        "HSET",
        name,
        "authors",
        &authors,
        "categories",
        &categories,
        "tags",
        &tags,
        "content_hash",
        &desired.content_hash,
    ]);
    Ok(())
}

/// The sets that the chunks of a document are in.
pub(super) fn tag_keys(labels: &Labels) -> Result<Vec<String>, ServerError> {
    labels
        .tags
        .iter()
        .map(|name| keyspace::tag(name).map(|key| key.key()).map_err(|error| strange(name, &error)))
        .collect()
}

/// The sets that a document is in.
pub(super) fn document_keys(labels: &Labels) -> Result<Vec<String>, ServerError> {
    let categories = labels.categories.iter().map(|name| {
        keyspace::category(name).map(|key| key.key()).map_err(|error| strange(name, &error))
    });
    let authors = labels.authors.iter().map(|name| {
        keyspace::author(name).map(|key| key.key()).map_err(|error| strange(name, &error))
    });
    categories.chain(authors).collect()
}

fn strange(name: &str, error: &keyward::ValueError) -> ServerError {
    ServerError::Strange { key: name.to_owned(), why: error.to_string() }
}
