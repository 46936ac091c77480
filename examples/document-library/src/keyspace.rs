//! Keys of elements and of their relations, by the types that the schema gives them.

use crate::document_library::keys;
use crate::document_library::values::{
    AuthorClean, CategoryName, ChapterIdentifier, ContentIdentifier, DocumentIdentifier, LevelName,
    Number, ParagraphIdentifier, ParentKey, ScopeKey, SourceId, SubparagraphIdentifier, TagName,
};
use crate::kind::Kind;
use keyward::{FieldValue as _, ParamValue as _, ValueError};

pub use crate::document_library::values::ElementKey;

/// The highest number of elements with the same kind and identifier.
pub const HIGHEST: u16 = 999;

/// The key of an element.
///
/// # Errors
/// If no key has such an identifier or number.
pub fn element(kind: Kind, identifier: &str, number: u16) -> Result<ElementKey, ValueError> {
    let number = Number::new(format!("{number:03}"))?;
    Ok(match kind {
        Kind::Document => {
            let document_identifier = DocumentIdentifier::new(identifier)?;
            keys::Document { document_identifier, number }.into()
        }
        Kind::Chapter => {
            let chapter_identifier = ChapterIdentifier::new(identifier)?;
            keys::Chapter { chapter_identifier, number }.into()
        }
        Kind::Paragraph => {
            let paragraph_identifier = ParagraphIdentifier::new(identifier)?;
            keys::Paragraph { paragraph_identifier, number }.into()
        }
        Kind::Subparagraph => {
            let subparagraph_identifier = SubparagraphIdentifier::new(identifier)?;
            keys::Subparagraph { subparagraph_identifier, number }.into()
        }
        Kind::Chunk => {
            let content_identifier = ContentIdentifier::new(identifier)?;
            keys::Chunk { content_identifier, number }.into()
        }
    })
}

/// Reads the key of an element.
pub fn parse(key: &str) -> Option<ElementKey> {
    ElementKey::from_bytes(key.as_bytes())
}

/// The key as the server sees it.
pub fn text(key: &ElementKey) -> String {
    key.text()
}

/// What kind of element a key is of.
pub fn kind(key: &ElementKey) -> Kind {
    match key {
        ElementKey::Document(_) => Kind::Document,
        ElementKey::Chapter(_) => Kind::Chapter,
        ElementKey::Paragraph(_) => Kind::Paragraph,
        ElementKey::Subparagraph(_) => Kind::Subparagraph,
        ElementKey::Chunk(_) => Kind::Chunk,
    }
}

/// The name in a key, without its kind and number.
pub fn identifier(key: &ElementKey) -> &str {
    match key {
        ElementKey::Document(key) => key.document_identifier.as_str(),
        ElementKey::Chapter(key) => key.chapter_identifier.as_str(),
        ElementKey::Paragraph(key) => key.paragraph_identifier.as_str(),
        ElementKey::Subparagraph(key) => key.subparagraph_identifier.as_str(),
        ElementKey::Chunk(key) => key.content_identifier.as_str(),
    }
}

/// The number in a key.
pub fn number(key: &ElementKey) -> u16 {
    let number = match key {
        ElementKey::Document(key) => &key.number,
        ElementKey::Chapter(key) => &key.number,
        ElementKey::Paragraph(key) => &key.number,
        ElementKey::Subparagraph(key) => &key.number,
        ElementKey::Chunk(key) => &key.number,
    };
    // Three digits, by its type.
    number.as_str().bytes().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'))
}

/// `{element_key}:next`
pub fn next(of: &ElementKey) -> String {
    keys::Next { element_key: of.clone() }.key()
}

/// `{element_key}:previous`
pub fn previous(of: &ElementKey) -> String {
    keys::Previous { element_key: of.clone() }.key()
}

/// `{element_key}:siblings`
pub fn siblings(of: &ElementKey) -> String {
    keys::Siblings { element_key: of.clone() }.key()
}

/// `{parent_key}:children`, `:all_descendants` and `:sequence`; `None` of a chunk, which has nothing below it.
pub fn below(of: &ElementKey) -> Option<Below> {
    let (parent_key, scope_key) = match of.clone() {
        ElementKey::Document(key) => (ParentKey::from(key.clone()), ScopeKey::from(key)),
        ElementKey::Chapter(key) => (key.clone().into(), key.into()),
        ElementKey::Paragraph(key) => (key.clone().into(), key.into()),
        ElementKey::Subparagraph(key) => (key.clone().into(), key.into()),
        ElementKey::Chunk(_) => return None,
    };
    Some(Below {
        children: keys::Children { parent_key: parent_key.clone() }.key(),
        all_descendants: keys::AllDescendants { parent_key }.key(),
        sequence: keys::Sequence { scope_key }.key(),
    })
}

/// The keys of what is below an element.
#[derive(Debug)]
pub struct Below {
    /// Its direct children
    pub children: String,
    /// Everything below it
    pub all_descendants: String,
    /// The same in reading order
    pub sequence: String,
}

/// The word of a kind in `level:{level_name}:chunks`.
pub fn level(kind: Kind) -> keys::LevelChunks {
    let level_name = match kind {
        Kind::Document => LevelName::Doc,
        Kind::Chapter => LevelName::Ch,
        Kind::Paragraph => LevelName::Para,
        Kind::Subparagraph => LevelName::Subpara,
        Kind::Chunk => LevelName::Chunk,
    };
    keys::LevelChunks { level_name }
}

/// `category:{category_name}:docs`
///
/// # Errors
/// If this is no name of a category.
pub fn category(name: &str) -> Result<keys::CategoryDocs, ValueError> {
    Ok(keys::CategoryDocs { category_name: CategoryName::new(name)? })
}

/// `author:{author_clean}:docs`
///
/// # Errors
/// If this is no name of an author.
pub fn author(name: &str) -> Result<keys::AuthorDocs, ValueError> {
    Ok(keys::AuthorDocs { author_clean: AuthorClean::new(name)? })
}

/// `tag:{tag_name}:chunks`
///
/// # Errors
/// If this is no name of a tag.
pub fn tag(name: &str) -> Result<keys::TagChunks, ValueError> {
    Ok(keys::TagChunks { tag_name: TagName::new(name)? })
}

/// The name of a path in keys.
///
/// # Errors
/// Never: 40 digits are what the schema wants. The type cannot know that.
pub fn source_id(path: &str) -> Result<SourceId, ValueError> {
    SourceId::new(sha1_smol::Sha1::from(path).digest().to_string())
}
