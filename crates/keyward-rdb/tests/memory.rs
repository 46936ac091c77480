//! Estimates of memory against what real servers answer to MEMORY USAGE.

use std::collections::BTreeMap;
use std::fmt::Write;

use keyward_rdb::{Allocator, Key, Options, Reader, Summary, Value, Visitor};
use keyward_testkit::{Flavor, Server};

mod fill;

use fill::fill;

#[derive(Default)]
struct Estimates {
    keys: BTreeMap<Vec<u8>, u64>,
}

impl Visitor for Estimates {
    fn value(&mut self, key: &Key<'_>, value: &Value) {
        self.keys.insert(key.name.to_vec(), value.memory);
    }
}

/// Estimated and measured bytes of each pattern.
fn compare(server: &Server, allocator: Allocator) -> (Summary, BTreeMap<String, (u64, u64)>) {
    let mut estimates = Estimates::default();
    let mut options = Options::default();
    options.allocator = allocator;
    let reader = Reader::open(server.save()).unwrap().with(options);
    let summary = reader.read(&mut estimates).unwrap();
    let mut patterns: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let names: Vec<_> = estimates.keys.keys().cloned().collect();
    let questions: Vec<Vec<&[u8]>> =
        names.iter().map(|name| vec![&b"MEMORY"[..], b"USAGE", name, b"SAMPLES", b"0"]).collect();
    let answers = server.connect().pipeline(&questions).unwrap();
    for (name, answer) in names.iter().zip(answers) {
        let pattern = name.split(|byte| *byte == b':').next().unwrap();
        let pattern = String::from_utf8(pattern.to_vec()).unwrap();
        let (estimated, measured) = patterns.entry(pattern).or_default();
        *estimated += estimates.keys[name];
        *measured += u64::try_from(answer.integer()).unwrap();
    }
    (summary, patterns)
}

#[test]
fn redis_7_0_takes_as_much_as_estimated() {
    let server = Server::redis();
    fill(&mut server.connect());
    let (summary, patterns) = compare(&server, Allocator::Jemalloc);
    assert!(summary.memory_checked(), "{:?}", summary.server);
    let mut table = String::new();
    let (mut all_estimated, mut all_measured) = (0, 0);
    for (pattern, (estimated, measured)) in &patterns {
        let _ = writeln!(table, "{pattern}: {estimated} estimated, {measured} measured");
        all_estimated += estimated;
        all_measured += measured;
    }
    eprintln!("{table}all: {all_estimated} estimated, {all_measured} measured");
    assert_eq!(patterns.len(), 16);
    for (pattern, (estimated, measured)) in patterns {
        assert!(estimated.abs_diff(measured) * 10 <= measured, "{pattern} in\n{table}");
    }
    assert!(u64::abs_diff(all_estimated, all_measured) * 20 <= all_measured, "{table}");
}

#[test]
fn a_restarted_server_takes_as_much_but_for_the_ends_of_its_streams() {
    let server = Flavor::Redis.server().config("dbfilename", "dump.rdb").start();
    fill(&mut server.connect());
    server.save();
    server.command(&["DEBUG", "RELOAD"]);
    let (_, patterns) = compare(&server, Allocator::Jemalloc);
    for (pattern, (estimated, measured)) in patterns {
        if pattern == "stream_small" {
            assert!(estimated > measured, "{pattern}: {estimated} for {measured}");
            continue;
        }
        let difference = estimated.abs_diff(measured) * 10;
        assert!(difference <= measured, "{pattern}: {estimated} for {measured}");
    }
}
