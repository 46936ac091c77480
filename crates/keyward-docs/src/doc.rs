//! The `doc` texts of a schema: paragraphs, lists, code and links. Everything else is plain text.

use super::prose::{Prose, Span};
use serde::Serialize;

/// A text of the schema. In a template, `{{ it | doc }}` writes it whole and `{{ it.line | prose }}`
/// in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doc {
    /// Its paragraphs and lists
    pub blocks: Vec<Block>,
    /// The same in one line, for a table
    pub line: Prose,
}

/// A paragraph, or a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    /// Whether it is a list
    pub list: bool,
    /// The items of the list, or the one paragraph
    pub items: Vec<Prose>,
}

impl Doc {
    /// Reads a text: empty lines part paragraphs, `- ` begins an item of a list, backticks mark code,
    /// `[text](https://…)` is a link.
    pub(super) fn read(text: &str) -> Self {
        let mut blocks: Vec<(bool, Vec<String>)> = Vec::new();
        let mut goes_on = false;
        for line in text.lines().map(str::trim) {
            let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
            match (item, blocks.last_mut()) {
                _ if line.is_empty() => goes_on = false,
                (Some(item), Some((true, items))) => {
                    items.push(item.to_owned());
                    goes_on = true;
                }
                (None, Some((_, items))) if goes_on => {
                    if let Some(last) = items.last_mut() {
                        last.push(' ');
                        last.push_str(line);
                    }
                }
                (item, _) => {
                    blocks.push((item.is_some(), vec![item.unwrap_or(line).to_owned()]));
                    goes_on = true;
                }
            }
        }
        let blocks: Vec<Block> = blocks
            .into_iter()
            .map(|(list, items)| Block { list, items: items.iter().map(|it| inline(it)).collect() })
            .collect();
        let line = Prose::join(blocks.iter().flat_map(|block| block.items.iter().cloned()), " ");
        Doc { blocks, line }
    }
}

/// Code and links of one line.
fn inline(text: &str) -> Prose {
    let mut prose = Prose::default();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let found = match char {
            '`' => code(rest),
            '[' => link(rest),
            'h' if !plain.ends_with(char::is_alphanumeric) => bare_link(rest),
            _ => None,
        };
        if let Some((span, after)) = found {
            prose.push_text(&std::mem::take(&mut plain), false);
            prose.spans.push(span);
            rest = after;
        } else if char == '`' {
            // Backticks that nothing closes stay together, so that none of them opens code later.
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            plain.push_str(&rest[..ticks]);
            rest = &rest[ticks..];
        } else {
            plain.push(char);
            rest = &rest[char.len_utf8()..];
        }
    }
    prose.push_text(&plain, false);
    prose
}

/// `` `code` ``, between runs of backticks of the same length.
fn code(text: &str) -> Option<(Span, &str)> {
    let after = text.trim_start_matches('`');
    let fence = &text[..text.len() - after.len()];
    let mut from = 0;
    loop {
        let at = from + after[from..].find('`')?;
        let behind = after[at..].trim_start_matches('`');
        let run = after.len() - at - behind.len();
        if run == fence.len() {
            let code = after[..at].trim();
            let span = Span { text: code.to_owned(), code: true, target: None, url: None };
            return (!code.is_empty()).then_some((span, behind));
        }
        from = at + run;
    }
}

/// `[text](https://…)`
fn link(text: &str) -> Option<(Span, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (url, after) = rest.split_once(')')?;
    let fits = !label.is_empty() && !label.contains(['[', ']', '`']) && is_safe(url);
    fits.then(|| {
        let (text, url) = (label.to_owned(), Some(url.to_owned()));
        (Span { text, code: false, target: None, url }, after)
    })
}

/// `https://…` without any marks.
fn bare_link(text: &str) -> Option<(Span, &str)> {
    let end = text.find(|c: char| c.is_whitespace() || "<>\"`|()[]{}，。、；".contains(c));
    let url = text[..end.unwrap_or(text.len())].trim_end_matches(['.', ',', ';', ':', '!', '?']);
    is_safe(url).then(|| {
        let span =
            Span { text: url.to_owned(), code: false, target: None, url: Some(url.to_owned()) };
        (span, &text[url.len()..])
    })
}

/// Whether a link leads where a person expects: no scripts, no data.
fn is_safe(url: &str) -> bool {
    let leads = |scheme: &str| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty());
    ["https://", "http://", "mailto:"].iter().any(|scheme| leads(scheme))
        && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        let show = |span: &Span| match (&span.url, span.code) {
            (Some(url), _) => format!("{}→{url}", span.text),
            (None, true) => format!("`{}`", span.text),
            (None, false) => span.text.clone(),
        };
        inline(text).spans.iter().map(show).collect()
    }

    #[test]
    fn code_and_links_are_found() {
        assert_eq!(parts("take `a|b` or ``c`d``"), ["take ", "`a|b`", " or ", "`c`d`"]);
        assert_eq!(
            parts("see [the wiki](https://x.y/z)."),
            ["see ", "the wiki→https://x.y/z", "."]
        );
        assert_eq!(parts("see https://x.y/z."), ["see ", "https://x.y/z→https://x.y/z", "."]);
    }

    #[test]
    fn what_is_no_code_and_no_safe_link_is_text() {
        for text in
            ["a ` b", "[x](javascript:alert(1))", "[x](data:text/html,1)", "``", "[a]", "[](y)"]
        {
            assert_eq!(parts(text), [text], "{text}");
        }
    }

    #[test]
    fn empty_lines_part_paragraphs_and_hyphens_make_lists() {
        let doc = Doc::read("One\n  and more.\n\n- a\n- b\n  goes on\n\nTwo");
        let blocks: Vec<(bool, Vec<String>)> = doc
            .blocks
            .iter()
            .map(|block| (block.list, block.items.iter().map(Prose::plain).collect()))
            .collect();
        assert_eq!(
            blocks,
            [
                (false, vec!["One and more.".to_owned()]),
                (true, vec!["a".to_owned(), "b goes on".to_owned()]),
                (false, vec!["Two".to_owned()])
            ]
        );
        assert_eq!(doc.line.plain(), "One and more. a b goes on Two");
    }
}
