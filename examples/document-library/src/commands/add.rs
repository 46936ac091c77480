//! `library add`

use super::{Ended, count, is_fatal, message};
use crate::args;
use anyhow::Context as _;
use document_library::file::{self, FileError};
use document_library::import::{self, Change, Desired, Outcome};
use document_library::server::Library;
use futures_util::StreamExt as _;
use futures_util::stream;
use indicatif::{ProgressBar, ProgressStyle};
use keyward_fact::visible;
use std::io::{IsTerminal as _, Write as _, stderr, stdout};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::SystemTime;

pub async fn run(library: Library, args: args::Add) -> anyhow::Result<Ended> {
    let files = file::find(&args.paths);
    let jobs = args.jobs.or(available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let bar = bar(files.len());
    let dry_run = args.dry_run;
    let mut tally = Tally::default();
    let mut work = stream::iter(files)
        .map(|file| {
            let library = library.clone();
            // A task of its own, so that several processors parse.
            let task = tokio::spawn(async move { one(&library, file?, dry_run).await });
            async move { task.await.context("an import panicked")? }
        })
        .buffer_unordered(jobs);
    while let Some(done) = work.next().await {
        bar.inc(1);
        match done {
            Ok((path, outcome)) => {
                tally.note(&outcome);
                if !args.quiet {
                    let line = line(&outcome, &path, dry_run);
                    bar.suspend(|| writeln!(stdout(), "{line}"))?;
                }
            }
            Err(error) if is_fatal(&error) => {
                bar.finish_and_clear();
                return Err(error.context(tally.stopped()));
            }
            Err(error) => {
                tally.failed += 1;
                bar.suspend(|| writeln!(stderr(), "error: {}", message(&error)))?;
            }
        }
    }
    bar.finish_and_clear();
    writeln!(stdout(), "{}", tally.summary(dry_run))?;
    if tally.total() == 0 && tally.failed == 0 {
        anyhow::bail!(
            "no Markdown file is there: give a file, or a folder with files that end in .md or .markdown"
        );
    }
    Ok(if tally.failed > 0 { Ended::Input } else { Ended::Well })
}

/// Adds one file, or says what would become of it.
async fn one(
    library: &Library,
    path: PathBuf,
    dry_run: bool,
) -> anyhow::Result<(PathBuf, Outcome)> {
    let name = path.to_str().ok_or_else(|| FileError::Path(path.clone()))?;
    let text = tokio::task::block_in_place(|| file::read(&path))?;
    let desired = tokio::task::block_in_place(|| Desired::new(name, &text, SystemTime::now()))?;
    let outcome = if dry_run {
        import::preview(library, &desired).await?
    } else {
        import::add(library, &desired).await.with_context(|| name.to_owned())?
    };
    Ok((path, outcome))
}

fn line(outcome: &Outcome, path: &Path, dry_run: bool) -> String {
    let Outcome { document, elements, change } = outcome;
    let elements = count(*elements, "element");
    let what = match change {
        Change::Unchanged => format!("unchanged  {document}  {elements}"),
        Change::Added if dry_run => format!("would add  {document}  {elements}"),
        Change::Added => format!("added      {document}  {elements}"),
        Change::Updated { added, removed } => {
            let word = if dry_run { "would update" } else { "updated    " };
            format!("{word}  {document}  {elements}, {added} new, {removed} gone")
        }
    };
    format!("{what}  {}", visible(&path.display().to_string()))
}

#[derive(Default)]
struct Tally {
    added: usize,
    updated: usize,
    unchanged: usize,
    failed: usize,
    elements: usize,
}

impl Tally {
    fn note(&mut self, outcome: &Outcome) {
        match outcome.change {
            Change::Added => self.added += 1,
            Change::Updated { .. } => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
        }
        self.elements += outcome.elements;
    }

    fn total(&self) -> usize {
        self.added + self.updated + self.unchanged
    }

    /// What to say where nothing more can be added.
    fn stopped(&self) -> String {
        let done = count(self.total(), "document");
        format!(
            "stopped after {done}; others may be written in part: running this again completes them"
        )
    }

    fn summary(&self, dry_run: bool) -> String {
        let Tally { added, updated, unchanged, failed, elements } = self;
        let (added, would) = (count(*added, "document"), if dry_run { "would be " } else { "" });
        let elements = count(*elements, "element");
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!(
            "{added} {would}added, {updated} {would}updated, {unchanged} unchanged{failed}; {elements}"
        )
    }
}

/// On a terminal, how far it is.
fn bar(files: usize) -> ProgressBar {
    if files < 2 || !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(files as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos} of {len} files, {eta} left") {
        bar.set_style(style);
    }
    bar
}
