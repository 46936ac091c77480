//! One or several schemas, read together.

use crate::failure::{Failure, Result};
use crate::output::Output;
use keyward_schema::model::{RuleSet, Schema};
use keyward_schema::{Diagnostic, Loaded, Sources, load_after, render};
use std::path::PathBuf;

/// What was read, and the files of all schemas in one list.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    pub(crate) sources: Sources,
    pub(crate) each: Vec<Opened>,
}

/// One schema that was asked for, with places in [`Schemas::sources`].
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its file, as it is shown to people
    pub(crate) path: PathBuf,
    /// The schema, or what is wrong with it
    pub(crate) schema: std::result::Result<Schema, Vec<Diagnostic>>,
}

impl Schemas {
    /// Reads them all, whatever is wrong with some.
    pub(crate) fn open(paths: Vec<PathBuf>) -> Self {
        let mut schemas = Schemas::default();
        for path in paths {
            let Loaded { sources, schema } = load_after(schemas.sources, &path);
            schemas.sources = sources;
            schemas.each.push(Opened { path, schema });
        }
        schemas
    }

    /// One schema that was read elsewhere.
    pub(crate) fn of(path: PathBuf, loaded: Loaded) -> Self {
        let Loaded { sources, schema } = loaded;
        Schemas { sources, each: vec![Opened { path, schema }] }
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
