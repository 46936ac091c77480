//! `library search`

use super::{Ended, show::named};
use crate::args;
use document_library::query::{self, Found, Search};
use document_library::server::Library;
use std::io::{Write as _, stdout};

pub async fn run(library: &Library, args: args::Search) -> anyhow::Result<Ended> {
    let args::Search { words, tag, author, category, limit } = args;
    if [&words, &tag, &author, &category].iter().all(|it| it.is_empty()) {
        anyhow::bail!("say what to search for: words, --tag, --author or --category");
    }
    // One more than is shown says whether there are more.
    let search = Search {
        words,
        tags: tag,
        authors: author,
        categories: category,
        limit: limit.saturating_add(1),
    };
    let mut out = stdout().lock();
    let found = match query::search(library, &search).await? {
        Found::Documents(documents) => {
            for it in documents.iter().take(limit) {
                writeln!(out, "{}  {}  {}", it.key, it.title, it.source)?;
            }
            documents.len()
        }
        Found::Chunks(chunks) => {
            for chunk in chunks.iter().take(limit) {
                let above = query::above(library, chunk).await?;
                let titles: Vec<&str> = above.iter().map(|it| it.title.as_str()).collect();
                writeln!(out, "{}\n    in {}", named(chunk), titles.join(" > "))?;
            }
            chunks.len()
        }
    };
    if found == 0 {
        writeln!(out, "nothing was found")?;
    } else if found > limit {
        writeln!(out, "and more: `--limit` shows them")?;
    }
    Ok(Ended::Well)
}
