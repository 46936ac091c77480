//! Snapshots of five servers, with what the servers themselves said of every key before they saved.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use keyward_rdb::{Checksum, Key, Reader, Show, Summary, Value, Visitor};
use serde_json::Value as Json;

const FILES: [&str; 5] =
    ["redis-7.0", "redis-7.0-nocompress-lfu", "redis-8.0-dev", "valkey-8.1-dev", "valkey-9.1"];

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn truth(name: &str) -> Json {
    let text = fs::read_to_string(data(&format!("{name}.truth.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[derive(Default)]
struct Facts {
    show: bool,
    keys: BTreeMap<(u64, String), Fact>,
}

#[derive(Debug, PartialEq, Eq)]
struct Fact {
    key_type: String,
    encoding: String,
    expires_at: Option<u64>,
    length: u64,
    memory: u64,
}

impl Visitor for Facts {
    fn key(&mut self, _: &Key<'_>) -> Show {
        if self.show { Show::up_to(16) } else { Show::NOTHING }
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        let hex = key.name.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let fact = Fact {
            key_type: key.key_type.to_string(),
            encoding: value.encoding.to_string(),
            expires_at: key.expires_at,
            length: value.length,
            memory: value.memory,
        };
        assert_eq!(self.keys.insert((key.db, hex), fact), None);
    }
}

fn read(name: &str, show: bool) -> (Summary, Facts) {
    let mut facts = Facts { show, ..Facts::default() };
    let summary = Reader::open(data(&format!("{name}.rdb"))).unwrap().read(&mut facts).unwrap();
    (summary, facts)
}

#[test]
fn type_encoding_expiry_and_length_are_those_of_the_server() {
    for name in FILES {
        for show in [false, true] {
            let (summary, facts) = read(name, show);
            let truth = truth(name);
            let keys = truth["keys"].as_array().unwrap();
            for key in keys {
                let id = (key["db"].as_u64().unwrap(), key["key_hex"].as_str().unwrap().to_owned());
                let fact = &facts.keys[&id];
                let expected = Fact {
                    key_type: key["type"].as_str().unwrap().to_owned(),
                    encoding: key["encoding"].as_str().unwrap().to_owned(),
                    expires_at: key["expire_at_ms"].as_u64(),
                    length: key["length"].as_u64().unwrap(),
                    memory: fact.memory,
                };
                assert_eq!(*fact, expected, "{name}: {}", key["key"]);
            }
            assert_eq!(facts.keys.len(), keys.len(), "{name}");
            assert_eq!(summary.keys, keys.len() as u64, "{name}");
            assert_eq!(summary.functions, truth["functions"].as_u64().unwrap(), "{name}");
            assert_eq!(summary.server.as_deref(), Some(version(name)));
            assert_eq!(summary.checksum, Checksum::Verified);
            assert_eq!(summary.trailing, Some(0));
            assert!(!summary.version.is_newer());
        }
    }
}

fn version(name: &str) -> &'static str {
    match name {
        "redis-7.0" | "redis-7.0-nocompress-lfu" => "7.0.15",
        "valkey-9.1" => "9.1.2",
        _ => "255.255.255",
    }
}

#[test]
fn memory_is_estimated_within_bounds_on_redis_7_0() {
    for name in ["redis-7.0", "redis-7.0-nocompress-lfu"] {
        let (summary, facts) = read(name, false);
        assert!(summary.memory_checked());
        let (mut estimated, mut measured) = (0, 0);
        for key in truth(name)["keys"].as_array().unwrap() {
            let id = (key["db"].as_u64().unwrap(), key["key_hex"].as_str().unwrap().to_owned());
            let usage = key["memory_usage"].as_u64().unwrap();
            let memory = facts.keys[&id].memory;
            estimated += memory;
            measured += usage;
            if std::env::var_os("KEYWARD_SHOW").is_some() {
                eprintln!("{} {usage} {memory}", key["key"]);
            }
            // A skip list's levels are random; all else is exact.
            if key["encoding"] == "skiplist" {
                assert!(memory.abs_diff(usage) * 100 <= usage * 5, "{name}: {}", key["key"]);
            } else {
                assert_eq!(memory, usage, "{name}: {}", key["key"]);
            }
        }
        assert!(u64::abs_diff(estimated, measured) * 100 <= measured, "{estimated} {measured}");
    }
}
