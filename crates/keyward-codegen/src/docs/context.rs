//! What every part of a page is made from: the schema, the language, and where things are.

use super::Words;
use super::anchors::Anchors;
use super::doc::Doc;
use super::prose::{Prose, Target};
use super::sample::Samples;
use keyward_pattern::{Keyspace, Part, Template};
use keyward_schema::Schema;
use keyward_schema::model::{Date, Definition};
use keyward_schema::span::Spanned;

/// What a page is made from.
pub(super) struct Context<'a> {
    pub(super) schema: &'a Schema,
    /// The definitions compiled, with the prefix bound as far as that was asked for
    pub(super) keyspace: &'a Keyspace,
    pub(super) words: &'static Words,
    /// The definitions that the page shows, by number
    pub(super) selected: Vec<usize>,
    pub(super) anchors: Anchors,
    pub(super) samples: Samples<'a>,
}

impl<'a> Context<'a> {
    /// The definitions that the page shows.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'a Definition> {
        self.selected.iter().map(|&number| &self.schema.keys[number])
    }

    /// Where a definition is on the page.
    pub(super) fn target(&self, name: &str) -> Option<&Target> {
        self.anchors.definitions.iter().find(|target| target.name == name)
    }

    /// A definition's name, which leads to it if the page shows it.
    pub(super) fn definition(&self, name: &str) -> Prose {
        self.target(name).map_or_else(|| Prose::code(name), Prose::link)
    }

    /// The compiled form of a definition.
    pub(super) fn compiled(
        &self,
        definition: &Definition,
    ) -> Option<keyward_pattern::Definition<'a>> {
        Some(self.keyspace.definition(self.keyspace.find(&definition.name)?))
    }

    /// The parts of a definition's whole pattern, and whether each belongs to the prefix.
    pub(super) fn parts(&self, pattern: &'a Template) -> impl Iterator<Item = (&'a Part, bool)> {
        let keyspace: &'a Keyspace = self.keyspace;
        let prefix = keyspace.prefix().into_iter().flat_map(Template::parts);
        prefix.map(|part| (part, true)).chain(pattern.parts().iter().map(|part| (part, false)))
    }

    /// A definition's whole pattern as a person writes it, without the types.
    pub(super) fn pattern(&self, definition: &'a Definition) -> String {
        self.parts(&definition.pattern).map(|(part, _)| written(part)).collect()
    }
}

/// A part of a pattern as it is written, without its type.
pub(super) fn written(part: &Part) -> String {
    match part {
        Part::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
        Part::Hole(hole) => {
            let tag = if hole.tag { "#" } else { "" };
            let rest = if hole.rest { "..." } else { "" };
            format!("{{{tag}{}{rest}}}", hole.name)
        }
    }
}

/// A text of the schema.
pub(super) fn doc(text: Option<&Spanned<String>>) -> Option<Doc> {
    text.map(|text| Doc::read(text)).filter(|doc| !doc.line.is_empty())
}

/// `2026-11-15`
pub(super) fn date(date: &Spanned<Date>) -> String {
    format!("{:04}-{:02}-{:02}", date.year, date.month, date.day)
}

/// A word as a shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:@%+,=".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
