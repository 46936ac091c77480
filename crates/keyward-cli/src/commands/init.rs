//! `keyward init`: a schema to start from, and what an editor needs to help with it.

use super::{connect, infer};
use crate::args::{Connect, Init};
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{CODE, Output};
use crate::settings::{SCHEMA_FILE, Settings};
use crate::verdict::Verdict;
use keyward_audit::live::is_url;
use keyward_schema::{json_schema, starter};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The name that the starter gives to it.
const JSON_SCHEMA_FILE: &str = "keyward.schema.json";

pub(crate) fn run(args: &Init, settings: &Settings, output: &Output) -> Result<Verdict> {
    let (source, folder) = match &args.place {
        Some(place) if is_source(place) => (Some(place), args.folder.as_deref()),
        Some(_) if args.folder.is_some() => {
            return Err(Failure::new("`keyward init` takes one folder")
                .help("to draft a schema, name a server or a snapshot first: `keyward init redis://host DIR`"));
        }
        place => (None, place.as_ref().map(Path::new)),
    };
    let folder = folder.unwrap_or(Path::new(""));
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    let paths = [SCHEMA_FILE, JSON_SCHEMA_FILE].map(|name| folder.join(name));
    if let Some(there) = paths.iter().find(|path| path.exists() && !args.force) {
        return Err(Failure::new(format!("`{}` already exists", there.display()))
            .help("`--force` overwrites it, `keyward init DIR` writes elsewhere"));
    }
    let drafted = source.map(|source| draft(source, args, settings, output)).transpose()?;
    if !folder.as_os_str().is_empty() {
        fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    }
    let contents = [drafted.unwrap_or_else(starter), format!("{:#}\n", json_schema())];
    for (path, content) in paths.iter().zip(&contents) {
        files::create(path, content, args.force)?;
        output.summary(format_args!("wrote {}", path.display()))?;
    }
    let schema = &paths[0];
    if let Some(source) = source {
        return first_report(source, schema, args, output);
    }
    let check = named("keyward check", schema, folder);
    output.summary(format_args!(
        "\nNext: replace the sample keys by your own, one `[keys.*]` table each, and prove them \
         sound:\n\n  {}",
        CODE.on(check),
    ))?;
    Ok(Verdict::Clean)
}

/// Whether keys can be read from it: a server, or a file that is not a schema.
fn is_source(place: &OsString) -> bool {
    let path = Path::new(place);
    let is_schema = path.extension().is_some_and(|extension| extension == "toml");
    place.to_str().is_some_and(is_url) || path.is_file() && !is_schema
}

fn draft(source: &OsString, args: &Init, settings: &Settings, output: &Output) -> Result<String> {
    let sources = std::slice::from_ref(source);
    let collected = infer::read(sources, || connect::options(&args.connect), settings, output)?;
    let draft = infer::draft(&collected, sources, &keyward_infer::Options::default())?;
    infer::tell(&draft, output)?;
    Ok(keyward_infer::write(&draft, &infer::name(sources)))
}

/// Checks what was drafted, audits the source against it, and says what to do next.
fn first_report(source: &OsString, schema: &Path, args: &Init, output: &Output) -> Result<Verdict> {
    let run = |words: Vec<OsString>| {
        let mut all: Vec<OsString> = ["keyward"].map(OsString::from).into();
        all.extend(words);
        all.extend(["--schema".into(), schema.as_os_str().to_owned()]);
        super::run(all.into_iter())
    };
    output.summary("")?;
    let checked = run(["check", "--set", "minimal"].map(OsString::from).into())?;
    if checked != Verdict::Clean {
        return Ok(checked);
    }
    output.summary("")?;
    let mut words: Vec<OsString> = vec!["audit".into(), source.clone()];
    words.extend(connection(&args.connect));
    let audited = run(words)?;
    let audit = format!("keyward audit {}", shown(source));
    output.summary(format_args!(
        "\nNext:\n\
         1. Read {}: give each definition a `doc` and an `owner`, and tighten what is too wide.\n\
         2. Commit it, and let CI run {} and, against a snapshot or a replica, {}.\n\
         3. When the keyspace has grown: {}.",
        schema.display(),
        // The sets above it ask for what nobody can see in keys.
        CODE.on("keyward check --set minimal"),
        CODE.on(audit),
        CODE.on(format!("keyward infer {} --merge {}", shown(source), schema.display())),
    ))?;
    Ok(audited)
}

/// The options of a connection as they were typed.
fn connection(connect: &Connect) -> Vec<OsString> {
    let paths: [(&str, &Option<PathBuf>); 4] = [
        ("--password-file", &connect.password_file),
        ("--tls-ca", &connect.tls_ca),
        ("--tls-cert", &connect.tls_cert),
        ("--tls-key", &connect.tls_key),
    ];
    let mut words: Vec<OsString> = Vec::new();
    for (option, path) in paths {
        if let Some(path) = path {
            words.extend([option.into(), path.as_os_str().to_owned()]);
        }
    }
    if let Some(user) = &connect.user {
        words.extend(["--user".into(), user.into()]);
    }
    words
}

/// A source as it may be shown.
fn shown(source: &OsString) -> String {
    match source.to_str().filter(|text| is_url(text)) {
        Some(url) => keyward_audit::live::shown(url),
        None => Path::new(source).display().to_string(),
    }
}

fn named(command: &str, schema: &Path, folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        command.to_owned()
    } else {
        format!("{command} {}", schema.display())
    }
}
