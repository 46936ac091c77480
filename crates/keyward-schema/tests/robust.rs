//! Hostile input: bounded, and never a panic.

mod support;

use keyward_schema::{Style, concise, load, read, render};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;

/// Reads a text, and shows whatever is wrong with it.
fn survives(text: &str) {
    let loaded = read(text);
    if let Err(errors) = &loaded.schema {
        assert!(!errors.is_empty(), "refused without a reason");
        render(&loaded.sources, errors, &Style { color: true, width: 80 });
        concise(&loaded.sources, errors);
    }
}

#[test]
fn deep_nesting_is_refused_and_survived() {
    survives(&format!("[{}]", vec!["a"; 10_000].join(".")));
    survives(&format!("{} = 1", vec!["a"; 10_000].join(".")));
    survives(&format!("a = {}", "[".repeat(10_000)));
    survives(&format!("a = {}", "{ a = ".repeat(10_000)));
    survives(&format!(
        "[keys.a]\npattern = 'a'\nvalue = {}1{}",
        "{ json = [".repeat(60),
        "] }".repeat(60)
    ));
}

#[test]
fn a_file_of_errors_is_survived() {
    survives(&"=".repeat(200_000));
    survives(&"a = \n".repeat(50_000));
    survives(&"[keys.a]\n".repeat(20_000));
    survives(&"\0".repeat(100_000));
    survives(&format!(
        "[params]\n{}",
        (0..2_000).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "p{n} = 'uid'");
            text
        })
    ));
}

#[test]
fn expressions_that_explode_are_refused() {
    for regex in ["(a|b)*a(a|b){60}", "((((a{100}){100}){100}){100}){100}", "[^a]{5000}", "(a*)*b"]
    {
        survives(&format!(
            "version = 1\n[keyspace]\nname = 'a'\n[params]\nx = {{ regex = '{regex}' }}\n[keys.a]\npattern = 'a:{{x}}'\n"
        ));
    }
}

#[test]
fn more_definitions_than_allowed_are_refused() {
    let text =
        (0..20_001).fold(String::from("version = 1\n[keyspace]\nname = 'a'\n"), |mut text, n| {
            let _ = writeln!(text, "[keys.k{n}]\npattern = 'k{n}'");
            text
        });
    let errors = read(&text).schema.unwrap_err();
    assert_eq!(errors[0].message, "a schema has at most 20,000 definitions");
}

#[test]
fn a_device_without_an_end_is_refused() {
    let errors = load("/dev/zero".as_ref()).schema.unwrap_err();
    assert!(errors[0].message.ends_with("it is a device, not a file"), "{}", errors[0].message);
}

#[test]
fn included_files_share_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("keyward.toml");
    fs::write(&root, "include = ['a.toml', 'b.toml']\nversion = 1\n[keyspace]\nname = 'a'\n")
        .unwrap();
    for name in ["a.toml", "b.toml"] {
        fs::write(folder.path().join(name), " ".repeat(9 * 1024 * 1024)).unwrap();
    }
    let errors = load(&root).schema.unwrap_err();
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.starts_with("cannot include `b.toml`"), "{}", errors[0].message);
}

#[test]
fn included_files_are_part_of_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("keys")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "keyward.toml",
        "include = ['keys/a.toml']\nversion = 1\n[keyspace]\nname = 'a'\n[keys.root]\npattern = 'root'\n",
    );
    write("keys/a.toml", "include = ['b.toml']\n[keys.a]\npattern = 'a:{id}'\n");
    write("keys/b.toml", "[params]\nid = 'uuid'\n[keys.b]\npattern = 'b'\n");
    let loaded = load(&folder.path().join("keyward.toml"));
    let schema = loaded.schema.unwrap();
    let names: Vec<&str> = schema.keys.iter().map(|key| key.name.as_str()).collect();
    assert_eq!(names, ["root", "a", "b"]);
    assert_eq!(schema.keys[1].params[0].param.ty.to_string(), "uuid");
    assert_eq!(loaded.sources.iter().count(), 3);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_read() {
    let text =
        "\u{feff}version = 1\r\n[keyspace]\r\nname = 'a'\r\n[keys.a]\r\npattern = 'a:{id'\r\n";
    let loaded = read(text);
    let errors = loaded.schema.unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(loaded.sources.line_column(&errors[0].labels[0].span), (5, 14));
}

#[test]
fn every_error_has_a_place_in_its_file() {
    for (name, text) in support::schemas() {
        for cut in (0..text.len()).step_by(97).filter(|cut| text.is_char_boundary(*cut)) {
            let loaded = read(&text[..cut]);
            for error in loaded.schema.err().unwrap_or_default() {
                for label in &error.labels {
                    let source = loaded.sources.get(label.span.file);
                    assert!(
                        source.text.get(label.span.start..label.span.end).is_some(),
                        "{name} {error:?}"
                    );
                }
            }
        }
    }
}

/// A schema of the repository with a few bytes changed.
fn mutated() -> impl Strategy<Value = String> {
    let schemas: Vec<String> = support::schemas().into_iter().map(|(_, text)| text).collect();
    let change =
        (any::<prop::sample::Index>(), 0usize..12, "[\\[\\]{}\"'=#.,:a-z0-9\n\\\\ *()?é-]{0,6}");
    (prop::sample::select(schemas), prop::collection::vec(change, 1..6)).prop_map(
        |(mut text, changes)| {
            for (at, len, insert) in changes {
                let mut start = at.index(text.len().max(1));
                let mut end = (start + len).min(text.len());
                while !text.is_char_boundary(start) {
                    start -= 1;
                }
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                text.replace_range(start..end, &insert);
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn reading_any_text_never_panics(text in "\\PC*|[a-z\\[\\]{}\"'=#., \n0-9]{0,200}") {
        survives(&text);
    }

    #[test]
    fn reading_a_changed_schema_never_panics(text in mutated()) {
        survives(&text);
        if let Ok(formatted) = keyward_schema::format(&text) {
            prop_assert_eq!(keyward_schema::format(&formatted).unwrap(), formatted);
        }
    }
}
