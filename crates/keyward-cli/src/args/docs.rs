//! `docs`

use super::{Prefix, Selection};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Write the reference documentation of a keyspace
///
/// A Markdown file for the repository and an HTML page that needs nothing else: every definition with
/// its pattern, type, TTL, fields and what invalidates it, lifecycles, events, server settings, globs,
/// layout and former names. Files that are up to date are not touched, and files that Keyward did not
/// write are neither overwritten nor removed.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward docs                               docs/keyspace, beside the schema
  keyward docs --out site --format html
  keyward docs --locale de                   headings in German; your own texts stay as they are
  keyward docs --check                       write nothing, exit 1 if something is out of date
  keyward docs --lifecycle cache             a part of the keyspace
  keyward docs --template templates/docs     your own keyspace.md.j2, index.html.j2, style.css.j2

Exit codes: 0 written or up to date, 1 `--check` found a difference, 2 a schema or template that \
cannot be used")]
pub(crate) struct Docs {
    /// The folder to write to [default: docs/keyspace, beside the schema]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "markdown,html")]
    pub(crate) format: Vec<DocsFormat>,
    /// The language of headings and explanations
    #[arg(long, value_name = "LOCALE", default_value = "en")]
    pub(crate) locale: DocsLocale,
    /// A folder with templates that take the place of ours
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,
    /// Write our templates to a folder, and nothing else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) eject: Option<PathBuf>,
    /// Write nothing; name the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Overwrite files that Keyward did not write
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// The forms of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsFormat {
    /// `keyspace.md`: one file that reads well on GitHub and GitLab
    Markdown,
    /// `index.html`: one page with search, light and dark, for a browser or a printer
    Html,
}

/// The languages of the documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsLocale {
    /// English
    En,
    /// German
    De,
    /// Chinese, simplified
    Zh,
    /// Indonesian
    Id,
}
