//! `cargo xtask mutants`: deletes each line of each script in turn, and lists those whose absence no test notices.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs the tests of one role, or of all, with each line of its scripts missing.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<()> {
    let wanted = match args {
        [] => None,
        ["--role", role] => Some(*role),
        other => bail!("`{}` is not an option: --role R", other.join(" ")),
    };
    let roles = roles(root)?.into_iter().filter(|role| wanted.is_none_or(|it| it == role.name));
    let roles: Vec<Role> = roles.collect();
    ensure!(!roles.is_empty(), "nothing with scripts has this name");
    let (mut mutants, mut survivors) = (0, 0);
    for role in &roles {
        let tests = Tests::build(root, &role.suite)?;
        ensure!(tests.pass(role, None)?, "the tests of `{}` fail without a mutant", role.name);
        for script in &role.scripts {
            let text = fs::read_to_string(script)?;
            let shown = script.strip_prefix(root).unwrap_or(script).display();
            for (number, line) in (1..).zip(text.lines()) {
                let code = line.trim();
                // A comment does nothing, except for the first line's flags.
                if code.is_empty() || code.starts_with("--") {
                    continue;
                }
                mutants += 1;
                let mutant = format!("{}:{number}", script.display());
                if tests.pass(role, Some(&mutant))? {
                    survivors += 1;
                    println!("{shown}:{number}: {code}");
                }
            }
        }
    }
    println!("{mutants} mutants, {survivors} survived");
    Ok(())
}

/// A folder with scripts.
struct Role {
    name: String,
    scripts: Vec<PathBuf>,
    suite: Suite,
}

/// The tests that must notice what a script lacks.
struct Suite {
    package: &'static str,
    /// Its file of tests
    test: &'static str,
    /// Whether tests beside the code belong to it
    lib: bool,
    /// Only those, as a filter of cargo-nextest
    filter: Option<String>,
}

/// Tests that were built once and are kept apart, so that work on the code can go on meanwhile.
struct Tests {
    root: PathBuf,
    folder: PathBuf,
}

impl Tests {
    fn build(root: &Path, suite: &Suite) -> Result<Self> {
        let folder = root.join("target/mutants");
        fs::create_dir_all(&folder)?;
        let cargo = |args: &[&str]| -> Result<Vec<u8>> {
            let output = Command::new("cargo").current_dir(root).args(args).output()?;
            let errors = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "`cargo {}` fails:\n{errors}", args.join(" "));
            Ok(output.stdout)
        };
        fs::write(folder.join(METADATA), cargo(&["metadata", "--format-version", "1"])?)?;
        let Suite { package, test, lib, .. } = suite;
        let list = ["nextest", "list", "-p", package, "--all-features", "--test", test];
        let lib: &[&str] = if *lib { &["--lib"] } else { &[] };
        let as_json = ["--list-type", "binaries-only", "--message-format", "json"];
        let list = [&list[..], lib, &as_json].concat();
        let mut binaries: Value = serde_json::from_slice(&cargo(&list)?)?;
        let all = binaries.pointer_mut("/rust-binaries").and_then(Value::as_object_mut);
        for (name, binary) in all.context("cargo-nextest names no test binary")? {
            let path = binary.get_mut("binary-path").context("a binary has a path")?;
            let own = folder.join(name.replace("::", "-"));
            fs::copy(path.as_str().context("a path is a text")?, &own)?;
            *path = own.display().to_string().into();
        }
        fs::write(folder.join(BINARIES), binaries.to_string())?;
        Ok(Tests { root: root.to_owned(), folder })
    }

    /// Whether the tests of a role pass, with a mutant.
    fn pass(&self, role: &Role, mutant: Option<&str>) -> Result<bool> {
        let mut tests = Command::new("cargo");
        tests.current_dir(&self.root).stdout(Stdio::null()).stderr(Stdio::null());
        tests.args(["nextest", "run", "--cargo-metadata"]).arg(self.folder.join(METADATA));
        tests.arg("--binaries-metadata").arg(self.folder.join(BINARIES));
        // A test that waits for what a mutant does not do is ended with the first that fails, or when its time is over.
        tests.args(["--max-fail", "1:immediate", "--profile", "mutants"]);
        if let Some(filter) = &role.suite.filter {
            tests.args(["-E", filter]);
        }
        tests.envs(mutant.map(|mutant| ("KEYWARD_MUTANT", mutant)));
        Ok(tests.status().context("cargo-nextest cannot be run")?.success())
    }
}

const METADATA: &str = "cargo.json";
const BINARIES: &str = "binaries.json";

/// The folders of the store, and that of plans.
fn roles(root: &Path) -> Result<Vec<Role>> {
    let mut roles = Vec::new();
    for entry in fs::read_dir(root.join("crates/keyward/src/store"))? {
        let folder = entry?.path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let filter = match &*name {
            // Scripts of no role are everybody's.
            "lua" => None,
            // What is tested beside the code compares the scripts with the model of a migration.
            "names" => Some(
                "binary(store) & (test(names) | test(migration)) | test(names::matches)".to_owned(),
            ),
            name => Some(format!("test({name})")),
        };
        let lib = name == "names";
        let suite = Suite { package: "keyward", test: "store", lib, filter };
        roles.push(Role { name, scripts: scripts(&folder)?, suite });
    }
    roles.retain(|role| !role.scripts.is_empty());
    let suite = Suite { package: "keyward-plan", test: "plan", lib: false, filter: None };
    let scripts = scripts(&root.join("crates/keyward-plan/src/lua"))?;
    roles.push(Role { name: "plan".to_owned(), scripts, suite });
    roles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(roles)
}

fn scripts(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(folder)? {
        scripts.push(entry?.path());
    }
    scripts.retain(|path| path.extension().is_some_and(|it| it == "lua"));
    scripts.sort();
    Ok(scripts)
}
