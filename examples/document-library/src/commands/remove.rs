//! `library remove`

use super::{Ended, count, is_fatal, message};
use anyhow::Context as _;
use document_library::document_library::fields;
use document_library::import;
use document_library::keyspace::{self, ElementKey};
use document_library::query::{QueryError, document_of};
use document_library::server::Library;
use keyward_fact::visible;
use std::io::{Write as _, stderr, stdout};
use std::path::{Path, absolute};

pub async fn run(library: &Library, documents: &[String]) -> anyhow::Result<Ended> {
    let mut failures = Vec::new();
    for document in documents {
        match one(library, document).await {
            Ok(line) => writeln!(stdout(), "{line}")?,
            Err(error) if is_fatal(&error) => {
                report(&failures)?;
                let why = "a document may be removed in part: running this again completes it";
                return Err(error.context(why));
            }
            Err(error) => failures.push(error),
        }
    }
    report(&failures)?;
    Ok(if failures.is_empty() { Ended::Well } else { Ended::Input })
}

fn report(failures: &[anyhow::Error]) -> std::io::Result<()> {
    failures.iter().try_for_each(|error| writeln!(stderr(), "error: {}", message(error)))
}

/// Removes one document; what to say of it.
async fn one(library: &Library, document: &str) -> anyhow::Result<String> {
    let unknown = || QueryError::Unknown(document.to_owned());
    let path = source(library, document).await?.ok_or_else(unknown)?;
    // Whoever names a key means that document, whatever its field says.
    if matches!(keyspace::parse(document), Some(ElementKey::Document(_))) {
        anyhow::ensure!(
            document_of(library, &path).await?.as_deref() == Some(document),
            "`{document}` says that it came from {}, which is not so: `library remove FILE` with the file that it came from, or \
             correct its field `source`",
            visible(&path)
        );
    }
    let removed = import::remove(library, &path).await.with_context(|| document.to_owned())?;
    let elements = count(removed.ok_or_else(unknown)?, "element");
    Ok(format!("removed  {}  {elements}  {}", visible(document), visible(&path)))
}

/// The path that a document came from: of a key, or of a file that may be gone.
async fn source(library: &Library, document: &str) -> anyhow::Result<Option<String>> {
    match keyspace::parse(document) {
        Some(ElementKey::Document(key)) => {
            let source = library.store.at(key).get_field(fields::Document::SOURCE).await;
            Ok(source.map_err(QueryError::from)?)
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
            let real = real.to_str().with_context(|| format!("`{document}` is not valid UTF-8"))?;
            Ok(Some(real.to_owned()))
        }
    }
}
