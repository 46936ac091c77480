//! Documentation that a person reads, and that no text of a schema can break.

mod browser;
mod everything;
mod hostile;
mod languages;
mod markdown;
mod templates;

use keyward_codegen::Files;
use keyward_docs::{Options, generate};
use keyward_schema::Schema;
use std::path::{Path, PathBuf};

const EVERYTHING: &str = include_str!("everything.toml");
const HOSTILE: &str = include_str!("hostile.toml");

fn schema(text: &str) -> Schema {
    let loaded = keyward_schema::read(text);
    loaded.schema.unwrap_or_else(|errors| {
        panic!("{}", keyward_schema::concise(&loaded.sources, &errors));
    })
}

fn files(schema: &Schema, options: &Options<'_>) -> Files {
    generate(schema, options).unwrap_or_else(|error| panic!("{error}"))
}

fn markdown_of(schema: &Schema, options: &Options<'_>) -> String {
    files(schema, options).get("keyspace.md").expect("Markdown was asked for").to_owned()
}

fn html_of(schema: &Schema, options: &Options<'_>) -> String {
    files(schema, options).get("index.html").expect("HTML was asked for").to_owned()
}

/// The five examples of this repository.
fn examples() -> Vec<(String, Schema)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(folder).expect("there are examples");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it is readable").path().join("keyward.toml"))
        .filter(|path| path.exists())
        .collect();
    paths.sort();
    assert!(paths.len() >= 5, "{paths:?}");
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).expect("it is readable");
        (path.display().to_string(), schema(&text))
    };
    paths.iter().map(read).collect()
}
