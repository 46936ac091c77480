//! Java: everything compiles without a warning, and agrees with the vectors; so do Spring's caches,
//! whose keys are made by Spring's own expressions and interceptor.
//!
//! Debian has Spring itself, not Spring Data Redis: its four types that matter here are stood in for
//! by `java/spring`, which joins prefix and key as the documentation of Spring Data Redis says.

use super::{CASES, Workspace, files_below, hostile};
use keyward_codegen::model::Module;
use keyward_languages::{Language, Settings};
use std::path::Path;

/// Spring 4.3, from Debian.
const JARS: &[&str] = &[
    "spring3-core",
    "spring3-expression",
    "spring3-context",
    "spring3-beans",
    "spring3-aop",
    "commons-logging",
    "aopalliance",
];

/// Short runs are over before the optimising compiler pays.
const QUICK: &[&str] = &["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];

#[test]
fn java_agrees_with_every_vector_and_so_does_spring() {
    let workspace = Workspace::with(Language::Java, settings, |_| "src".to_owned());
    let large = hostile::module();
    let trading = crate::trading();
    for module in [&large, &trading] {
        workspace.add(Language::Java, module, &settings(module), "src");
    }
    let folder = &workspace.folder;
    let (mut cases, mut spring) = (String::new(), String::new());
    for (case, vectors) in CASES.iter().zip(&workspace.vectors) {
        let package = settings(&case.module).java_package.unwrap();
        let class = format!("{package}/{}", case.module.name.pascal);
        let line = format!("{} {}\n", class.replace('/', "."), vectors.display());
        if folder.join(format!("src/{class}Caches.java")).exists() {
            spring += &line;
        }
        cases += &line;
    }
    std::fs::write(folder.join("cases.txt"), cases).unwrap();
    std::fs::write(folder.join("spring.txt"), spring).unwrap();

    let with_spring = ["SpringRunner", "SpringUsage", "CachedMarket", "Market"];
    compile_all(&workspace, &["Json", "Runner", "Usage", "Renamed"], &with_spring);

    let printed = run(&workspace, &["Runner", "cases.txt"]);
    // As a key, bytes that are no text can be given; as a parameter, which is always this one, not.
    crate::assert_checked(&printed, |text| text["hex"] != "61ff");
    let printed = run(&workspace, &["SpringRunner", "spring.txt"]);
    assert!(printed.starts_with("checked "), "{printed}");
    insta::assert_snapshot!("java_usage", run(&workspace, &["Usage"]));
    insta::assert_snapshot!("java_renamed", run(&workspace, &["Renamed"]));
    insta::assert_snapshot!("java_spring", run(&workspace, &["SpringUsage"]));
    mistakes(&workspace);
}

#[test]
fn java_and_spring_take_keywords_as_names() {
    let workspace = Workspace::of(Language::Java, "names", &[]);
    for module in hostile::named() {
        workspace.add(Language::Java, &module, &settings(&module), "src");
    }
    assert!(workspace.folder.join("src/names/NamesCaches.java").exists());
    compile_all(&workspace, &[], &[]);
}

/// Compiles what was generated and our programs: first what does not need Spring, without it.
fn compile_all(workspace: &Workspace, plain: &[&str], with_spring: &[&str]) {
    let sources = files_below(&workspace.folder.join("src"), "java");
    let (caches, mut first): (Vec<String>, Vec<String>) =
        sources.into_iter().partition(|path| path.ends_with("Caches.java"));
    first.extend(plain.iter().map(|name| program(name)));
    compile(workspace, &first, &["-cp", "classes"]);
    let mut then = caches;
    then.extend(files_below(&Path::new(&program("spring")).with_extension(""), "java"));
    then.extend(with_spring.iter().map(|name| program(name)));
    compile(workspace, &then, &["-parameters", "-cp", &class_path()]);
}

/// The examples have a package each; the random schemas share one, and with it the engine.
fn settings(module: &Module) -> Settings {
    let flat = &module.name.flat;
    let package = if flat.starts_with("random") { "random" } else { flat };
    Settings { java_package: Some(package.to_owned()), spring: true, ..Settings::default() }
}

fn program(name: &str) -> String {
    format!("{}/tests/languages/java/{name}.java", env!("CARGO_MANIFEST_DIR"))
}

fn class_path() -> String {
    let mut path = "classes".to_owned();
    for jar in JARS {
        let jar = format!("/usr/share/java/{jar}.jar");
        assert!(Path::new(&jar).exists(), "{jar} is missing: run `./test tools`");
        path += ":";
        path += &jar;
    }
    path
}

fn compile(workspace: &Workspace, sources: &[String], options: &[&str]) {
    std::fs::write(workspace.folder.join("sources.txt"), sources.join("\n")).unwrap();
    let strict = ["-Xlint:all,-path", "-Werror", "-proc:none", "-d", "classes", "@sources.txt"];
    let quick: Vec<String> = QUICK.iter().map(|option| format!("-J{option}")).collect();
    let quick: Vec<&str> = quick.iter().map(String::as_str).collect();
    workspace.run("javac", &[quick.as_slice(), &strict, options].concat());
}

fn run(workspace: &Workspace, args: &[&str]) -> String {
    // A locale in which `I` is no capital `i`, and an encoding that is not UTF-8.
    let hostile = ["-Duser.language=tr", "-Duser.country=TR", "-Dfile.encoding=ISO-8859-9"];
    let path = class_path();
    workspace.run("java", &[QUICK, &hostile, &["-cp", &path], args].concat())
}

/// What a developer sees who makes one.
fn mistakes(workspace: &Workspace) {
    let mut seen = String::new();
    for (name, line) in [
        ("a misspelt parameter", "Permission.glob().folder(UUID.randomUUID());"),
        ("a wrong type", "new FolderListing(\"550e8400-e29b-41d4-a716-446655440000\");"),
        ("an unknown definition", "new FolderListings(UUID.randomUUID());"),
    ] {
        let text = format!(
            "import java.util.UUID;\nimport xeuzcloud.XeuzCloud.*;\n\nclass Mistake {{\n    void make() {{\n        {line}\n    }}\n}}\n"
        );
        std::fs::write(workspace.folder.join("Mistake.java"), text).unwrap();
        let message = workspace.fail("javac", &["-cp", "classes", "-d", "classes", "Mistake.java"]);
        seen += &format!("# {name}\n{message}\n");
    }
    insta::assert_snapshot!("java_mistakes", seen);
}

#[test]
fn the_java_of_an_example() {
    let module = crate::example("xeuz-cloud");
    let settings = Settings { spring: true, ..Settings::default() };
    let templates = Language::all_templates(None).unwrap();
    let files = Language::Java.generate(&module, &templates, &settings).unwrap();
    for class in ["XeuzCloud", "XeuzCloudCaches"] {
        let text = files.get(&format!("xeuzcloud/{class}.java")).unwrap();
        insta::assert_snapshot!(format!("java_{class}"), super::without_block(&module, text));
    }
}
