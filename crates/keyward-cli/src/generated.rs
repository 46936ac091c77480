//! What was generated, and a folder: writes the difference, or only reports it.

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
    if !target.check {
        plan.apply().map_err(|error| Failure::file("write to", target.folder, &error))?;
    }
    for (change, path) in plan.changes() {
        let path = target.folder.join(path);
        let (would, did) = match change {
            Change::Create => ("create", "created"),
            Change::Update => ("update", "updated"),
            Change::Remove => ("remove", "removed"),
        };
        if target.check {
            output.print(format_args!("would {would} {}\n", path.display()))?;
        } else {
            output.note(format_args!("{did} {}", path.display()))?;
        }
    }
    for path in plan.left() {
        output.note(format_args!(
            "kept {}: it is no longer generated, but Keyward did not write it as it is now",
            target.folder.join(path).display()
        ))?;
    }
    let changed = plan.changes().count();
    let verb = if target.check { "would change" } else { "changed" };
    output.note(match (changed, plan.unchanged()) {
        (0, unchanged) => format!("{} up to date", counted(unchanged, "file")),
        (_, 0) => format!("{} {verb}", counted(changed, "file")),
        (_, unchanged) => format!("{} {verb}, {unchanged} up to date", counted(changed, "file")),
    })?;
    Ok(Verdict::of(target.check && changed > 0))
}

/// Writes templates to a folder, for the user to change.
pub(crate) fn eject<'t>(
    target: &Target<'_>,
    templates: impl Iterator<Item = (&'t str, &'t str)>,
    output: &Output,
) -> Result<Verdict> {
    let mut files = Files::new("templates");
    for (name, text) in templates {
        files.add(format!("{name}.j2"), text);
    }
    settle(target, &[files], output)
}

fn refused(error: PlanError) -> Failure {
    match error {
        PlanError::Foreign(_) => Failure::new(error.to_string())
            .help("move it, choose another `--out`, or overwrite it with `--force`"),
        PlanError::Twice(_) => Failure::new(error.to_string())
            .help("give the keyspaces different names, or choose a folder for each"),
        PlanError::Link(_) => {
            Failure::new(error.to_string()).help("remove the link, or choose another `--out`")
        }
        PlanError::Read(path, error) => Failure::file("read", &path, &error),
        error => Failure::new(error.to_string()),
    }
}

/// A template that cannot be used.
pub(crate) fn unusable(error: &TemplateError) -> Failure {
    match error {
        TemplateError::Read(path, cause) => Failure::file("read", path, cause),
        TemplateError::Template(_) => Failure::new(error.to_string())
            .help("`{{ debug() }}` in a template shows everything that it can use"),
        _ => {
            let failure = Failure::new(error.to_string());
            error.help().into_iter().fold(failure, Failure::help)
        }
    }
}
