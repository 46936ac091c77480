//! Files → schema: reads a `keyward.toml` and what it includes, and reports everything at once.

use crate::decoder::Decoder;
use crate::diagnostic::{Diagnostic, SCHEMA};
use crate::file::{self, Disk, Files, MAX_BYTES, Unreadable};
use crate::form::{Form, Table};
use crate::lower::{Document, lower};
use crate::model::{Schema, Severity};
use crate::span::{FileId, Sources, Span};
use crate::syntax::{self, Entry, Item, Kind};
use crate::tables::{ROOT_ONLY, RootTable};
use keyward_pattern::nearest;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The most files that a schema may have.
const MAX_FILES: usize = 1_000;

/// What came of reading a schema: the files, and the schema or everything that is wrong with it.
#[derive(Debug)]
pub struct Loaded {
    /// The files that were read: those before it, then the one that was asked for and what it includes
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
    load_after(Sources::default(), path)
}

/// Reads one schema of several: its files come after those that were read before, so that each place
/// is in one file of one list.
pub fn load_after(sources: Sources, path: &Path) -> Loaded {
    load_from(&mut Disk, sources, path)
}

/// The same for files that are not on disk, such as those of an earlier revision.
pub fn load_from(files: &mut dyn Files, sources: Sources, path: &Path) -> Loaded {
    let mut loader = Loader::new(files, sources);
    match loader.text(path) {
        Ok(text) => {
            let canonical = loader.files.canonical(path).unwrap_or_else(|_| path.to_owned());
            loader.folder = canonical.parent().map(Path::to_owned);
            loader.seen.insert(canonical.clone(), None);
            loader.document(path, text, &mut vec![canonical]);
        }
        Err(reason) => {
            let shown = loader.files.shown(path);
            loader.errors.push(unreadable(&shown, &reason));
        }
    }
    loader.finish()
}

/// Reads a schema from a text that is not in a file; it cannot include others.
///
/// ```
/// let loaded = keyward_schema::read("version = 1\n[keyspace]\nname = \"shop\"\n");
/// assert_eq!(loaded.schema.unwrap().keyspace.name.value, "shop");
/// ```
pub fn read(text: &str) -> Loaded {
    let mut disk = Disk;
    let mut loader = Loader::new(&mut disk, Sources::default());
    loader.document(Path::new("keyward.toml"), text.to_owned(), &mut Vec::new());
    loader.finish()
}

fn unreadable(path: &Path, reason: &Unreadable) -> Diagnostic {
    let message = format!("cannot read `{}`: {reason}", path.display());
    let diagnostic = Diagnostic::new(SCHEMA, Severity::Error, message);
    match reason {
        Unreadable::Missing if path == Path::new("-") => {
            let message = "cannot read `-`: a schema is read from a file, not from standard input";
            Diagnostic::new(SCHEMA, Severity::Error, message).help("name a file")
        }
        Unreadable::Missing => missing(path, diagnostic),
        Unreadable::Directory => {
            let inside = path.join("keyward.toml");
            diagnostic.help(format!("name the file: `{}`", inside.display()))
        }
        Unreadable::NotUtf8 { .. } => diagnostic.help("a schema is a TOML file"),
        Unreadable::TooLarge => diagnostic.help(TOO_LARGE),
        Unreadable::Other(_) => diagnostic,
    }
}

/// What to do about files that hold too much.
const TOO_LARGE: &str =
    "split it into several schemas: files named in `include` count towards the limit";

/// Says what may have been meant by a file that is not there.
fn missing(path: &Path, mut diagnostic: Diagnostic) -> Diagnostic {
    let usual = || Some(path.with_file_name("keyward.toml")).filter(|usual| usual.is_file());
    if let Some(similar) = file::similar(path).or_else(usual) {
        diagnostic = diagnostic.help(format!("did you mean `{}`?", similar.display()));
    }
    if path.file_name().is_some_and(|name| name == "keyward.toml") {
        diagnostic = diagnostic.help("`keyward init` writes a schema to start from");
    }
    diagnostic
}

struct Loader<'f> {
    files: &'f mut dyn Files,
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

impl<'f> Loader<'f> {
    fn new(files: &'f mut dyn Files, sources: Sources) -> Self {
        Loader {
            files,
            sources,
            trees: Vec::new(),
            errors: Vec::new(),
            seen: HashMap::new(),
            folder: None,
            bytes: 0,
        }
    }

    fn text(&mut self, path: &Path) -> Result<String, Unreadable> {
        let text = file::text(self.files, path, MAX_BYTES - self.bytes)?;
        self.bytes += text.len() as u64;
        Ok(text)
    }

    /// Takes a file in, and what it includes.
    fn document(&mut self, path: &Path, text: String, chain: &mut Vec<PathBuf>) {
        let file = self.sources.add(self.files.shown(path), text);
        let (root, errors) = syntax::parse(file, self.sources.get(file));
        let includes = includes(&root);
        self.trees.push(Tree { root, recovered: !errors.is_empty() });
        self.errors.extend(errors);
        for (name, span) in includes {
            if let Err(refused) = self.include(path, &name, &span, chain) {
                let message = format!("cannot include `{name}`: {}", refused.reason);
                let mut diagnostic = Diagnostic::schema(message, span, "");
                if let Some(first) = refused.first {
                    diagnostic = diagnostic.at(first, "first included here");
                }
                diagnostic.help.extend(refused.help);
                self.errors.push(diagnostic);
            }
        }
    }

    fn include(
        &mut self,
        from: &Path,
        name: &str,
        span: &Span,
        chain: &mut Vec<PathBuf>,
    ) -> Result<(), Refused> {
        let Some(folder) = &self.folder else {
            return Err("this schema was not read from a file".into());
        };
        if Path::new(name).is_absolute() {
            return Err("the path must be relative to this file".into());
        }
        let shown = from.parent().unwrap_or(Path::new("")).join(name);
        let canonical = match self.files.canonical(&shown).map_err(Unreadable::from) {
            Err(Unreadable::Missing) if name.contains(['*', '?', '[']) => {
                return Err(Refused {
                    help: Some(
                        "list the files: `include = [\"keys/a.toml\", \"keys/b.toml\"]`".to_owned(),
                    ),
                    ..Refused::from("globs are not read")
                });
            }
            Err(Unreadable::Missing) => {
                let similar = file::similar(&shown).map(|similar| {
                    let file = similar.file_name().unwrap_or_default();
                    format!("did you mean `{}`?", Path::new(name).with_file_name(file).display())
                });
                return Err(Refused { help: similar, ..Refused::from(Unreadable::Missing) });
            }
            canonical => canonical?,
        };
        if !canonical.starts_with(folder) {
            return Err("it is outside the folder of the schema".into());
        }
        if let Some(start) = chain.iter().position(|link| *link == canonical) {
            let circle: Vec<String> = chain[start..]
                .iter()
                .chain([&canonical])
                .map(|link| format!("`{}`", link.strip_prefix(folder).unwrap_or(link).display()))
                .collect();
            let reason = format!("it leads back to itself: {}", circle.join(" includes "));
            return Err(reason.as_str().into());
        }
        if let Some(first) = self.seen.get(&canonical) {
            return Err(Refused {
                first: first.clone(),
                ..Refused::from("it is included already")
            });
        }
        if self.seen.len() >= MAX_FILES {
            return Err("a schema has at most 1,000 files".into());
        }
        self.seen.insert(canonical.clone(), Some(span.clone()));
        let text = self.text(&shown)?;
        chain.push(canonical);
        self.document(&shown, text, chain);
        chain.pop();
        Ok(())
    }

    /// Reads the trees and puts them together.
    fn finish(self) -> Loaded {
        let Loader { sources, trees, mut errors, .. } = self;
        let mut documents = Vec::with_capacity(trees.len());
        for (index, tree) in trees.iter().enumerate() {
            let file = tree.root.span.file;
            let mut decoder = Decoder::new(&sources, tree.recovered);
            if index > 0 {
                refuse_root_only(&tree.root, &mut decoder);
            } else if !tree.recovered {
                require_head(&tree.root, &mut decoder);
            }
            let table = RootTable::read(&tree.root, &mut decoder);
            let broken_lines = error_lines(&sources, &errors, file);
            errors.extend(decoder.diagnostics.into_iter().filter(|diagnostic| {
                let Some(Span { start, end, .. }) =
                    diagnostic.labels.first().map(|label| &label.span)
                else {
                    return true;
                };
                // What the parser made up to go on has no place of its own.
                let made_up = tree.recovered && start == end;
                !made_up && !broken_lines.contains(&sources.get(file).line_of(*start))
            }));
            if let Some(table) = table {
                documents.push(Document { file, table });
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

/// Why a file is not included.
struct Refused {
    reason: String,
    /// Where it was included before
    first: Option<Span>,
    help: Option<String>,
}

impl From<&str> for Refused {
    fn from(reason: &str) -> Self {
        Refused { reason: reason.to_owned(), first: None, help: None }
    }
}

impl From<Unreadable> for Refused {
    fn from(reason: Unreadable) -> Self {
        let help = (reason == Unreadable::TooLarge).then(|| TOO_LARGE.to_owned());
        Refused { reason: reason.to_string(), first: None, help }
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

/// The root file says its version and names the keyspace.
fn require_head(root: &Item, decoder: &mut Decoder<'_>) {
    let Kind::Table(entries) = &root.kind else { return };
    let head = [
        ("version", "the schema has no `version`", "begin the file with `version = 1`"),
        (
            "keyspace",
            "the schema has no `[keyspace]`",
            "name the keyspace: `[keyspace]` with `name = \"…\"`",
        ),
    ];
    let known = RootTable::fields();
    // A misspelt one is reported as such.
    let is_missing = |key: &str| {
        let meant =
            |entry: &Entry| nearest(&entry.key, known.iter().map(|field| field.key)) == Some(key);
        !entries.iter().any(meant)
    };
    let is_part = |entry: &Entry| {
        known.iter().any(|field| field.key == entry.key.value)
            && !ROOT_ONLY.contains(&entry.key.as_str())
    };
    if head.iter().all(|(key, ..)| is_missing(key)) && entries.iter().any(is_part) {
        let message = "this file is not a complete schema: it has no `version` and no `[keyspace]`";
        let diagnostic = Diagnostic::schema(message, root.span.clone(), "")
            .help("if another file includes this one, check that file")
            .help("otherwise, begin it with `version = 1` and `[keyspace]` with `name = \"…\"`");
        decoder.report::<()>(diagnostic);
        return;
    }
    for (_, message, help) in head.into_iter().filter(|(key, ..)| is_missing(key)) {
        decoder.report::<()>(Diagnostic::schema(message, root.span.clone(), "").help(help));
    }
}

fn refuse_root_only(root: &Item, decoder: &mut Decoder<'_>) {
    let Kind::Table(entries) = &root.kind else { return };
    for entry in entries.iter().filter(|entry| ROOT_ONLY.contains(&entry.key.as_str())) {
        let message = format!("`[{}]` belongs in the root file", *entry.key);
        decoder.error::<()>(&entry.key.span, message, "this file is included by another");
    }
}
