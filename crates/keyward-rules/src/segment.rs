//! Where a part of a pattern stands in the file.

use keyward_pattern::Template;
use keyward_schema::span::{Span, Spanned};
use std::ops::Range;

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
