//! `keyward demo`: a tour on a real convention. Every step does what it shows; nothing is acted.

mod sample;

use super::audit;
use super::check::judge;
use super::key;
use crate::args::{Binding, Demo};
use crate::failure::{Failure, Result};
use crate::output::{BOLD, CODE, DIM, ERROR, Output};
use crate::report::{Report, counted};
use crate::schemas::Schemas;
use crate::settings::{SCHEMA_FILE, Settings};
use crate::verdict::Verdict;
use keyward_rules::Rule;
use keyward_schema::{Schema, concise, read, render};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// The same convention, corrected: what the drive's keys are checked against.
const CORRECTED: &str = include_str!("../../demo/keyward.toml");
/// The key convention of a cloud drive, as its document says it.
const SAMPLE: &str = include_str!("../../demo/as-written.toml");
/// The definition that the tour follows.
const DEFINITION: &str = "quota_used";
/// The finding that is shown whole.
const FINDING: &str = Rule::EvictablePersistent.name();
const USER: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const FOLDER: &str = "550e8400-e29b-41d4-a716-446655440000";

pub(crate) fn run(args: &Demo, settings: &Settings, output: &Output) -> Result<Verdict> {
    let schemas = Schemas::of(SCHEMA_FILE.into(), read(SAMPLE));
    let report = judge(&schemas, settings.today);
    let Some((_, schema)) = schemas.readable().next() else {
        return Err(Failure::rendered(render(report.sources, &report.findings, output.style())));
    };
    let mut tour = Tour::default();
    tour.text(&format!(
        "A tour of Keyward on a real key convention: {} and {} of a cloud drive.",
        counted(schema.keys.len(), "definition"),
        counted(schema.events.len(), "event"),
    ));
    the_file(&mut tour);
    what_check_finds(&mut tour, &report, output);
    keys(&mut tour, schema)?;
    what_audit_finds(&mut tour, args, settings, output)?;
    tour.step("Your own");
    tour.text(&format!(
        "{}   see what is in your own snapshot; no schema needed\n\
         {}             write a commented {SCHEMA_FILE} to start from\n\
         {}            prove that it is sound\n\
         {}            list the rules",
        CODE.on("keyward audit dump.rdb"),
        CODE.on("keyward init"),
        CODE.on("keyward check"),
        CODE.on("keyward rules"),
    ));
    output.print(tour.text)?;
    Ok(Verdict::Clean)
}

fn the_file(tour: &mut Tour) {
    tour.step(&format!("The convention is a file, {SCHEMA_FILE}"));
    let policy = SAMPLE.lines().find(|line| line.starts_with("maxmemory-policy"));
    let policy = policy.and_then(|line| line.split('#').next()).unwrap_or_default();
    let header = format!("[keys.{DEFINITION}]");
    let table = SAMPLE.lines().skip_while(|line| *line != header);
    let table = table.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("doc"));
    let table: Vec<&str> = table.collect();
    tour.text(&format!("[server]\n{}\n\n{}", policy.trim_end(), table.join("\n")));
}

fn what_check_finds(tour: &mut Tour, report: &Report<'_>, output: &Output) {
    tour.command("`check` proves it sound and applies the rules", "keyward check");
    let (shown, others): (Vec<_>, Vec<_>) =
        report.findings.iter().cloned().partition(|finding| finding.rule == FINDING);
    tour.text(render(report.sources, &shown, output.style()).trim_end());
    tour.text(&DIM.on(concise(report.sources, &others).trim_end()));
    tour.text(&report.summary());
}

fn keys(tour: &mut Tour, schema: &Schema) -> Result<()> {
    let keyspace = std::slice::from_ref(&schema.compiled);
    let typed = key::Typed::default();
    let built = key::build_key(DEFINITION, &[binding("user_id", USER)], keyspace, typed)?;
    tour.command(
        "Build a key: nobody has to remember its form",
        &format!("keyward key build {DEFINITION} user_id={USER}"),
    );
    tour.text(&built);
    tour.command("Parse a key: see what it is", &format!("keyward key parse {built}"));
    tour.text(key::describe_key(built.as_bytes(), schema).trim_end());
    let hostile = "*:used";
    tour.command(
        "A value cannot reach another key",
        &format!("keyward key build {DEFINITION} 'user_id={hostile}'"),
    );
    match key::build_key(DEFINITION, &[binding("user_id", hostile)], keyspace, typed) {
        Ok(key) => tour.text(&key),
        Err(refused) => tour.text(&format!("{}: {refused}", ERROR.on("error"))),
    }
    let bindings = [binding("folder_id", FOLDER)];
    tour.command(
        "Print the glob for a set of keys",
        &format!("keyward key glob permission folder_id={FOLDER}"),
    );
    tour.text(&key::build_glob(key::named("permission", keyspace)?, &bindings, typed)?);
    Ok(())
}

/// Writes a sample of the drive's keys, and measures it.
fn what_audit_finds(
    tour: &mut Tour,
    args: &Demo,
    settings: &Settings,
    output: &Output,
) -> Result<()> {
    let folder = args.out.clone().unwrap_or_else(|| std::env::temp_dir().join("keyward-demo"));
    let schema = format!("{CORRECTED}{}", sample::MORE);
    refuse_another_schema(&folder, &schema, args.out.is_some())?;
    let put = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| replace(&path, content))
            .map_err(|error| Failure::file("write", &path, &error))
    };
    let snapshot = sample::snapshot()?;
    put(SCHEMA_FILE, schema.as_bytes())?;
    put("dump.rdb", &snapshot)?;
    let schema = read(&schema).schema.map_err(|_| Failure::new("the sample schema is broken"))?;
    let definitions = schema.keys.len();
    let report = audit::sample(schema, &snapshot, settings)?;
    put("audit.json", audit::json(&report)?.as_bytes())?;
    put("audit.html", keyward_audit::render::html(&report).as_bytes())?;
    tour.step("Audit what a server holds");
    tour.text(&format!(
        "The sample is checked against the corrected schema, which also has what was added since: {}.",
        counted(definitions, "definition"),
    ));
    tour.show("keyward audit dump.rdb");
    tour.text(audit::text(&report, output).trim_end());
    let shown = folder.display();
    let page = folder.join("audit.html");
    let look = format!("Look at {} in a browser.", CODE.on(page.display()));
    tour.text(&format!("The snapshot, its schema and the report are in {shown}.\n{look}"));
    Ok(())
}

/// Keeps a schema that somebody wrote, and follows no link that another user left in a shared folder.
fn refuse_another_schema(folder: &Path, ours: &str, chosen: bool) -> Result<()> {
    let path = folder.join(SCHEMA_FILE);
    let theirs = fs::read(&path).is_ok_and(|theirs| theirs != ours.as_bytes());
    let linked = fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_symlink());
    let why = match chosen {
        true if theirs => format!("`{}` exists, and the demo would overwrite it", path.display()),
        false if linked => format!("`{}` is a link", folder.display()),
        _ => return Ok(()),
    };
    Err(Failure::new(why).help("choose a new folder with `--out`"))
}

/// Writes a file in place of what has its name, also of a link.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::File::create_new(path)?.write_all(content)
}

fn binding(param: &str, value: &str) -> Binding {
    Binding { param: param.to_owned(), value: value.to_owned() }
}

/// What has been said so far.
#[derive(Default)]
struct Tour {
    text: String,
    steps: usize,
}

impl Tour {
    fn step(&mut self, title: &str) {
        self.steps += 1;
        let _ = writeln!(self.text, "{}\n", BOLD.on(format_args!("{}. {title}", self.steps)));
    }

    fn command(&mut self, title: &str, command: &str) {
        self.step(title);
        self.show(command);
    }

    fn show(&mut self, command: &str) {
        let _ = writeln!(self.text, "   {}", CODE.on(format_args!("$ {command}")));
    }

    fn text(&mut self, text: &str) {
        for line in text.lines() {
            let _ = writeln!(self.text, "{}{line}", if line.is_empty() { "" } else { "   " });
        }
        self.text.push('\n');
    }
}
