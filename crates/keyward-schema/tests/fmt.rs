//! The formatter: what it makes of a file, and what it never does.

mod support;

use keyward_schema::{format, read};
use proptest::prelude::*;
use std::fmt::Write;

fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    assert_eq!(format(&once).unwrap(), once, "formatting twice differs");
    toml_1_0::from_str::<toml_1_0::Table>(&once)
        .unwrap_or_else(|error| panic!("not TOML 1.0: {error}\n{once}"));
    once
}

/// A schema in a form that leaves out places.
fn meaning(text: &str) -> String {
    let schema = read(text).schema.unwrap_or_else(|errors| panic!("{errors:#?}"));
    let mut shown = String::new();
    for key in &schema.keys {
        let fields: Vec<_> = key
            .fields
            .iter()
            .map(|field| (&field.name.value, &field.value.value, field.optional))
            .collect();
        let _ = writeln!(
            shown,
            "{} {} {:?} {:?} {:?} {:?} {fields:?}",
            *key.name,
            *key.pattern,
            key.key_type.as_ref().map(|key_type| &key_type.value),
            key.value.as_ref().map(|value| &value.value),
            key.ttl.as_ref().map(|ttl| &ttl.value),
            key.lifecycle,
        );
    }
    shown
}

#[test]
fn spacing_quotes_and_blank_lines_are_the_same_everywhere() {
    let text = "\n\n  version=1\n[ keyspace ]\n\n\tname   =   'shop'\n  prefix = 'a\\b'\n\n\n\n  # about the separator\nseparator=\":\"\n[params]\n'user_id' = \"uuid\"\n'a b'=\"x\"";
    let expected = "version = 1\n\n[keyspace]\nname = \"shop\"\nprefix = 'a\\b'\n\n# about the separator\nseparator = \":\"\n\n[params]\nuser_id = \"uuid\"\n\"a b\" = \"x\"\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let text = "# top\n\nversion = 1 # one\n# end of head\n\n# about keys\n[keyspace]# the space\nname = \"a\"      # aligned\n# last of keyspace\n\n\n[params]\n# first\na = \"uuid\"\n# the end\n";
    let expected = "# top\n\nversion = 1 # one\n# end of head\n\n# about keys\n[keyspace] # the space\nname = \"a\"      # aligned\n# last of keyspace\n\n[params]\n# first\na = \"uuid\"\n# the end\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn four_fields_become_a_table_of_their_own() {
    let text = "[keys.a]\npattern = \"a\"\nfields = { a = \"text\", b = \"int\", c = ['x', 'y'], d = { type = 'text', optional = true } } # inside\nttl = \"1h\"\n\n[keys.b]\npattern = \"b\"\nfields = { a = \"text\", b = \"int\", c = \"bool\" }\n";
    let expected = "[keys.a]\npattern = \"a\"\nttl = \"1h\"\n\n[keys.a.fields] # inside\na = \"text\"\nb = \"int\"\nc = [\"x\", \"y\"]\nd = { type = \"text\", optional = true }\n\n[keys.b]\npattern = \"b\"\nfields = { a = \"text\", b = \"int\", c = \"bool\" }\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn renames_may_be_patterns_tables_or_both() {
    let text = "[migrations.v2.renames]\na=[ 'a:{id}',{pattern='b:{id}',convert='json-to-hash'} ]\n\
                b={pattern='c:{id}',recase={id='lower'}}\n";
    let expected = "[migrations.v2.renames]\n\
                    a = [\"a:{id}\", { pattern = \"b:{id}\", convert = \"json-to-hash\" }]\n\
                    b = { pattern = \"c:{id}\", recase = { id = \"lower\" } }\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn what_only_toml_1_1_reads_becomes_toml_1_0() {
    let text = "[keys.a]\npattern = \"a\\x3A\\e\"\nrate_limit = {\n  limit = 10, # ten\n  window = '60s',\n}\nallow = [\n  { rule = \"x\", # why\n    reason = \"y\", },\n]\nexample = 10:30\n";
    let expected = "[keys.a]\npattern = \"a:\\u001B\"\n# ten\nrate_limit = { limit = 10, window = \"60s\" }\nallow = [\n  # why\n  { rule = \"x\", reason = \"y\" },\n]\nexample = 10:30:00\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn long_arrays_are_wrapped_and_short_ones_are_not() {
    let text = "a = [\n 'x',\n   'y'\n]\nb = [ # why\n  1, # one\n\n  # two\n  2 ,\n  3 # three\n  , 4\n  # end\n]\nc = [\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\", \"cccccccccccccccccccccccccccccccc\"]\nd = [\n]\n";
    let expected = "a = [\"x\", \"y\"]\nb = [\n  # why\n  1, # one\n  # two\n  2,\n  3, # three\n  4,\n  # end\n]\nc = [\n  \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\n  \"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\",\n  \"cccccccccccccccccccccccccccccccc\",\n]\nd = []\n";
    assert_eq!(formatted(text), expected);
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_go() {
    assert_eq!(
        formatted("\u{feff}version = 1\r\n# a\r\n[keyspace]\r\n"),
        "version = 1\n\n# a\n[keyspace]\n"
    );
}

#[test]
fn an_empty_file_stays_empty() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("# only this"), "# only this\n");
}

#[test]
fn a_file_that_is_no_toml_is_refused_with_all_its_errors() {
    assert_eq!(format("a = \nb = 'x\n").unwrap_err().len(), 2);
}

#[test]
fn the_schemas_of_this_repository_keep_their_meaning() {
    for (name, text) in support::schemas() {
        let formatted = formatted(&text);
        // The recipe of the document library contradicts its own examples.
        if name.contains("as-written-text") {
            assert!(read(&formatted).schema.is_err(), "{name}");
            continue;
        }
        assert_eq!(meaning(&formatted), meaning(&text), "{name}");
    }
}

#[test]
fn the_starter_is_laid_out_already() {
    assert_eq!(format(&keyward_schema::starter()).unwrap(), keyward_schema::starter());
}

/// A document with odd spacing, quotes and comments. Each comment has a number of its own.
fn document() -> impl Strategy<Value = String> {
    let space = || prop_oneof![Just(""), Just(" "), Just("   "), Just("\t")];
    let gap = || prop_oneof![4 => Just(""), 1 => Just("\n"), 1 => Just("\n\n\n"), 1 => Just("#C\n"), 1 => Just("\n #C\n\n"), 1 => Just("#C\n\n#C\n")];
    let inner = || prop_oneof![3 => Just(""), 1 => Just("\n"), 1 => Just(" #C\n"), 1 => Just("\n\n  #C\n ")];
    let end =
        || prop_oneof![3 => Just(""), 1 => Just(" #C"), 1 => Just("     #C"), 1 => Just("#C")];
    let scalar = prop_oneof![
        Just("1"),
        Just("-0x1F"),
        Just("true"),
        Just("1.5"),
        Just("2026-01-02"),
        Just("10:30"),
        Just("''"),
        Just("'a'"),
        Just("'a\"b'"),
        Just("\"\\\"\\u00e4\\x41\""),
        Just("'''\na\n'''"),
        Just("\"\"\"b \\\n  c\"\"\""),
    ]
    .prop_map(str::to_owned);
    let value = scalar.prop_recursive(3, 12, 4, move |value| {
        let element =
            (inner(), value.clone(), inner()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let array = (prop::collection::vec(element.clone(), 0..5), any::<bool>(), inner())
            .prop_map(|(elements, comma, inner)| {
                let comma = if comma && !elements.is_empty() { "," } else { "" };
                format!("[{}{comma}{inner}]", elements.join(","))
            });
        let table =
            (prop::collection::vec((inner(), value, inner()), 0..6), any::<bool>(), inner())
                .prop_map(|(entries, comma, inner)| {
                    let comma = if comma && !entries.is_empty() { "," } else { "" };
                    let entries: Vec<String> = entries
                        .iter()
                        .enumerate()
                        .map(|(index, (a, value, b))| format!("{a}k{index} = {value}{b}"))
                        .collect();
                    format!("{{{}{comma}{inner}}}", entries.join(","))
                });
        prop_oneof![array, table]
    });
    let name = prop_oneof![
        Just("pattern"),
        Just("'quoted'"),
        Just("\"with space\""),
        Just("a.b"),
        Just("a . c"),
        Just("fields")
    ];
    let statement = (gap(), space(), name, space(), value, end());
    let header = prop_oneof![
        Just("[keys.x]"),
        Just("[ keys . y ]"),
        Just("[params]"),
        Just("[keys.x.params]"),
        Just("[[list]]"),
        Just("[\"odd name\".z]")
    ];
    let table = (gap(), space(), header, end(), prop::collection::vec(statement.clone(), 0..5));
    (prop::collection::vec(statement, 0..3), prop::collection::vec(table, 0..5), gap()).prop_map(
        |(head, tables, last)| {
            let mut text = String::new();
            let mut seen: Vec<String> = Vec::new();
            let statements =
                |text: &mut String, list: Vec<(&str, &str, &str, &str, String, &str)>| {
                    let mut names: Vec<&str> = Vec::new();
                    for (gap, space, name, space_after, value, end) in list {
                        if names.contains(&name) {
                            continue;
                        }
                        names.push(name);
                        let _ = writeln!(
                            text,
                            "{gap}{space}{name}{space_after}={space_after}{value}{end}"
                        );
                    }
                };
            statements(&mut text, head);
            for (gap, space, header, end, list) in tables {
                if seen.iter().any(|seen| seen == header) && header != "[[list]]" {
                    continue;
                }
                seen.push(header.to_owned());
                let _ = writeln!(text, "{gap}{space}{header}{end}");
                statements(&mut text, list);
            }
            text.push_str(last);
            let mut parts = text.split("#C");
            let mut numbered = parts.next().unwrap_or_default().to_owned();
            for (number, part) in parts.enumerate() {
                let _ = write!(numbered, "#c{number}.{part}");
            }
            numbered
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn formatting_keeps_meaning_and_comments_and_is_done_once(text in document()) {
        if let Ok(once) = format(&text) {
            prop_assert_eq!(&format(&once).unwrap(), &once);
            toml_1_0::from_str::<toml_1_0::Table>(&once).map_err(|error| TestCaseError::fail(format!("{error}\n{once}")))?;
            for number in 0..text.matches("#c").count() {
                let comment = format!("#c{number}.");
                prop_assert_eq!(once.matches(&comment).count(), 1, "{}\n{}", text, once);
            }
        } else {
            // Only what is no TOML at all may be refused: a dotted key can meet a header.
            prop_assert!(is_no_toml(&text), "refused:\n{}\n{:?}", text, format(&text));
        }
    }

    #[test]
    fn formatting_never_panics(text in "[a-c=\\[\\]{}\"'#., \n\\\\1]{0,60}|\\PC*") {
        let _ = format(&text);
    }
}

/// Whether the TOML parser refuses a text.
fn is_no_toml(text: &str) -> bool {
    let errors = read(text).schema.err().unwrap_or_default();
    errors.iter().any(|error| error.message.starts_with("not TOML"))
}

#[test]
fn a_comment_behind_a_field_stays_with_it() {
    let text = "version = 1\n\n[keyspace]\nname = \"x\"\n\n[keys.a]\npattern = \"a\"\nfields = {\n  # the first\n  a = \"text\", # one\n  b = \"text\", # two\n  # about c\n  c = \"text\",\n  d = \"text\" # last\n}\nttl = \"1h\"\n";
    let formatted = keyward_schema::format(text).unwrap();
    let fields = formatted.split("[keys.a.fields]\n").nth(1).unwrap();
    insta::assert_snapshot!(fields, @r#"
    # the first
    a = "text" # one
    b = "text" # two
    # about c
    c = "text"
    d = "text" # last
    "#);
    assert_eq!(keyward_schema::format(&formatted).unwrap(), formatted);
}
