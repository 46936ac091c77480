//! Comments and blank lines between the parts of a TOML file.

/// A line without a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    Blank,
    /// With its `#`
    Comment(String),
}

/// The lines in front of something: no two blank ones in a row, none that is only its indentation.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut pieces: Vec<&str> = text.split('\n').collect();
    if pieces.last().is_some_and(|last| !last.trim_start().starts_with('#')) {
        pieces.pop();
    }
    let mut lines: Vec<Line> = Vec::with_capacity(pieces.len());
    for line in pieces {
        let line = match line.trim() {
            "" => Line::Blank,
            comment => Line::Comment(comment.to_owned()),
        };
        if line != Line::Blank || lines.last() != Some(&Line::Blank) {
            lines.push(line);
        }
    }
    lines
}

/// How many of the lines in front of a header belong to what is before it: comments that follow the
/// last statement at once and are set apart from the header by a blank line.
pub(super) fn attached_to_what_is_before(lines: &[Line]) -> usize {
    if lines.first() == Some(&Line::Blank) {
        return 0;
    }
    lines.iter().position(|line| *line == Line::Blank).unwrap_or(0)
}

/// What follows a statement on its line: nothing, or a comment with the spaces before it.
pub(super) fn end_of_line(text: &str) -> String {
    let comment = text.trim();
    if comment.is_empty() {
        return String::new();
    }
    let space = &text[..text.len() - text.trim_start().len()];
    let space =
        if space.is_empty() || space.bytes().any(|byte| byte != b' ') { " " } else { space };
    format!("{space}{comment}")
}
