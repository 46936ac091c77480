//! A page read as a reader's program reads it.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeSet, HashMap};

/// What a parser finds in a page.
#[derive(Default)]
pub(crate) struct Read {
    /// Raw HTML: a tag or a comment each
    pub(crate) html: Vec<String>,
    /// Where links lead
    pub(crate) links: Vec<String>,
    /// The anchors that GitHub gives to the headings
    pub(crate) anchors: BTreeSet<String>,
    /// Everything that is read as text or code
    pub(crate) text: String,
    pub(crate) headings: Vec<String>,
}

pub(crate) fn read(page: &str) -> Read {
    let mut read = Read::default();
    let mut heading: Option<String> = None;
    let mut used: HashMap<String, usize> = HashMap::new();
    for event in Parser::new_ext(page, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => read.html.push(html.to_string()),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                read.links.push(dest_url.to_string());
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
                read.text.push_str(&text);
            }
            Event::End(TagEnd::Heading(_)) => {
                let title = heading.take().unwrap_or_default();
                let slug = slug(&title);
                let count = used.entry(slug.clone()).or_default();
                let anchor = if *count == 0 { slug.clone() } else { format!("{slug}-{count}") };
                *count += 1;
                read.anchors.insert(anchor);
                read.headings.push(title);
            }
            Event::End(TagEnd::TableCell | TagEnd::Paragraph | TagEnd::Item) => {
                read.text.push('\n');
            }
            _ => {}
        }
    }
    read
}

/// As github-slugger does it.
fn slug(title: &str) -> String {
    let kept = title.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Lines of tables whose columns are not as many as their heading's. A parser drops what is too much
/// and adds what is missing, so that only the source can tell.
pub(crate) fn uneven_rows(page: &str) -> Vec<String> {
    let mut columns = None;
    let mut uneven = Vec::new();
    for line in page.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let count = line.matches('|').count();
        if *columns.get_or_insert(count) != count || !line.ends_with('|') {
            uneven.push(line.to_owned());
        }
    }
    uneven
}

/// Tables whose last column, which explains the others, is empty in every row.
fn unexplained(page: &str) -> Vec<String> {
    let tables = page.split("\n\n").filter(|it| it.starts_with('|'));
    let is_empty = |table: &&str| table.lines().skip(2).all(|row| row.ends_with("|  |"));
    tables.filter(is_empty).map(str::to_owned).collect()
}

/// Everything that must hold for any page.
#[track_caller]
pub(crate) fn assert_sound(name: &str, page: &str) {
    let read = read(page);
    let uneven = uneven_rows(page);
    assert!(uneven.is_empty(), "{name}: {}", uneven.join("\n"));
    let empty = unexplained(page);
    assert!(empty.is_empty(), "{name}: a column says nothing:\n{}", empty.join("\n\n"));
    for html in &read.html {
        let known = ["<br>", "<code>", "</code>"].contains(&html.as_str());
        assert!(known || is_notice(html), "{name}: raw HTML: {html}");
    }
    for link in &read.links {
        let there = link.strip_prefix('#').is_some_and(|anchor| read.anchors.contains(anchor));
        let outside = link.starts_with("https://") || link.starts_with("http://");
        assert!(there || outside, "{name}: `{link}` leads nowhere");
    }
    for line in page.lines() {
        assert!(line == line.trim_end(), "{name}: spaces at the end of: {line}");
    }
    assert!(!page.contains("\n\n\n"), "{name}: two empty lines");
    assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{name}: the end of the file");
}

/// The comment at the beginning, which comes line by line.
fn is_notice(html: &str) -> bool {
    !html.contains(['<', '>']) || html == "<!--\n" || html == "-->\n"
}
