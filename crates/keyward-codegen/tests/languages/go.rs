//! Go: everything is formatted, vetted and built, and agrees with the vectors.

use super::{CASES, Case, Workspace};
use keyward_codegen::Language;
use std::path::Path;

const RUNNER: &str = include_str!("go/runner.go");

#[test]
fn go_agrees_with_every_vector() {
    let workspace = Workspace::new(Language::Go, |_| String::new());
    let mut suites = "package main\n\nimport \"errors\"\n".to_owned();
    for (case, vectors) in CASES.iter().zip(&workspace.vectors) {
        suites += &format!("import \"keyspaces/{}\"\n", case.module.name.flat);
        suites += &suite(case, vectors);
    }
    // Imports come first.
    let (imports, rest): (Vec<&str>, Vec<&str>) =
        suites.lines().skip(2).partition(|line| line.starts_with("import"));
    let suites = format!("package main\n{}\n{}\n", imports.join("\n"), rest.join("\n"));
    let folder = &workspace.folder;
    std::fs::write(folder.join("go.mod"), "module keyspaces\n\ngo 1.19\n").unwrap();
    std::fs::write(folder.join("runner.go"), RUNNER).unwrap();
    std::fs::write(folder.join("suites.go"), suites).unwrap();
    let packages: Vec<&str> = CASES.iter().map(|case| case.module.name.flat.as_str()).collect();
    let unformatted = workspace.run("gofmt", &[&["-l"], packages.as_slice()].concat());
    assert_eq!(unformatted, "", "gofmt would change these files");
    workspace.run("go", &["vet", "./..."]);
    workspace.run("go", &["build", "-o", "runner", "."]);
    let printed = workspace.run("./runner", &[]);
    workspace.assert_checked(&printed, |text| text.get("utf16").is_none());
}

/// The functions that the runner calls, for one package.
fn suite(case: &Case, vectors: &Path) -> String {
    let template = if case.module.prefix.params.is_empty() {
        include_str!("go/suite_own.go.txt")
    } else {
        include_str!("go/suite_bound.go.txt")
    };
    let events = if case.module.events.is_empty() {
        "return nil, nil, errors.New(\"no events\")"
    } else if case.module.prefix.params.is_empty() {
        include_str!("go/events_own.go.txt")
    } else {
        include_str!("go/events_bound.go.txt")
    };
    template
        .replace("EVENTS", events)
        .replace("PACKAGE", &case.module.name.flat)
        .replace("VECTORS", &vectors.display().to_string())
}
