//! What a developer sees who left a feature out that the schema needs.

use std::fs;
use std::path::Path;
use std::process::Command;

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[text.heading]
max_len = 30
[keys.page]
pattern = "page:{title}:{number:uint}"
params = { title = { type = "word", from = "heading" } }
ttl = "1h"
value = { json = "Page", compress = "zstd" }
"#;

#[test]
fn a_missing_feature_is_named() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("features");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("keyward.toml"), SCHEMA).unwrap();
    fs::write(folder.join("src/lib.rs"), "keyward::keyspace!(\"keyward.toml\");\n").unwrap();
    // The profile of the workspace, so that what it has compiled is used.
    let manifest = format!(
        "[package]\nname = \"features\"\nedition = \"2024\"\n[workspace]\n\
         [profile.dev]\ndebug = \"line-tables-only\"\n\
         [dependencies.keyward]\npath = '{}'\ndefault-features = false\nfeatures = [\"macros\", \"store\"]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "--offline", "--color", "never", "--target-dir"])
        .arg(target)
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error")).collect();
    assert_eq!(
        errors,
        [
            "error: this schema has JSON values: enable the feature `json` of keyward",
            "error: this schema has compressed values: enable the feature `zstd` of keyward",
            "error: this schema has values from text: enable the feature `text` of keyward",
            "error: could not compile `features` (lib) due to 3 previous errors",
        ],
        "{said}"
    );
}
