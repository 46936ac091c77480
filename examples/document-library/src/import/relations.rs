//! Second and third step: how elements are linked, what is below each, and where the document is found.

use super::batch::{MEMBERS, Writer};
use super::desired::Desired;
use super::elements::{Slot, Slots, element_fields, json};
use super::stored::{Labels, Stored, members_of_all};
use super::{bound, reach};
use crate::document_library::keys;
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::server::ServerError;
use std::collections::HashSet;

/// How many elements are looked at in one round trip for what is stored below them.
const PARENTS: usize = 500;

/// Links all elements to their neighbours, and puts chunks into their sets. New elements come first: whoever gets to one
/// of them finds the way on.
pub(super) async fn link(
    writer: &Writer<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
    slots: &Slots,
) -> Result<(), ServerError> {
    let levels = Kind::ALL.map(|kind| (kind, keyspace::level(kind).key()));
    let level = |kind: Kind| levels.iter().find(|it| it.0 == kind).map_or("", |it| it.1.as_str());
    let tags = tag_keys(&desired.labels)?;
    let old_tags = tag_keys(&stored.labels())?;
    let mut batch = writer.batch();
    let order =
        |old: bool| (1..slots.all.len()).filter(move |at| slots.all[*at].old.is_some() == old);
    for at in order(false).chain(order(true)) {
        let slot = &slots.all[at];
        let parent = &slots.all[slot.parent.unwrap_or(0)];
        if let Some(old) = slot.old {
            let old = &stored.elements[old];
            if old.content_hash != desired.hashes[at - 1] {
                let fields = element_fields(desired, at - 1);
                let fields =
                    fields.iter().map(|it| String::from_utf8_lossy(it)).collect::<Vec<_>>();
                let mut parts = vec!["HSET", slot.name.as_str()];
                parts.extend(fields.iter().map(|it| &**it));
                batch.command(&parts);
            }
            if old.position != at as u64 || old.parent != parent.name {
                let position = at.to_string();
                batch.command(&["HSET", &slot.name, "position", &position, "parent", &parent.name]);
            }
        }
        let siblings = keyspace::siblings(&slot.key);
        let near: Vec<&str> = near(slots, at, parent).collect();
        if slot.old.is_some() {
            batch.command(&["DEL", &siblings]);
        }
        if !near.is_empty() {
            batch.members(0, "SADD", &siblings, &near);
        }
        let neighbours = [
            (keyspace::next(&slot.key), slots.all.get(at + 1)),
            (keyspace::previous(&slot.key), (at > 1).then(|| &slots.all[at - 1])),
        ];
        for (key, neighbour) in neighbours {
            match neighbour {
                Some(neighbour) => batch.set(key, &neighbour.name),
                None if slot.old.is_some() => batch.command(&["DEL", &key]),
                None => {}
            }
        }
        if keyspace::kind(&slot.key) == Kind::Chunk {
            let own = [Kind::Chunk, keyspace::kind(&parent.key)];
            for kind in own {
                batch.add(level(kind), bound::<keys::LevelChunks>(), &slot.name);
            }
            for tag in &tags {
                batch.add(tag, bound::<keys::TagChunks>(), &slot.name);
            }
            if slot.old.is_some() {
                for kind in Kind::ALL.into_iter().filter(|kind| !own.contains(kind)) {
                    batch.remove(level(kind), &slot.name);
                }
                for tag in old_tags.iter().filter(|tag| !tags.contains(tag)) {
                    batch.remove(tag, &slot.name);
                }
            }
        }
        batch.send_if_full().await?;
    }
    batch.send().await
}

/// The nearest children of the same parent, on both sides.
fn near<'s>(slots: &'s Slots, at: usize, parent: &'s Slot) -> impl Iterator<Item = &'s str> {
    let own = parent.children.binary_search(&at).unwrap_or(0);
    let from = own.saturating_sub(reach());
    let to = own.saturating_add(reach()).min(parent.children.len().saturating_sub(1));
    let near = parent.children[from..=to].iter().filter(move |it| **it != at);
    near.map(|it| slots.all[*it].name.as_str())
}

/// Writes what is below each element, from the bottom up: whoever finds a child finds the child's own children.
pub(super) async fn gather(writer: &Writer<'_>, slots: &Slots) -> Result<(), ServerError> {
    let mut parents: Vec<usize> = (0..slots.all.len())
        .filter(|at| keyspace::kind(&slots.all[*at].key) != Kind::Chunk)
        .collect();
    parents.sort_by_key(|at| std::cmp::Reverse(keyspace::kind(&slots.all[*at].key)));
    let mut batch = writer.batch();
    for some in parents.chunks(PARENTS) {
        let there = there(writer, slots, some).await?;
        for (at, there) in some.iter().zip(there) {
            let slot = &slots.all[*at];
            let Some(below) = keyspace::below(&slot.key) else { continue };
            let children: HashSet<usize> = slot.children.iter().copied().collect();
            let descendants: Vec<usize> = (at + 1..slot.end).collect();
            // In each step all three agree, also for whoever reads in between.
            for some in descendants.chunks(MEMBERS / 2) {
                let name = |at: &usize| slots.all[*at].name.as_str();
                let (direct, other): (Vec<_>, Vec<_>) =
                    some.iter().partition(|at| children.contains(at));
                let [all, direct, other] = [some.to_vec(), direct, other]
                    .map(|it| it.iter().map(name).collect::<Vec<_>>());
                batch.members(
                    bound::<keys::AllDescendants>(),
                    "SADD",
                    &below.all_descendants,
                    &all,
                );
                let places: Vec<String> = some.iter().map(ToString::to_string).collect();
                let scored: Vec<&str> = places
                    .iter()
                    .zip(&all)
                    .flat_map(|(place, name)| [place.as_str(), name])
                    .collect();
                batch.members(bound::<keys::Sequence>(), "ZADD", &below.sequence, &scored);
                batch.members(bound::<keys::Children>(), "SADD", &below.children, &direct);
                if slot.old.is_some() {
                    batch.members(0, "SREM", &below.children, &other);
                }
                batch.send_if_full().await?;
            }
            let wanted: HashSet<&str> =
                descendants.iter().map(|at| slots.all[*at].name.as_str()).collect();
            let extra: Vec<String> = there.iter().map(keyspace::text).collect();
            let extra: Vec<&str> =
                extra.iter().map(String::as_str).filter(|name| !wanted.contains(name)).collect();
            for extra in extra.chunks(MEMBERS) {
                batch.members(0, "SREM", &below.children, extra);
                batch.members(0, "ZREM", &below.sequence, extra);
                batch.members(0, "SREM", &below.all_descendants, extra);
                batch.send_if_full().await?;
            }
        }
    }
    batch.send().await
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
pub(super) async fn catalogue(
    writer: &Writer<'_>,
    desired: &Desired<'_>,
    slots: &Slots,
) -> Result<(), ServerError> {
    let name = &slots.all[0].name;
    let mut batch = writer.batch();
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
    batch.send().await
}

/// Takes the document from the lists that it should not be in, and marks the import as finished.
pub(super) async fn finish(
    writer: &Writer<'_>,
    desired: &Desired<'_>,
    stored: &Stored,
    slots: &Slots,
) -> Result<(), ServerError> {
    let name = &slots.all[0].name;
    let mut batch = writer.batch();
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
    batch.send().await
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
