//! Any bytes as a scan that was stopped: refused, or something to go on from. Most are one that was written
//! by an audit, with a few of its parts changed, since nothing else gets far.
#![no_main]

use keyward_audit::live::{Counts, Resume, ResumeShard};
use keyward_audit::render::{self, Shown};
use keyward_audit::{Audit, Options, ReadOptions, Report, ResumeFile, Salt, Subject, Terms, merge};
use keyward_rdb::Reader;
use keyward_schema::Style;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::sync::{Arc, LazyLock};

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop"
[keys.cart]
pattern = "cart:{user_id:uint}"
fields = { items = "json", total = "uint" }
ttl = "7d"
[keys.price]
pattern = "price:{sku:slug}"
value = "uint"
ttl = "none"
max_bytes = "1kb"
"#;

/// What is held against a schema, and what it left when it was stopped.
struct Seed {
    audit: Arc<Audit>,
    report: Report,
    file: Value,
}

static SEED: LazyLock<Seed> = LazyLock::new(|| {
    let schema = keyward_schema::read(SCHEMA).schema.expect("the schema is sound");
    let options = Options { salt: Salt::of("s"), ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema)], &options));
    let report = audit
        .read(Reader::from_slice(&snapshot()), "10.0.0.7:6379", ReadOptions::default())
        .expect("the snapshot is sound");
    let shard = ResumeShard {
        name: "10.0.0.7:6379".to_owned(),
        run_id: "a".repeat(40),
        server: "10.0.0.7:6379".to_owned(),
        role: "master".to_owned(),
        slots: None,
        at: Some((0, 7)),
        told: vec![1, 2],
        counts: Counts { scanned: 6, keys: 6, ..Counts::default() },
        notes: vec!["note".to_owned()],
        missing: vec!["keys".to_owned()],
        refused: Default::default(),
    };
    let resume = Resume { clock: 1_800_000_000_000, shards: vec![shard] };
    // What a scan leaves is what a report carries.
    let counts = serde_json::to_value(&report.counts).expect("counts are JSON");
    let stopped = serde_json::json!({
        "resume": resume,
        "outline": counts["outline"],
        "counted": [counts["numbers"]],
    });
    let stopped = serde_json::from_value(stopped).expect("a scan that was stopped");
    let terms = Terms {
        source: "redis://10.0.0.7:6379".to_owned(),
        schemas: "0".to_owned(),
        options: [("--top".to_owned(), "10".to_owned())].into(),
    };
    let file = ResumeFile::new(terms, "2026-11-15".to_owned(), Some("s".to_owned()), stopped, 0);
    // Otherwise nothing would be tried.
    let text = file.text().expect("a file is JSON");
    assert_eq!(ResumeFile::parse(text.as_bytes()).as_ref(), Ok(&file));
    assert_eq!(audit.can_go_on(&file.stopped), Ok(()));
    assert!(merge(vec![report.clone(), report.clone()]).is_ok());
    let file = serde_json::from_str(&text).expect("a file is JSON");
    Seed { audit, report, file }
});

/// Some keys that are as they should be, and some that are not.
fn snapshot() -> Vec<u8> {
    let mut bytes = b"REDIS0009\xfe\x00".to_vec();
    for key in ["price:p1", "price:p2", "cart:7", "price:P 3", "other:1", "other:2"] {
        let key = if key.starts_with("other") { key.to_owned() } else { format!("shop:{key}") };
        bytes.push(0);
        bytes.push(key.len() as u8);
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(b"\x041290");
    }
    bytes.push(0xff);
    // No checksum.
    bytes.extend_from_slice(&[0; 8]);
    bytes
}

/// The bytes of an edit: where, how, and by what.
const EDIT: usize = 2 + 1 + 8;

/// Changes parts of a document.
fn edited(mut document: Value, edits: &[u8]) -> Value {
    for edit in edits.chunks_exact(EDIT).take(8) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]));
        let payload = edit[3..].first_chunk().copied().unwrap_or_default();
        let number = u64::from_le_bytes(payload);
        let Some(node) = nth(&mut document, &mut { at }) else { continue };
        match edit[2] % 10 {
            0 => *node = number.into(),
            1 => *node = (number as i64).into(),
            2 => *node = f64::from_bits(number).into(),
            3 => *node = Value::Null,
            4 => *node = Value::String(String::from_utf8_lossy(&payload).into_owned()),
            5 => *node = Value::Array(Vec::new()),
            6 => *node = Value::Object(serde_json::Map::new()),
            7 => *node = Value::Bool(number % 2 == 0),
            8 => match node {
                Value::Array(items) => {
                    let item = items.get(number as usize % items.len().max(1)).cloned();
                    items.extend(item);
                }
                Value::String(text) => {
                    let middle = text.len() / 2;
                    if text.is_char_boundary(middle) {
                        text.insert(middle, char::from(payload[0]));
                    }
                }
                _ => {}
            },
            _ => match node {
                Value::Array(items) if !items.is_empty() => {
                    items.remove(number as usize % items.len());
                }
                Value::Object(fields) => {
                    let name = fields.keys().nth(number as usize % fields.len().max(1)).cloned();
                    name.map(|name| fields.remove(&name));
                }
                Value::Number(old) => {
                    let old = old.as_u64().unwrap_or(0);
                    *node = old.wrapping_add(1 << (number % 64)).into();
                }
                _ => {}
            },
        }
    }
    document
}

/// The part of a document that comes after so many others.
fn nth<'v>(node: &'v mut Value, left: &mut usize) -> Option<&'v mut Value> {
    if *left == 0 {
        return Some(node);
    }
    *left -= 1;
    match node {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}

/// Reads it as a program does that is to go on from it.
fn go_on(text: &[u8]) {
    let Ok(file) = ResumeFile::parse(text) else { return };
    assert_eq!(file.check(&file.terms), Ok(()));
    let text = file.text().expect("a file is JSON");
    let again = ResumeFile::parse(text.as_bytes());
    assert_eq!(again.as_ref(), Ok(&file));
    let (_, _) = (file.stopped.keys(), file.stopped.expected());
    if SEED.audit.can_go_on(&file.stopped).is_err() {
        return;
    }
    let Ok(document) = serde_json::from_str::<Value>(&text) else { return };
    let mut report = serde_json::to_value(&SEED.report).expect("a report is JSON");
    report["counts"] = serde_json::json!({
        "outline": document["stopped"]["outline"],
        "numbers": document["stopped"]["counted"][0],
    });
    let Ok(half) = serde_json::from_value::<Report>(report) else { return };
    if let Ok(merged) = merge(vec![SEED.report.clone(), half]) {
        render::terminal(&merged, &Style::default(), Shown::All);
        render::concise(&merged);
    }
}

fuzz_target!(|bytes: &[u8]| {
    go_on(bytes);
    if bytes.len() >= EDIT {
        go_on(edited(SEED.file.clone(), bytes).to_string().as_bytes());
    }
});
