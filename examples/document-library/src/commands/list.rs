//! `library list`

use super::{Ended, count};
use document_library::query;
use document_library::server::Library;
use keyward_fact::visible;
use std::io::{Write as _, stdout};

pub async fn run(library: &Library) -> anyhow::Result<Ended> {
    let mut shown = 0;
    loop {
        let documents = query::documents(library, shown).await?;
        if documents.is_empty() {
            break;
        }
        shown += documents.len();
        for it in documents {
            let elements = count(usize::try_from(it.elements)?, "element");
            let state = if it.is_complete { "" } else { "  (not finished: add it again)" };
            let (title, source) = (visible(&it.title), visible(&it.source));
            writeln!(stdout(), "{}  {title}  {elements}  {source}{state}", it.key)?;
        }
    }
    if shown == 0 {
        writeln!(stdout(), "the library is empty: `library add FOLDER` adds documents")?;
    }
    Ok(Ended::Well)
}
