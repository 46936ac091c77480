//! Generated Python, checked by `mypy --strict` and run by the interpreter.

use super::{Workspace, tool};
use keyward_codegen::Language;
use serde_json::Value;
use std::path::Path;

/// A file beside this one.
fn ours(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages/python");
    folder.join(name).to_string_lossy().into_owned()
}

#[test]
fn python_agrees_with_the_vectors() {
    let workspace = Workspace::new(Language::Python, |_| String::new());
    let vectors = workspace.vectors.iter().map(|path| path.to_string_lossy().into_owned());
    let args: Vec<String> =
        [ours("runner.py"), ".".to_owned()].into_iter().chain(vectors).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = workspace.run("python3", &args);
    // A string holds half a surrogate pair, but not bytes that are no text.
    let can_hold = |text: &Value| text.get("utf16").is_some();
    workspace.assert_checked(&printed, can_hold);
}
