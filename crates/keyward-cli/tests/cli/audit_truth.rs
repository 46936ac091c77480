//! Snapshots of real servers, against what those servers said of each key before they saved.

use crate::cli;
use keyward_testkit::{Cli, Output, repository};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;

const SNAPSHOTS: [&str; 5] =
    ["redis-7.0", "redis-7.0-nocompress-lfu", "redis-8.0-dev", "valkey-8.1-dev", "valkey-9.1"];

/// Before any key expires: 2020-01-01.
const NOW: (&str, u64) = ("2020-01-01T00:00:00Z", 1_577_836_800_000);

fn data(name: &str) -> Vec<u8> {
    fs::read(repository().join("crates/keyward-rdb/tests/data").join(name)).unwrap()
}

/// Type, encoding, expiry, length; and the name, if a list shows it as it is.
type Told = (u64, Option<String>, String, String, Option<u64>, u64);

fn truth(name: &str) -> Vec<Told> {
    let truth: Value = serde_json::from_slice(&data(&format!("{name}.truth.json"))).unwrap();
    let told = |key: &Value| {
        let name = key["key"].as_str().unwrap();
        (
            key["db"].as_u64().unwrap(),
            is_plain(name).then(|| name.to_owned()),
            key["type"].as_str().unwrap().to_owned(),
            key["encoding"].as_str().unwrap().to_owned(),
            key["expire_at_ms"].as_u64(),
            key["length"].as_u64().unwrap(),
        )
    };
    let mut keys: Vec<Told> = truth["keys"].as_array().unwrap().iter().map(told).collect();
    keys.sort();
    keys
}

/// Others are escaped or cut.
fn is_plain(name: &str) -> bool {
    name.len() <= 200 && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn audit(cli: &Cli, source: &str, format: &str) -> Output {
    let args = ["audit", source, "--format", format, "--now", NOW.0, "--salt", "s", "--show-keys"];
    cli.run(args)
}

fn report(output: &Output) -> Value {
    let mut report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"));
    report["created_at"].take();
    report
}

#[test]
fn every_key_is_listed_as_its_server_described_it() {
    for name in SNAPSHOTS {
        let cli = cli();
        cli.write("dump.rdb", data(&format!("{name}.rdb")));
        let output = audit(&cli, "dump.rdb", "jsonl");
        assert_eq!(output.code, Some(0), "{output}");
        let mut listed: Vec<Told> = (output.stdout.lines())
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|key: Value| {
                let name = key["key"].as_str().unwrap();
                (
                    key["db"].as_u64().unwrap(),
                    is_plain(name).then(|| name.to_owned()),
                    key["type"].as_str().unwrap().to_owned(),
                    key["encoding"].as_str().unwrap().to_owned(),
                    key["ttl_ms"].as_u64().map(|left| NOW.1 + left),
                    key["length"].as_u64().unwrap(),
                )
            })
            .collect();
        listed.sort();
        assert_eq!(listed, truth(name), "{name}");
    }
}

#[test]
fn a_report_counts_what_the_server_had() {
    for name in SNAPSHOTS {
        let cli = cli();
        cli.write("dump.rdb", data(&format!("{name}.rdb")));
        let report = report(&audit(&cli, "dump.rdb", "json"));
        let keys = truth(name);
        let mut types: BTreeMap<&str, u64> = BTreeMap::new();
        for key in &keys {
            *types.entry(&key.2).or_default() += 1;
        }
        let groups = report["groups"].as_array().unwrap();
        let sum = |path: &str| -> u64 {
            let number = |it: &Value| it.pointer(path).and_then(Value::as_u64).unwrap_or(0);
            groups.iter().map(number).sum()
        };
        for (key_type, count) in types {
            assert_eq!(sum(&format!("/types/{key_type}")), count, "{name}: {key_type}");
        }
        let expiring = keys.iter().filter(|key| key.4.is_some()).count() as u64;
        let all = keys.len() as u64;
        assert_eq!(report["summary"]["keys"], all, "{name}");
        assert_eq!(report["source"]["shards"][0]["keys_seen"], all, "{name}");
        assert_eq!((sum("/keys"), sum("/ttl/expiring")), (all, expiring), "{name}");
        assert_eq!((sum("/ttl/none"), sum("/ttl/expired")), (all - expiring, 0), "{name}");
        // And when all that can expire has.
        let later =
            cli.run(["audit", "dump.rdb", "--format", "json", "--now", "2999-01-01T00:00:00Z"]);
        let later = self::report(&later);
        assert_eq!(later["summary"]["expired"], expiring, "{name}");
        assert_eq!(later["summary"]["keys"], all - expiring, "{name}");
    }
}

#[test]
fn a_compressed_snapshot_is_read_like_a_plain_one() {
    for name in ["redis-7.0", "valkey-9.1"] {
        let cli = cli();
        let plain = data(&format!("{name}.rdb"));
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let zstd = zstd::encode_all(&plain[..], 1).unwrap();
        let named = |report: &mut Value| {
            for source in ["/source", "/counts/numbers/sources/0"] {
                let source = report.pointer_mut(source).unwrap();
                source["name"].take();
                source["shards"][0]["name"].take();
            }
        };
        cli.write("dump.rdb", &plain);
        let mut whole = report(&audit(&cli, "dump.rdb", "json"));
        named(&mut whole);
        let files = [("dump.rdb.gz", gzip.finish().unwrap()), ("dump.rdb.zst", zstd)];
        for (file, bytes) in files.into_iter().chain([("dump.rdb", plain)]) {
            cli.write(file, &bytes);
            let mut read = report(&audit(&cli, file, "json"));
            assert_eq!(read["source"]["name"], file);
            named(&mut read);
            assert_eq!(read, whole, "{file}");
            let args =
                ["audit", "-", "--format", "json", "--now", NOW.0, "--salt", "s", "--show-keys"];
            let mut piped = report(&cli.command(args).stdin(bytes.clone()).run());
            named(&mut piped);
            assert_eq!(piped, whole, "{file} on standard input");
            // Half of it is no report.
            cli.write(file, &bytes[..bytes.len() / 2]);
            let half = audit(&cli, file, "json");
            assert_eq!((half.code, half.stdout.as_str()), (Some(3), ""), "{half}");
        }
    }
}
