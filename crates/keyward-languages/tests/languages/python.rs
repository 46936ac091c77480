//! Generated Python, checked by `mypy --strict` and run by the interpreter.

use super::{CASES, Workspace, example, hostile, tenants, tool, trading};
use keyward_languages::Language;
use serde_json::Value;
use std::path::Path;

/// How many of the keyspaces the type checker sees; it takes its time.
const TYPED: usize = 15;

/// A file beside this one.
fn ours(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages/python");
    folder.join(name).to_string_lossy().into_owned()
}

/// The arguments of `env` that run mypy, as pinned in `python/requirements.txt`, on these files.
fn mypy(files: &[String]) -> Vec<String> {
    let tools = format!("PYTHONPATH={}", tool("mypy"));
    let check = ["python3", "-m", "mypy", "--strict", "--python-version", "3.10"];
    let args = [tools.as_str(), "MYPYPATH=."].into_iter().chain(check).map(str::to_owned);
    args.chain(files.iter().cloned()).collect()
}

fn strs(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn python_agrees_with_the_vectors() {
    let workspace = Workspace::new(Language::Python, |_| String::new());
    let runner = ours("runner.py");
    let vectors = workspace.vectors.iter().map(|path| path.to_str().unwrap());
    let args: Vec<&str> = [runner.as_str(), "."].into_iter().chain(vectors).collect();
    let printed = workspace.run("python3", &args);
    // A string holds half a surrogate pair, but not bytes that are no text.
    let can_hold = |text: &Value| text.get("utf16").is_some();
    crate::assert_checked(&printed, can_hold);
    let packages: Vec<String> =
        CASES.iter().take(TYPED).map(|case| case.module.name.snake.clone()).collect();
    workspace.run("env", &strs(&mypy(&packages)));
}

#[test]
fn python_takes_keywords_as_names() {
    let modules = hostile::named();
    let workspace = Workspace::of(Language::Python, "names", &modules);
    let packages = modules.map(|module| module.name.snake);
    workspace.run("env", &strs(&mypy(&packages)));
    workspace.run("python3", &["-c", &format!("import {}", packages.join(", "))]);
}

#[test]
fn a_python_program_uses_keys() {
    let examples = [example("xeuz-cloud"), example("binary-options")];
    let workspace = Workspace::of(Language::Python, "usage", &examples);
    workspace.run("env", &strs(&mypy(&[ours("usage.py")])));
    let usage = ours("usage.py");
    insta::assert_snapshot!(workspace.run("env", &["PYTHONPATH=.", "python3", &usage]));
}

#[test]
fn a_python_program_binds_a_prefix() {
    let workspace = Workspace::of(Language::Python, "prefix", &[tenants()]);
    let program = ours("prefix.py");
    workspace.run("env", &strs(&mypy(std::slice::from_ref(&program))));
    insta::assert_snapshot!(workspace.run("env", &["PYTHONPATH=.", "python3", &program]));
}

#[test]
fn a_python_program_uses_keys_that_are_being_renamed() {
    let workspace = Workspace::of(Language::Python, "renamed", &[trading()]);
    let program = ours("renamed.py");
    workspace.run("env", &strs(&mypy(std::slice::from_ref(&program))));
    insta::assert_snapshot!(workspace.run("env", &["PYTHONPATH=.", "python3", &program]));
}

#[test]
fn misuse_is_a_readable_error_of_mypy() {
    let examples = [example("xeuz-cloud"), example("binary-options")];
    let workspace = Workspace::of(Language::Python, "misuse", &examples);
    let misuses = ["misspelt_parameter", "unknown_definition", "wrong_type"];
    for name in misuses {
        let file = format!("{name}.py");
        std::fs::copy(ours(&format!("misuse/{file}")), workspace.folder.join(file)).unwrap();
    }
    let files = misuses.map(|name| format!("{name}.py"));
    // The order of the files is no one's promise.
    let printed = workspace.fail("env", &strs(&mypy(&files)));
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_python_package_reads_well() {
    let workspace = Workspace::of(Language::Python, "look", &[example("xeuz-cloud")]);
    let module = std::fs::read_to_string(workspace.folder.join("xeuz_cloud/__init__.py")).unwrap();
    insta::assert_snapshot!(module);
}
