//! What stands in front of a document: YAML between `---` and `---`, or TOML between `+++` and `+++`.
//!
//! Only `title`, `author`, `category` and `tags` are read, each a text or a list of texts; `authors`, `categories` and
//! `tag` mean the same. A list may also be a text with commas. What else these names are given is an error, so that nothing
//! is left out unnoticed. Text between two lines that is no mapping is a part of the document: `---` is a line across the
//! page, too.

mod yaml;

use std::collections::HashMap;
use thiserror::Error;
use toml::de::{DeTable, DeValue};

/// The names that are read.
const KNOWN: [&str; 7] = ["title", "author", "authors", "category", "categories", "tags", "tag"];

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
#[non_exhaustive]
pub enum FrontMatterError {
    /// It is not in its language
    #[error("line {line}: the front matter is not {language}: {why}")]
    Language {
        /// The line of the file, from 1
        line: usize,
        /// `YAML` or `TOML`
        language: &'static str,
        /// What is wrong
        why: String,
    },
    /// A name has a value of another shape
    #[error("line {line}: `{name}` in the front matter {what}: write a text, or a list of texts")]
    Shape {
        /// The line of the file, from 1
        line: usize,
        /// The name
        name: String,
        /// What it has
        what: &'static str,
    },
    /// A part of another mapping, which may have any name
    #[error("line {line}: `<<` in the front matter is not read: write out what it brings in")]
    Merge {
        /// The line of the file, from 1
        line: usize,
    },
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
        "---" => (yaml::read, &["---", "..."]),
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

/// Only a title is one text.
fn check_count(name: &str, count: usize, line: usize) -> Result<(), FrontMatterError> {
    if name == "title" && count > 1 {
        let what = "has several texts, and a document has one title";
        return Err(FrontMatterError::Shape { line, name: name.to_owned(), what });
    }
    Ok(())
}

fn toml(text: &str) -> Result<Option<Values>, FrontMatterError> {
    // The first line is the one with the marker.
    let line = |at: usize| text.as_bytes()[..at].split(|byte| *byte == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| FrontMatterError::Language {
        line: line(error.span().map_or(0, |span| span.start.min(text.len()))),
        language: "TOML",
        why: error.message().to_owned(),
    })?;
    let mut values = Values::new();
    for (name, value) in table.get_ref() {
        let name = name.get_ref();
        if !KNOWN.contains(&name.as_ref()) {
            continue;
        }
        let line = line(value.span().start.min(text.len()));
        let refuse = |what| FrontMatterError::Shape { line, name: name.to_string(), what };
        let texts = match value.get_ref() {
            DeValue::Array(values) => {
                let texts = values.iter().map(|it| toml_text(it.get_ref()));
                texts
                    .collect::<Option<Vec<String>>>()
                    .ok_or_else(|| refuse("has a list or a table in its list"))?
            }
            value => vec![toml_text(value).ok_or_else(|| refuse("has a table"))?],
        };
        check_count(name, texts.len(), line)?;
        values.insert(name.to_string(), texts);
    }
    Ok(Some(values))
}

fn toml_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(is) => Some(is.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => None,
    }
}
