//! What a rule's test sees: a piece of a schema in, messages out.

use crate::breaking::{BreakingOptions, Measured, breaking};
use crate::rule::Declaration;
use crate::{Options, check};
use keyward_schema::model::Date;
use keyward_schema::{Diagnostic, Files, Schema, Sources, Style, load_from, read, render};
use std::io;
use std::path::{Path, PathBuf};

/// The day on which tests happen.
pub(crate) const TODAY: Date = Date { year: 2026, month: 11, day: 15 };

/// What a person sees of one rule's findings in a piece of a schema.
pub(crate) fn findings(rule: &Declaration, piece: &str) -> String {
    let (sources, diagnostics) = checked(piece);
    let of_rule: Vec<_> = diagnostics.into_iter().filter(|it| it.rule == rule.name).collect();
    render(&sources, &of_rule, &Style::default())
}

/// The messages of one rule's findings in a piece of a schema.
pub(crate) fn messages(rule: &Declaration, piece: &str) -> Vec<String> {
    let (_, diagnostics) = checked(piece);
    diagnostics.into_iter().filter(|it| it.rule == rule.name).map(|it| it.message).collect()
}

/// What a person sees of the example in a rule's documentation.
pub(crate) fn example(rule: &Declaration) -> String {
    findings(rule, &block(rule, "Example"))
}

/// The schema below a heading of a rule's documentation.
pub(crate) fn block(rule: &Declaration, heading: &str) -> String {
    blocks(rule, heading).remove(0)
}

/// The schemas below a heading of a rule's documentation.
pub(crate) fn blocks(rule: &Declaration, heading: &str) -> Vec<String> {
    let documentation = rule.documentation();
    let (_, section) = documentation
        .split_once(&format!("## {heading}\n"))
        .unwrap_or_else(|| panic!("`{}` has no section `{heading}`", rule.name));
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```toml\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").expect("the schema ends").0.to_owned());
    blocks.collect()
}

/// Everything that is found in a piece of a schema, which is completed: the strictest rules, and a
/// keyspace, unless it has its own.
pub(crate) fn checked(piece: &str) -> (Sources, Vec<Diagnostic>) {
    let loaded = read(&completed(piece));
    match loaded.schema {
        Ok(schema) => {
            let diagnostics = check(&schema, &Options { today: TODAY });
            (loaded.sources, diagnostics)
        }
        Err(errors) => panic!("{}", render(&loaded.sources, &errors, &Style::default())),
    }
}

fn completed(piece: &str) -> String {
    let mut text = format!("version = 1\n{piece}");
    if !piece.contains("[rules") {
        text.push_str("\n[rules]\nset = \"strict\"\n");
    }
    if !piece.contains("[keyspace]") {
        text.push_str("\n[keyspace]\nname = \"test\"\n");
    }
    text
}

/// The messages of one rule's findings in a change from one piece of a schema to another.
pub(crate) fn broken(rule: &Declaration, old: &str, new: &str) -> Vec<String> {
    let (_, diagnostics) = changed(old, new, None);
    diagnostics.into_iter().filter(|it| it.rule == rule.name).map(|it| it.message).collect()
}

/// The messages of the example in a rule's documentation: what was, and what is.
pub(crate) fn broken_example(rule: &Declaration) -> Vec<String> {
    let blocks = blocks(rule, "Example");
    broken(rule, &blocks[0], &blocks[1])
}

/// What a person sees of one rule's findings in a change, with what an audit counted.
pub(crate) fn broken_with(
    rule: &Declaration,
    old: &str,
    new: &str,
    measured: &Measured,
) -> Vec<Diagnostic> {
    let (_, diagnostics) = changed(old, new, Some(measured));
    diagnostics.into_iter().filter(|it| it.rule == rule.name).collect()
}

/// Everything that a change from one piece of a schema to another breaks.
pub(crate) fn changed(
    old: &str,
    new: &str,
    measured: Option<&Measured>,
) -> (Sources, Vec<Diagnostic>) {
    let (sources, old, new) = versions(old, new);
    let options = BreakingOptions { today: TODAY, tiers: &[], measured };
    (sources, breaking(&old, &new, &options).findings)
}

/// Two pieces of a schema, completed, with one list of files.
pub(crate) fn versions(old: &str, new: &str) -> (Sources, Schema, Schema) {
    let mut sources = Sources::default();
    let mut read = |piece: &str, path: &str| {
        let taken = std::mem::take(&mut sources);
        let loaded = load_from(&mut Text(completed(piece)), taken, Path::new(path));
        sources = loaded.sources;
        loaded
            .schema
            .unwrap_or_else(|errors| panic!("{}", render(&sources, &errors, &Style::default())))
    };
    let old = read(old, "main:keyward.toml");
    let new = read(new, "keyward.toml");
    (sources, old, new)
}

/// One file in memory.
struct Text(String);

impl Files for Text {
    fn read(&mut self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }

    fn canonical(&mut self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}
