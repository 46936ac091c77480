//! `library show`

use super::{Ended, count};
use document_library::import::reach;
use document_library::keyspace;
use document_library::kind::Kind;
use document_library::query::{self, Card, Named};
use document_library::server::Library;
use keyward_fact::visible;
use std::io::{Write as _, stdout};

/// How many children are shown.
const CHILDREN: usize = 20;

pub async fn run(library: &Library, key: &str) -> anyhow::Result<Ended> {
    let card = query::show(library, key).await?;
    stdout().write_all(page(&card).as_bytes())?;
    Ok(Ended::Well)
}

fn page(card: &Card) -> String {
    let Card { element, above, .. } = card;
    let mut lines = Vec::new();
    let kind = keyspace::kind(&element.key);
    lines.push(format!("{}  ({kind})", keyspace::text(&element.key)));
    if kind != Kind::Chunk {
        lines.push(format!("title     {}", visible(&element.title)));
    }
    if !above.is_empty() {
        let titles: Vec<_> = above.iter().map(|it| visible(&it.title)).collect();
        lines.push(format!("in        {}", titles.join(" > ")));
        lines.push(format!("position  {}", element.position));
    }
    let mut row = |word: &str, it: Option<&Named>| {
        if let Some(it) = it {
            lines.push(format!("{word:9} {}", named(it)));
        }
    };
    row("parent", above.last());
    row("previous", card.previous.as_ref());
    row("next", card.next.as_ref());
    match (card.siblings, card.all_siblings) {
        (0, _) => {}
        (listed, all) if listed < all => {
            lines
                .push(format!("siblings  {listed} of {all}: the nearest {} on each side", reach()));
        }
        (listed, _) => lines.push(format!("siblings  {listed}")),
    }
    if let Some(document) = &card.document {
        lines.push(format!("source    {}", visible(&document.source)));
        for (word, names) in [
            ("authors", &document.authors),
            ("category", &document.categories),
            ("tags", &document.tags),
        ] {
            if !names.is_empty() {
                lines.push(format!("{word:9} {}", visible(&names.join(", "))));
            }
        }
    }
    if kind != Kind::Chunk {
        let below = usize::try_from(card.descendants).unwrap_or(usize::MAX);
        let children = if card.children.len() == 1 { "child" } else { "children" };
        lines.push(format!(
            "below     {}, {} {children}",
            count(below, "element"),
            card.children.len()
        ));
        for child in card.children.iter().take(CHILDREN) {
            lines.push(format!("  {}", named(child)));
        }
        if card.children.len() > CHILDREN {
            lines.push(format!("  and {} more", card.children.len() - CHILDREN));
        }
    }
    if let Some(text) = &card.text {
        lines.push(String::new());
        lines.push(super::lines(text.trim_end()));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// `ch:risk:001  Risk`
pub fn named(it: &Named) -> String {
    format!("{}  {}", keyspace::text(&it.key), visible(&it.title))
}
