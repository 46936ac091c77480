//! `keyward key`: build, parse and find keys.

mod answer;
mod build;
mod describe;
mod elsewhere;
mod glob;
mod near;
mod parse;
mod stream;
mod text;
mod typed;

pub(super) use build::build_key;
pub(super) use describe::describe_key;
pub(super) use glob::build_glob;
pub(super) use typed::{Typed, quoted};

use crate::args::{Binding, KeyCommand};
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_pattern::{BuildError, BuildErrorKind, Definition, Keyspace, nearest};
use keyward_schema::Schema;

pub(crate) fn run(command: &KeyCommand, settings: &Settings, output: &Output) -> Result<Verdict> {
    let schemas = Schemas::open(settings.schemas(&[])?).usable(output)?;
    let bindings: &[Binding] = match command {
        KeyCommand::Build(args) => &args.prefix.bindings,
        KeyCommand::Parse(args) => &args.prefix.bindings,
        KeyCommand::Glob(args) => &args.prefix.bindings,
        KeyCommand::Text(_) => &[],
    };
    let keyspaces = bound(&schemas, bindings)?;
    let typed = Typed { schemas: settings.named(), bindings };
    match command {
        KeyCommand::Build(args) => build::run(args, &schemas, &keyspaces, typed, output),
        KeyCommand::Parse(args) => parse::run(args, &schemas, &keyspaces, output),
        KeyCommand::Glob(args) => glob::run(args, &schemas, &keyspaces, typed, output),
        KeyCommand::Text(args) => text::run(args, &schemas, output),
    }
}

/// The keyspaces of the schemas, with the parameters of their prefixes bound as far as that was
/// asked for.
pub(super) fn bound(schemas: &[Schema], bindings: &[Binding]) -> Result<Vec<Keyspace>> {
    let prefix_params = |schema: &Schema| {
        let holes = schema.keyspace.prefix.iter().flat_map(|prefix| prefix.holes());
        holes.map(|hole| hole.name.clone()).collect::<Vec<_>>()
    };
    let all: Vec<String> = schemas.iter().flat_map(prefix_params).collect();
    if let Some(wrong) = bindings.iter().find(|binding| !all.contains(&binding.param)) {
        return Err(Failure::new(format!("no prefix has a parameter `{}`", wrong.param)).one_of(
            &wrong.param,
            all.iter().map(String::as_str),
            "write values for the pattern's own parameters after the definition",
        ));
    }
    let bind = |schema: &Schema| {
        let own = prefix_params(schema);
        let bindings = bindings.iter().filter(|binding| own.contains(&binding.param));
        let values = pairs(bindings);
        if values.is_empty() {
            return Ok(schema.compiled.clone());
        }
        schema.compiled.bind(&values).map_err(|error| Failure::new(error.to_string()))
    };
    schemas.iter().map(bind).collect()
}

/// The values by their parameters.
fn pairs<'b>(bindings: impl IntoIterator<Item = &'b Binding>) -> Vec<(&'b str, &'b str)> {
    let pair = |binding: &'b Binding| (binding.param.as_str(), binding.value.as_str());
    bindings.into_iter().map(pair).collect()
}

/// The definition of that name in any of the keyspaces.
pub(super) fn named<'a>(name: &str, keyspaces: &'a [Keyspace]) -> Result<Definition<'a>> {
    let found: Vec<Definition<'_>> = keyspaces
        .iter()
        .filter_map(|keyspace| Some(keyspace.definition(keyspace.find(name)?)))
        .collect();
    match found.as_slice() {
        [definition] => Ok(*definition),
        [] => {
            let names = keyspaces.iter().flat_map(Keyspace::definitions).map(|it| it.name());
            Err(Failure::new(format!("there is no definition `{name}`")).one_of(
                name,
                names,
                "the schema declares no keys yet",
            ))
        }
        _ => Err(Failure::new(format!("{} schemas define `{name}`", found.len()))
            .help("choose one of them with `--schema`")),
    }
}

/// Why a key or a glob cannot be built, with the way to write it.
fn refused(
    error: &BuildError,
    definition: &Definition<'_>,
    command: &str,
    values: &[Binding],
    typed: Typed<'_>,
) -> Failure {
    let failure = Failure::new(error.to_string());
    let usage = || typed.usage(command, definition, values);
    match &error.kind {
        BuildErrorKind::Missing => failure.help(usage()),
        BuildErrorKind::Unknown if typed.binds(&error.param) => {
            Failure::new(format!("`{}` is given twice", error.param))
                .help("it is a parameter of the prefix: give it only with `--bind`")
        }
        BuildErrorKind::Unknown => {
            let names = definition.params().iter().map(|(name, _)| name.as_str());
            failure.did_you_mean(nearest(&error.param, names), &usage())
        }
        _ => failure,
    }
}
