//! TOML text → a tree in the order of the file, every key and value with its span, and all syntax
//! errors that a recovering parser finds.

use crate::diagnostic::Diagnostic;
use crate::model::Date;
use crate::span::{FileId, SourceFile, Span, Spanned};
use std::collections::HashSet;
use toml::de::{DeTable, DeValue};

/// A value and its place. A table with a header has the header's place.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    String(String),
    /// `None` where it does not fit in 64 bits
    Integer(Option<i64>),
    /// `None` where it is not a finite number
    Float(Option<f64>),
    Boolean(bool),
    /// `None` where it is more than a day
    Datetime(Option<Date>),
    Array(Vec<Item>),
    Table(Vec<Entry>),
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Spanned<String>,
    pub(crate) item: Item,
}

impl Kind {
    /// For messages: "an integer".
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Kind::String(_) => "a string",
            Kind::Integer(_) => "an integer",
            Kind::Float(_) => "a float",
            Kind::Boolean(_) => "a boolean",
            Kind::Datetime(_) => "a date",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }
}

/// Syntax errors that are shown of one file.
const SHOWN_ERRORS: usize = 50;

/// Where more than the first error is not worth its memory: every byte may be one.
const RECOVER_UP_TO: usize = 1024 * 1024;

/// Reads a document. With errors, the tree is what could be recovered.
pub(crate) fn parse(file: FileId, source: &SourceFile) -> (Item, Vec<Diagnostic>) {
    let text = source.text.as_str();
    let (table, errors) = if text.len() <= RECOVER_UP_TO {
        let (table, errors) = DeTable::parse_recoverable(text);
        (Some(table), errors)
    } else {
        match DeTable::parse(text) {
            Ok(table) => (Some(table), Vec::new()),
            Err(error) => (None, vec![error]),
        }
    };
    // The first error of a line tends to cause the others.
    let mut lines = HashSet::new();
    let line = |error: &toml::de::Error| source.line_of(error.span().unwrap_or_default().start);
    let mut repeated = Repeated::default();
    let mut errors = errors
        .iter()
        .filter(|error| lines.insert(line(error)))
        .filter(|error| !is_duplicate(error) || repeated.is_news(text, offset(text, error)));
    let shown = errors.by_ref().take(SHOWN_ERRORS);
    let mut diagnostics: Vec<_> = shown.map(|error| syntax_error(file, text, error)).collect();
    let more = errors.count();
    // What can be made out of such a file is not worth reading.
    let table = table.filter(|_| more == 0);
    if let Some(last) = diagnostics.last_mut().filter(|_| more > 0) {
        let more = keyward_fact::thousands(more as u64);
        last.notes.push(format!("{more} more lines of this file are not TOML"));
    }
    let entries = table.map(|table| entries(file, table.into_inner())).unwrap_or_default();
    let root = Item { span: Span::new(file, 0..0), kind: Kind::Table(entries) };
    (root, diagnostics)
}

fn syntax_error(file: FileId, text: &str, error: &toml::de::Error) -> Diagnostic {
    if error.message().starts_with("recursion limit") {
        return Diagnostic::schema("tables are nested too deeply", Span::new(file, 0..0), "")
            .help("a schema needs three levels: `[keys.<id>.fields]`");
    }
    let range = error.span().unwrap_or(0..0);
    let start = floor_boundary(text, range.start);
    let end = floor_boundary(text, range.end).max(start);
    if is_duplicate(error) {
        return duplicate(file, text, start..end);
    }
    let mut parts = error.message().splitn(2, ", expected ");
    let message = parts.next().unwrap_or_default();
    let label = parts.next().map_or(String::new(), |expected| format!("expected {expected}"));
    let diagnostic =
        Diagnostic::schema(format!("not TOML: {message}"), Span::new(file, start..end), label);
    match unquoted(line_at(text, start)) {
        Some(value) => diagnostic.help(format!("write it in quotes: `\"{value}\"`")),
        None => diagnostic,
    }
}

/// The value of a line such as `ttl = 10m`, which would be a text if it had quotes.
fn unquoted(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next()?.trim();
    let is_word = |text: &str| {
        let fits = |char: char| char.is_ascii_alphanumeric() || "_-.:%".contains(char);
        !text.is_empty() && text.chars().all(fits)
    };
    (is_word(key.trim()) && is_word(value) && value.contains(|char: char| char.is_alphabetic()))
        .then_some(value)
}

fn is_duplicate(error: &toml::de::Error) -> bool {
    error.message() == "duplicate key"
}

fn offset(text: &str, error: &toml::de::Error) -> usize {
    floor_boundary(text, error.span().unwrap_or(0..0).start)
}

/// Distinguishes a table that is defined twice from its entries, which are defined twice for that reason.
#[derive(Default)]
struct Repeated {
    /// How far the text has been looked at, inside a table that is defined twice
    up_to: Option<usize>,
}

impl Repeated {
    fn is_news(&mut self, text: &str, at: usize) -> bool {
        let inside = self
            .up_to
            .and_then(|up_to| text.get(up_to..at))
            .is_some_and(|between| !between.contains("\n["));
        let header = is_header(line_at(text, at));
        self.up_to = (inside || header).then_some(at);
        !inside || header
    }
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    text[start..].lines().next().unwrap_or_default()
}

/// A key or a table that is defined twice, with the place of the first where it is found.
fn duplicate(file: FileId, text: &str, range: std::ops::Range<usize>) -> Diagnostic {
    let line = line_at(text, range.start);
    let header = is_header(line);
    let name = if header {
        let line = line.trim_start();
        let end = line.find(']').map_or(line.len(), |at| at + 1);
        let end = if line[end..].starts_with(']') { end + 1 } else { end };
        &line[..end]
    } else {
        &text[range.clone()]
    };
    let is_first = |line: &str| {
        line.trim_start()
            .strip_prefix(name)
            .is_some_and(|rest| header || rest.trim_start().starts_with('='))
    };
    let mut first = None;
    let mut start = 0;
    for line in text[..range.start].split_inclusive('\n') {
        if start + line.len() >= range.start && !line.ends_with('\n') {
            break;
        }
        if !header && is_header(line) {
            first = None;
        } else if first.is_none() && is_first(line) {
            let at = start + line.len() - line.trim_start().len();
            first = Some(at..at + name.len());
        }
        start += line.len();
    }
    let message = format!("`{name}` is defined twice");
    let diagnostic = Diagnostic::schema(message, Span::new(file, range), "again here");
    let diagnostic = match first {
        Some(first) => diagnostic.at(Span::new(file, first), "first here"),
        None => diagnostic,
    };
    diagnostic.help(if header {
        "put both into one table, or give one another name"
    } else {
        "keep one of them"
    })
}

fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The entries in the order of the file. The parser sorts them by name: to keep their order it would
/// need two crates more, which every user of `keyspace!` would compile.
fn entries(file: FileId, table: DeTable<'_>) -> Vec<Entry> {
    let entries = table.into_iter().map(|(key, value)| {
        let span = Span::new(file, key.span());
        let key = Spanned::new(key.into_inner().into_owned(), span);
        Entry { key, item: item(file, value) }
    });
    let mut entries: Vec<Entry> = entries.collect();
    entries.sort_by_key(|entry| entry.key.span.start);
    entries
}

fn item(file: FileId, value: toml::Spanned<DeValue<'_>>) -> Item {
    let span = Span::new(file, value.span());
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::String(text.into_owned()),
        DeValue::Integer(number) => {
            Kind::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok())
        }
        DeValue::Float(number) => {
            let number: Option<f64> = number.as_str().parse().ok();
            Kind::Float(number.filter(|number| number.is_finite()))
        }
        DeValue::Boolean(value) => Kind::Boolean(value),
        DeValue::Datetime(when) => Kind::Datetime(match (when.date, when.time, when.offset) {
            (Some(date), None, None) => {
                Some(Date { year: date.year, month: date.month, day: date.day })
            }
            _ => None,
        }),
        DeValue::Array(array) => {
            Kind::Array(array.into_iter().map(|value| item(file, value)).collect())
        }
        DeValue::Table(table) => Kind::Table(entries(file, table)),
    };
    Item { span, kind }
}

/// Where a byte of a string's value stands in the TOML text that spells it.
///
/// `raw` is the string as written, quotes included. Escapes, the newline after `"""` and
/// continued lines make the two differ.
pub(crate) fn offset_in_raw(raw: &str, offset: usize) -> usize {
    let Some(quote) = raw.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
        return 0;
    };
    let triple = raw.len() >= 6 && raw.bytes().take(3).all(|byte| char::from(byte) == quote);
    let mut at = if triple { 3 } else { 1 };
    if triple {
        at += ["\r\n", "\n"]
            .iter()
            .find(|end| raw[at..].starts_with(**end))
            .map_or(0, |end| end.len());
    }
    let mut value = 0;
    while at < raw.len() {
        let (raw_len, value_len) = match raw[at..].chars().next() {
            Some('\\') if quote == '"' => escape(&raw[at..]),
            Some(char) => (char.len_utf8(), char.len_utf8()),
            None => break,
        };
        if value + value_len > offset {
            break;
        }
        value += value_len;
        at += raw_len;
    }
    at.min(raw.len())
}

/// The length of an escape as written, and of what it stands for.
fn escape(raw: &str) -> (usize, usize) {
    let coded = |digits: usize| {
        let code = raw.get(2..2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        code.and_then(char::from_u32).map_or((2, 1), |char| (2 + digits, char.len_utf8()))
    };
    match raw.as_bytes().get(1) {
        Some(b'x') => coded(2),
        Some(b'u') => coded(4),
        Some(b'U') => coded(8),
        Some(b' ' | b'\t' | b'\r' | b'\n') => {
            let rest = raw[1..].trim_start_matches([' ', '\t', '\r', '\n']);
            (raw.len() - rest.len(), 0)
        }
        // A text that is not TOML may have anything here.
        _ => (1 + raw[1..].chars().next().map_or(0, char::len_utf8), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (Item, Vec<Diagnostic>) {
        let mut sources = crate::Sources::default();
        let file = sources.add("a.toml".into(), text.to_owned());
        parse(file, sources.get(file))
    }

    fn value(raw: &str) -> String {
        let text = format!("a = {raw}");
        let (root, errors) = parsed(&text);
        assert_eq!(errors, []);
        let Kind::Table(mut entries) = root.kind else { unreachable!() };
        match entries.remove(0).item.kind {
            Kind::String(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_offset_in_a_string_is_found_behind_every_escape() {
        for raw in [
            r#""ab|c""#,
            r#""\t\"|x""#,
            r#""\u00e4\U0001F600|""#,
            r#""\x41|""#,
            "'a\\n|b'",
            "\"\"\"\nab|c\"\"\"",
            "\"\"\"a \\\n   \n  |b\"\"\"",
            "'''\r\nx|y'''",
        ] {
            let offset = value(raw).find('|').unwrap();
            assert_eq!(&raw[offset_in_raw(raw, offset)..][..1], "|", "{raw}");
        }
    }

    #[test]
    fn the_end_of_a_string_is_before_its_quote() {
        assert_eq!(offset_in_raw("\"abc\"", 3), 4);
        assert_eq!(offset_in_raw("\"\"", 0), 1);
    }

    #[test]
    fn all_syntax_errors_are_reported() {
        let (_, errors) = parsed("a = \nb = 1\nc == 2\nd = 'x\n");
        assert!(errors.len() >= 3, "{errors:#?}");
    }

    #[test]
    fn tables_keep_the_order_of_the_file() {
        let (root, _) = parsed("[keys.z]\n[keys.a]\n[keys.m]\n");
        let Kind::Table(entries) = root.kind else { unreachable!() };
        let Kind::Table(keys) = &entries[0].item.kind else { unreachable!() };
        let names: Vec<&str> = keys.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
    }

    proptest! {
        #[test]
        fn offsets_stay_inside_any_text(raw in "[\"']?[\\\\\"'uUx0-9a ä\n]{0,12}|\\PC{0,12}", offset in 0usize..20) {
            let at = offset_in_raw(&raw, offset);
            prop_assert!(raw.is_char_boundary(at));
        }
    }
}
