//! What was generated, and a folder: writes the difference, or only tells it.

use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::report::counted;
use crate::verdict::Verdict;
use keyward_codegen::{Change, Files, Plan, PlanError, TemplateError};
use std::path::Path;

/// Where generated files go.
pub(crate) struct Target<'a> {
    pub(crate) folder: &'a Path,
    /// Write nothing; only say what would change
    pub(crate) check: bool,
    /// Overwrite what Keyward did not write
    pub(crate) force: bool,
}

/// Makes the folder hold what was generated.
pub(crate) fn settle(target: &Target<'_>, generated: &[Files], output: &Output) -> Result<Verdict> {
    let plan = Plan::new(target.folder, generated, target.force).map_err(refused)?;
    let mut counts = [0; 3];
    for (change, path) in plan.changes() {
        let (at, done, due) = match change {
            Change::Create => (0, "created", "would create"),
            Change::Update => (1, "updated", "would update"),
            Change::Remove => (2, "removed", "would remove"),
        };
        counts[at] += 1;
        let path = target.folder.join(path);
        if target.check {
            output.print(format_args!("{due} {}\n", path.display()))?;
        } else {
            output.detail(format_args!("{done} {}", path.display()))?;
        }
    }
    let files: usize = generated.iter().map(|files| files.iter().count()).sum();
    if target.check {
        if plan.is_empty() {
            output.note(format_args!("{} up to date", counted(files, "file")))?;
        } else {
            output.note("out of date: run it again without `--check`")?;
        }
        return Ok(Verdict::of(!plan.is_empty()));
    }
    plan.apply().map_err(|error| Failure::file("write to", target.folder, &error))?;
    output.note(summary(counts, files, target.folder))?;
    Ok(Verdict::Clean)
}

fn summary([created, updated, removed]: [usize; 3], files: usize, folder: &Path) -> String {
    let unchanged = files - created - updated;
    let counts = [
        (created, "created"),
        (updated, "updated"),
        (removed, "removed"),
        (unchanged, "unchanged"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    format!("{} in {}: {}", counted(files, "file"), folder.display(), counts.join(", "))
}

fn refused(error: PlanError) -> Failure {
    match error {
        PlanError::Foreign(_) => Failure::new(error.to_string())
            .help("move it away, choose another `--out`, or overwrite it with `--force`"),
        PlanError::Twice(_) => Failure::new(error.to_string())
            .help("give the keyspaces different names, or choose a folder for each"),
        PlanError::Read(path, error) => Failure::file("read", &path, &error),
        error => Failure::new(error.to_string()),
    }
}

/// A template that cannot be used.
pub(crate) fn unusable(error: &TemplateError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}
