//! Markdown as a tree of elements.
//!
//! ```
//! use document_library::{kind::Kind, tree::parse};
//!
//! let tree = parse("Hello\n\n# One\n\nText\n\n### Three\n").unwrap();
//! let shown: Vec<_> = tree.elements.iter().map(|it| (it.kind, it.parent, it.source)).collect();
//! assert_eq!(shown, [
//!     (Kind::Chunk, None, "Hello\n\n"),
//!     (Kind::Chapter, None, "# One\n\n"),
//!     (Kind::Chunk, Some(1), "Text\n\n"),
//!     (Kind::Subparagraph, Some(1), "### Three\n"),
//! ]);
//! ```
//!
//! The sources of all elements, in order, are the text without its front matter: nothing is lost, nothing comes twice.
//! Only headings at the top level divide a document. Those in quotes, lists and code are text, and so are headings
//! below the third level.

use crate::front_matter::{self, FrontMatter, FrontMatterError, after_blank_lines};
use crate::kind::Kind;
use pulldown_cmark::{Event, HeadingLevel, OffsetIter, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::ops::Range;

/// Text between two headings is divided where it is longer, in bytes. A block that is longer stays whole.
pub const CHUNK_SIZE: usize = 4096;

/// How much of a text is kept to name it, in bytes. A name has 30 characters.
const WORDS: usize = 512;

/// A document: what its front matter says, and its elements in reading order.
#[derive(Debug)]
pub struct Tree<'t> {
    /// What the front matter says
    pub front_matter: FrontMatter,
    /// The front matter as it stands in the file; empty if there is none
    pub front_matter_source: &'t str,
    /// Everything below the document, in reading order
    pub elements: Vec<Element<'t>>,
}

/// A heading with what is below it, or a chunk.
#[derive(Debug)]
pub struct Element<'t> {
    /// Never [`Kind::Document`]
    pub kind: Kind,
    /// Its place among the elements; `None` is the document
    pub parent: Option<usize>,
    /// The heading without marks, or the first words of a chunk
    pub words: Cow<'t, str>,
    /// As it stands in the file, up to the next element
    pub source: &'t str,
}

impl<'t> Tree<'t> {
    /// The first heading `#`.
    pub fn first_chapter(&self) -> Option<&Element<'t>> {
        self.elements.iter().find(|element| element.kind == Kind::Chapter)
    }
}

/// Parses a document.
///
/// # Errors
/// If its front matter is neither YAML nor TOML.
pub fn parse(text: &str) -> Result<Tree<'_>, FrontMatterError> {
    let (front_matter, body) = front_matter::parse(text)?;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut builder = Builder::new(&text[body..]);
    let mut events = Parser::new_ext(&text[body..], options).into_offset_iter();
    while let Some((event, range)) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if builder.depth == 0 && divides(level) => {
                let title = heading(&mut events);
                builder.heading(level, title, range);
            }
            event => builder.event(event, range),
        }
    }
    let elements = builder.finish();
    Ok(Tree { front_matter, front_matter_source: &text[..body], elements })
}

fn divides(level: HeadingLevel) -> bool {
    matches!(level, HeadingLevel::H1 | HeadingLevel::H2 | HeadingLevel::H3)
}

/// The text of a heading, up to its end.
fn heading<'t>(events: &mut OffsetIter<'t>) -> Cow<'t, str> {
    let mut title = Cow::Borrowed("");
    for (event, _) in events {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(text) | Event::Code(text) => append(&mut title, text.into()),
            Event::SoftBreak | Event::HardBreak => append(&mut title, " ".into()),
            _ => {}
        }
    }
    title
}

fn append<'t>(to: &mut Cow<'t, str>, text: Cow<'t, str>) {
    if to.is_empty() {
        *to = text;
    } else {
        to.to_mut().push_str(&text);
    }
}

struct Builder<'t> {
    text: &'t str,
    elements: Vec<Element<'t>>,
    /// The latest heading of each level, as far as it counts
    open: [Option<usize>; 3],
    /// How deep in blocks the parser is
    depth: usize,
    /// Where the text begins that belongs to no element yet
    begin: usize,
    /// Whether a block of that text has begun
    has_block: bool,
    /// Its first words
    words: String,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        let (open, words) = ([None; 3], String::new());
        Builder { text, elements: Vec::new(), open, depth: 0, begin: 0, has_block: false, words }
    }

    fn heading(&mut self, level: HeadingLevel, title: Cow<'t, str>, range: Range<usize>) {
        self.close(self.line(range.start));
        let level = level as usize - 1;
        let kind = [Kind::Chapter, Kind::Paragraph, Kind::Subparagraph][level];
        let parent = self.open[..level].iter().rev().flatten().next().copied();
        self.open[level..].fill(None);
        self.open[level] = Some(self.elements.len());
        let end = after_blank_lines(self.text, range.end);
        let source = &self.text[self.begin..end];
        self.elements.push(Element { kind, parent, words: title, source });
        self.begin = end;
    }

    /// Where the line begins that this place is in.
    fn line(&self, at: usize) -> usize {
        self.text[self.begin..at].rfind('\n').map_or(self.begin, |end| self.begin + end + 1)
    }

    fn event(&mut self, event: Event<'t>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                if self.depth == 0 && !is_inline(&tag) {
                    self.block(&range);
                }
                self.depth += 1;
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                if !matches!(
                    tag,
                    TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link
                ) {
                    self.word(" ");
                }
            }
            Event::Rule => self.block(&range),
            Event::Text(text) | Event::Code(text) => self.word(&text),
            Event::SoftBreak | Event::HardBreak => self.word(" "),
            _ => {}
        }
    }

    /// A block at the top level: with it the chunk might become too long.
    fn block(&mut self, range: &Range<usize>) {
        if self.has_block && range.end - self.begin > CHUNK_SIZE {
            self.close(self.line(range.start));
        }
        self.has_block = true;
    }

    fn word(&mut self, text: &str) {
        let left = WORDS.saturating_sub(self.words.len());
        self.words.push_str(&text[..text.floor_char_boundary(left)]);
    }

    /// Ends the text before a heading or another chunk.
    fn close(&mut self, end: usize) {
        let source = &self.text[self.begin..end];
        let words = std::mem::take(&mut self.words);
        self.has_block = false;
        if source.trim().is_empty() {
            // Space belongs to what stands before it, or to the first element.
            if let Some(last) = self.elements.last_mut() {
                let begin = self.begin - last.source.len();
                last.source = &self.text[begin..end];
                self.begin = end;
            }
            return;
        }
        // Comments and link definitions have no words that a reader sees.
        let words = if words.trim().is_empty() { first(source).into() } else { words.into() };
        let parent = self.open.iter().rev().flatten().next().copied();
        self.elements.push(Element { kind: Kind::Chunk, parent, words, source });
        self.begin = end;
    }

    fn finish(mut self) -> Vec<Element<'t>> {
        self.close(self.text.len());
        self.elements
    }
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// The beginning of a text.
fn first(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.floor_char_boundary(WORDS)]
}
