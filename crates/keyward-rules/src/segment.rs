//! A pattern, cut at its separators, each piece with its place in the file.

use keyward_pattern::{Hole, Template};
use keyward_schema::span::{Span, Spanned};
use std::ops::Range;

/// What stands between two separators of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment<'t> {
    /// Where, in the pattern's text
    pub(crate) range: Range<usize>,
    /// What
    pub(crate) content: Content<'t>,
}

/// What a segment consists of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content<'t> {
    /// Text only; may be empty
    Literal(String),
    /// One parameter only
    Hole(&'t Hole),
    /// Both, or several parameters
    Mixed,
}

/// Cuts a pattern into its segments.
pub(crate) fn segments(template: &Template, separator: char) -> Vec<Segment<'_>> {
    let mut cut =
        Cut { separator, done: Vec::new(), start: 0, content: Content::Literal(String::new()) };
    let mut at = 0;
    for hole in template.holes() {
        cut.literal(template, at..hole.span.start);
        cut.hole(hole);
        at = hole.span.end;
    }
    let end = template.as_str().len();
    cut.literal(template, at..end);
    cut.end(end, end);
    cut.done
}

struct Cut<'t> {
    separator: char,
    done: Vec<Segment<'t>>,
    start: usize,
    content: Content<'t>,
}

impl<'t> Cut<'t> {
    fn literal(&mut self, template: &Template, range: Range<usize>) {
        let mut chars = template.as_str()[range.clone()].char_indices();
        while let Some((offset, char)) = chars.next() {
            let at = range.start + offset;
            if char == self.separator {
                self.end(at, at + char.len_utf8());
                continue;
            }
            if matches!(char, '{' | '}') {
                chars.next();
            }
            match &mut self.content {
                Content::Literal(text) => text.push(char),
                content => *content = Content::Mixed,
            }
        }
    }

    fn hole(&mut self, hole: &'t Hole) {
        let alone = matches!(&self.content, Content::Literal(text) if text.is_empty());
        self.content = if alone { Content::Hole(hole) } else { Content::Mixed };
    }

    fn end(&mut self, at: usize, next: usize) {
        let content = std::mem::replace(&mut self.content, Content::Literal(String::new()));
        self.done.push(Segment { range: self.start..at, content });
        self.start = next;
    }
}

/// The places of a pattern's text between its holes.
pub(crate) fn literals(template: &Template) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(template.holes().map(|hole| hole.span.end));
    let ends = template.holes().map(|hole| hole.span.start).chain([template.as_str().len()]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
}

/// The place of a part of a pattern's text.
pub(crate) fn within(pattern: &Spanned<Template>, range: Range<usize>) -> Span {
    within_text(&pattern.span, pattern.as_str().len(), range)
}

/// The place of a part of a text that was written as a TOML string at `span`.
///
/// A string that is exactly two quotes longer than its text has no escapes, so that offsets in the
/// text are offsets in the file. Of any other string the whole is marked.
pub(crate) fn within_text(span: &Span, len: usize, range: Range<usize>) -> Span {
    if span.end - span.start != len + 2 {
        return span.clone();
    }
    let start = span.start + 1;
    Span::new(span.file, start + range.start..start + range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let template = Template::parse(text).unwrap();
        let show = |segment: &Segment<'_>| match &segment.content {
            Content::Literal(literal) => format!("{:?} {literal}", segment.range),
            Content::Hole(hole) => format!("{:?} <{}>", segment.range, hole.name),
            Content::Mixed => format!("{:?} mixed", segment.range),
        };
        segments(&template, ':').iter().map(show).collect()
    }

    #[test]
    fn a_pattern_is_cut_at_separators_but_not_inside_holes() {
        assert_eq!(shown("user:{id:uuid}:used"), ["0..4 user", "5..14 <id>", "15..19 used"]);
    }

    #[test]
    fn a_segment_may_be_empty_or_mixed() {
        assert_eq!(shown("bo::v2_{symbol}:"), ["0..2 bo", "3..3 ", "4..15 mixed", "16..16 "]);
    }

    #[test]
    fn literal_braces_are_one_character() {
        assert_eq!(shown("a:{{b}}:c"), ["0..1 a", "2..7 {b}", "8..9 c"]);
    }
}
