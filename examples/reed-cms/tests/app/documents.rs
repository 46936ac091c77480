//! The commands that the documents show, and the table of all requests.

use super::harness::{running, server};
use keyward_testkit::{Flavor, repository, stage};
use std::fs;

#[test]
fn commands_about_the_application_print_what_is_shown() {
    stage::check("reed-cms", || server(Flavor::Redis), |server| running(Some(server)));
}

#[test]
fn the_table_names_every_path_every_definition_and_every_event() {
    let read =
        |file: &str| fs::read_to_string(repository().join("examples/reed-cms").join(file)).unwrap();
    let (readme, router, schema) = (read("README.md"), read("src/router.rs"), read("keyward.toml"));
    let rows: Vec<&str> = readme.lines().filter(|line| line.starts_with("| `")).collect();
    let paths = router.split("route(").skip(1).filter_map(|it| it.split('"').nth(1));
    for path in paths {
        let named = rows.iter().any(|row| row.contains(&format!(" {path}`")));
        assert!(named, "no row of README.md names `{path}`");
    }
    let tables = |kind: &str| -> Vec<&str> {
        let tables = schema.lines().filter_map(|line| line.strip_prefix(kind)?.strip_suffix(']'));
        tables.filter(|name| !name.contains('.')).collect()
    };
    for name in tables("[keys.").into_iter().chain(tables("[events.")) {
        let named = rows.iter().any(|row| row.contains(&format!("`{name}`")) && row.contains(" /"));
        assert!(named, "no row of README.md with a path names `{name}`");
    }
}
