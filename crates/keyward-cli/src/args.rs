//! What can be typed. What it does is in [`crate::commands`].

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum, ValueHint};
use keyward_codegen::Language;
use keyward_schema::model::{Lifecycle, RuleSet};
use std::ffi::OsString;
use std::path::PathBuf;

/// Keyspace as code for Redis and Valkey
///
/// Declare your key convention once, in `keyward.toml`. Keyward proves it sound, finds what would
/// go wrong in production, and builds and parses your keys from the same file.
#[derive(Debug, Parser)]
#[command(
    name = "keyward",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "\
Begin with:
  keyward demo      a tour on sample data, no server needed
  keyward init      a commented keyward.toml to start from
  keyward check     prove it sound
  keyward audit     measure a snapshot against it; without a schema, see what is in there

Exit codes: 0 clean, 1 findings, 2 wrong usage or a schema that cannot be read, 3 a source that \
cannot be read to its end"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// A schema, several times for several [default: keyward.toml, here or above]
    #[arg(long = "schema", value_name = "FILE", global = true, value_hint = ValueHint::FilePath)]
    pub(crate) schemas: Vec<PathBuf>,
    /// Only what was asked for: no summaries, no hints
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also what was read, and how long it took
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// When to use colours; `auto` respects `NO_COLOR`
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one, and it is read once")]
pub(crate) enum Command {
    Demo(Demo),
    Init(Init),
    Check(Check),
    Fmt(Fmt),
    Key(Key),
    Generate(Generate),
    Docs(Docs),
    Audit(Audit),
    Report(Report),
    Rules(Rules),
    Explain(Explain),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages
    Man {
        /// The folder to write them to
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

/// A tour on sample data, no server needed
///
/// Checks a real convention, builds and parses its keys, and audits a sample of them in which some things
/// have gone wrong.
#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// The folder for the sample and its report [default: keyward-demo, among temporary files]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// Write a commented `keyward.toml` to start from
///
/// Beside it comes `keyward.schema.json`, by which an editor completes and checks the file.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward init              keyward.toml in this folder
  keyward init services/shop")]
pub(crate) struct Init {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Overwrite files that are there already
    #[arg(long)]
    pub(crate) force: bool,
}

/// Prove a schema sound, and judge it by the rules
///
/// Every key belongs to one definition, reads back as it was built, and cannot be reached by another
/// definition's values. Given several schemas, it also proves that they do not meet.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward check                              keyward.toml, here or above
  keyward check shop.toml billing.toml       each, and that they share no key
  keyward check --set strict                 all rules
  keyward check --format github              annotations for GitHub Actions
  KEYWARD_TODAY=2026-12-31 keyward check     as it will be judged on that day

Exit codes: 0 clean, 1 findings, 2 a schema that cannot be read or declares nothing")]
pub(crate) struct Check {
    /// Schema files
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// How to report; never changes the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ReportFormat,
    /// The rule set, in place of the one that the schema names
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
}

/// How findings are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// With the lines of the schema, for people
    Full,
    /// One line a finding
    Concise,
    /// One document
    Json,
    /// One object a line
    Jsonl,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl ReportFormat {
    /// Whether a program reads it, and needs a document whatever happens.
    pub(crate) fn is_for_programs(self) -> bool {
        !matches!(self, ReportFormat::Full | ReportFormat::Concise)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Set {
    /// What no keyspace can do without
    Minimal,
    /// What almost everyone wants
    Recommended,
    /// Everything
    Strict,
}

impl From<Set> for RuleSet {
    fn from(set: Set) -> Self {
        match set {
            Set::Minimal => RuleSet::Minimal,
            Set::Recommended => RuleSet::Recommended,
            Set::Strict => RuleSet::Strict,
        }
    }
}

/// Format schemas, keeping comments and order
///
/// Without a path, the schema and every file that it includes.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward fmt                     keyward.toml and what it includes
  keyward fmt --check             exit 1 if something would change
  keyward fmt --check --diff      the same, and show what
  keyward fmt - < a.toml          from standard input to standard output

Exit codes: 0 done, 1 something would change (--check, --diff), 2 a file that cannot be formatted")]
pub(crate) struct Fmt {
    /// Files; `-` reads standard input and writes standard output
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; name the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Write nothing; show what would change, and exit 1 if something would; also with `--check`
    #[arg(long)]
    pub(crate) diff: bool,
}

/// Build, parse and find keys
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    Build(KeyBuild),
    Parse(KeyParse),
    Glob(KeyGlob),
}

/// Print the key of a definition for some values
///
/// A value that is not of its parameter's type is refused: no value can lead to another
/// definition's key.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key build cart user_id=42
  keyward key build login_limit ip=2001:db8::1     an IPv6 address becomes its 32 digits
  keyward key build cart user_id=42 --bind tenant=acme")]
pub(crate) struct KeyBuild {
    /// The definition
    pub(crate) name: String,
    /// A value for each parameter
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Say which definition a key belongs to, and the values of its parameters
///
/// With `-`, keys come from standard input, one a line, and an answer goes out for each: the
/// definition and its parameters, separated by tabs; `old:DEFINITION` for an old name of a migration,
/// `foreign:NAME` for other software's key, `-` for an unknown one.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key parse shop:cart:42
  keyward key parse shop:cart:42 --format json
  redis-cli --scan | keyward key parse -
  redis-cli --scan | keyward key parse - | cut -f1 | sort | uniq -c

Exit codes: 0 every key is known, 1 some are not, 2 nothing was parsed")]
pub(crate) struct KeyParse {
    /// The keys, or `-` for standard input
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<OsString>,
    /// How to answer [default: full, and concise for several keys]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<KeyFormat>,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// How `key parse` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    /// Everything there is to know, for people
    Full,
    /// The definition and its parameters, separated by tabs
    Concise,
    /// One object; with several keys, one a line
    Json,
    /// One object a line
    Jsonl,
}

/// Print the glob that finds a definition's keys, for `SCAN MATCH`
///
/// Parameters without a value are left open. A glob may find more than the definition's keys, since
/// `*` crosses separators: `key parse -` tells them apart.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward key glob cart
  keyward key glob permission folder_id=550e8400-e29b-41d4-a716-446655440000
  keyward key glob --group search --lifecycle cache
  redis-cli --scan --pattern \"$(keyward key glob cart)\"")]
pub(crate) struct KeyGlob {
    /// The definition
    #[arg(required_unless_present = "selection", conflicts_with = "selection")]
    pub(crate) name: Option<String>,
    /// Values for some parameters
    #[arg(value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) values: Vec<Binding>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// Which definitions.
#[derive(Debug, ClapArgs)]
#[group(id = "selection", multiple = true)]
pub(crate) struct Selection {
    /// The definitions of a group
    #[arg(long = "group", value_name = "GROUP")]
    pub(crate) groups: Vec<String>,
    /// The definitions of a lifecycle
    #[arg(long = "lifecycle", value_name = "LIFECYCLE", value_parser = lifecycle())]
    pub(crate) lifecycles: Vec<Lifecycle>,
    /// The definitions of an owner
    #[arg(long = "owner", value_name = "OWNER")]
    pub(crate) owners: Vec<String>,
}

/// Values for the parameters of the prefix.
#[derive(Debug, ClapArgs)]
pub(crate) struct Prefix {
    /// A value for a parameter of the prefix, such as `tenant=acme`
    #[arg(long = "bind", value_name = "PARAM=VALUE", value_parser = binding)]
    pub(crate) bindings: Vec<Binding>,
}

/// `param=value`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) param: String,
    pub(crate) value: String,
}

fn binding(text: &str) -> Result<Binding, String> {
    match text.split_once('=') {
        Some((param, value)) if !param.is_empty() => {
            Ok(Binding { param: param.to_owned(), value: value.to_owned() })
        }
        _ => Err("write it as `param=value`".to_owned()),
    }
}

fn lifecycle() -> impl clap::builder::TypedValueParser<Value = Lifecycle> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Lifecycle::ALL.map(Lifecycle::name)).map(|name| {
        let named = Lifecycle::ALL.into_iter().find(|lifecycle| lifecycle.name() == name);
        named.unwrap_or(Lifecycle::Cache)
    })
}

/// Generate typed keys for every language, and vectors to test them with
///
/// Each definition becomes a type whose fields are its parameters; a value that is none of its
/// parameter's type cannot be put in. All languages build the same bytes and read keys by the same
/// tables. In Rust, `keyward::keyspace!` does the same at compile time.
///
/// Files that are as they should be are not touched. Files that Keyward did not write are neither
/// removed nor overwritten; `.keyward-files` lists those that it did.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward generate                                     all languages, into generated/
  keyward generate --lang typescript --out src/keys    one language, straight into a folder
  keyward generate --lang java --java-package com.acme.keys --out src/main/java
  keyward generate --vectors --out tests               with vectors for every language's own tests
  keyward generate --check                             exit 1 if something would change
  keyward generate --eject templates                   our templates, to change and use by --template

Exit codes: 0 done, 1 something would change (--check), 2 a schema that is not sound")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Generate {
    /// The languages, separated by commas [default: all]
    #[arg(long = "lang", value_name = "LANGUAGE", value_delimiter = ',', value_parser = language())]
    languages: Vec<Language>,
    /// The folder; with several languages, each has a folder of its own in it
    #[arg(long, value_name = "DIR", default_value = "generated", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Write nothing; name the files that would change, and exit 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Also write golden vectors; without `--lang`, nothing else
    #[arg(long)]
    pub(crate) vectors: bool,
    /// A folder of templates that take the place of ours
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) template: Option<PathBuf>,
    /// Write our templates to a folder, and nothing else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) eject: Option<PathBuf>,
    /// Overwrite files that Keyward did not write
    #[arg(long)]
    pub(crate) force: bool,
    /// The package of the Java classes [default: the keyspace's name]
    #[arg(long, value_name = "PACKAGE", value_parser = java_package)]
    pub(crate) java_package: Option<String>,
    /// Also write a Java class for Spring's cache abstraction: names, keys and TTLs of all caches
    #[arg(long)]
    pub(crate) spring: bool,
    /// The Rust module that holds the types of `json` values, such as `crate::model`
    #[arg(long, value_name = "PATH", value_parser = rust_path)]
    pub(crate) rust_values: Option<String>,
}

impl Generate {
    /// The languages that were asked for.
    pub(crate) fn languages(&self) -> Vec<Language> {
        match self.languages.as_slice() {
            [] if self.vectors => Vec::new(),
            [] => Language::ALL.into(),
            named => Language::ALL.into_iter().filter(|it| named.contains(it)).collect(),
        }
    }
}

fn language() -> impl clap::builder::TypedValueParser<Value = Language> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(Language::ALL.map(Language::name)).map(|name| {
        let named = Language::ALL.into_iter().find(|language| language.name() == name);
        named.unwrap_or(Language::Rust)
    })
}

fn java_package(text: &str) -> Result<String, String> {
    path_of_names(text, ".")
        .then(|| text.to_owned())
        .ok_or("write it as `com.acme.keys`".to_owned())
}

fn rust_path(text: &str) -> Result<String, String> {
    path_of_names(text, "::")
        .then(|| text.to_owned())
        .ok_or("write it as `crate::model`".to_owned())
}

fn path_of_names(text: &str, joint: &str) -> bool {
    text.split(joint).all(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

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

/// Measure a keyspace against its schema
///
/// Says which definition owns how many keys and bytes, how long they live, and what is not as declared:
/// unknown keys, missing TTLs, wrong types, bad fields, former names. Without a schema it groups keys by
/// what they look like. Values in keys are masked: `xc:folder:<uuid#a3f9>:listing`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward audit dump.rdb                              against keyward.toml, here or above
  keyward audit dump.rdb --html audit.html            and a page for a browser
  zcat dump.rdb.gz | keyward audit -                  from standard input; gzip and zstd are recognised
  keyward audit dump.rdb --format json --out audit.json
  keyward audit dump.rdb --baseline audit.json        fails only if something got worse
  keyward audit dump.rdb --format jsonl               every key, for DuckDB and friends
  keyward audit redis://127.0.0.1:6379                a server that is running, gently
  keyward audit redis://10.0.0.7:7000                 any node of a cluster: every shard at once
  keyward audit redis://127.0.0.1 --resume scan       goes on where Ctrl-C stopped it

Exit codes: 0 clean, 1 findings, 2 wrong usage or nothing to judge, 3 a source that cannot be read to \
its end, or a scan that was stopped")]
pub(crate) struct Audit {
    /// A server's URL (redis://, rediss://, redis+unix://, redis+cluster://, redis+sentinel://), an RDB
    /// file, also compressed with gzip or zstd, or `-` for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: OsString,
    #[command(flatten)]
    pub(crate) form: AuditForm,
    /// Hold keys against no schema, even if there is one
    #[arg(long, conflicts_with = "schemas")]
    pub(crate) no_schema: bool,
    /// An earlier report in JSON; only what got worse fails
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// By how many percentage points a finding's share may rise against the baseline
    #[arg(long, value_name = "POINTS", requires = "baseline", value_parser = points)]
    pub(crate) tolerance: Option<f64>,
    /// Show keys as they are, values included
    #[arg(long)]
    pub(crate) show_keys: bool,
    /// Mask keys by this text, so that reports of several shards can be compared [default: random]
    #[arg(long, value_name = "TEXT")]
    pub(crate) salt: Option<String>,
    /// How many of the biggest keys to list for each definition
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) top: u16,
    /// Count TTLs from this moment rather than from when the snapshot was taken: 2026-11-15T13:30:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) now: Option<u64>,
    #[command(flatten)]
    pub(crate) live: Live,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) prefix: Prefix,
}

/// How a server is read that is running.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Servers")]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch on the command line")]
pub(crate) struct Live {
    /// How keys are read: by SCAN, or as a snapshot, the way a replica gets it
    #[arg(long, value_name = "WAY", default_value = "scan")]
    pub(crate) via: LiveVia,
    /// Only this database
    #[arg(long, value_name = "N")]
    pub(crate) db: Option<u64>,
    /// Look up only so many per cent of the keys: `10%`
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) sample: Option<f64>,
    /// Slow down when another client would wait longer than this [default: 5ms]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_latency: Option<keyward_fact::Duration>,
    /// The most commands a second
    #[arg(long, value_name = "N")]
    pub(crate) max_ops: Option<u64>,
    /// As fast as the server can, whoever else waits
    #[arg(long, conflicts_with_all = ["max_latency", "max_ops"])]
    pub(crate) unbounded: bool,
    /// Read the primary, also where a replica could be read
    #[arg(long)]
    pub(crate) primary: bool,
    /// Read this node alone, not the cluster that it belongs to
    #[arg(long)]
    pub(crate) node_only: bool,
    /// Look up lengths and fields also where that makes keys look used to the server's eviction
    #[arg(long)]
    pub(crate) touch: bool,
    /// Ask for a snapshot also where memory looks short
    #[arg(long)]
    pub(crate) force: bool,
    /// Where a scan that is stopped by Ctrl-C keeps what it has seen, and goes on from if that is there
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
    /// The user, where the URL names none
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// A file whose first line is the password; otherwise the URL or `KEYWARD_PASSWORD` has it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) password_file: Option<PathBuf>,
    /// A file of certificates to trust instead of the system's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tls_ca: Option<PathBuf>,
    /// A certificate to show to the server
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
}

/// How keys are read from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LiveVia {
    /// By SCAN, and a few commands a key
    Scan,
    /// As a snapshot: the server forks
    Snapshot,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').trim().parse::<f64>().ok();
    percent
        .filter(|percent| *percent > 0.0 && *percent <= 100.0)
        .ok_or_else(|| "write it as `10%`: more than 0, at most 100".to_owned())
}

/// How an audit is shown.
#[derive(Debug, ClapArgs)]
pub(crate) struct AuditForm {
    /// How to report; never changes the exit code
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: AuditFormat,
    /// Write to this file rather than to standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Also write a page for a browser
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
    /// Do not cut long lists
    #[arg(long)]
    pub(crate) all: bool,
}

/// How an audit is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// Tables and findings, for people
    Full,
    /// One line a finding
    Concise,
    /// One document, which `report` reads
    Json,
    /// Every key, one object a line
    Jsonl,
    /// Every key, one row each
    Csv,
    /// Annotations for GitHub Actions
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// A page for a browser
    Html,
}

fn points(text: &str) -> Result<f64, String> {
    let points = text.trim_end_matches('%').trim().parse::<f64>().ok();
    points
        .filter(|points| (0.0..=100.0).contains(points))
        .ok_or_else(|| "write it as `0.5`: percentage points from 0 to 100".to_owned())
}

fn moment(text: &str) -> Result<u64, String> {
    keyward_audit::parse_rfc3339(text)
        .ok_or_else(|| "write it as `2026-11-15T13:30:00Z`".to_owned())
}

/// Show, merge and compare reports of audits
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true)]
pub(crate) struct Report {
    #[command(subcommand)]
    pub(crate) command: ReportCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    Show(ReportShow),
    Html(ReportHtml),
    Merge(ReportMerge),
    Diff(ReportDiff),
}

/// Show a report, or several as one
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report show audit.json
  keyward report show shard-*.json")]
pub(crate) struct ReportShow {
    /// Reports in JSON
    #[arg(value_name = "REPORT", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) reports: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) form: AuditForm,
}

/// Write the page of a report, or of several as one
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report html audit.json --out audit.html")]
pub(crate) struct ReportHtml {
    /// Reports in JSON
    #[arg(value_name = "REPORT", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) reports: Vec<PathBuf>,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// Merge the reports of shards into one
///
/// The result is that of a single audit of all of them, whatever the order. References between shards and
/// names of undeclared keys are compared only if all were audited with the same `--salt`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report merge shard-1.json shard-2.json --out all.json")]
pub(crate) struct ReportMerge {
    /// Reports in JSON
    #[arg(value_name = "REPORT", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) reports: Vec<PathBuf>,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// Compare two reports
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward report diff yesterday.json today.json

Exit codes: 0 nothing got worse, 1 something did, 2 a report that cannot be read")]
pub(crate) struct ReportDiff {
    /// The earlier report in JSON
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) before: PathBuf,
    /// The later one
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) after: PathBuf,
    /// By how many percentage points a finding's share may rise
    #[arg(long, value_name = "POINTS", value_parser = points)]
    pub(crate) tolerance: Option<f64>,
    /// How to list the differences
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}

/// List the rules
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward rules
  keyward rules --set recommended             those that `set = \"recommended\"` turns on
  keyward rules --format json | jq '.rules[].name'

`keyward explain RULE` explains one of them.")]
pub(crate) struct Rules {
    /// Only the rules that a schema with this set is judged by
    #[arg(long, value_name = "SET")]
    pub(crate) set: Option<Set>,
    /// How to list them
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(crate) format: ListFormat,
}

/// How a list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// For people
    Full,
    /// One document
    Json,
}

/// Explain a rule: what it does, why that is bad, an example, what to write instead
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  keyward explain evictable-persistent")]
pub(crate) struct Explain {
    /// The rule's name
    pub(crate) rule: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Args::command().debug_assert();
    }
}
