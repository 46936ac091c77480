//! Keys and values, written in the one way.

use std::fmt::Write;
use toml_edit::{Array, Formatted, InlineTable, Key, Value};

/// The columns that an array may take before it is wrapped.
const WIDTH: usize = 100;

/// A value's text, and the comments that cannot stand inside it in TOML 1.0.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) comments: Vec<String>,
}

/// A key: bare where it can be.
pub(super) fn key(key: &Key) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match key.get() {
        name if !name.is_empty() && name.bytes().all(bare) => name.to_owned(),
        name => basic(name),
    }
}

/// A value on one line; strings of several lines stay as they are.
pub(super) fn value(value: &Value) -> Written {
    let mut comments = Vec::new();
    let text = one_line(value, &mut comments);
    Written { text, comments }
}

/// An array that starts after `column` columns: on one line if it fits and has no comments.
pub(super) fn value_lines(array: &Array, column: usize) -> Written {
    let mut elements: Vec<Element> = Vec::with_capacity(array.len());
    let mut before: Vec<String> = Vec::new();
    for item in array {
        let decor = item.decor();
        let prefix = decor.prefix().and_then(|text| text.as_str()).unwrap_or_default();
        let (same_line, own) = split_at_line_end(prefix);
        place(same_line, elements.last_mut(), &mut before);
        before.extend(own);
        let Written { text, comments } = value(item);
        before.extend(comments);
        let suffix = decor.suffix().and_then(|text| text.as_str()).unwrap_or_default();
        let (same_line, own) = split_at_line_end(suffix);
        let after = same_line.into_iter().collect();
        elements.push(Element { before: std::mem::replace(&mut before, own), text, after });
    }
    let (same_line, own) = split_at_line_end(array.trailing().as_str().unwrap_or_default());
    place(same_line, elements.last_mut(), &mut before);
    before.extend(own);

    let plain = before.is_empty()
        && elements.iter().all(|element| element.before.is_empty() && element.after.is_empty());
    if plain {
        let texts: Vec<&str> = elements.iter().map(|element| element.text.as_str()).collect();
        let line = format!("[{}]", texts.join(", "));
        let fits = column + line.chars().count() <= WIDTH && !line.contains('\n');
        // An element that is too long on its own is as long on a line of its own.
        if fits || texts.len() < 2 {
            return Written { text: line, comments: Vec::new() };
        }
    }
    let mut text = String::from("[\n");
    for element in &elements {
        for comment in &element.before {
            let _ = writeln!(text, "  {comment}");
        }
        let _ = write!(text, "  {},", element.text);
        for (index, comment) in element.after.iter().enumerate() {
            // A line has room for one comment; what else was written there goes below.
            text.push_str(if index == 0 { " " } else { "\n  " });
            text.push_str(comment);
        }
        text.push('\n');
    }
    for comment in &before {
        let _ = writeln!(text, "  {comment}");
    }
    text.push(']');
    Written { text, comments: Vec::new() }
}

/// An element of an array that stands on a line of its own.
struct Element {
    /// Comments on the lines before it
    before: Vec<String>,
    text: String,
    /// Comments after it, on its line
    after: Vec<String>,
}

/// A comment on the line of an element belongs to it; without an element it goes before the next.
fn place(comment: Option<String>, element: Option<&mut Element>, before: &mut Vec<String>) {
    match element {
        Some(element) => element.after.extend(comment),
        None => before.extend(comment),
    }
}

/// The comment that ends the current line, and those on lines of their own.
fn split_at_line_end(text: &str) -> (Option<String>, Vec<String>) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    (comments_of(first).pop(), comments_of(rest))
}

/// The comments in a text that has nothing else.
pub(super) fn comments_of(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| line.starts_with('#')).map(str::to_owned).collect()
}

fn one_line(value: &Value, comments: &mut Vec<String>) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Integer(number) => repr(number.as_repr(), number),
        Value::Float(number) => repr(number.as_repr(), number),
        Value::Boolean(switch) => switch.value().to_string(),
        Value::Datetime(when) => datetime(&repr(when.as_repr(), when)),
        Value::Array(array) => {
            let elements: Vec<String> = array
                .iter()
                .map(|element| {
                    collect(element.decor().prefix(), comments);
                    let text = one_line(element, comments);
                    collect(element.decor().suffix(), comments);
                    text
                })
                .collect();
            collect(Some(array.trailing()), comments);
            format!("[{}]", elements.join(", "))
        }
        Value::InlineTable(table) => inline_table(table, comments),
    }
}

fn inline_table(table: &InlineTable, comments: &mut Vec<String>) -> String {
    let entries: Vec<String> = table
        .get_values()
        .into_iter()
        .map(|(path, value)| {
            if let Some(last) = path.last() {
                collect(last.leaf_decor().prefix(), comments);
                collect(last.leaf_decor().suffix(), comments);
            }
            collect(value.decor().prefix(), comments);
            let path: Vec<String> = path.iter().map(|part| key(part)).collect();
            let text = format!("{} = {}", path.join("."), one_line(value, comments));
            collect(value.decor().suffix(), comments);
            text
        })
        .collect();
    collect(Some(table.trailing()), comments);
    if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
}

fn collect(text: Option<&toml_edit::RawString>, comments: &mut Vec<String>) {
    comments.extend(comments_of(text.and_then(|text| text.as_str()).unwrap_or_default()));
}

fn repr<T: ToString>(repr: Option<&toml_edit::Repr>, value: &T) -> String {
    repr.and_then(|repr| repr.as_raw().as_str())
        .map_or_else(|| value.to_string().trim().to_owned(), str::to_owned)
}

/// A time with its seconds, which TOML 1.0 demands.
fn datetime(text: &str) -> String {
    let Some(colon) = text.find(':') else { return text.to_owned() };
    let minutes = colon + 3;
    match text.as_bytes().get(minutes) {
        Some(b':') => text.to_owned(),
        _ => format!("{}:00{}", &text[..minutes.min(text.len())], &text[minutes.min(text.len())..]),
    }
}

/// A string: in double quotes where that needs no escapes, else as it was written.
fn string(text: &Formatted<String>) -> String {
    let value = text.value();
    let Some(raw) = text.as_repr().and_then(|repr| repr.as_raw().as_str()) else {
        return basic(value);
    };
    let literal = raw.starts_with('\'') && !raw.starts_with("'''");
    let plain = |char: char| char != '"' && char != '\\' && (!char.is_control() || char == '\t');
    if literal && value.chars().all(plain) {
        return format!("\"{value}\"");
    }
    if raw.starts_with('"') && has_new_escape(raw) {
        basic(value)
    } else {
        raw.replace("\r\n", "\n")
    }
}

/// Whether a string has an escape that TOML 1.0 does not know: `\e`, `\x41`.
fn has_new_escape(raw: &str) -> bool {
    let mut chars = raw.chars();
    while let Some(char) = chars.next() {
        if char == '\\' && matches!(chars.next(), Some('e' | 'x')) {
            return true;
        }
    }
    false
}

/// A text in double quotes.
fn basic(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            char if char.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", char as u32);
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}
