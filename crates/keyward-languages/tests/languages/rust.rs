//! Rust: one crate with every keyspace, compiled once.

use crate::{CASES, Workspace, hostile};
use keyward_codegen::model::Module;
use keyward_languages::{Language, Settings};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The program that reads the vectors.
const RUNNER: &str = include_str!("runner.rs");

#[test]
fn rust_agrees_with_every_vector() {
    let workspace = Workspace::new(Language::Rust, |_| "src".to_owned());
    fs::write(workspace.folder.join("src/main.rs"), program()).unwrap();
    fs::write(workspace.folder.join("src/runner.rs"), RUNNER).unwrap();
    let paths: Vec<&str> = workspace.vectors.iter().map(|path| path.to_str().unwrap()).collect();
    let printed = cargo(&workspace, "run", &[&["--"], paths.as_slice()].concat());
    // A text that is not UTF-8 cannot become a `str`, which the runner sees.
    crate::assert_checked(&printed, |text| text.get("hex").is_some());
}

#[test]
fn rust_takes_keywords_as_names() {
    let workspace = Workspace::of(Language::Rust, "names", &[]);
    let mut text = String::from("#![deny(warnings, missing_docs)]\n//! Names.\n\n");
    for module in hostile::named() {
        workspace.add(Language::Rust, &module, &Settings::default(), "src");
        let _ = writeln!(text, "pub mod {};", name(&module));
    }
    fs::write(workspace.folder.join("src/lib.rs"), text).unwrap();
    cargo(&workspace, "build", &[]);
}

/// Runs a command of cargo on the crate in a folder; dependencies are compiled once for all.
fn cargo(workspace: &Workspace, command: &str, args: &[&str]) -> String {
    fs::write(workspace.folder.join("Cargo.toml"), manifest()).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, workspace.folder.join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_str().unwrap();
    let command = [command, "--quiet", "--offline", "--target-dir", target];
    workspace.run(env!("CARGO"), &[&command, args].concat())
}

#[test]
fn generated_rust_reads_well() {
    let module = crate::example("xeuz-cloud");
    let templates = Language::all_templates(None).unwrap();
    let files = Language::Rust.generate(&module, &templates, &Settings::default()).unwrap();
    insta::assert_snapshot!(files.get("xeuz_cloud.rs").unwrap());
}

/// A crate of its own with the profile of this workspace, so that dependencies are compiled once.
fn manifest() -> String {
    let keyward = Path::new(env!("CARGO_MANIFEST_DIR")).join("../keyward");
    let keyward = keyward.display();
    format!(
        r#"[package]
name = "keyward-vectors"
edition = "2024"

[workspace]

[dependencies]
keyward = {{ path = '{keyward}', default-features = false, features = ["json", "text", "zstd"] }}
serde_json = {{ version = "1", features = ["preserve_order"] }}

[profile.dev]
debug = "line-tables-only"

[profile.dev.package.keyward-pattern]
opt-level = 2

[profile.dev.package.keyward-vectors]
debug = false
"#
    )
}

/// Every keyspace as a module, and its way into the runner. What a strict crate denies is denied.
fn program() -> String {
    let mut text = String::from("#![deny(warnings, missing_docs)]\n//! Vectors.\n\nmod runner;\n");
    for case in CASES.iter() {
        let _ = writeln!(text, "pub mod {};", name(&case.module));
    }
    text += "\nfn main() {\n    runner::run(&[\n";
    for case in CASES.iter() {
        let prefix = if case.module.prefix.params.is_empty() { "fixed" } else { "bound" };
        let events = if case.module.events.is_empty() { "none" } else { "events" };
        let _ = writeln!(text, "        runner::{prefix}!({}, {events}),", name(&case.module));
    }
    text += "    ]);\n}\n";
    text
}

fn name(module: &Module) -> &str {
    &module.name.snake
}
