//! A pattern, cut at its separators.

use crate::template::{Hole, Template, read_bytes};
use std::ops::Range;

/// What stands between two separators of a pattern.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segment<'t> {
    /// Where, in the pattern's text
    pub range: Range<usize>,
    /// Its texts and parameters, in order; none where it is empty
    pub content: Vec<Content<'t>>,
}

/// A text or a parameter of a segment.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'t> {
    /// Text, with a brace where the pattern has two
    Text(String),
    /// A parameter
    Hole(&'t Hole),
}

impl<'t> Segment<'t> {
    /// Its text, if it has no parameter.
    pub fn literal(&self) -> Option<&str> {
        match &self.content[..] {
            [] => Some(""),
            [Content::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Its parameter, if it has nothing else.
    pub fn hole(&self) -> Option<&'t Hole> {
        match self.content[..] {
            [Content::Hole(hole)] => Some(hole),
            _ => None,
        }
    }

    fn push(&mut self, char: char) {
        match self.content.last_mut() {
            Some(Content::Text(text)) => text.push(char),
            _ => self.content.push(Content::Text(char.into())),
        }
    }
}

impl Template {
    /// The pattern, cut at a separator; separators inside parameters do not count.
    ///
    /// ```
    /// use keyward_pattern::Template;
    ///
    /// let pattern = Template::parse("user:{id:uuid}:used")?;
    /// let segments = pattern.segments(':');
    /// assert_eq!(segments[0].literal(), Some("user"));
    /// assert_eq!(segments[1].hole().map(|hole| hole.name.as_str()), Some("id"));
    /// # Ok::<(), keyward_pattern::GrammarError>(())
    /// ```
    pub fn segments(&self, separator: char) -> Vec<Segment<'_>> {
        let mut done = Vec::new();
        let mut last = Segment::default();
        let mut at = 0;
        for hole in self.holes().map(Some).chain([None]) {
            let end = hole.map_or(self.as_str().len(), |hole| hole.span.start);
            let mut chars = self.as_str()[at..end].char_indices();
            while let Some((offset, char)) = chars.next() {
                if char == separator {
                    last.range.end = at + offset;
                    let start = at + offset + char.len_utf8();
                    let next = Segment { range: start..start, content: Vec::new() };
                    done.push(std::mem::replace(&mut last, next));
                    continue;
                }
                let written = |span: &&Range<usize>| span.start == at + offset;
                if let Some(span) = self.bytes().iter().find(written) {
                    let bytes = read_bytes(self.as_str(), span.start);
                    bytes
                        .iter()
                        .flat_map(|(text, _)| text.chars())
                        .for_each(|char| last.push(char));
                    chars.by_ref().take(span.len() - 1).for_each(drop);
                    continue;
                }
                if matches!(char, '{' | '}') {
                    chars.next();
                }
                last.push(char);
            }
            if let Some(hole) = hole {
                last.content.push(Content::Hole(hole));
                at = hole.span.end;
            }
        }
        last.range.end = self.as_str().len();
        done.push(last);
        done
    }

    /// Where the pattern has text, between its parameters.
    pub fn literals(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.holes().map(|hole| hole.span.end));
        let ends = self.holes().map(|hole| hole.span.start).chain([self.as_str().len()]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let template = Template::parse(text).unwrap();
        let show = |segment: &Segment<'_>| match (segment.literal(), segment.hole()) {
            (Some(literal), _) => format!("{:?} {literal}", segment.range),
            (_, Some(hole)) => format!("{:?} <{}>", segment.range, hole.name),
            _ => format!("{:?} mixed", segment.range),
        };
        template.segments(':').iter().map(show).collect()
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
    fn bytes_in_hex_are_what_they_stand_for() {
        assert_eq!(shown("a:b{0x06}c:d"), ["0..1 a", "2..10 b\u{6}c", "11..12 d"]);
    }

    #[test]
    fn literal_braces_are_one_character() {
        assert_eq!(shown("a:{{b}}:c"), ["0..1 a", "2..7 {b}", "8..9 c"]);
    }
}
