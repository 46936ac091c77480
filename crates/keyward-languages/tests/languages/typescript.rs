//! Generated TypeScript, compiled by `tsc` with every strict setting and run by Node.

use super::{Workspace, example, hostile, tenants, tool, trading};
use keyward_languages::Language;
use serde_json::Value;
use std::path::Path;

/// The compiler, as pinned in `typescript/package-lock.json`.
const TSC: &str = "typescript/node_modules/.bin/tsc";

/// A file beside this one.
fn ours(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages/typescript");
    folder.join(name).to_string_lossy().into_owned()
}

/// Copies files of ours to generated ones.
fn add(workspace: &Workspace, names: &[&str]) {
    for name in names {
        let target = workspace.folder.join(Path::new(name).file_name().unwrap());
        std::fs::copy(ours(name), target).unwrap();
    }
}

#[test]
fn typescript_agrees_with_the_vectors() {
    let workspace = Workspace::new(Language::TypeScript, |_| String::new());
    add(&workspace, &["package.json", "tsconfig.json"]);
    workspace.run(&tool(TSC), &["--project", "."]);
    let runner = ours("runner.js");
    let vectors = workspace.vectors.iter().map(|path| path.to_str().unwrap());
    let args: Vec<&str> = [runner.as_str(), "dist"].into_iter().chain(vectors).collect();
    let printed = workspace.run("node", &args);
    // A string of UTF-16 holds half a surrogate pair, but not bytes that are no text.
    let can_hold = |text: &Value| text.get("utf16").is_some();
    crate::assert_checked(&printed, can_hold);
}

#[test]
fn typescript_takes_keywords_as_names() {
    let workspace = Workspace::of(Language::TypeScript, "names", &hostile::named());
    add(&workspace, &["package.json", "tsconfig.json"]);
    workspace.run(&tool(TSC), &["--project", "."]);
    workspace.run("node", &["dist/names.js"]);
    workspace.run("node", &["dist/bound-names.js"]);
}

#[test]
fn a_typescript_program_uses_keys() {
    let examples = [example("xeuz-cloud"), example("binary-options")];
    let workspace = Workspace::of(Language::TypeScript, "usage", &examples);
    add(&workspace, &["package.json", "tsconfig.json", "usage.ts"]);
    workspace.run(&tool(TSC), &["--project", "."]);
    insta::assert_snapshot!(workspace.run("node", &["dist/usage.js"]));
}

#[test]
fn a_typescript_program_binds_a_prefix() {
    let workspace = Workspace::of(Language::TypeScript, "prefix", &[tenants()]);
    add(&workspace, &["package.json", "tsconfig.json", "prefix.ts"]);
    workspace.run(&tool(TSC), &["--project", "."]);
    insta::assert_snapshot!(workspace.run("node", &["dist/prefix.js"]));
}

#[test]
fn a_typescript_program_uses_keys_that_are_being_renamed() {
    let workspace = Workspace::of(Language::TypeScript, "renamed", &[trading()]);
    add(&workspace, &["package.json", "tsconfig.json", "renamed.ts"]);
    workspace.run(&tool(TSC), &["--project", "."]);
    insta::assert_snapshot!(workspace.run("node", &["dist/renamed.js"]));
}

#[test]
fn misuse_is_a_readable_error_of_tsc() {
    let examples = [example("xeuz-cloud"), example("binary-options")];
    let workspace = Workspace::of(Language::TypeScript, "misuse", &examples);
    let misuses = ["misspelt-parameter", "unknown-definition", "wrong-key", "wrong-type"];
    let misuses = misuses.map(|name| format!("misuse/{name}.ts"));
    add(&workspace, &["package.json", "tsconfig.json"]);
    add(&workspace, &misuses.each_ref().map(String::as_str));
    let printed = workspace.fail(&tool(TSC), &["--project", ".", "--noEmit", "--pretty", "false"]);
    insta::assert_snapshot!(printed);
}

#[test]
fn a_typescript_module_reads_well() {
    let workspace = Workspace::of(Language::TypeScript, "look", &[example("xeuz-cloud")]);
    let module = std::fs::read_to_string(workspace.folder.join("xeuz-cloud.ts")).unwrap();
    insta::assert_snapshot!(module);
}
