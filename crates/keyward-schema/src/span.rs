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
    /// Where it stands
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
    files: Vec<Source>,
}

/// One file of a schema.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it was found, as it is shown to people
    pub path: PathBuf,
    /// What it says
    pub text: String,
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, path: PathBuf, text: String) -> FileId {
        self.files.push(Source { path, text });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// One file.
    ///
    /// # Panics
    /// If the id comes from other sources.
    pub fn get(&self, file: FileId) -> &Source {
        &self.files[file.0 as usize]
    }

    /// All files, in the order they were read.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// Line and column of a span's start, both from 1; columns count characters.
    pub fn line_column(&self, span: &Span) -> (usize, usize) {
        let before = &self.get(span.file).text[..span.start];
        let line = before.matches('\n').count() + 1;
        let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count() + 1;
        (line, column)
    }
}
