//! `keyward fmt`: one way to lay out a schema.

use crate::args::Fmt;
use crate::failure::{Failure, Result};
use crate::files;
use crate::output::{BAD, DIM, GOOD, Output};
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
        match text.and_then(|text| format(&text, args, output)) {
            Ok(true) => changed += 1,
            Ok(false) => unchanged += 1,
            Err(failure) => {
                failure.tell();
                failed = true;
            }
        }
    }
    if args.paths != [Path::new("-")] && changed + unchanged > 0 {
        output.note(summary(args, changed, unchanged))?;
    }
    if failed {
        return Ok(Verdict::Unusable);
    }
    Ok(Verdict::of(changed > 0 && (args.check || args.diff)))
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
fn texts(args: &Fmt, settings: &Settings, output: &Output) -> Result<Vec<Result<Text>>> {
    let mut texts = Vec::new();
    if args.paths.is_empty() {
        for path in settings.schemas(&[])? {
            texts.extend(files_of(&path, usize::MAX, output));
        }
    }
    for path in &args.paths {
        if path == Path::new("-") {
            texts.push(standard_input().map(|content| Text { path: None, content }));
        } else {
            texts.extend(files_of(path, 1, output));
        }
    }
    Ok(texts)
}

/// A schema's files, the first of which was named.
fn files_of(path: &Path, most: usize, output: &Output) -> Vec<Result<Text>> {
    let loaded = load(path);
    let files = loaded.sources.iter().take(most).map(|(_, source)| {
        Ok(Text { path: Some(source.path.clone()), content: source.text.clone() })
    });
    let files: Vec<_> = files.collect();
    match loaded.schema {
        Err(errors) if files.is_empty() => {
            let text = render(&loaded.sources, &errors, output.style());
            vec![Err(Failure::rendered(text))]
        }
        _ => files,
    }
}

fn standard_input() -> Result<String> {
    let failed = |error: &io::Error| Failure::file("read", Path::new("<stdin>"), error);
    let mut bytes = Vec::new();
    io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::new("standard input is too large for a schema")
            .help("a schema may have at most 16 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("standard input is not UTF-8 text: byte {at}"))
            .help("a schema is a TOML file")
    })
}

/// Does what was asked for with one text, and says whether its layout differs.
fn format(text: &Text, args: &Fmt, output: &Output) -> Result<bool> {
    let formatted = keyward_schema::format(&text.content).map_err(|errors| {
        let mut sources = Sources::default();
        sources.add(text.name().to_owned(), text.content.clone());
        Failure::rendered(render(&sources, &errors, output.style()))
    })?;
    let differs = formatted != text.content;
    let name = text.name().display();
    match &text.path {
        _ if args.diff => output.print(difference(text, &formatted))?,
        _ if args.check && differs => output.print(format_args!("would reformat {name}\n"))?,
        _ if args.check => {}
        None => output.print(formatted)?,
        Some(path) if differs => {
            files::replace(path, &formatted)?;
            output.note(format_args!("reformatted {name}"))?;
        }
        Some(_) => {}
    }
    Ok(differs)
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
        (0, _) => format!("{} already formatted", counted(unchanged, "file")),
        (_, 0) => format!("{} {verb}", counted(changed, "file")),
        _ => format!("{} {verb}, {unchanged} already formatted", counted(changed, "file")),
    }
}
