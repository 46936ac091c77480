//! One or several schemas, read together.

use crate::failure::{Failure, Result};
use crate::output::Output;
use keyward_schema::model::{RuleSet, Schema};
use keyward_schema::{Diagnostic, FileId, Loaded, Sources, Span, load, render};
use std::path::PathBuf;

/// What was read, and the files of all schemas in one list.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) sources: Sources,
    pub(crate) each: Vec<Opened>,
}

/// One schema that was asked for.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its file, as it is shown to people
    pub(crate) path: PathBuf,
    /// The schema, with spans in its own files; or what is wrong, with spans in [`Schemas::sources`]
    pub(crate) schema: std::result::Result<Schema, Vec<Diagnostic>>,
    /// How many files of other schemas stand before its own
    shift: u32,
}

impl Schemas {
    /// Reads them all, whatever is wrong with some.
    pub(crate) fn open(paths: Vec<PathBuf>) -> Self {
        let mut schemas = Schemas::default();
        for path in paths {
            let loaded = load(&path);
            schemas.add(path, loaded);
        }
        schemas
    }

    /// Takes in a schema that was read elsewhere.
    pub(crate) fn add(&mut self, path: PathBuf, loaded: Loaded) {
        let before = self.sources.iter().count();
        let mut opened = Opened {
            path,
            schema: loaded.schema,
            shift: u32::try_from(before).unwrap_or(u32::MAX),
        };
        for (_, source) in loaded.sources.iter() {
            self.sources.add(source.path.clone(), source.text.clone());
        }
        opened.schema = match opened.schema {
            Ok(schema) => Ok(schema),
            Err(errors) => {
                Err(errors.into_iter().map(|error| shifted(error, opened.shift)).collect())
            }
        };
        self.each.push(opened);
    }

    /// Judges them all by this rule set.
    pub(crate) fn override_set(&mut self, set: RuleSet) {
        for schema in self.each.iter_mut().filter_map(|opened| opened.schema.as_mut().ok()) {
            schema.rules.set.value = set;
        }
    }

    /// The schemas that could be read.
    pub(crate) fn readable(&self) -> impl Iterator<Item = (&Opened, &Schema)> {
        self.each.iter().filter_map(|opened| Some((opened, opened.schema.as_ref().ok()?)))
    }

    /// Fails if one of them could not be read.
    pub(crate) fn check_readable(&self, output: &Output) -> Result<()> {
        let errors = self.each.iter().filter_map(|opened| opened.schema.as_ref().err());
        let errors: Vec<Diagnostic> = errors.flatten().cloned().collect();
        if errors.is_empty() {
            return Ok(());
        }
        Err(Failure::rendered(render(&self.sources, &errors, output.style())))
    }

    /// All of them, if all could be read.
    pub(crate) fn usable(self, output: &Output) -> Result<Vec<Schema>> {
        let Schemas { sources, each } = self;
        let mut schemas = Vec::new();
        let mut errors = Vec::new();
        for opened in each {
            match opened.schema {
                Ok(schema) => schemas.push(schema),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() {
            return Ok(schemas);
        }
        Err(Failure::rendered(render(&sources, &errors, output.style())))
    }
}

impl Opened {
    /// A finding about this schema, with its places in [`Schemas::sources`].
    pub(crate) fn place(&self, diagnostic: Diagnostic) -> Diagnostic {
        shifted(diagnostic, self.shift)
    }

    /// A place of this schema in [`Schemas::sources`].
    pub(crate) fn span(&self, span: &Span) -> Span {
        Span { file: FileId(span.file.0 + self.shift), ..span.clone() }
    }
}

fn shifted(mut diagnostic: Diagnostic, by: u32) -> Diagnostic {
    for label in &mut diagnostic.labels {
        label.span.file.0 += by;
    }
    diagnostic
}
