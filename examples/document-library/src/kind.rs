//! The five kinds of elements.

use std::fmt;

/// What an element is. The order is that of the hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A whole file
    Document,
    /// What is below a heading `#`
    Chapter,
    /// What is below a heading `##`
    Paragraph,
    /// What is below a heading `###`
    Subparagraph,
    /// Text
    Chunk,
}

impl Kind {
    /// All kinds, from the top down.
    pub const ALL: [Kind; 5] =
        [Kind::Document, Kind::Chapter, Kind::Paragraph, Kind::Subparagraph, Kind::Chunk];

    /// What its keys begin with: `ch`.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Document => "doc",
            Kind::Chapter => "ch",
            Kind::Paragraph => "para",
            Kind::Subparagraph => "subpara",
            Kind::Chunk => "chunk",
        }
    }

    /// The kind with this prefix.
    pub fn from_prefix(prefix: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.prefix() == prefix)
    }
}

/// The word that people read: `chapter`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Document => "document",
            Kind::Chapter => "chapter",
            Kind::Paragraph => "paragraph",
            Kind::Subparagraph => "subparagraph",
            Kind::Chunk => "chunk",
        })
    }
}
