//! The reference of the book: every example in it is a schema.

mod support;

use keyward_schema::{Style, format, read, reference, render};
use std::fs;

/// What stands before a fragment.
const HEADER: &str = "version = 1\n\n[keyspace]\nname = \"reference\"\n\n";

struct Example {
    place: String,
    text: String,
    fragment: bool,
}

fn examples() -> Vec<Example> {
    let mut examples = Vec::new();
    for entry in fs::read_dir(support::root().join("docs/src/reference/schema")).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let mut lines = page.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let fragment = match line {
                "```toml" => false,
                "```toml,fragment" => true,
                _ => continue,
            };
            let text: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let place = format!("{}:{}", path.display(), number + 1);
            examples.push(Example { place, text: text.join("\n") + "\n", fragment });
        }
    }
    assert!(examples.len() > 30, "the reference is missing");
    examples
}

#[test]
fn every_example_is_a_schema() {
    for Example { place, text, fragment } in examples() {
        // What a fragment includes does not exist.
        if text.starts_with("include") {
            continue;
        }
        let whole = if fragment { format!("{HEADER}{text}") } else { text };
        let loaded = read(&whole);
        if let Err(errors) = loaded.schema {
            panic!("{place}\n{}", render(&loaded.sources, &errors, &Style::default()));
        }
    }
}

#[test]
fn every_example_is_formatted() {
    for Example { place, text, .. } in examples() {
        assert_eq!(format(&text).unwrap(), text, "{place}");
    }
}

#[test]
fn the_tables_of_the_reference_are_up_to_date_and_complete() {
    let folder = support::root().join("docs/src/reference/schema");
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let page = fs::read_to_string(&path).unwrap();
        let filled =
            reference::fill(&page).unwrap_or_else(|| panic!("{}: bad marks", path.display()));
        assert!(page == filled, "run `cargo xtask docs`: {} differs", path.display());
        all.push_str(&page);
    }
    for name in reference::names() {
        assert!(
            all.contains(&format!("<!-- fields: {name} -->")),
            "no page has the fields of {name}"
        );
    }
}
