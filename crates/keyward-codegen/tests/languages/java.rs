//! Java: everything compiles without a warning, and agrees with the vectors.

use super::{CASES, Workspace};
use keyward_codegen::Language;

const RUNNER: &str = include_str!("java/Runner.java");

#[test]
fn java_agrees_with_every_vector() {
    let workspace = Workspace::new(Language::Java, |_| "src".to_owned());
    let mut cases = String::new();
    for (case, vectors) in CASES.iter().zip(&workspace.vectors) {
        let name = &case.module.name;
        cases += &format!("{}.{} {}\n", name.flat, name.pascal, vectors.display());
    }
    let folder = &workspace.folder;
    std::fs::write(folder.join("cases.txt"), cases).unwrap();
    std::fs::write(folder.join("src/Runner.java"), RUNNER).unwrap();
    let sources: Vec<String> = super::files_below(&folder.join("src"), "java");
    std::fs::write(folder.join("sources.txt"), sources.join("\n")).unwrap();
    workspace.run("javac", &["-Xlint:all", "-Werror", "-d", "classes", "@sources.txt"]);
    let printed = workspace.run("java", &["-cp", "classes", "Runner", "cases.txt"]);
    // As a key, bytes that are no text can be given; as a parameter, which is always this one, not.
    workspace.assert_checked(&printed, |text| text["hex"] != "61ff");
}
