//! `library search`

use super::{Ended, show::named};
use crate::args;
use document_library::query;
use document_library::search::{Found, Search, search};
use document_library::server::Library;
use keyward_fact::visible;
use std::io::{Write as _, stdout};

pub async fn run(library: &Library, args: args::Search) -> anyhow::Result<Ended> {
    let args::Search { mut words, tag, author, category, limit } = args;
    words.retain(|it| !it.trim().is_empty());
    if [&words, &tag, &author, &category].iter().all(|it| it.is_empty()) {
        anyhow::bail!("say what to search for: words, --tag, --author or --category");
    }
    // One more than is shown says whether there are more.
    let wanted = Search {
        words,
        tags: tag,
        authors: author,
        categories: category,
        limit: limit.saturating_add(1),
    };
    let mut out = stdout().lock();
    let found = match search(library, &wanted).await? {
        Found::Documents(documents) => {
            for it in documents.iter().take(limit) {
                writeln!(out, "{}  {}  {}", it.key, visible(&it.title), visible(&it.source))?;
            }
            documents.len()
        }
        Found::Elements(elements) => {
            for element in elements.iter().take(limit) {
                writeln!(out, "{}", named(element))?;
                let above = query::above(library, element).await?;
                let titles: Vec<_> = above.iter().map(|it| visible(&it.title)).collect();
                if !titles.is_empty() {
                    writeln!(out, "    in {}", titles.join(" > "))?;
                }
            }
            elements.len()
        }
    };
    if found == 0 {
        writeln!(out, "nothing was found")?;
    } else if found > limit {
        writeln!(out, "and more: `--limit` shows them")?;
    }
    Ok(Ended::Well)
}
