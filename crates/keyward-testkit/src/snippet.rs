//! Compares the code that a page shows with the file that it comes from.
//!
//! A fenced block after the comment `<!-- code: examples/app/src/main.rs:start -->` holds what stands in that
//! file, by its path from the repository's root, between `ANCHOR: start` and `ANCHOR_END: start`, without the
//! indentation that all its lines share. `:1-11` is lines 1 to 11. So the code is compiled and run where it
//! lives, and the page shows it wherever it is read.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

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
    let shown: Vec<_> = blocks(&text).into_iter().filter_map(source).collect();
    let mut differences = Vec::new();
    let mut report = String::new();
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
    use super::lines;

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
