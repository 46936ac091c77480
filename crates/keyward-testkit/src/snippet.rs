//! Compares the code that a page shows with the file that it comes from.
//!
//! A fenced block after the comment `<!-- code: examples/app/src/main.rs:start -->` holds what stands in that
//! file, by its path from the repository's root, between `ANCHOR: start` and `ANCHOR_END: start`, without the
//! indentation that all its lines share. `:1-11` is lines 1 to 11. So the code is compiled and run where it
//! lives, and the page shows it wherever it is read.
//!
//! Output that cannot be the same in every run, such as a log or the progress of a scan, stands in a `text` block
//! after `<!-- like: path -->`: that file, a snapshot or the code that prints it, must have the same words around
//! numbers, addresses and levels. A `text` block with neither comment is refused, since nothing would compare it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::markdown::{Block, blocks};
use crate::repository;
use crate::transcript::{UPDATE, splice};

/// Compares all such blocks of a page, given by its path from the root. Gives their number.
///
/// # Errors
///
/// Every block that differs from its file, or whose file or place in it is missing.
pub fn check(page: &Path) -> Result<usize, String> {
    let path = repository().join(page);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("`{}` cannot be read: {error}", page.display()))?;
    let mut report = String::new();
    for block in blocks(&text) {
        if let Err(error) = compared(&block) {
            let _ = writeln!(report, "{}:{}: {error}", page.display(), block.first_line);
        }
    }
    if !report.is_empty() {
        return Err(report);
    }
    let shown: Vec<_> = blocks(&text).into_iter().filter_map(source).collect();
    let mut differences = Vec::new();
    for (block, source) in &shown {
        let (page, line) = (page.display(), block.first_line);
        match read(source) {
            Ok(code) if code == block.lines => {}
            Ok(code) => {
                let _ = writeln!(report, "{page}:{line}: shows something else than `{source}`");
                differences.push((line - 1, block.lines.len(), code));
            }
            Err(error) => return Err(format!("{page}:{line}: {error}")),
        }
    }
    if differences.is_empty() {
        return Ok(shown.len());
    }
    if env::var_os(UPDATE).is_none() {
        return Err(format!("{report}{UPDATE}=1 writes what is in the files into the page"));
    }
    fs::write(&path, splice(&text, differences))
        .map_err(|error| format!("`{}` cannot be written: {error}", page.display()))
        .map(|()| shown.len())
}

/// Whether output that a page shows is compared with something, and is like it.
fn compared(block: &Block<'_>) -> Result<(), String> {
    let Some(path) = block.before.strip_prefix("<!-- like: ") else {
        let is_code = block.before.starts_with("<!-- code: ");
        return if block.language != "text" || is_code {
            Ok(())
        } else {
            Err("nothing compares this `text`: put a `code` or a `like` comment above it"
                .to_owned())
        };
    };
    let path = path.trim_end_matches("-->").trim();
    let text = fs::read_to_string(repository().join(path))
        .map_err(|error| format!("`{path}` cannot be read: {error}"))?;
    let missing = block.lines.iter().flat_map(|line| words(line)).find(|it| !text.contains(it));
    missing.map_or(Ok(()), |words| Err(format!("`{path}` does not contain `{words}`")))
}

/// What is the same in every run: the words of a line between numbers, addresses, and a log's level and fields.
fn words(line: &str) -> Vec<&str> {
    static VARIES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^(WARN|INFO) keyward: |redis://\S+|keyward-\S+|\d[\d,.:]*\d|\d| \w+="…""#)
            .expect("the expression is valid")
    });
    VARIES.split(line).map(str::trim).filter(|words| !words.is_empty()).collect()
}

fn source(block: Block<'_>) -> Option<(Block<'_>, &str)> {
    let source = block.before.strip_prefix("<!-- code: ")?.trim_end_matches("-->").trim();
    Some((block, source))
}

fn read(source: &str) -> Result<Vec<String>, String> {
    let (path, place) = source.rsplit_once(':').ok_or("a source is written `path:anchor`")?;
    let text = fs::read_to_string(repository().join(path))
        .map_err(|error| format!("`{path}` cannot be read: {error}"))?;
    lines(&text, place).ok_or_else(|| format!("`{path}` has no `{place}`"))
}

/// The lines of a place, without their common indentation and without other anchors.
fn lines(text: &str, place: &str) -> Option<Vec<String>> {
    let all: Vec<&str> = text.lines().collect();
    let numbers = place.split_once('-').map(|(first, last)| (first.parse(), last.parse()));
    let range = if let Some((Ok(first), Ok(last))) = numbers {
        usize::checked_sub(first, 1)?..last
    } else {
        marked(&all, "ANCHOR: ", place)? + 1..marked(&all, "ANCHOR_END: ", place)?
    };
    let is_code = |line: &&&str| !line.contains("ANCHOR: ") && !line.contains("ANCHOR_END: ");
    let kept: Vec<&str> = all.get(range)?.iter().filter(is_code).copied().collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = kept.iter().filter(|line| !line.trim().is_empty()).map(indent).min()?;
    Some(kept.iter().map(|line| line.get(common..).unwrap_or_default().to_owned()).collect())
}

fn marked(lines: &[&str], word: &str, place: &str) -> Option<usize> {
    lines.iter().position(|line| line.split_once(word).map(|it| it.1.trim()) == Some(place))
}

#[cfg(test)]
mod tests {
    use super::{compared, lines, words};
    use crate::markdown::blocks;

    #[test]
    fn numbers_addresses_and_levels_may_differ() {
        assert_eq!(
            words("stopped after 1,204 of 8,000 keys: no"),
            ["stopped after", "of", "keys: no"]
        );
        assert_eq!(words("to redis://10.0.0.7:6379 in 10 s"), ["to", "in", "s"]);
        assert_eq!(words("WARN keyward: it is open why=\"…\""), ["it is open"]);
    }

    #[test]
    fn text_that_nothing_compares_is_refused() {
        let of = |page: &str| compared(&blocks(page)[0]);
        assert!(of("```text\nerror: 7\n```\n").is_err());
        assert!(of("```toml\na = 7\n```\n").is_ok());
        assert!(of("<!-- like: Cargo.toml -->\n```text\n[workspace]\n```\n").is_ok());
        assert!(of("<!-- like: Cargo.toml -->\n```text\nno such words\n```\n").is_err());
    }

    #[test]
    fn a_place_is_an_anchor_or_a_range_of_lines() {
        let text = "a\n    // ANCHOR: b\n    b {\n        // ANCHOR: c\n        c\n\n    }\n    // ANCHOR_END: b\n";
        assert_eq!(lines(text, "b").unwrap(), ["b {", "    c", "", "}"]);
        assert_eq!(lines(text, "1-1").unwrap(), ["a"]);
        for missing in ["c", "d", "0-1", "7-99"] {
            assert_eq!(lines(text, missing), None, "{missing}");
        }
    }
}
