//! Go: everything is formatted, vetted and built, and agrees with the vectors.

use super::{CASES, Case, Workspace, hostile};
use keyward_languages::{Language, Settings};
use std::path::Path;

const RUNNER: &str = include_str!("go/runner.go");
const USAGE: &str = include_str!("go/usage/main.go");
const RENAMED: &str = include_str!("go/renamed/main.go");

/// Optimising two hundred packages takes longer than running them once.
const QUICK: &str = "-gcflags=keyspaces/...=-N -l";

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
    workspace.add(Language::Go, &hostile::module(), &Settings::default(), "");
    let folder = &workspace.folder;
    std::fs::write(folder.join("go.mod"), "module keyspaces\n\ngo 1.19\n").unwrap();
    std::fs::write(folder.join("runner.go"), RUNNER).unwrap();
    std::fs::write(folder.join("suites.go"), suites).unwrap();
    let mut packages = vec!["large"];
    packages.extend(CASES.iter().map(|case| case.module.name.flat.as_str()));
    let unformatted = workspace.run("gofmt", &[&["-l"], packages.as_slice()].concat());
    assert_eq!(unformatted, "", "gofmt would change these files");
    workspace.add(Language::Go, &crate::trading(), &Settings::default(), "");
    for (name, program) in [("usage", USAGE), ("renamed", RENAMED)] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("main.go"), program).unwrap();
    }
    workspace.run("go", &["vet", QUICK, "./..."]);
    workspace.run("go", &["build", QUICK, "-o", "bin/", ".", "./usage", "./renamed"]);
    let printed = workspace.run("bin/keyspaces", &[]);
    crate::assert_checked(&printed, |text| text.get("utf16").is_none());
    insta::assert_snapshot!("go_usage", workspace.run("bin/usage", &[]));
    insta::assert_snapshot!("go_renamed", workspace.run("bin/renamed", &[]));
    mistakes(&workspace);
}

#[test]
fn go_takes_keywords_as_names() {
    let workspace = Workspace::of(Language::Go, "names", &hostile::named());
    std::fs::write(workspace.folder.join("go.mod"), "module keyspaces\n\ngo 1.19\n").unwrap();
    assert_eq!(workspace.run("gofmt", &["-l", "names", "boundnames"]), "");
    workspace.run("go", &["vet", QUICK, "./..."]);
}

/// What a developer sees who makes one.
fn mistakes(workspace: &Workspace) {
    let mut seen = String::new();
    std::fs::create_dir_all(workspace.folder.join("mistake")).unwrap();
    for (name, line) in [
        ("a misspelt parameter", "_ = xeuzcloud.PermissionGlob{Folder: nil}"),
        (
            "a wrong type",
            "_ = xeuzcloud.NewFolderListing(\"550e8400-e29b-41d4-a716-446655440000\")",
        ),
        ("an unknown definition", "_ = xeuzcloud.NewFolderListings(xeuzcloud.UUID{})"),
        ("a text that nobody checked", "_, _ = binaryoptions.NewMarketTick(\"BTC:USDT\")"),
    ] {
        let package = if line.contains("xeuz") { "xeuzcloud" } else { "binaryoptions" };
        let text = format!(
            "package main\n\nimport \"keyspaces/{package}\"\n\nfunc main() {{\n\t{line}\n}}\n"
        );
        std::fs::write(workspace.folder.join("mistake/main.go"), text).unwrap();
        let message = workspace.fail("go", &["build", "-o", "/dev/null", "./mistake"]);
        seen += &format!("# {name}\n{message}\n");
    }
    std::fs::remove_dir_all(workspace.folder.join("mistake")).unwrap();
    insta::assert_snapshot!("go_mistakes", seen);
}

#[test]
fn the_go_of_an_example() {
    let module = crate::example("xeuz-cloud");
    let templates = Language::all_templates(None).unwrap();
    let files = Language::Go.generate(&module, &templates, &Settings::default()).unwrap();
    let text = files.get("xeuzcloud/keys.go").unwrap();
    insta::assert_snapshot!("go_xeuzcloud", super::without_block(&module, text));
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
