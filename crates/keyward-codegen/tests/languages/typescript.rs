//! Generated TypeScript, compiled by `tsc` with every strict setting and run by Node.

use super::{Workspace, tool};
use keyward_codegen::Language;
use serde_json::Value;
use std::path::Path;

/// The compiler, as pinned in `typescript/package-lock.json`.
const TSC: &str = "typescript/node_modules/.bin/tsc";

/// A file beside this one.
fn ours(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages/typescript");
    folder.join(name).to_string_lossy().into_owned()
}

/// The folder with all generated modules, and ours copied into it.
fn workspace(copied: &[&str]) -> Workspace {
    let workspace = Workspace::new(Language::TypeScript, |_| String::new());
    for name in ["package.json", "tsconfig.json"].iter().chain(copied) {
        let target = workspace.folder.join(Path::new(name).file_name().unwrap());
        std::fs::copy(ours(name), target).unwrap();
    }
    workspace
}

#[test]
fn typescript_agrees_with_the_vectors() {
    let workspace = workspace(&[]);
    workspace.run(&tool(TSC), &["--project", "."]);
    let vectors = workspace.vectors.iter().map(|path| path.to_string_lossy().into_owned());
    let args: Vec<String> =
        [ours("runner.js"), "dist".to_owned()].into_iter().chain(vectors).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = workspace.run("node", &args);
    // A string of UTF-16 holds half a surrogate pair, but not bytes that are no text.
    let can_hold = |text: &Value| text.get("utf16").is_some();
    workspace.assert_checked(&printed, can_hold);
}
