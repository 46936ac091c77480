//! Keys that belong to no document, and members of sets that are not there.

use super::{Known, Report};
use crate::document_library::Key;
use crate::import::Labels;
use crate::keyspace;
use crate::query::QueryError;
use crate::server::Library;
use keyward::ParamValue as _;
use std::collections::HashSet;

/// How many keys a step of a scan looks at.
const COUNT: usize = 1000;

/// Looks at all keys. `known` are the elements of all documents.
pub(super) async fn check(
    library: &Library,
    known: &Known,
    report: &mut Report,
) -> Result<(), QueryError> {
    let mut cursor = 0_u64;
    let mut seen: HashSet<String> = HashSet::new();
    loop {
        let mut cmd = redis::cmd("SCAN");
        cmd.arg(cursor).arg("COUNT").arg(COUNT);
        let (next, names): (u64, Vec<Vec<u8>>) = library.ask(&cmd).await?;
        for name in names.into_iter().filter_map(|name| String::from_utf8(name).ok()) {
            let Some(key) = Key::parse(&name) else { continue };
            // Only what is reported may come twice and matter.
            if let Some(what) = judge(library, &name, &key, known).await?
                && seen.insert(name.clone())
            {
                report.find(&name, what);
            }
        }
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

/// What is wrong with a key.
async fn judge(
    library: &Library,
    name: &str,
    key: &Key,
    known: &Known,
) -> Result<Option<String>, QueryError> {
    let owner = match key {
        Key::Document(_)
        | Key::Chapter(_)
        | Key::Paragraph(_)
        | Key::Subparagraph(_)
        | Key::Chunk(_) => name.to_owned(),
        Key::Children(key) => key.parent_key.text(),
        Key::AllDescendants(key) => key.parent_key.text(),
        Key::Sequence(key) => key.scope_key.text(),
        Key::Next(key) => key.element_key.text(),
        Key::Previous(key) => key.element_key.text(),
        Key::Siblings(key) => key.element_key.text(),
        Key::CategoryDocs(key) => {
            let has = |it: &Labels| it.categories.contains(&key.category_name.text());
            return stranger(library, name, known, has).await;
        }
        Key::AuthorDocs(key) => {
            let has = |it: &Labels| it.authors.contains(&key.author_clean.text());
            return stranger(library, name, known, has).await;
        }
        Key::TagChunks(key) => {
            let has = |it: &Labels| it.tags.contains(&key.tag_name.text());
            return stranger(library, name, known, has).await;
        }
        Key::LevelChunks(_) => return stranger(library, name, known, |_| true).await,
        Key::SourceElements(_) => {
            let what = "an import or a removal was not finished: run it again";
            let found = stranger(library, name, known, |_| true).await?;
            return Ok(found.map(|it| format!("{what} ({it})")));
        }
        _ => return Ok(None),
    };
    Ok((!known.elements.contains_key(&owner)).then(|| "it belongs to no document".to_owned()))
}

/// The first member of a set that is in no document, or in one that does not belong into it, and how many there are.
async fn stranger(
    library: &Library,
    set: &str,
    known: &Known,
    belongs: impl Fn(&Labels) -> bool,
) -> Result<Option<String>, QueryError> {
    let members = crate::import::stored::members(library, set).await?;
    let members: Vec<String> = members.iter().map(keyspace::text).collect();
    let unknown: Vec<&String> =
        members.iter().filter(|name| !known.elements.contains_key(*name)).collect();
    if let [first, others @ ..] = &unknown[..] {
        return Ok(Some(match others.len() {
            0 => format!("its member `{first}` belongs to no document"),
            more => format!("`{first}` and {more} more of its members belong to no document"),
        }));
    }
    let is_wrong = |name: &&String| known.labels_of(name).is_some_and(|labels| !belongs(labels));
    let wrong: Vec<&String> = members.iter().filter(is_wrong).collect();
    Ok(wrong.first().map(|first| match wrong.len() {
        1 => format!("`{first}` is in it, and should not be"),
        all => format!("`{first}` and {} more are in it, and should not be", all - 1),
    }))
}
