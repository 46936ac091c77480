//! `keyward key build`: the key for some values.

use super::{Typed, named, refused, text};
use crate::args::{Binding, KeyBuild};
use crate::failure::Result;
use crate::output::Output;
use crate::verdict::Verdict;
use keyward_pattern::Keyspace;
use keyward_schema::Schema;
use std::time::SystemTime;

pub(super) fn run(
    args: &KeyBuild,
    schemas: &[Schema],
    keyspaces: &[Keyspace],
    typed: Typed<'_>,
    output: &Output,
) -> Result<Verdict> {
    let mut values = args.values.clone();
    let now = args.at.unwrap_or_else(SystemTime::now);
    for text in &args.text {
        let value = text::value(&args.name, text, schemas, now)?;
        values.push(Binding { param: text.param.clone(), value });
    }
    let key = build_key(&args.name, &values, keyspaces, typed)?;
    output.print(format_args!("{key}\n"))?;
    Ok(Verdict::Clean)
}

/// The key of a definition for these values.
pub(in crate::commands) fn build_key(
    name: &str,
    bindings: &[Binding],
    keyspaces: &[Keyspace],
    typed: Typed<'_>,
) -> Result<String> {
    let definition = named(name, keyspaces)?;
    definition
        .build_named(&super::pairs(bindings))
        .map_err(|error| refused(&error, &definition, "build", bindings, typed))
}
