//! What several tests need: the schemas of this repository.
#![allow(dead_code, reason = "each test uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every schema under `examples/`, and the starter.
pub(crate) fn schemas() -> Vec<(String, String)> {
    let mut schemas = vec![("starter".to_owned(), keyward_schema::starter())];
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let Ok(folder) = fs::read_dir(entry.unwrap().path()) else { continue };
        for file in folder {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml")
                && path.file_name().is_some_and(|name| name != "Cargo.toml")
            {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                schemas.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    schemas.sort();
    assert!(schemas.len() > 10, "the examples are missing");
    schemas
}
