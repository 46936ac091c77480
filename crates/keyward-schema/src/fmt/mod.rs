//! One way to lay out a `keyward.toml`: comments, order and meaning stay, spacing and quotes do not
//! differ from file to file, and a TOML 1.0 parser reads the result.

mod trivia;
mod write;

use crate::Diagnostic;
use crate::span::{FileId, Sources, Span};
use crate::syntax::{self, Entry, Item as Tree, Kind};
use toml_edit::{DocumentMut, InlineTable, Item, Key, RawString, Table, Value};
use trivia::Line;
use write::{Written, comments_of, key, value, value_lines};

/// `fields` with as many entries become a table of their own.
const FIELDS_IN_A_TABLE: usize = 4;

/// Lays a schema out in the one way.
///
/// The errors are those of TOML alone; their spans are in the first file of the caller's sources.
///
/// ```
/// let text = "version=1\n[keyspace]\n  name = 'shop'   # ours\n";
/// assert_eq!(
///     keyward_schema::format(text).unwrap(),
///     "version = 1\n\n[keyspace]\nname = \"shop\"   # ours\n",
/// );
/// ```
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (tree, errors) = parse(text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let failed =
        |message: String| vec![Diagnostic::schema(message, Span::new(FileId(0), 0..0), "")];
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| failed(error.message().to_owned()))?;
    let mut printer = Printer::default();
    printer.document(&document);
    let (formatted, errors) = parse(&printer.text);
    if errors.is_empty() && same(&tree, &formatted) {
        return Ok(printer.text);
    }
    // Better no change than a wrong one.
    Err(failed("this file cannot be laid out without changing its meaning".to_owned()))
}

fn parse(text: &str) -> (Tree, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let file = sources.add("keyward.toml".into(), text.to_owned());
    syntax::parse(file, sources.get(file))
}

/// Whether two trees say the same, wherever it stands.
fn same(left: &Tree, right: &Tree) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::String(left), Kind::String(right)) => left == right,
        (Kind::Integer(left), Kind::Integer(right)) => left == right,
        (Kind::Float(a), Kind::Float(b)) => a == b,
        (Kind::Boolean(left), Kind::Boolean(right)) => left == right,
        (Kind::Datetime(left), Kind::Datetime(right)) => left == right,
        (Kind::Array(left), Kind::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Kind::Table(left), Kind::Table(right)) => {
            let entry = |left: &Entry, right: &Entry| {
                left.key.value == right.key.value && same(&left.item, &right.item)
            };
            let sorted = |entries: &'_ [Entry]| {
                let mut order: Vec<usize> = (0..entries.len()).collect();
                order.sort_by(|a, b| entries[*a].key.value.cmp(&entries[*b].key.value));
                order
            };
            let pairs = sorted(left).into_iter().zip(sorted(right));
            left.len() == right.len() && pairs.into_iter().all(|(a, b)| entry(&left[a], &right[b]))
        }
        _ => false,
    }
}

#[derive(Default)]
struct Printer {
    text: String,
    /// Whether the last line was a header: no blank line follows it
    after_header: bool,
}

impl Printer {
    fn document(&mut self, document: &DocumentMut) {
        let mut tables = Vec::new();
        let mut last = 0;
        collect(document.as_table(), &mut Vec::new(), Header::None, &mut last, &mut tables);
        tables.sort_by_key(|table| (!table.path.is_empty(), table.position));
        for table in tables {
            self.table(&table);
        }
        let lines = trivia::lines(document.trailing().as_str().unwrap_or_default());
        self.comments(&lines);
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
    }

    fn table(&mut self, placed: &Placed<'_>) {
        let values = placed.table.get_values();
        if placed.table.is_implicit() && values.is_empty() {
            return;
        }
        let decor = placed.table.decor();
        let leading = decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        let trailing = decor.suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default();
        let path: Vec<String> = placed.path.iter().map(|part| key(part)).collect();
        match placed.header {
            Header::None => {}
            Header::Table => self.header(leading, &format!("[{}]", path.join(".")), trailing),
            Header::ArrayOfTables => {
                self.header(leading, &format!("[[{}]]", path.join(".")), trailing);
            }
        }
        let definition = placed.path.len() == 2 && placed.path[0].get() == "keys";
        let mut fields = None;
        for (path, value) in values {
            if let (true, [key], Value::InlineTable(table)) = (definition, path.as_slice(), value)
                && key.get() == "fields"
                && table.len() >= FIELDS_IN_A_TABLE
            {
                fields = Some((*key, table));
                continue;
            }
            self.statement(&path, value);
        }
        if let Some((key, table)) = fields {
            self.fields(&path, key, table);
        }
    }

    /// `fields = { … }` as a table of its own, after everything else of the definition.
    fn fields(&mut self, path: &[String], key: &Key, table: &InlineTable) {
        let leading = key.leaf_decor().prefix().and_then(|prefix| prefix.as_str());
        let trailing = table.decor().suffix().and_then(|suffix| suffix.as_str());
        let header = format!("[{}.fields]", path.join("."));
        self.header(leading.unwrap_or_default(), &header, trailing.unwrap_or_default());
        let entries = table.get_values();
        // What stands in front of a field begins behind the comma of the one before it: a comment
        // on that line is about the one before.
        let mut before: Vec<&str> = entries.iter().map(|(path, _)| leading_text(path)).collect();
        before.push(table.trailing().as_str().unwrap_or_default());
        for (index, (path, value)) in entries.iter().enumerate() {
            let above = if index == 0 { before[0] } else { behind_line(before[index]).1 };
            let decor = |text: Option<&'_ RawString>| {
                text.and_then(RawString::as_str).unwrap_or_default().to_owned()
            };
            // Without a comma behind it, the last field's comment belongs to its value.
            let suffix = decor(value.decor().suffix());
            let behind = behind_line(before[index + 1]).0;
            let (behind, rest) =
                if behind.is_empty() { behind_line(&suffix) } else { (behind, suffix.as_str()) };
            for text in [above, &decor(value.decor().prefix()), rest] {
                self.own_lines(&comments_of(text));
            }
            self.entry(path, value, behind);
        }
        let last = before.last().copied().unwrap_or_default();
        self.own_lines(&comments_of(behind_line(last).1));
    }

    /// A header with its comments, after one blank line.
    fn header(&mut self, leading: &str, header: &str, trailing: &str) {
        let mut lines = trivia::lines(leading);
        let attached = trivia::attached_to_what_is_before(&lines);
        let own = lines.split_off(attached);
        self.comments(&lines);
        self.blank();
        for line in own.into_iter().skip_while(|line| *line == Line::Blank) {
            self.line(&line);
        }
        self.text.push_str(header);
        self.text.push_str(&trivia::end_of_line(trailing));
        self.text.push('\n');
        self.after_header = true;
    }

    /// `key = value` with its comments.
    fn statement(&mut self, path: &[&Key], value: &Value) {
        let leading = path.last().and_then(|key| key.leaf_decor().prefix());
        let lines = trivia::lines(leading.and_then(|prefix| prefix.as_str()).unwrap_or_default());
        self.comments(&lines);
        let trailing = value.decor().suffix().and_then(|suffix| suffix.as_str());
        self.entry(path, value, trailing.unwrap_or_default());
    }

    fn entry(&mut self, path: &[&Key], item: &Value, trailing: &str) {
        let path: Vec<String> = path.iter().map(|part| key(part)).collect();
        let start = format!("{} = ", path.join("."));
        let Written { text, comments } = match item {
            Value::Array(array) => value_lines(array, start.chars().count()),
            other => value(other),
        };
        self.own_lines(&comments);
        self.text.push_str(&start);
        self.text.push_str(&text);
        self.text.push_str(&trivia::end_of_line(trailing));
        self.text.push('\n');
        self.after_header = false;
    }

    fn own_lines(&mut self, comments: &[String]) {
        for comment in comments {
            self.text.push_str(comment);
            self.text.push('\n');
            self.after_header = false;
        }
    }

    /// Comments and the blank lines between them; none at the start of the file or of a table.
    fn comments(&mut self, lines: &[Line]) {
        for line in lines {
            if *line == Line::Blank && (self.text.is_empty() || self.after_header) {
                continue;
            }
            self.line(line);
        }
    }

    fn line(&mut self, line: &Line) {
        match line {
            Line::Blank => self.blank(),
            Line::Comment(comment) => {
                self.text.push_str(comment);
                self.text.push('\n');
                self.after_header = false;
            }
        }
    }

    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// A table and where it stands in the file.
struct Placed<'d> {
    position: isize,
    path: Vec<&'d Key>,
    header: Header,
    table: &'d Table,
}

#[derive(Clone, Copy, PartialEq)]
enum Header {
    None,
    Table,
    ArrayOfTables,
}

/// All tables that have a header, each with its place; a table without one follows its parent.
fn collect<'d>(
    table: &'d Table,
    path: &mut Vec<&'d Key>,
    header: Header,
    last: &mut isize,
    tables: &mut Vec<Placed<'d>>,
) {
    if !table.is_dotted() {
        *last = table.position().unwrap_or(*last);
        tables.push(Placed { position: *last, path: path.clone(), header, table });
    }
    for (name, item) in table {
        let Some(key) = table.key(name) else { continue };
        path.push(key);
        match item {
            Item::Table(inner) => collect(inner, path, Header::Table, last, tables),
            Item::ArrayOfTables(array) => {
                for inner in array {
                    collect(inner, path, Header::ArrayOfTables, last, tables);
                }
            }
            _ => {}
        }
        path.pop();
    }
}

/// What stands in front of the last key of a path.
fn leading_text<'a>(path: &[&'a Key]) -> &'a str {
    let prefix = path.last().and_then(|key| key.leaf_decor().prefix());
    prefix.and_then(|prefix| prefix.as_str()).unwrap_or_default()
}

/// The comment up to the end of the line, and what comes on the lines after it.
fn behind_line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    if line.trim().starts_with('#') { (line, rest) } else { ("", text) }
}
