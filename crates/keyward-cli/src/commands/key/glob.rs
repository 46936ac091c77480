//! `keyward key glob`: what finds the keys of a definition, or of many.

use super::{Typed, named, refused};
use crate::args::{Binding, KeyGlob};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::verdict::Verdict;
use keyward_pattern::{Definition, Keyspace};
use keyward_schema::Schema;
use std::fmt::Write as _;

pub(super) fn run(
    args: &KeyGlob,
    schemas: &[Schema],
    keyspaces: &[Keyspace],
    typed: Typed<'_>,
    output: &Output,
) -> Result<Verdict> {
    let definitions = match &args.name {
        Some(name) => vec![named(name, keyspaces)?],
        None => selected(args, schemas, keyspaces)?,
    };
    let mut text = String::new();
    for definition in definitions {
        let _ = writeln!(text, "{}", build_glob(definition, &args.values, typed)?);
    }
    output.print(text)?;
    Ok(Verdict::Clean)
}

/// The glob of a definition with some parameters bound.
pub(in crate::commands) fn build_glob(
    definition: Definition<'_>,
    bindings: &[Binding],
    typed: Typed<'_>,
) -> Result<String> {
    definition
        .glob_named(&super::pairs(bindings))
        .map_err(|error| refused(&error, &definition, "glob", bindings, typed))
}

fn selected<'a>(
    args: &KeyGlob,
    schemas: &[Schema],
    keyspaces: &'a [Keyspace],
) -> Result<Vec<Definition<'a>>> {
    args.selection.check(schemas)?;
    let each = schemas.iter().zip(keyspaces);
    let definitions: Vec<Definition<'_>> = each
        .flat_map(|(schema, keyspace)| schema.keys.iter().zip(keyspace.definitions()))
        .filter(|(declared, _)| args.selection.takes(declared))
        .map(|(_, definition)| definition)
        .collect();
    if definitions.is_empty() {
        return Err(Failure::new("no definition matches all of these options")
            .help("use `--group`, `--lifecycle` or `--owner` alone"));
    }
    Ok(definitions)
}
