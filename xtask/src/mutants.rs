//! `cargo xtask mutants`: deletes each line of each script in turn, and lists those whose absence no test notices.
//!
//! Most lines are noticed by the test that noticed the line before, so that such tests run first, and all only if none of
//! them fails. Several lines are tried at once: a test that waits in vain takes no time of the machine.

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// How many lines are tried at once.
const AT_ONCE: usize = 3;
/// How many tests that have noticed something run before all others.
const RECENT: usize = 6;

/// Runs the tests of one role, or of all, with each line of its scripts missing.
pub(crate) fn run(root: &Path, args: &[&str]) -> Result<()> {
    let (mut role, mut scripts) = (None, Vec::new());
    let mut rest = args;
    while let [option, value, others @ ..] = rest {
        match *option {
            "--role" => role = Some(*value),
            "--script" => scripts.push(*value),
            _ => break,
        }
        rest = others;
    }
    ensure!(rest.is_empty(), "`{}` is not an option: --role R, --script S", rest.join(" "));
    let mut roles = roles(root)?;
    roles.retain(|it| role.is_none_or(|role| role == it.name));
    for it in &mut roles {
        let is_wanted = |path: &PathBuf| {
            path.file_stem().is_some_and(|it| scripts.iter().any(|name| it == *name))
        };
        it.scripts.retain(|path| scripts.is_empty() || is_wanted(path));
    }
    roles.retain(|role| !role.scripts.is_empty());
    ensure!(!roles.is_empty(), "no script has this name");
    let (mut mutants, mut survivors) = (0, 0);
    for role in &roles {
        let tests = Tests::build(root, &role.suite)?;
        if let Some(failure) = tests.failing(role, None, None, &[])? {
            bail!("`{}` fails without a mutant", failure.test);
        }
        let lines = lines(role)?;
        mutants += lines.len();
        survivors += survive(root, role, &tests, lines)?;
    }
    println!("{mutants} mutants, {survivors} survived");
    Ok(())
}

/// A line of a script.
struct Line<'r> {
    script: &'r Path,
    number: usize,
    code: String,
}

/// The lines that do something.
fn lines(role: &Role) -> Result<VecDeque<Line<'_>>> {
    let mut lines = VecDeque::new();
    for script in &role.scripts {
        let text = fs::read_to_string(script)?;
        for (number, line) in (1..).zip(text.lines()) {
            let code = line.trim().to_owned();
            if !code.is_empty() && !code.starts_with("--") {
                lines.push_back(Line { script, number, code });
            }
        }
    }
    Ok(lines)
}

/// Prints the lines that no test misses; how many they are.
fn survive(root: &Path, role: &Role, tests: &Tests, lines: VecDeque<Line<'_>>) -> Result<usize> {
    let (lines, recent) = (Mutex::new(lines), Mutex::new(VecDeque::new()));
    let try_lines = || -> Result<usize> {
        let mut survivors = 0;
        loop {
            // In a statement of its own: `while let` would hold the lock for as long as the line is tried.
            let next = locked(&lines).pop_front();
            let Some(line) = next else { return Ok(survivors) };
            let mutant = format!("{}:{}", line.script.display(), line.number);
            let first: Vec<String> = locked(&recent).iter().cloned().collect();
            let noticing = match tests.noticing(role, &mutant, Some(&first))? {
                None => tests.noticing(role, &mutant, None)?,
                known => known,
            };
            let Some(test) = noticing else {
                let shown = line.script.strip_prefix(root).unwrap_or(line.script).display();
                println!("{shown}:{}: {}", line.number, line.code);
                survivors += 1;
                continue;
            };
            let mut recent = locked(&recent);
            recent.retain(|it| *it != test);
            recent.push_front(test);
            recent.truncate(RECENT);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(try_lines)).collect();
        let survivors = threads.into_iter().map(|it| match it.join() {
            Ok(survivors) => survivors,
            Err(_) => bail!("a thread has panicked"),
        });
        survivors.sum()
    })
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// A test that fails because of a mutant, of a role's or of those named. One that waits in vain proves nothing on a busy
    /// machine, unless it ends without the mutant.
    fn noticing(&self, role: &Role, mutant: &str, of: Option<&[String]>) -> Result<Option<String>> {
        let mut slow = Vec::new();
        loop {
            let Some(failure) = self.failing(role, Some(mutant), of, &slow)? else {
                return Ok(None);
            };
            let alone = std::slice::from_ref(&failure.test);
            if !failure.waited || self.failing(role, None, Some(alone), &[])?.is_none() {
                return Ok(Some(failure.test));
            }
            slow.push(failure.test);
        }
    }

    /// The first test that fails with a mutant or without one, of a role's or of those named, but some.
    fn failing(
        &self,
        role: &Role,
        mutant: Option<&str>,
        of: Option<&[String]>,
        but: &[String],
    ) -> Result<Option<Failure>> {
        let any = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|it| format!("test(={it})")).collect();
            names.join(" | ")
        };
        let mut filter = match of {
            Some(names) if names.iter().all(|it| but.contains(it)) => return Ok(None),
            Some(names) => any(names),
            None => role.suite.filter.clone().unwrap_or_else(|| "all()".to_owned()),
        };
        if !but.is_empty() {
            filter = format!("({filter}) - ({})", any(but));
        }
        let mut tests = Command::new("cargo");
        tests.current_dir(&self.root).stdout(Stdio::null());
        tests.args(["nextest", "run", "--cargo-metadata"]).arg(self.folder.join(METADATA));
        tests.arg("--binaries-metadata").arg(self.folder.join(BINARIES));
        // A test that waits for what a mutant does not do is ended with the first that fails, or when its time is over.
        tests.args(["--max-fail", "1:immediate", "--profile", "mutants", "--color", "never"]);
        tests.args(["--failure-output", "never", "--final-status-level", "none"]);
        tests.args(["-E", &filter]);
        tests.envs(mutant.map(|mutant| ("KEYWARD_MUTANT", mutant)));
        let output = tests.output().context("cargo-nextest cannot be run")?;
        if output.status.success() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let failure = said.lines().find_map(Failure::read);
        Ok(Some(
            failure.with_context(|| format!("cargo-nextest names no test that fails:\n{said}"))?,
        ))
    }
}

/// A test that has noticed something.
struct Failure {
    test: String,
    /// Whether it was still waiting when its time was over
    waited: bool,
}

impl Failure {
    /// Reads what cargo-nextest says: `TRY 2 FAIL [   0.123s] (1/9) keyward::store queue::a_job_is_handled`. The first try
    /// alone proves nothing on a busy machine.
    fn read(line: &str) -> Option<Self> {
        let (said, rest) = line.trim().split_once(" [")?;
        let word = said.strip_prefix("TRY 2 ")?;
        let waited = word == "TIMEOUT" || word == "TMT";
        let failed = waited || word == "FAIL" || word == "ABORT" || word.starts_with("SIG");
        let test = rest.split_whitespace().last()?.to_owned();
        failed.then_some(Failure { test, waited })
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
