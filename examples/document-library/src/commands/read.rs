//! `library read`

use super::Ended;
use document_library::query;
use document_library::server::Library;
use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _, stdout};

pub async fn run(library: &Library, document: &str) -> anyhow::Result<Ended> {
    let mut out = stdout().lock();
    // A file gets what was in the file; a terminal would obey some of it.
    let is_terminal = out.is_terminal();
    let write = |text: &str| {
        let shown = if is_terminal { super::lines(text).into() } else { Cow::Borrowed(text) };
        Ok::<(), anyhow::Error>(out.write_all(shown.as_bytes())?)
    };
    query::read(library, document, write).await?;
    Ok(Ended::Well)
}
