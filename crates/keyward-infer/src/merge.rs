//! Adds what a draft has and a schema has not.

use crate::draft::{Definition, Draft, Foreign, PatternPiece};
use crate::{fit, names, write};
use keyward_pattern::Glob;
use keyward_schema::model::Schema;
use keyward_schema::{Files, Loaded};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, io};

/// A share of a definition's keys that is as good as all.
const NEARLY_ALL: f64 = 0.95;

/// A schema with what was new.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The schema: as it was, and what is new at its end
    pub text: String,
    /// The ids of what is new
    pub added: Vec<String>,
    /// The ids of software that is new
    pub software: Vec<String>,
    /// The ids of definitions without a key in the data
    pub vanished: Vec<String>,
    /// Patterns that would not be sound beside those that are there
    pub refused: Vec<String>,
    /// Patterns whose keys do not begin with the prefix of the schema
    pub outside: Vec<String>,
    /// That prefix
    pub prefix: String,
}

/// A schema that cannot be merged into.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeError {
    /// What is wrong with it
    pub message: String,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MergeError {}

/// Adds to a schema what a draft has and the schema has not. Definitions are the same if they have the same keys,
/// whatever they are called: nothing that is there is changed.
///
/// ```
/// use keyward_infer::{Observed, Options, Sketch, infer, merge};
///
/// let mut sketch = Sketch::default();
/// for user in 1..=20 {
///     sketch.observe(Observed::new(0, format!("user:{user}").as_bytes(), "hash"));
///     sketch.observe(Observed::new(0, format!("cart:{user}").as_bytes(), "hash"));
/// }
/// let ours = "version = 1\n\n[keyspace]\nname = \"shop\"\n\n# Ours.\n[keys.person]\npattern = \"user:{id:uint}\"\n";
/// let merged = merge(ours, &infer(&sketch, &Options::default()))?;
/// assert!(merged.text.starts_with(ours));
/// assert_eq!(merged.added, ["cart"]);
/// # Ok::<(), keyward_infer::MergeError>(())
/// ```
pub fn merge(text: &str, draft: &Draft) -> Result<Merged, MergeError> {
    merged(text, draft, &keyward_schema::read)
}

/// The same for a schema in a file, which may include others: what is new is added to the file itself.
pub fn merge_into(path: &Path, text: &str, draft: &Draft) -> Result<Merged, MergeError> {
    merged(text, draft, &|text| {
        let root = path.canonicalize().ok();
        let mut files = Changed { root, text };
        keyward_schema::load_from(&mut files, keyward_schema::Sources::default(), path)
    })
}

/// The files on disk, of which one has another text.
struct Changed<'t> {
    root: Option<PathBuf>,
    text: &'t str,
}

impl Files for Changed<'_> {
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        if path.canonicalize().ok() == self.root && self.text.len() as u64 <= most {
            return Ok(self.text.as_bytes().to_vec());
        }
        keyward_fact::read_file(path, most)
    }

    fn canonical(&mut self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }
}

fn merged(text: &str, draft: &Draft, load: &dyn Fn(&str) -> Loaded) -> Result<Merged, MergeError> {
    let schema = load(text).schema.map_err(|errors| MergeError {
        message: errors
            .first()
            .map_or_else(|| "it cannot be read".to_owned(), |it| it.message.clone()),
    })?;
    let prefix = schema.keyspace.prefix.as_ref().map(|prefix| prefix.value.to_string());
    let prefix = prefix.unwrap_or_default();
    let mut merged = Merged {
        text: String::new(),
        added: Vec::new(),
        software: Vec::new(),
        vanished: Vec::new(),
        refused: Vec::new(),
        outside: Vec::new(),
        prefix: prefix.clone(),
    };
    let mut seen = BTreeSet::new();
    let mut new: Vec<Definition> = Vec::new();
    for definition in &draft.definitions {
        let found = definition.examples.iter().map(|key| schema.compiled.classify(key));
        let found: Vec<_> = found.collect();
        let known = found.iter().flatten().count();
        seen.extend(found.into_iter().flatten());
        if is_nearly_all(known + foreign(&schema, definition), definition.examples.len()) {
            continue;
        }
        match rebased(definition, &draft.prefix, &prefix) {
            Some(definition) => new.push(definition),
            None => {
                merged.outside.push(format!("{}{}", draft.prefix, definition.pattern(|_| true)));
            }
        }
    }
    let mut taken: BTreeSet<String> = schema.keys.iter().map(|it| it.name.value.clone()).collect();
    for definition in &mut new {
        definition.group = None;
        definition.id = names::free(definition.id.clone(), |id| taken.contains(id));
        taken.insert(definition.id.clone());
    }
    let vanished =
        schema.keys.iter().enumerate().filter(|(at, _)| {
            !seen.iter().any(|id: &keyward_pattern::DefinitionId| id.index() == *at)
        });
    merged.vanished = vanished.map(|(_, it)| it.name.value.clone()).collect();
    let mut software = new_software(&schema, draft);
    // Other definitions of a schema may forbid a glob that is drafted: then it is left out altogether.
    if !fit::wrong(&appended(text, &[], &software), load, |_| 0).0.is_empty() {
        merged.refused.extend(software.drain(..).map(|it| it.glob));
    }
    loop {
        merged.text = appended(text, &new, &software);
        let (wrong, _) = fit::wrong(&merged.text, load, |id| {
            new.iter().find(|it| it.id == id).map_or(u64::MAX, |it| it.keys)
        });
        let before = new.len();
        let is_wrong = |it: &Definition| wrong.contains(&it.id);
        merged.refused.extend(
            new.iter()
                .filter(|it| is_wrong(it))
                .map(|it| format!("{prefix}{}", it.pattern(|_| true))),
        );
        new.retain(|it| !is_wrong(it));
        if new.len() == before {
            break;
        }
    }
    merged.added = new.into_iter().map(|it| it.id).collect();
    merged.software = software.into_iter().map(|it| it.id).collect();
    Ok(merged)
}

#[allow(clippy::cast_precision_loss, reason = "a share")]
fn is_nearly_all(part: usize, all: usize) -> bool {
    part as f64 >= NEARLY_ALL * all as f64
}

/// How many of a definition's keys are of software that the schema knows.
fn foreign(schema: &Schema, definition: &Definition) -> usize {
    let globs: Vec<Glob> = schema.foreign.iter().map(|it| Glob::new(&it.glob.value)).collect();
    let is_foreign = |key: &[u8]| globs.iter().any(|glob| glob.matches(key));
    definition.examples.iter().filter(|key| is_foreign(key)).count()
}

/// The definition behind another prefix; `None` if its keys do not begin with it.
fn rebased(definition: &Definition, from: &str, to: &str) -> Option<Definition> {
    let mut definition = definition.clone();
    let head = match definition.pieces.first() {
        Some(PatternPiece::Text(text)) => format!("{from}{text}"),
        _ => from.to_owned(),
    };
    let head = head.strip_prefix(to)?.to_owned();
    if matches!(definition.pieces.first(), Some(PatternPiece::Text(_))) {
        definition.pieces.remove(0);
    }
    if !head.is_empty() {
        definition.pieces.insert(0, PatternPiece::Text(head));
    }
    (!definition.pieces.is_empty()).then_some(definition)
}

/// Software of a draft whose glob the schema has not, with ids that are free.
fn new_software(schema: &Schema, draft: &Draft) -> Vec<Foreign> {
    let mut taken: BTreeSet<String> =
        schema.foreign.iter().map(|it| it.name.value.clone()).collect();
    let mut new = Vec::new();
    for software in &draft.foreign {
        if schema.foreign.iter().any(|it| it.glob.value == software.glob) {
            continue;
        }
        let id = names::free(software.id.clone(), |id| taken.contains(id));
        taken.insert(id.clone());
        new.push(Foreign { id, ..software.clone() });
    }
    new
}

fn appended(text: &str, new: &[Definition], software: &[Foreign]) -> String {
    let mut out = text.to_owned();
    let is_new = !new.is_empty() || !software.is_empty();
    if is_new && !out.ends_with('\n') {
        out.push('\n');
    }
    for definition in new {
        out.push('\n');
        out.push_str(&write::alone(definition));
    }
    for software in software {
        out.push('\n');
        write::foreign(software, true, &mut out);
    }
    out
}
