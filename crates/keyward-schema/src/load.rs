//! Files → schema: reads a `keyward.toml` and what it includes, and reports everything at once.

use crate::Diagnostic;
use crate::form::Form;
use crate::lower::{Document, lower};
use crate::model::Schema;
use crate::reading::Reading;
use crate::span::{FileId, Sources, Span};
use crate::syntax::{self, Item, Kind};
use crate::tables::{ROOT_ONLY, RootTable};
use keyward_fact::Size;
use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The most that the files of a schema may hold together.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The most files that a schema may have.
const MAX_FILES: usize = 1_000;

/// What came of reading a schema: the files, and the schema or everything that is wrong with it.
#[derive(Debug)]
pub struct Loaded {
    /// The files that were read; the first is the one that was asked for
    pub sources: Sources,
    /// The schema, or all errors in the order of the files
    pub schema: Result<Schema, Vec<Diagnostic>>,
}

/// Reads a schema from a file and the files that it includes.
///
/// ```no_run
/// use keyward_schema::{Style, load, render};
///
/// let loaded = load("keyward.toml".as_ref());
/// match loaded.schema {
///     Ok(schema) => println!("{} definitions", schema.keys.len()),
///     Err(errors) => print!("{}", render(&loaded.sources, &errors, &Style::default())),
/// }
/// ```
pub fn load(path: &Path) -> Loaded {
    let mut loader = Loader::default();
    match loader.text(path) {
        Ok(text) => {
            let canonical = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            loader.folder = canonical.parent().map(Path::to_owned);
            loader.seen.insert(canonical.clone(), None);
            loader.document(path, text, &mut vec![canonical]);
        }
        Err(problem) => {
            let message = format!("cannot read `{}`: {}", path.display(), problem.what);
            let mut diagnostic = Diagnostic::new("schema", crate::model::Severity::Error, message);
            diagnostic.help.extend(problem.help);
            loader.errors.push(diagnostic);
        }
    }
    loader.finish()
}

/// Reads a schema from a text that stands in no file; it cannot include others.
///
/// ```
/// let loaded = keyward_schema::read("version = 1\n[keyspace]\nname = \"shop\"\n");
/// assert_eq!(loaded.schema.unwrap().keyspace.name.value, "shop");
/// ```
pub fn read(text: &str) -> Loaded {
    let mut loader = Loader::default();
    loader.document(Path::new("keyward.toml"), text.to_owned(), &mut Vec::new());
    loader.finish()
}

#[derive(Default)]
struct Loader {
    sources: Sources,
    trees: Vec<Tree>,
    errors: Vec<Diagnostic>,
    /// The files met so far, and where each was included
    seen: HashMap<PathBuf, Option<Span>>,
    /// The folder of the root file; `None` if the schema is in no file
    folder: Option<PathBuf>,
    bytes: u64,
}

struct Tree {
    root: Item,
    /// Whether the file has syntax errors
    recovered: bool,
}

/// Why a file cannot be read.
struct Problem {
    what: String,
    help: Option<String>,
}

impl Problem {
    fn new(what: impl Into<String>) -> Self {
        Problem { what: what.into(), help: None }
    }
}

impl Loader {
    /// A file's text, if it is one that can be a schema.
    fn text(&mut self, path: &Path) -> Result<String, Problem> {
        let file = File::open(path).map_err(|error| io_problem(&error))?;
        let metadata = file.metadata().map_err(|error| io_problem(&error))?;
        if metadata.is_dir() {
            let what = "it is a directory".to_owned();
            let help = Some(format!("name the file: `{}`", path.join("keyward.toml").display()));
            return Err(Problem { what, help });
        }
        let left = MAX_BYTES - self.bytes;
        if metadata.len() > left {
            return Err(too_large(metadata.len()));
        }
        // A pipe or a device says nothing about its size, so reading is bounded as well.
        let mut bytes = Vec::new();
        file.take(left + 1).read_to_end(&mut bytes).map_err(|error| io_problem(&error))?;
        if bytes.len() as u64 > left {
            return Err(too_large(bytes.len() as u64));
        }
        self.bytes += bytes.len() as u64;
        String::from_utf8(bytes)
            .map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))
    }

    /// Takes a file in, and what it includes.
    fn document(&mut self, path: &Path, text: String, chain: &mut Vec<PathBuf>) {
        let (root, errors) = {
            let file = self.sources.add(path.to_owned(), text);
            syntax::parse(file, &self.sources.get(file).text)
        };
        let includes = includes(&root);
        self.trees.push(Tree { root, recovered: !errors.is_empty() });
        self.errors.extend(errors);
        for (name, span) in includes {
            self.include(path, &name, &span, chain);
        }
    }

    fn include(&mut self, from: &Path, name: &str, span: &Span, chain: &mut Vec<PathBuf>) {
        let error = |problem: Problem| {
            let message = format!("cannot include `{name}`: {}", problem.what);
            let mut diagnostic = Diagnostic::schema(message, span.clone(), "");
            diagnostic.help.extend(problem.help);
            diagnostic
        };
        let Some(folder) = &self.folder else {
            self.errors.push(error(Problem::new("this schema was not read from a file")));
            return;
        };
        if Path::new(name).is_absolute() {
            let help = Some("write it relative to this file".to_owned());
            self.errors.push(error(Problem { what: "the path is absolute".to_owned(), help }));
            return;
        }
        let shown = from.parent().unwrap_or(Path::new("")).join(name);
        let canonical = match shown.canonicalize() {
            Ok(canonical) => canonical,
            Err(reason) => {
                self.errors.push(error(io_problem(&reason)));
                return;
            }
        };
        if !canonical.starts_with(folder) {
            let what = "it is outside the folder of the schema".to_owned();
            let help = Some("a schema and what it includes live in one folder".to_owned());
            self.errors.push(error(Problem { what, help }));
            return;
        }
        if let Some(start) = chain.iter().position(|link| *link == canonical) {
            let circle: Vec<String> = chain[start..]
                .iter()
                .chain([&canonical])
                .map(|link| format!("`{}`", link.strip_prefix(folder).unwrap_or(link).display()))
                .collect();
            let what = format!("it leads back to itself: {}", circle.join(" includes "));
            self.errors.push(error(Problem::new(what)));
            return;
        }
        if let Some(first) = self.seen.get(&canonical) {
            let mut diagnostic = error(Problem::new("it is included already"));
            if let Some(first) = first {
                diagnostic = diagnostic.at(first.clone(), "first included here");
            }
            self.errors.push(diagnostic);
            return;
        }
        if self.seen.len() >= MAX_FILES {
            let what = format!("a schema has at most {MAX_FILES} files");
            self.errors.push(error(Problem::new(what)));
            return;
        }
        self.seen.insert(canonical.clone(), Some(span.clone()));
        match self.text(&shown) {
            Ok(text) => {
                chain.push(canonical);
                self.document(&shown, text, chain);
                chain.pop();
            }
            Err(problem) => self.errors.push(error(problem)),
        }
    }

    /// Reads the trees and puts them together.
    fn finish(self) -> Loaded {
        let Loader { sources, trees, mut errors, .. } = self;
        let mut documents = Vec::with_capacity(trees.len());
        for (index, tree) in trees.iter().enumerate() {
            let mut reading = Reading::new(&sources, tree.recovered);
            if index > 0 {
                refuse_root_only(&tree.root, &mut reading);
            }
            let table = RootTable::read(&tree.root, &mut reading);
            let root_lines = error_lines(&sources, &errors, tree.root.span.file);
            errors.extend(reading.diagnostics.into_iter().filter(|diagnostic| {
                let at = diagnostic.labels.first().map(|label| label.span.start);
                at.is_none_or(|at| {
                    !root_lines.contains(&sources.get(tree.root.span.file).line_of(at))
                })
            }));
            if let Some(table) = table {
                documents.push(Document { file: tree.root.span.file, table });
            }
        }
        let schema = if documents.is_empty() || trees.iter().any(|tree| tree.recovered) {
            None
        } else {
            lower(documents, &sources, &mut errors)
        };
        errors.sort_by_key(|error| error.labels.first().map(|label| label.span.clone()));
        errors.dedup();
        let schema = match schema {
            Some(schema) if errors.is_empty() => Ok(schema),
            _ => Err(errors),
        };
        Loaded { sources, schema }
    }
}

/// The lines of a file that have errors already: what is read from them is not to be trusted.
fn error_lines(sources: &Sources, errors: &[Diagnostic], file: FileId) -> Vec<usize> {
    errors
        .iter()
        .filter_map(|error| error.labels.first())
        .filter(|label| label.span.file == file)
        .map(|label| sources.get(file).line_of(label.span.start))
        .collect()
}

/// The files that a document names; entries of the wrong kind are reported when it is read.
fn includes(root: &Item) -> Vec<(String, Span)> {
    let Kind::Table(entries) = &root.kind else { return Vec::new() };
    let Some(entry) = entries.iter().find(|entry| entry.key.value == "include") else {
        return Vec::new();
    };
    let Kind::Array(items) = &entry.item.kind else { return Vec::new() };
    items
        .iter()
        .filter_map(|item| match &item.kind {
            Kind::String(name) if !name.trim().is_empty() => {
                Some((name.clone(), item.span.clone()))
            }
            _ => None,
        })
        .collect()
}

fn refuse_root_only(root: &Item, reading: &mut Reading<'_>) {
    let Kind::Table(entries) = &root.kind else { return };
    for entry in entries.iter().filter(|entry| ROOT_ONLY.contains(&entry.key.as_str())) {
        let message = format!("`[{}]` belongs in the root file", *entry.key);
        reading.error::<()>(&entry.key.span, message, "this file is included by another");
    }
}

fn io_problem(error: &std::io::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem {
            what: "there is no such file".to_owned(),
            help: Some("`keyward init` writes a schema to start from".to_owned()),
        },
        ErrorKind::PermissionDenied => Problem::new("permission denied"),
        ErrorKind::IsADirectory => Problem::new("it is a directory"),
        _ => Problem::new(error.to_string()),
    }
}

fn too_large(bytes: u64) -> Problem {
    let size = Size::from_bytes(bytes).human();
    let limit = Size::from_bytes(MAX_BYTES).human();
    Problem::new(format!("it is too large: {size}, where a schema may have {limit} in all"))
}

fn not_utf8(bytes: &[u8], offset: usize) -> Problem {
    let before = &bytes[..offset];
    let line = before.split(|byte| *byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let byte = bytes.get(offset).copied().unwrap_or_default();
    Problem {
        what: format!("it is not UTF-8 text: byte 0x{byte:02x} at line {line}, column {column}"),
        help: Some("a schema is a TOML file".to_owned()),
    }
}
