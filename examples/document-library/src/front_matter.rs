//! What stands in front of a document: YAML between `---` and `---`, or TOML between `+++` and `+++`.
//!
//! Only `title`, `author`, `category` and `tags` are read, each a text or a list of texts; `authors`, `categories` and
//! `tag` mean the same. A list may also be a text with commas. Text between two lines that is no mapping is a part of
//! the document: `---` is a line across the page, too.

use saphyr_parser::{Event, Parser};
use std::collections::HashMap;
use thiserror::Error;
use toml::de::{DeTable, DeValue};

/// What front matter says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// The title
    pub title: Option<String>,
    /// The authors
    pub authors: Vec<String>,
    /// The categories
    pub categories: Vec<String>,
    /// The tags
    pub tags: Vec<String>,
}

/// Front matter that cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: the front matter is not {language}: {why}")]
pub struct FrontMatterError {
    /// The line of the file, from 1
    pub line: usize,
    /// `YAML` or `TOML`
    pub language: &'static str,
    /// What is wrong
    pub why: String,
}

/// Reads the front matter of a text; also where the rest begins.
///
/// # Errors
/// If there is some, and it cannot be read.
pub fn parse(text: &str) -> Result<(FrontMatter, usize), FrontMatterError> {
    let begin = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let none = (FrontMatter::default(), begin);
    let Some(first) = text[begin..].split_inclusive('\n').next() else { return Ok(none) };
    let (read, ends): (fn(&str) -> _, &[&str]) = match first.trim_end() {
        "---" => (yaml, &["---", "..."]),
        "+++" => (toml, &["+++"]),
        _ => return Ok(none),
    };
    let inner = begin + first.len();
    let mut end = inner;
    for line in text[inner..].split_inclusive('\n') {
        if ends.contains(&line.trim_end()) {
            let values = read(&text[inner..end])?;
            let body = after_blank_lines(text, end + line.len());
            return Ok(values.map_or(none, |values| (values.into(), body)));
        }
        end += line.len();
    }
    Ok(none)
}

/// The end of the blank lines that begin here.
pub(crate) fn after_blank_lines(text: &str, from: usize) -> usize {
    let lines = text[from..].split_inclusive('\n');
    from + lines.take_while(|line| line.trim().is_empty()).map(str::len).sum::<usize>()
}

/// The values of each name.
type Values = HashMap<String, Vec<String>>;

impl From<Values> for FrontMatter {
    fn from(mut values: Values) -> Self {
        let mut several = |names: [&str; 2]| -> Vec<String> {
            let mut texts = Vec::new();
            for text in names.iter().filter_map(|name| values.remove(*name)).flatten() {
                for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                    if !texts.iter().any(|known| known == text) {
                        texts.push(text.to_owned());
                    }
                }
            }
            texts
        };
        let authors = several(["author", "authors"]);
        let categories = several(["category", "categories"]);
        let tags = several(["tags", "tag"]);
        let title = values.remove("title").and_then(|texts| texts.into_iter().next());
        let title = title.filter(|title| !title.trim().is_empty());
        FrontMatter { title, authors, categories, tags }
    }
}

/// The values of a YAML mapping; `None` if it is something else. Events, since values could be nested without end.
fn yaml(text: &str) -> Result<Option<Values>, FrontMatterError> {
    let mut values = Values::new();
    let (mut depth, mut is_mapping) = (0_usize, false);
    let mut name: Option<String> = None;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| FrontMatterError {
            line: error.marker().line() + 1,
            language: "YAML",
            why: error.info().to_owned(),
        })?;
        match event {
            Event::MappingStart(..) => {
                depth += 1;
                is_mapping |= depth == 1;
            }
            Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                if depth == 1 {
                    name = None;
                }
            }
            Event::Scalar(text, ..) if is_mapping && depth == 1 => match name.take() {
                None => name = Some(text.into_owned()),
                Some(name) => values.entry(name).or_default().push(text.into_owned()),
            },
            Event::Scalar(text, ..) if is_mapping && depth == 2 => {
                if let Some(name) = &name {
                    values.entry(name.clone()).or_default().push(text.into_owned());
                }
            }
            Event::Alias(_) if depth == 1 => name = None,
            _ => {}
        }
    }
    Ok(is_mapping.then_some(values))
}

fn toml(text: &str) -> Result<Option<Values>, FrontMatterError> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..at].split(|byte| *byte == b'\n').count() + 1;
        FrontMatterError { line, language: "TOML", why: error.message().to_owned() }
    })?;
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    };
    let values = table.get_ref().iter().map(|(name, value)| {
        let values = match value.get_ref() {
            DeValue::Array(values) => values.iter().filter_map(|it| text(it.get_ref())).collect(),
            value => text(value).into_iter().collect(),
        };
        (name.get_ref().to_string(), values)
    });
    Ok(Some(values.collect()))
}
