//! `keyward docs`: the reference documentation of a keyspace.

use super::key::{bound, quoted};
use crate::args::{Docs, DocsFormat, DocsLocale};
use crate::failure::{Failure, Result};
use crate::generated::{Target, eject, settle, unusable};
use crate::output::Output;
use crate::schemas::Schemas;
use crate::settings::{SCHEMA_FILE, Settings};
use crate::verdict::Verdict;
use keyward_codegen::Files;
use keyward_docs::{Format, Locale, Options, TEMPLATES, generate};
use keyward_schema::Schema;
use std::path::{Component, Path, PathBuf};

/// Where documentation goes that nobody gave a place.
const FOLDER: &str = "docs/keyspace";

pub(crate) fn run(args: &Docs, settings: &Settings, output: &Output) -> Result<Verdict> {
    if let Some(folder) = &args.eject {
        let target = Target { folder, check: args.check, force: args.force };
        return eject(&target, TEMPLATES.into_iter(), output);
    }
    let paths = settings.schemas(&[])?;
    let schemas = Schemas::open(paths.clone()).usable(output)?;
    args.selection.check(&schemas)?;
    let keyspaces = bound(&schemas, &args.prefix.bindings)?;
    let folder = match &args.out {
        Some(out) => out.clone(),
        None => beside(&paths[0]).join(FOLDER),
    };
    let mut all = Files::new("docs");
    for ((path, schema), keyspace) in paths.iter().zip(&schemas).zip(&keyspaces) {
        let below = match schemas.len() {
            1 => None,
            _ => Some(folder_name(&schema.keyspace.name)),
        };
        let own = below.as_ref().map_or_else(|| folder.clone(), |below| folder.join(below));
        for (name, text) in generated(args, path, &own, schema, keyspace)?.iter() {
            let name = below.as_ref().map_or(name.to_owned(), |below| format!("{below}/{name}"));
            if all.get(&name).is_some() {
                return Err(Failure::new(format!("two schemas would write `{name}`"))
                    .help("give their keyspaces different names, or document them one at a time"));
            }
            all.add(name, text);
        }
    }
    settle(&Target { folder: &folder, check: args.check, force: args.force }, &[all], output)
}

/// The documentation of one schema.
fn generated(
    args: &Docs,
    path: &Path,
    folder: &Path,
    schema: &Schema,
    keyspace: &keyward_pattern::Keyspace,
) -> Result<Files> {
    let takes = |number: &usize| args.selection.takes(&schema.keys[*number]);
    let selected: Vec<usize> = (0..schema.keys.len()).filter(takes).collect();
    if schema.keys.is_empty() {
        return Err(Failure::new(format!("`{}` declares no keys", path.display()))
            .help("there is nothing to document yet"));
    }
    if selected.is_empty() {
        return Err(Failure::new("no definition matches all of these options")
            .help("use `--group`, `--lifecycle` or `--owner` alone"));
    }
    let selection = selection(args);
    let file = path.file_name().map_or(SCHEMA_FILE.into(), |name| name.to_string_lossy());
    let options = Options {
        locale: locale(args.locale),
        formats: &formats(args),
        templates: args.template.as_deref(),
        selected: (!selection.is_empty()).then_some(&selected),
        selection: (!selection.is_empty()).then_some(&selection),
        bound: Some(keyspace),
        source: &file,
        command: &command(args, path, folder, &selection),
    };
    generate(schema, &options).map_err(|error| unusable(&error))
}

fn formats(args: &Docs) -> Vec<Format> {
    let format = |format: &DocsFormat| match format {
        DocsFormat::Markdown => Format::Markdown,
        DocsFormat::Html => Format::Html,
    };
    args.format.iter().map(format).collect()
}

fn locale(locale: DocsLocale) -> Locale {
    match locale {
        DocsLocale::En => Locale::En,
        DocsLocale::De => Locale::De,
        DocsLocale::Zh => Locale::Zh,
        DocsLocale::Id => Locale::Id,
    }
}

/// What selects, as it is typed.
fn selection(args: &Docs) -> String {
    let named = |option: &str, names: &[String]| -> Vec<String> {
        names.iter().map(|name| format!("--{option} {}", quoted(name))).collect()
    };
    let lifecycles: Vec<String> =
        args.selection.lifecycles.iter().map(|it| it.name().to_owned()).collect();
    [
        named("group", &args.selection.groups),
        named("lifecycle", &lifecycles),
        named("owner", &args.selection.owners),
    ]
    .concat()
    .join(" ")
}

/// The command that writes the same again, from the schema's folder: the same words wherever it is
/// run now.
fn command(args: &Docs, schema: &Path, folder: &Path, selection: &str) -> String {
    let from = beside(schema);
    let mut words = vec!["keyward docs".to_owned()];
    let name = schema.file_name().unwrap_or_default();
    if name != SCHEMA_FILE {
        words.push(format!("--schema {}", quoted(&name.to_string_lossy())));
    }
    let out = relative(&from, folder);
    if out != Path::new(FOLDER) {
        words.push(format!("--out {}", quoted(&out.to_string_lossy())));
    }
    if formats(args) != Format::ALL {
        let names: Vec<&str> = args
            .format
            .iter()
            .map(|it| match it {
                DocsFormat::Markdown => "markdown",
                DocsFormat::Html => "html",
            })
            .collect();
        words.push(format!("--format {}", names.join(",")));
    }
    if args.locale != DocsLocale::En {
        words.push(format!("--locale {}", locale(args.locale).name()));
    }
    if let Some(template) = &args.template {
        let template = relative(&from, template);
        words.push(format!("--template {}", quoted(&template.to_string_lossy())));
    }
    if !selection.is_empty() {
        words.push(selection.to_owned());
    }
    for binding in &args.prefix.bindings {
        let binding = format!("{}={}", binding.param, binding.value);
        words.push(format!("--bind {}", quoted(&binding)));
    }
    words.join(" ")
}

/// A keyspace's name as that of a folder: it may be any text, and must not lead elsewhere.
fn folder_name(name: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_');
    name.chars().map(|char| if plain(char) { char } else { '-' }).collect()
}

/// The folder of a file.
fn beside(file: &Path) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.strip_prefix(".").unwrap_or(folder).to_owned()
}

/// The way from one folder to a path.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (normal(from), normal(to));
    let same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(same).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(same)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

/// A path from the root, without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let whole = if path.as_os_str().is_empty() {
        std::env::current_dir().unwrap_or_default()
    } else {
        whole
    };
    let mut normal = PathBuf::new();
    for component in whole.components() {
        match component {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}
