//! `library remove`

use super::{Ended, count};
use anyhow::Context as _;
use document_library::document_library::fields;
use document_library::import;
use document_library::keyspace::{self, ElementKey};
use document_library::query::QueryError;
use document_library::server::Library;
use std::io::{Write as _, stderr, stdout};
use std::path::{Path, absolute};

pub async fn run(library: &Library, documents: &[String]) -> anyhow::Result<Ended> {
    let mut ended = Ended::Well;
    for document in documents {
        let removed = match source(library, document).await? {
            Some(path) => import::remove(library, &path).await?.map(|elements| (path, elements)),
            None => None,
        };
        if let Some((path, elements)) = removed {
            writeln!(stdout(), "removed  {document}  {}  {path}", count(elements, "element"))?;
        } else {
            let unknown = QueryError::Unknown(document.clone());
            writeln!(stderr(), "error: {unknown}")?;
            ended = Ended::Input;
        }
    }
    Ok(ended)
}

/// The path that a document came from: of a key, or of a file that may be gone.
async fn source(library: &Library, document: &str) -> anyhow::Result<Option<String>> {
    match keyspace::parse(document) {
        Some(ElementKey::Document(key)) => {
            Ok(library.store.at(key).get_field(fields::Document::SOURCE).await?)
        }
        Some(_) => {
            anyhow::bail!("`{document}` is a part of a document: give the key of a document")
        }
        None => {
            let path = Path::new(document);
            // A file that is gone cannot be asked for its real path; its folder may be a link.
            let real = path.canonicalize().or_else(|_| match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) if folder.as_os_str().is_empty() => {
                    Ok(Path::new(".").canonicalize()?.join(name))
                }
                (Some(folder), Some(name)) => Ok(folder.canonicalize()?.join(name)),
                _ => absolute(path),
            });
            let real = real.or_else(|_| absolute(path))?;
            Ok(Some(real.to_str().context("the path is not valid UTF-8")?.to_owned()))
        }
    }
}
