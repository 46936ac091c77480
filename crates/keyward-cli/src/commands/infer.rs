//! `keyward infer`: draft a schema from the keys that are there.

mod sources;

pub(super) use sources::read;

use super::audit::live_options;
use crate::args::Infer as Args;
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::Output;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_audit::Collected;
use keyward_audit::live::is_url;
use keyward_fact::thousands;
use keyward_infer::{Draft, Options};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Args, settings: &Settings, output: &Output) -> Result<Verdict> {
    keep_apart(args)?;
    let before = args.merge.as_deref().map(read_schema).transpose()?;
    if args.live.resume.is_some() {
        return Err(Failure::new("`--resume` does not work with `infer`")
            .help("a draft is made from one whole pass: remove it"));
    }
    let is_server = |source: &OsString| source.to_str().is_some_and(is_url);
    if let Some(option) = args.live.given().next()
        && !args.sources.iter().any(is_server)
    {
        let failure = Failure::new(format!("`{option}` applies to servers only"));
        return Err(failure.help("remove it, or name a server: `redis://host:6379`"));
    }
    let collected = read(&args.sources, || live_options(&args.live), settings, output)?;
    let mut draft = draft(&collected, &args.sources, &options(args))?;
    draft.show_keys = args.show_keys;
    let name = name(&args.sources);
    let mut is_whole = true;
    match (&args.out, &args.merge, before) {
        (_, Some(path), Some(text)) => {
            let merged = keyward_infer::merge_into(path, &text, &draft).map_err(|why| {
                Failure::new(format!("cannot merge into `{}`: {why}", path.display()))
                    .help("`keyward check` shows what is wrong with it")
            })?;
            if merged.text != text {
                files::replace(path, &merged.text)?;
            }
            for pattern in &merged.refused {
                output
                    .note(format_args!("`{pattern}` was not added: it contradicts a definition"))?;
            }
            for pattern in &merged.outside {
                output.note(format_args!(
                    "`{pattern}` was not added: it is outside the prefix `{}`; declare such keys in a schema of their own",
                    merged.prefix
                ))?;
            }
            is_whole = merged.refused.is_empty() && merged.outside.is_empty();
            for id in &merged.vanished {
                output.note(format_args!("`{id}` has no key in this data: it was kept"))?;
            }
            for id in &merged.software {
                output.note(format_args!("added `[foreign.{id}]`"))?;
            }
            output.summary(format_args!(
                "{} of {} definitions are new in {}",
                merged.added.len(),
                draft.definitions.len(),
                path.display()
            ))?;
        }
        (Some(path), ..) => {
            files::create(path, &keyward_infer::write(&draft, &name), false)?;
            output.summary(format_args!("wrote {}", path.display()))?;
        }
        _ => output.print(keyward_infer::write(&draft, &name))?,
    }
    tell(&draft, output)?;
    Ok(Verdict::of(draft.rest.keys > 0 || !is_whole))
}

/// Refuses to write to what is there, or is read.
fn keep_apart(args: &Args) -> Result<()> {
    let inputs = args.sources.iter().map(Path::new);
    let outputs = [("--out", args.out.as_deref()), ("--merge", args.merge.as_deref())];
    files::keep_apart(inputs, &outputs)?;
    let Some(there) = args.out.as_deref().filter(|path| path.exists()) else { return Ok(()) };
    let failure = Failure::new(format!("`{}` already exists", there.display()));
    Err(failure.help("`--merge` adds what is new to it, `--out` writes to another file"))
}

fn read_schema(path: &Path) -> Result<String> {
    /// As long as the longest schema.
    const MOST: u64 = 16 * 1024 * 1024;
    let bytes = files::read_file(path, MOST)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(format!("cannot read `{}`: it is not UTF-8 text", path.display()))
    })
}

fn options(args: &Args) -> Options {
    let options = Options::default();
    if args.no_foreign { options.without_foreign() } else { options }
}

/// A draft of what was read.
pub(super) fn draft(
    collected: &Collected,
    sources: &[OsString],
    options: &Options,
) -> Result<Draft> {
    if collected.sketch.keys() == 0 {
        let several = sources.len() > 1;
        let what = if several { "the sources have" } else { "the source has" };
        return Err(Failure::new(format!("nothing to infer from: {what} no keys"))
            .help("`keyward init` writes a schema to start from"));
    }
    let mut draft = keyward_infer::infer(&collected.sketch, options);
    draft.notes.extend(collected.notes.iter().map(|note| format!("Note: {note}.")));
    if collected.values_unread {
        draft.notes.push(
            "Values were not read: that would mark keys as used on a server that evicts by use. Infer from a snapshot \
             (`--via snapshot`, or an RDB file) to get fields, members and bounds."
                .to_owned(),
        );
    }
    Ok(draft)
}

/// The name of a keyspace, from its only source.
pub(super) fn name(sources: &[OsString]) -> String {
    let [source] = sources else { return "keyspace".to_owned() };
    let text = source.to_string_lossy();
    if is_url(&text) || text == "-" {
        return "keyspace".to_owned();
    }
    let stem = PathBuf::from(source).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_part = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let name: String = stem.unwrap_or_default().chars().filter(is_part).collect();
    if name.is_empty() { "keyspace".to_owned() } else { name.to_lowercase() }
}

/// Says what was found, and what was not, on standard error.
pub(super) fn tell(draft: &Draft, output: &Output) -> Result<()> {
    let foreign: u64 = draft.foreign.iter().map(|it| it.keys).sum();
    let mut text = format!(
        "{} definitions for {} keys",
        thousands(draft.definitions.len() as u64),
        thousands(draft.keys)
    );
    if foreign > 0 {
        text.push_str(&format!(", {} of other software", thousands(foreign)));
    }
    output.note(text)?;
    for (why, keys) in &draft.rest.why {
        output.note(format_args!("{} without a definition: {why}", thousands(*keys)))?;
    }
    Ok(())
}
