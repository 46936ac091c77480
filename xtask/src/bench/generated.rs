//! Building keys in generated code, against concatenation by hand in the same language and process.
//!
//! What is bound is making a key from values and taking its text. In Java and Go the values are checked
//! already, as their types say; in TypeScript and Python, where a type is a promise, the key checks them
//! again. Lines that begin with `checking` also check text, those with `again` only ask a key for its
//! text once more: neither has a bound.

use super::{Table, at_most};
use anyhow::{Context, Result, ensure};
use keyward_codegen::Plan;
use keyward_codegen::model::Module;
use keyward_languages::{Language, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How much slower than by hand a key may be built.
const BOUND: f64 = 1.5;

pub(super) fn typescript(table: &mut Table) -> Result<()> {
    let folder = generate(Language::TypeScript)?;
    let root = crate::root()?;
    let tests = root.join("crates/keyward-languages/tests/languages/typescript");
    for name in ["package.json", "tsconfig.json"] {
        std::fs::copy(tests.join(name), folder.join(name))?;
    }
    let tsc = root.join("target/tools/typescript/node_modules/.bin/tsc");
    run(&folder, &tsc.to_string_lossy(), &["--project", "."])?;
    std::fs::write(folder.join("build.js"), include_str!("generated/build.js"))?;
    rows(table, "TypeScript", &run(&folder, "node", &["build.js", "dist"])?)
}

pub(super) fn python(table: &mut Table) -> Result<()> {
    let folder = generate(Language::Python)?;
    std::fs::write(folder.join("build.py"), include_str!("generated/build.py"))?;
    rows(table, "Python", &run(&folder, "python3", &["build.py"])?)
}

pub(super) fn java(table: &mut Table) -> Result<()> {
    let folder = generate(Language::Java)?;
    std::fs::write(folder.join("Build.java"), include_str!("generated/Build.java"))?;
    run(&folder, "javac", &["-d", "classes", "-sourcepath", ".", "Build.java"])?;
    rows(table, "Java", &run(&folder, "java", &["-cp", "classes", "Build"])?)
}

pub(super) fn go(table: &mut Table) -> Result<()> {
    let folder = generate(Language::Go)?;
    std::fs::write(folder.join("go.mod"), "module keyspaces\n\ngo 1.19\n")?;
    std::fs::write(folder.join("build.go"), include_str!("generated/build.go"))?;
    rows(table, "Go", &run(&folder, "go", &["run", "."])?)
}

/// The code for two of the examples, in a folder of its own.
fn generate(language: Language) -> Result<PathBuf> {
    let root = crate::root()?;
    let folder = std::env::current_exe()?.with_file_name("bench").join(language.name());
    let templates = Language::all_templates(None)?;
    let mut generated = Vec::new();
    for example in ["xeuz-cloud", "binary-options"] {
        let path = root.join("examples").join(example).join("keyward.toml");
        let schema = keyward_schema::load(&path).schema.ok();
        let schema = schema.with_context(|| format!("{example} cannot be read"))?;
        let module = Module::new(&schema)?;
        generated.push(language.generate(&module, &templates, &Settings::default())?);
    }
    Plan::new(&folder, &generated, true)?.apply()?;
    Ok(folder)
}

fn run(folder: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).current_dir(folder).output();
    let output = output.with_context(|| format!("`{program}`: run `./test tools`"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{program}` failed: {said}");
    Ok(String::from_utf8(output.stdout)?)
}

/// A row for each line `name <tab> ours <tab> theirs`, in nanoseconds.
fn rows(table: &mut Table, language: &str, printed: &str) -> Result<()> {
    for line in printed.lines() {
        let mut parts = line.split('\t');
        let name = parts.next().context("a name")?;
        let mut time = || parts.next().context("a time")?.parse::<f64>().context("a time");
        let (ours, theirs) = (time()?, time()?);
        let ratio = ours / theirs;
        let verdict = if name.starts_with("checking") || name.starts_with("again") {
            format!("{ratio:.2}×")
        } else {
            at_most(ratio, BOUND)
        };
        let by_hand = format!("by hand {theirs:.0} ns");
        table.row(&format!("{language}, {name}"), format!("{ours:.0} ns"), by_hand, verdict);
    }
    Ok(())
}
