//! Snapshots from commands, and audits of them.
#![allow(dead_code, reason = "each test uses a part of it")]

use keyward_audit::{
    Audit, Observer, Options, ReadOptions, Report, Salt, ServerFacts, Subject, Tally,
};
use keyward_rdb::writer::{Attributes, Content, Writer};
use keyward_rdb::{Element, Key, Reader, Show, Value, Version, Visitor};
use keyward_schema::model::{Date, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// When tests happen.
pub(crate) const NOW: u64 = 1_794_700_800_000;
pub(crate) const TODAY: Date = Date { year: 2026, month: 11, day: 15 };

/// A key of a dump.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) ttl: Option<u64>,
    pub(crate) value: Stored,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stored {
    Text(Vec<u8>),
    Hash(Vec<(Vec<u8>, Vec<u8>)>),
    List(Vec<Vec<u8>>),
    Set(Vec<Vec<u8>>),
    Zset(Vec<(Vec<u8>, f64)>),
}

/// What some commands leave behind.
#[derive(Debug, Default)]
pub(crate) struct Dump {
    pub(crate) entries: Vec<Entry>,
    pub(crate) server: ServerFacts,
}

impl Dump {
    /// Runs commands, one a line: SET, HSET, SADD, RPUSH, ZADD, EXPIRE; CONFIG SET and INFO say what the
    /// server shows.
    pub(crate) fn of(commands: &str) -> Self {
        let mut dump = Dump::default();
        for line in commands.lines().filter(|line| !line.trim().is_empty()) {
            let words = words(line);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            dump.run(&words);
        }
        dump
    }

    fn run(&mut self, words: &[&str]) {
        let bytes = |text: &&str| text.as_bytes().to_vec();
        let pairs = |rest: &[&str]| -> Vec<(Vec<u8>, Vec<u8>)> {
            rest.chunks(2).map(|pair| (bytes(&pair[0]), bytes(&pair[1]))).collect()
        };
        match words {
            ["CONFIG", "SET", name, value] => {
                self.server.settings.insert((*name).to_owned(), (*value).to_owned());
            }
            ["INFO", "used_memory", value] => self.server.used_memory = value.parse().ok(),
            ["EXPIRE", key, seconds] => {
                let entry = self.entries.iter_mut().find(|entry| entry.key == key.as_bytes());
                entry.expect("the key is there").ttl = seconds.parse().ok();
            }
            ["SET", key, value] => self.put(key, Stored::Text(bytes(value)), None),
            ["SET", key, value, "EX", seconds] => {
                self.put(key, Stored::Text(bytes(value)), seconds.parse().ok());
            }
            ["HSET", key, rest @ ..] => self.put(key, Stored::Hash(pairs(rest)), None),
            ["RPUSH", key, rest @ ..] => {
                self.put(key, Stored::List(rest.iter().map(bytes).collect()), None);
            }
            ["SADD", key, rest @ ..] => {
                self.put(key, Stored::Set(rest.iter().map(bytes).collect()), None);
            }
            ["ZADD", key, rest @ ..] => {
                let members =
                    rest.chunks(2).map(|pair| (bytes(&pair[1]), pair[0].parse().unwrap()));
                self.put(key, Stored::Zset(members.collect()), None);
            }
            _ => panic!("no command of these tests: {words:?}"),
        }
    }

    fn put(&mut self, key: &str, value: Stored, ttl: Option<u64>) {
        self.entries.push(Entry { key: key.as_bytes().to_vec(), ttl, value });
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        bytes(&self.entries)
    }
}

/// Words, of which some may stand in quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(first) = chars.next() {
        let mut word = String::new();
        match first {
            ' ' => continue,
            '"' => {
                while let Some(char) = chars.next().filter(|char| *char != '"') {
                    word.push(if char == '\\' { chars.next().unwrap() } else { char });
                }
            }
            first => {
                word.push(first);
                while let Some(char) = chars.next_if(|char| *char != ' ') {
                    word.push(char);
                }
            }
        }
        words.push(word);
    }
    words
}

/// A snapshot of these keys, taken [`NOW`].
pub(crate) fn bytes(entries: &[Entry]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), Version::redis(10)).unwrap();
    writer.aux(b"redis-ver", b"7.0.15").unwrap();
    writer.aux(b"ctime", (NOW / 1000).to_string().as_bytes()).unwrap();
    writer.select(0).unwrap();
    writer.size(entries.len() as u64, 0).unwrap();
    for Entry { key, ttl, value } in entries {
        let expires_at = ttl.map(|seconds| NOW + seconds * 1000);
        let attributes = Attributes { expires_at, ..Attributes::default() };
        let slices = |items: &'_ [Vec<u8>]| items.to_vec();
        match value {
            Stored::Text(text) => writer.key(key, &attributes, &Content::String(text)),
            Stored::Hash(fields) => {
                let fields: Vec<(&[u8], &[u8])> =
                    fields.iter().map(|(name, value)| (&name[..], &value[..])).collect();
                writer.key(key, &attributes, &Content::Hash(&fields))
            }
            Stored::List(items) => {
                let items = slices(items);
                let items: Vec<&[u8]> = items.iter().map(|item| &item[..]).collect();
                writer.key(key, &attributes, &Content::List(&items))
            }
            Stored::Set(items) => {
                let items: Vec<&[u8]> = items.iter().map(|item| &item[..]).collect();
                writer.key(key, &attributes, &Content::Set(&items))
            }
            Stored::Zset(members) => {
                let members: Vec<(&[u8], f64)> =
                    members.iter().map(|(member, score)| (&member[..], *score)).collect();
                writer.key(key, &attributes, &Content::Zset(&members))
            }
        }
        .unwrap();
    }
    writer.finish().unwrap()
}

/// A piece of a schema, completed.
pub(crate) fn schema(piece: &str) -> Schema {
    let mut text = format!("version = 1\n{piece}");
    if !piece.contains("[keyspace]") {
        text.push_str("\n[keyspace]\nname = \"test\"\n");
    }
    let loaded = keyward_schema::read(&text);
    loaded.schema.unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The schema of a shop that limits by address and shares its server with other software; and these
/// tables.
pub(crate) fn shop(tables: &str) -> Schema {
    const SHOP: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.limit]
pattern = "limit:{ip:ip}"
rate_limit = { limit = 10, window = "1m" }
[foreign.bull]
glob = "bull:*"
"#;
    schema(&format!("{SHOP}{tables}"))
}

pub(crate) fn audit(schemas: Vec<Schema>) -> Arc<Audit> {
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    Arc::new(Audit::new(schemas.into_iter().map(Subject::new).collect(), &options))
}

/// The report of a snapshot.
pub(crate) fn report(audit: &Arc<Audit>, bytes: &[u8]) -> Report {
    let reading = ReadOptions { now: NOW, ..ReadOptions::default() };
    audit.read(Reader::from_slice(bytes), "dump.rdb", reading).unwrap()
}

/// The report of a dump, with what its server shows.
pub(crate) fn told(audit: &Arc<Audit>, dump: &Dump) -> Report {
    let bytes = dump.bytes();
    // The same keys are read twice: a snapshot says nothing of its server's settings.
    let source = report(audit, &bytes).source;
    audit.report(source, vec![observe(audit, &bytes)], &dump.server, NOW)
}

/// What an observer counts who is told of a snapshot's keys.
pub(crate) fn observe(audit: &Arc<Audit>, bytes: &[u8]) -> Tally {
    let mut observing = Observing(Tally::new(audit.clone(), NOW));
    Reader::from_slice(bytes).read(&mut observing).unwrap();
    observing.0
}

struct Observing(Tally);

impl Visitor for Observing {
    fn key(&mut self, key: &Key<'_>) -> Show {
        self.0.begin(&key.fact(None))
    }

    fn element(&mut self, element: &Element<'_>) {
        self.0.element(element);
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        self.0.end(&key.fact(Some(value)));
    }
}

/// The lines that a person would look at first.
pub(crate) fn messages(report: &Report) -> Vec<String> {
    report.findings.iter().map(|it| format!("{}: {}", it.rule, it.message)).collect()
}

/// Everything by name, to be looked at in a snapshot.
pub(crate) fn json(report: &Report) -> serde_json::Value {
    serde_json::to_value(report).unwrap()
}

pub(crate) fn counts(report: &Report) -> BTreeMap<String, u64> {
    report.definitions.iter().map(|it| (it.name.clone(), it.facts.keys)).collect()
}
