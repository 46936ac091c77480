//! What is generated and where: from the options, or from `[generate]` of the schema.

use crate::args::Generate;
use crate::failure::{Failure, Result};
use keyward_languages::{Language, Settings};
use keyward_schema::model;
use std::path::{Path, PathBuf};

/// Where code goes that nobody gave a place.
const FOLDER: &str = "generated";

/// One thing to generate.
pub(super) struct Target {
    pub(super) what: What,
    pub(super) folder: PathBuf,
    /// The folder in it, where several languages share one
    pub(super) below: Option<&'static str>,
    pub(super) settings: Settings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Code(Language),
    Vectors,
}

/// What is generated from the schema at `path`.
pub(super) fn targets(
    args: &Generate,
    path: &Path,
    declared: &model::Generate,
) -> Result<Vec<Target>> {
    let named = args.languages();
    let places = if args.out.is_none() { places(declared) } else { Vec::new() };
    let mut wanted: Vec<What> = named.iter().copied().map(What::Code).collect();
    if args.vectors {
        wanted.push(What::Vectors);
    }
    if wanted.is_empty() {
        wanted = places.iter().map(|(what, _)| *what).collect();
    }
    if wanted.is_empty() {
        let message = format!("`{}` does not declare what to generate", path.display());
        return Err(Failure::new(message)
            .help("name the languages: `keyward generate --lang python --out src/keys`")
            .help("or declare them, such as `[generate.python]` with `out = \"src/keys\"`: then `keyward generate` and `keyward generate --check` need no options"));
    }
    if args.spring && !wanted.contains(&What::Code(Language::Java)) {
        return Err(Failure::new("`--spring` requires Java, which is not generated")
            .help("add `--lang java`"));
    }
    let apart = wanted.iter().filter(|what| matches!(what, What::Code(_))).count() > 1;
    let beside = path.parent().unwrap_or(Path::new(""));
    let settings = settings(args, declared);
    let target = |what: What| {
        let place = places.iter().find(|(it, _)| *it == what);
        let within = match what {
            What::Code(language) if apart && place.is_none() => Some(language.name()),
            _ => None,
        };
        let folder = match (place, &args.out) {
            (Some((_, out)), _) => below(beside, out)?,
            (None, Some(out)) => out.clone(),
            (None, None) => PathBuf::from(FOLDER),
        };
        Ok(Target { what, folder, below: within, settings: settings.clone() })
    };
    wanted.into_iter().map(target).collect()
}

/// A folder that the schema declares, unless a symbolic link leads it away from the schema's.
fn below(schema: &Path, out: &str) -> Result<PathBuf> {
    let folder = schema.join(out);
    let top = if schema.as_os_str().is_empty() { Path::new(".") } else { schema };
    let there = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    match (top.canonicalize(), there) {
        (Ok(top), Some(there)) if !there.starts_with(&top) => {
            let shown = folder.display();
            Err(Failure::new(format!("`{shown}` leads out of the folder of the schema"))
                .help("remove the symbolic link, or choose the folder with `--out`"))
        }
        _ => Ok(folder),
    }
}

/// The folders that the schema declares.
fn places(declared: &model::Generate) -> Vec<(What, &str)> {
    [
        (What::Code(Language::Rust), declared.rust.as_ref().map(|it| &it.out)),
        (What::Code(Language::TypeScript), declared.typescript.as_ref()),
        (What::Code(Language::Python), declared.python.as_ref()),
        (What::Code(Language::Java), declared.java.as_ref().map(|it| &it.out)),
        (What::Code(Language::Go), declared.go.as_ref()),
        (What::Vectors, declared.vectors.as_ref()),
    ]
    .into_iter()
    .filter_map(|(what, out)| Some((what, out?.as_str())))
    .collect()
}

/// An option wins over what the schema declares.
fn settings(args: &Generate, declared: &model::Generate) -> Settings {
    let (java, rust) = (declared.java.as_ref(), declared.rust.as_ref());
    let package = || java.and_then(|java| java.package.clone());
    let values = || rust.and_then(|rust| rust.values.clone());
    Settings {
        java_package: args.java_package.clone().or_else(package),
        rust_values: args.rust_values.clone().or_else(values),
        spring: args.spring || java.is_some_and(|java| java.spring),
    }
}
