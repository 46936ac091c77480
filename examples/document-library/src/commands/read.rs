//! `library read`

use super::Ended;
use document_library::query;
use document_library::server::Library;
use std::io::{Write as _, stdout};

pub async fn run(library: &Library, document: &str) -> anyhow::Result<Ended> {
    let mut out = stdout().lock();
    query::read(library, document, |text| Ok::<(), anyhow::Error>(out.write_all(text.as_bytes())?))
        .await?;
    Ok(Ended::Well)
}
