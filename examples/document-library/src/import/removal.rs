//! Last step: what is not there any more disappears.

use super::batch::{Batch, Writer};
use super::relations::{document_keys, tag_keys};
use super::stored::{Labels, StoredDocument};
use crate::keyspace::{self, ElementKey};
use crate::kind::Kind;
use crate::server::{ServerError, SourceKeys};

/// Removes elements that nothing above them names any more: first from all sets and with all links, then themselves,
/// from the bottom up. `labels` are all sets that something of the document may be in.
pub(super) async fn remove(
    writer: &Writer<'_>,
    batch: &mut Batch<'_>,
    source: &SourceKeys,
    gone: &[ElementKey],
    documents: &[StoredDocument],
    labels: &Labels,
) -> Result<(), ServerError> {
    let levels = Kind::ALL.map(|kind| keyspace::level(kind).key());
    let tags = tag_keys(labels)?;
    for key in gone {
        let name = keyspace::text(key);
        if keyspace::kind(key) == Kind::Chunk {
            levels.iter().chain(&tags).for_each(|set| batch.remove(set, &name));
        }
        for document in documents.iter().filter(|document| document.key == *key) {
            document_keys(&document.labels)?.iter().for_each(|set| batch.remove(set, &name));
        }
        if let Some(below) = keyspace::below(key) {
            batch.command(&["UNLINK", &below.children, &below.all_descendants, &below.sequence]);
        }
        let (next, previous) = (keyspace::next(key), keyspace::previous(key));
        batch.command(&["UNLINK", &next, &previous, &keyspace::siblings(key)]);
        batch.send_if_full().await?;
    }
    // The parents of elements come before them.
    for key in gone.iter().rev() {
        let name = keyspace::text(key);
        batch.command(&["UNLINK", &name]);
        batch.remove(&source.elements, &name);
        writer.library.numbers.freed(key);
        batch.send_if_full().await?;
    }
    Ok(())
}
