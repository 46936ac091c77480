//! What a developer sees when the schema is wrong, or is used wrongly.

use std::fs;
use std::path::Path;

/// The crates that `trybuild` makes have a folder of their own, which the macro takes paths from.
#[test]
fn mistakes_are_errors_of_the_compiler_that_can_be_read() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("tests/trybuild/keyward/tests/ui");
    fs::create_dir_all(&folder).unwrap();
    for file in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ui")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
        }
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
