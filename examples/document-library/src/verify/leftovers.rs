//! Keys that belong to no document, and members of sets that are not there.

use super::Report;
use crate::document_library::Key;
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
    known: &HashSet<String>,
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
    known: &HashSet<String>,
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
        Key::CategoryDocs(_) | Key::AuthorDocs(_) | Key::TagChunks(_) | Key::LevelChunks(_) => {
            return stranger(library, name, known).await;
        }
        Key::SourceElements(_) => {
            let what = "an import or a removal was not finished: run it again";
            return Ok(stranger(library, name, known).await?.map(|it| format!("{what} ({it})")));
        }
        _ => return Ok(None),
    };
    Ok((!known.contains(&owner)).then(|| "it belongs to no document".to_owned()))
}

/// The first member of a set that is not there, and how many there are.
async fn stranger(
    library: &Library,
    set: &str,
    known: &HashSet<String>,
) -> Result<Option<String>, QueryError> {
    let members = crate::import::stored::members(library, set).await?;
    let strangers: Vec<String> =
        members.iter().map(keyspace::text).filter(|name| !known.contains(name)).collect();
    Ok(strangers.first().map(|first| match strangers.len() {
        1 => format!("its member `{first}` belongs to no document"),
        all => format!("`{first}` and {} more of its members belong to no document", all - 1),
    }))
}
