//! Keys that are not what they look like: nothing of them is lost, and nothing of them acts.

use crate::{SHOP, cli, shop};
use keyward_rdb::Version;
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_testkit::Cli;
use std::collections::BTreeSet;

/// A character that turns the direction of writing.
const TURN: &str = "\u{202e}";

/// Keys of which one looks like another, or like a formula, and one that is not UTF-8.
fn keys() -> BTreeSet<Vec<u8>> {
    let long = format!("long:{}", "x".repeat(300));
    let texts =
        ["=1+2", r"\x3d1+2", "+a", "-a", "@a", "\ta", "\ra", r"a\nb", "a\nb", "a,\"b\"", &long];
    let texts = texts.map(|text| text.as_bytes().to_vec());
    let turned = format!("a{TURN}b").into_bytes();
    texts.into_iter().chain([turned, r"a\u{202e}b".into(), b"a\xff\\xff".to_vec()]).collect()
}

fn dumped() -> Cli {
    let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
    writer.select(0).unwrap();
    for key in keys() {
        writer.key(&key, &Attributes::default(), &Content::String(b"1")).unwrap();
    }
    let cli = cli();
    cli.write("dump.rdb", writer.finish().unwrap());
    cli
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// What an escaped text stands for.
fn unescaped(text: &str) -> Vec<u8> {
    let Some((before, escaped)) = text.split_once('\\') else { return text.into() };
    let rest = &escaped[1..];
    let (char, rest) = match &escaped[..1] {
        "\\" => ('\\', rest),
        "t" => ('\t', rest),
        "n" => ('\n', rest),
        "r" => ('\r', rest),
        "x" => (char::from(bytes(&rest[..2])[0]), &rest[2..]),
        "u" => {
            let (digits, rest) = rest[1..].split_once('}').unwrap();
            (char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap(), rest)
        }
        other => panic!("`\\{other}`"),
    };
    [before.as_bytes(), char.to_string().as_bytes(), &unescaped(rest)].concat()
}

#[test]
fn a_list_as_csv_loses_nothing_and_starts_no_formula() {
    let listed = dumped().run(["audit", "dump.rdb", "--show-keys", "--format", "csv"]).stdout;
    assert!(!listed.contains(TURN), "{listed}");
    let mut reader = csv::Reader::from_reader(listed.as_bytes());
    let mut found = BTreeSet::new();
    for record in reader.records() {
        let record = record.unwrap();
        for cell in &record {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
        let (key, hex) = (&record[1], &record[12]);
        found.insert(if hex.is_empty() { unescaped(key) } else { bytes(hex) });
    }
    assert_eq!(found, keys());
}

#[test]
fn a_list_as_json_loses_nothing() {
    let listed = dumped().run(["audit", "dump.rdb", "--show-keys", "--format", "jsonl"]).stdout;
    assert!(!listed.contains(TURN), "{listed}");
    let key = |line: &str| -> Vec<u8> {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        match object["key_hex"].as_str() {
            Some(hex) => bytes(hex),
            None => object["key"].as_str().unwrap().into(),
        }
    };
    assert_eq!(listed.lines().map(key).collect::<BTreeSet<_>>(), keys());
}

#[test]
fn nothing_turns_the_direction_of_writing() {
    let dump = dumped();
    for format in ["full", "concise", "json", "html", "github", "sarif"] {
        let output = dump.run(["audit", "dump.rdb", "--show-keys", "--format", format]);
        assert!(!output.to_string().contains(TURN), "{output}");
    }
    let cli = shop(&SHOP.replace("{query:encoded}", "{query:text}"));
    let key = format!("shop:search:a{TURN}b");
    for format in ["full", "concise", "json", "jsonl"] {
        for key in [&key, &format!("other:{TURN}")] {
            let output = cli.run(["key", "parse", key, "--format", format]);
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(!said.contains(TURN), "{said}");
        }
    }
    let piped =
        cli.command(["key", "parse", "-", "--format", "jsonl"]).stdin(key.as_str()).run().stdout;
    let object: serde_json::Value = serde_json::from_str(&piped).unwrap();
    assert_eq!(object["key"], key, "{piped}");
    assert!(!piped.contains(TURN), "{piped}");
    let refused = cli.run(["key", "build", "price", &format!("sku=a{TURN}b")]);
    assert!(!refused.stderr.contains(TURN), "{}", refused.stderr);
    // What was asked for is the key itself.
    let built = cli.run(["key", "build", "search", &format!("query=a{TURN}b")]);
    assert_eq!(built.stdout, format!("{key}\n"));
}

#[test]
fn documentation_shows_what_a_text_hides() {
    let cli = shop(&SHOP.replace("An article's price", r"An \u202earticle's `\u2066price`"));
    cli.run(["docs", "--out", "docs"]);
    let check = cli.run(["check", "--format", "json"]);
    assert!(!check.stdout.contains(TURN), "{check}");
    for file in ["docs/index.html", "docs/keyspace.md"] {
        let text = cli.read(file);
        assert!(text.contains("202e}article") && !text.contains(TURN), "{text}");
        assert!(!text.contains('\u{2066}'), "{text}");
    }
}
