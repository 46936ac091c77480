//! `keyward man`: manual pages, from the same definitions as the help.

use crate::args::Args;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::report::counted;
use crate::verdict::Verdict;
use clap::CommandFactory as _;
use std::fs;
use std::path::Path;

pub(crate) fn run(folder: &Path, output: &Output) -> Result<Verdict> {
    let failed = |error| Failure::file("write", folder, &error);
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed)?;
    let pages = fs::read_dir(folder).map_err(failed)?.count();
    output.note(format_args!("wrote {} to `{}`", counted(pages, "page"), folder.display()))?;
    Ok(Verdict::Clean)
}
