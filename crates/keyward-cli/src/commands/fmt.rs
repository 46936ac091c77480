//! `keyward fmt`: one way to lay out a schema.

use crate::args::Fmt;
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{self, BAD, DIM, GOOD, Output};
use crate::report::counted;
use crate::settings::Settings;
use crate::verdict::Verdict;
use keyward_schema::{MAX_BYTES, Sources, load, render};
use similar::TextDiff;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to look for the shortest difference; after that, any will do.
const DIFF_PATIENCE: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &Fmt, settings: &Settings, output: &Output) -> Result<Verdict> {
    let mut changed = 0;
    let mut unchanged = 0;
    let mut failed = false;
    for text in texts(args, settings, output)? {
        let Some(formatted) = format(&text, output)? else {
            failed = true;
            continue;
        };
        if formatted == text.content {
            unchanged += 1;
        } else {
            changed += 1;
        }
        apply(args, &text, &formatted, output)?;
    }
    if !(args.paths.len() == 1 && is_dash(&args.paths[0])) {
        output.note(summary(args, changed, unchanged))?;
    }
    Ok(match () {
        () if failed => Verdict::Unusable,
        () => Verdict::of(changed > 0 && (args.check || args.diff)),
    })
}

/// A file, or standard input.
struct Text {
    path: Option<PathBuf>,
    content: String,
}

impl Text {
    fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("<stdin>"))
    }
}

/// What is to be formatted: the files that were named, or the schema with all its files.
fn texts(args: &Fmt, settings: &Settings, output: &Output) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    if args.paths.is_empty() {
        for path in settings.schemas(&[])? {
            texts.extend(files_of(&path, usize::MAX, output)?);
        }
    }
    for path in &args.paths {
        if is_dash(path) {
            texts.push(Text { path: None, content: standard_input()? });
        } else {
            texts.extend(files_of(path, 1, output)?);
        }
    }
    Ok(texts)
}

/// A schema's files, the first of which was named.
fn files_of(path: &Path, most: usize, output: &Output) -> Result<Vec<Text>> {
    let loaded = load(path);
    if let (None, Err(errors)) = (loaded.sources.iter().next(), &loaded.schema) {
        return Err(Failure::rendered(render(&loaded.sources, errors, output.style())));
    }
    let files = loaded.sources.iter().take(most);
    Ok(files
        .map(|(_, source)| Text { path: Some(source.path.clone()), content: source.text.clone() })
        .collect())
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

fn standard_input() -> Result<String> {
    let failed = |error: &io::Error| Failure::file("read", Path::new("<stdin>"), error);
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new("standard input is too large for a schema")
            .help("a schema may have 16 MiB in all"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("standard input is not UTF-8 text: byte {at}"))
            .help("a schema is a TOML file")
    })
}

/// The text in its layout; `None` if it has errors, which are told.
fn format(text: &Text, output: &Output) -> Result<Option<String>> {
    match keyward_schema::format(&text.content) {
        Ok(formatted) => Ok(Some(formatted)),
        Err(errors) => {
            let mut sources = Sources::default();
            sources.add(text.name().to_owned(), text.content.clone());
            output::complain(render(&sources, &errors, output.style()))?;
            Ok(None)
        }
    }
}

fn apply(args: &Fmt, text: &Text, formatted: &str, output: &Output) -> Result<()> {
    let same = formatted == text.content;
    let name = text.name().display();
    if args.diff {
        return Ok(output.print(difference(text, formatted))?);
    }
    match &text.path {
        _ if args.check && same => {}
        _ if args.check => output.print(format_args!("would reformat {name}\n"))?,
        None => output.print(formatted)?,
        Some(_) if same => {}
        Some(path) => {
            files::replace(path, formatted)?;
            output.note(format_args!("reformatted {name}"))?;
        }
    }
    Ok(())
}

fn difference(text: &Text, formatted: &str) -> String {
    let name = text.name().display().to_string();
    let mut config = TextDiff::configure();
    let diff = config.timeout(DIFF_PATIENCE).diff_lines(text.content.as_str(), formatted);
    let unified = diff.unified_diff().header(&name, &name).to_string();
    let lines = unified.split_inclusive('\n').map(|line| match line.as_bytes() {
        [b'+', ..] => GOOD.on(line),
        [b'-', ..] => BAD.on(line),
        [b'@', ..] => DIM.on(line),
        _ => line.to_owned(),
    });
    lines.collect()
}

fn summary(args: &Fmt, changed: usize, unchanged: usize) -> String {
    let verb = if args.check || args.diff { "would change" } else { "changed" };
    match (changed, unchanged) {
        (0, 0) => "nothing was formatted".to_owned(),
        (0, _) => format!("{} already formatted", counted(unchanged, "file")),
        (_, 0) => format!("{} {verb}", counted(changed, "file")),
        _ => format!("{} {verb}, {unchanged} already formatted", counted(changed, "file")),
    }
}
