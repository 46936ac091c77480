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
use std::collections::HashMap;

/// What a page is made from.
pub(super) struct Context<'a> {
    pub(super) schema: &'a Schema,
    /// The definitions compiled, with the prefix bound as far as that was asked for
    pub(super) keyspace: &'a Keyspace,
    pub(super) words: &'static Words,
    /// The definitions that the page shows, by number
    pub(super) selected: Vec<usize>,
    pub(super) anchors: Anchors,
    /// What the prefix becomes in examples
    pub(super) prefix: String,
    /// Example keys of each definition, by number: the schema's with the prefix, or one that is built
    examples: Vec<Vec<String>>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Context<'a> {
    /// Everything that is needed more than once.
    pub(super) fn new(
        schema: &'a Schema,
        keyspace: &'a Keyspace,
        words: &'static Words,
        selected: Vec<usize>,
        events: &[usize],
    ) -> Self {
        let samples = Samples::new(schema, keyspace);
        let examples = schema.keys.iter().zip(keyspace.definitions());
        let examples = examples.map(|(definition, compiled)| {
            if definition.examples.is_empty() {
                return samples.key(compiled).into_iter().collect();
            }
            let whole = |example: &Spanned<String>| format!("{}{}", samples.prefix, **example);
            definition.examples.iter().map(whole).collect()
        });
        Context {
            schema,
            keyspace,
            words,
            anchors: Anchors::new(schema, &selected, events, words),
            examples: examples.collect(),
            numbers: (0..)
                .zip(&schema.keys)
                .map(|(number, it)| (it.name.as_str(), number))
                .collect(),
            prefix: samples.prefix,
            selected,
        }
    }

    /// The definition of this name.
    pub(super) fn find(&self, name: &str) -> Option<&'a Definition> {
        self.numbers.get(name).map(|number| &self.schema.keys[*number])
    }

    /// The example keys of a definition.
    pub(super) fn examples(&self, definition: &Definition) -> &[String] {
        let number = self.numbers.get(definition.name.as_str());
        number.and_then(|number| self.examples.get(*number)).map_or(&[], Vec::as_slice)
    }

    /// The definitions that the page shows.
    pub(super) fn shown(&self) -> impl Iterator<Item = &'a Definition> {
        self.selected.iter().map(|&number| &self.schema.keys[number])
    }

    /// Where a definition is on the page.
    pub(super) fn target(&self, name: &str) -> Option<&Target> {
        self.anchors.definitions.get(name)
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
