//! Places in source files.

use std::ops::{Deref, Range};
use std::path::PathBuf;

/// Which of the schema's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file
    pub file: FileId,
    /// From, in bytes
    pub start: usize,
    /// To, in bytes; not included
    pub end: usize,
}

impl Span {
    /// A span of `range` in `file`.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        Span { file, start: range.start, end: range.end }
    }
}

/// A value and where it was written.
///
/// An implied value (a type that follows from `fields`) carries the span of what implies it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// The value
    pub value: T,
    /// Where it was written
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, span: Span) -> Self {
        Spanned { value, span }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The files a schema was read from; the first is the one that was asked for.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// One file of a schema.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Where it was found, as it is shown to people
    pub path: PathBuf,
    /// What it says
    pub text: String,
    /// Where each line starts
    lines: Vec<usize>,
}

impl SourceFile {
    /// The line that holds a byte, from 0.
    pub fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The bytes of a line, from 0, without its end.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        let end = self.lines.get(line + 1).map_or(self.text.len(), |next| next - 1);
        start..end.max(start)
    }
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, path: PathBuf, text: String) -> FileId {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        self.files.push(SourceFile { path, text, lines });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// One file.
    ///
    /// # Panics
    /// If the id comes from other sources.
    pub fn get(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    /// All files, in the order they were read.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// Line and column of a span's start, both from 1; columns count characters.
    pub fn line_column(&self, span: &Span) -> (usize, usize) {
        self.position(span.file, span.start)
    }

    /// Line and column of a span's end, both from 1; the column is the first after the span.
    pub fn end_line_column(&self, span: &Span) -> (usize, usize) {
        self.position(span.file, span.end)
    }

    fn position(&self, file: FileId, offset: usize) -> (usize, usize) {
        let source = self.get(file);
        let line = source.line_of(offset);
        let before = source.text.get(source.line_range(line).start..offset);
        (line + 1, before.map_or(0, |before| before.chars().count()) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let mut sources = Sources::default();
        let file = sources.add("a.toml".into(), "ä = 1\nbc = \"ö\" # x\n".into());
        let at = |range: Range<usize>| {
            let span = Span::new(file, range);
            (sources.line_column(&span), sources.end_line_column(&span))
        };
        assert_eq!(at(0..2), ((1, 1), (1, 2)));
        assert_eq!(at(5..6), ((1, 5), (1, 6)));
        assert_eq!(at(7..9), ((2, 1), (2, 3)));
        assert_eq!(at(12..16), ((2, 6), (2, 9)));
        assert_eq!(at(21..21), ((3, 1), (3, 1)));
    }
}
