use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// A fenced block of a page.
pub(crate) struct Block<'a> {
    /// The last line above the block that is not empty, if it is right above.
    pub(crate) before: &'a str,
    /// The first word after the fence.
    pub(crate) language: &'a str,
    /// The number of the first line inside, counted from one.
    pub(crate) first_line: usize,
    pub(crate) lines: Vec<&'a str>,
}

pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        let Some((fence, language)) = opening(line) else {
            before = line;
            continue;
        };
        let inside =
            lines.by_ref().map(|(line, _)| line).take_while(|line| line.trim_end() != fence);
        blocks.push(Block { before, language, first_line: number + 1, lines: inside.collect() });
        before = "";
    }
    blocks
}

fn opening(line: &str) -> Option<(&str, &str)> {
    let ticks = line.len() - line.trim_start_matches('`').len();
    (ticks >= 3).then(|| (&line[..ticks], line[ticks..].split([' ', ',']).next().unwrap_or("")))
}

/// Where a page's links lead, with the numbers of their lines; code is no link.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)"#).expect("the expression is valid")
    });
    prose(text)
        .flat_map(|(number, line)| {
            let targets: Vec<_> =
                LINK.captures_iter(&line).map(|found| (number, found[1].to_owned())).collect();
            targets
        })
        .collect()
}

/// The anchors that a page's headings have, as GitHub and mdBook make them.
pub(crate) fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| {
            let title = heading.trim_start_matches('#').trim().to_lowercase();
            title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
        .collect()
}

/// The lines outside fenced blocks, without code spans.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("`[^`]*`").expect("the expression is valid"));
    let mut fence = None;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        match (fence, opening(line)) {
            (None, Some((opened, _))) => fence = Some(opened),
            (Some(opened), _) if line.trim_end() == opened => fence = None,
            (None, None) => return Some((number, CODE.replace_all(line, "").into_owned())),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_are_none() {
        let page = "a [b](c.md#d) `[no](x)`\n```\n[no](y)\n```\n![e](<f.svg>) [g](h \"title\")\n";
        let expected = [(1, "c.md#d"), (5, "f.svg"), (5, "h")];
        assert_eq!(links(page), expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn a_heading_is_an_anchor() {
        let anchors = anchors("# The `{#tag}` hole, and more\ntext\n## Next_one\n");
        assert_eq!(Vec::from_iter(anchors), ["next_one", "the-tag-hole-and-more"]);
    }

    #[test]
    fn a_longer_fence_holds_a_shorter_one() {
        let page = "````md\n```console\n$ a\n```\n````\n";
        let found = blocks(page);
        assert_eq!((found.len(), found[0].language, found[0].lines.len()), (1, "md", 3));
    }
}
