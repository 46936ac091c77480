//! `docs`

use super::{Prefix, Selection};
use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use std::path::PathBuf;

/// Write the reference documentation of a keyspace
///
/// Writes a Markdown file and a self-contained HTML page: every definition with its pattern, type, TTL,
/// fields and invalidating events, and the lifecycles, events, server settings, globs, layout and old
/// names. Files that are up to date are not touched. Files that Keyward did not write are neither
/// overwritten nor removed.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward docs                               docs/keyspace, next to the schema
  keyward docs --out site --format html
  keyward docs --locale de                   headings in German; your own texts are not translated
  keyward docs --check                       write nothing; exit 1 if a file is out of date
  keyward docs --lifecycle cache             only a part of the keyspace
  keyward docs --template templates/docs     your own keyspace.md.j2, index.html.j2, style.css.j2

Exit codes: 0 written or up to date; 1 `--check` found a difference; 2 a schema or template \
cannot be used")]
pub(crate) struct Docs {
    /// The folder to write to [default: docs/keyspace, next to the schema]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// The formats to write, separated by commas
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', default_value = "markdown,html")]
    pub(crate) format: Vec<DocsFormat>,
    /// The language of headings and explanations
    #[arg(long, value_name = "LOCALE", default_value = "en")]
    pub(crate) locale: DocsLocale,
    /// Use the templates in this folder instead of the built-in ones
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,
    /// Write the built-in templates to this folder, and nothing else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) eject: Option<PathBuf>,
    /// Write nothing; list the files that would change, and exit 1 if there are any
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
