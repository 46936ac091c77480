//! Building generated keys in other languages, against concatenation by hand in the same process.
//!
//! A key is checked and spelled when it is made; `key()` is what is compared, since a key is made once
//! and used for a read, a write and an expiry. What making costs stands in a line of its own.

use super::{Table, at_most};
use anyhow::{Context, Result, ensure};
use keyward_codegen::model::Module;
use keyward_codegen::{Language, Plan, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Building may take so much more than concatenation by hand.
const BOUND: f64 = 1.5;

pub(super) fn typescript(table: &mut Table) -> Result<()> {
    let folder = generate(Language::TypeScript)?;
    let tests = root().join("crates/keyward-codegen/tests/languages/typescript");
    for name in ["package.json", "tsconfig.json"] {
        std::fs::copy(tests.join(name), folder.join(name))?;
    }
    let tsc = root().join("target/tools/typescript/node_modules/.bin/tsc");
    ensure!(tsc.exists(), "tsc is missing: run `./test tools`");
    run(Command::new(tsc).arg("--project").arg(&folder))?;
    let bench = root().join("xtask/src/bench/typescript.js");
    let printed = run(Command::new("node").arg(bench).arg(folder.join("dist")))?;
    compare(table, "TypeScript", "a template literal", &printed)
}

pub(super) fn python(table: &mut Table) -> Result<()> {
    let folder = generate(Language::Python)?;
    let bench = root().join("xtask/src/bench/python.py");
    let printed = run(Command::new("python3").arg(bench).env("PYTHONPATH", &folder))?;
    compare(table, "Python", "an f-string", &printed)
}

/// Code for two examples, in a folder of the target.
fn generate(language: Language) -> Result<PathBuf> {
    let folder = root().join("target/bench").join(language.name());
    let templates = Language::all_templates(None)?;
    let mut files = Vec::new();
    for name in ["xeuz-cloud", "binary-options"] {
        let schema = keyward_schema::load(&root().join("examples").join(name).join("keyward.toml"));
        let schema = schema.schema.ok().with_context(|| format!("{name} cannot be read"))?;
        files.push(language.generate(&Module::new(&schema)?, &templates, &Settings::default())?);
    }
    Plan::new(&folder, &files, true)?.apply()?;
    Ok(folder)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{stdout}{stderr}", output.status);
    Ok(stdout)
}

/// A line of what, and nanoseconds to build, by hand, and to check and build.
fn compare(table: &mut Table, language: &str, peer: &str, printed: &str) -> Result<()> {
    for line in printed.lines() {
        let mut cells = line.split('\t');
        let what = cells.next().context("an empty line")?;
        let times: Vec<f64> = cells.map(str::parse).collect::<Result<_, _>>()?;
        let [build, by_hand, make] = times[..] else { anyhow::bail!("odd line `{line}`") };
        table.row(
            &format!("{language}: build, {what}"),
            format!("{build:.0} ns"),
            format!("{peer} {by_hand:.0} ns"),
            at_most(build / by_hand, BOUND),
        );
        table.row(
            &format!("{language}: check and build, {what}"),
            format!("{make:.0} ns"),
            format!("{peer} {by_hand:.0} ns"),
            format!("{:.1}×", make / by_hand),
        );
    }
    Ok(())
}
