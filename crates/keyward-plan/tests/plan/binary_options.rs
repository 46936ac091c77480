//! The migration of a trading exchange: nine old names, planned, applied under load, verified, undone and applied
//! again, through all phases.

use crate::bench::{Bench, Host};
use keyward_testkit::{Connection, Reply, Server, repository};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// How many keys each name with a parameter has.
const KEYS: usize = 40;

/// The rows of the document's table: old name, new name, and a command that writes a value.
const ROWS: [(&str, &str, &[&str]); 9] = [
    ("BO:User:Mapping:{}", "bo:auth:mapping:cache:{}", &["SET", "17"]),
    ("OAuth:AccessToken:{}", "bo:auth:token:cache:{}", &["SET", "{}"]),
    ("auth:permissions:user:{}", "bo:auth:permission:cache:{}", &["SADD", "trade", "read"]),
    ("auth:roles:user:{}", "bo:auth:role:cache:{}", &["SADD", "admin"]),
    ("bo:symbols::active_v2", "bo:market:symbols:cache:active", &["SET", "[\"BTCUSDT\"]"]),
    ("bo:symbol::v2_{}", "bo:market:symbol:cache:{}", &["SET", "{}"]),
    ("bo:order:settlement:task", "bo:order:settlement:lock:task", &["SET", "worker-1"]),
    ("market:tick:{}", "bo:market:tick:cache:{}", &["SET", "{}"]),
    ("market:kline:{}:1m", "bo:market:kline:cache:{}:1m", &["SET", "{}"]),
];

/// A name of a row for one entity.
fn name(pattern: &str, number: usize) -> String {
    let entity = match pattern {
        _ if pattern.contains("Token") || pattern.contains("token") => {
            format!("token-{number:030}")
        }
        _ if pattern.contains("symbol")
            || pattern.contains("tick")
            || pattern.contains("kline") =>
        {
            format!("SYM{number}USDT")
        }
        _ => format!("{}", 1000 + number),
    };
    pattern.replace("{}", &entity)
}

fn names(row: usize) -> impl Iterator<Item = (String, String)> {
    let (old, new, _) = ROWS[row];
    let many = if old.contains("{}") { KEYS } else { 1 };
    (0..many).map(move |number| (name(old, number), name(new, number)))
}

fn write(connection: &mut Connection, row: usize, key: &str, more: &str, ends: usize) {
    let (command, values) = ROWS[row].2.split_first().unwrap();
    let mut args = vec![*command, key];
    args.extend_from_slice(values);
    if *command == "SADD" {
        args.push(more);
    }
    connection.command(&args).unwrap();
    connection.command(&["PEXPIREAT", key, &(9_000_000_000_000 + ends).to_string()]).unwrap();
}

/// Whether old and new name hold the same, and end at the same time.
fn are_same(bench: &Bench, old: &str, new: &str) -> bool {
    let content = |name: &str| match bench.redis(&["TYPE", name]).text().as_str() {
        "set" => {
            let members = bench.redis(&["SMEMBERS", name]).array();
            let mut members: Vec<String> = members.into_iter().map(Reply::text).collect();
            members.sort();
            members.join(" ")
        }
        "string" => bench.redis(&["GET", name]).text(),
        other => panic!("{name} is a {other}"),
    };
    let ends = |name: &str| bench.redis(&["PEXPIRETIME", name]).integer();
    content(old) == content(new) && ends(old) == ends(new)
}

fn schema(phase: &str) -> String {
    let path = repository().join("examples/binary-options/keyward.toml");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("phase = \"cleanup\"\nstarted = 2025-09-17\nremove_after = 2025-10-17"));
    text.replace("phase = \"cleanup\"", &format!("phase = \"{phase}\""))
}

#[test]
fn nine_old_names_are_migrated_under_load() {
    for server in Server::all() {
        let mut bench = Bench::at(Host::One(server), &schema("dual-write"));
        let mut writer = bench.connect();
        for row in 0..ROWS.len() {
            for (number, (old, _)) in names(row).enumerate() {
                write(&mut writer, row, &old, "first", number);
            }
        }
        // The lock was taken by the store before: its fence goes with it.
        writer
            .command(&["SET", "bo:~fence:{bo:order:settlement:task}", "1700000000000007"])
            .unwrap();

        let plan = bench.plan();
        let planned = |pattern: &str| {
            let row = plan.rows.iter().find(|row| row.keys == pattern);
            row.unwrap_or_else(|| panic!("{pattern} is planned")).changes()
        };
        for (pattern, keys) in [
            ("BO:User:Mapping:{username}", KEYS),
            ("OAuth:AccessToken:{token}", KEYS),
            ("auth:permissions:user:{userId}", KEYS),
            ("auth:roles:user:{userId}", KEYS),
            ("bo:symbols::active_v2", 1),
            ("bo:symbol::v2_{symbol}", KEYS),
            ("bo:order:settlement:task", 1),
            ("market:tick:{symbol}", KEYS),
            ("market:kline:{symbol}:{period}", KEYS),
        ] {
            assert_eq!(planned(pattern), keys as u64, "{pattern}: {:?}", plan.rows);
        }

        // Programs that know the old names only go on writing them.
        let (over, writes) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            let mut writer = bench.connect();
            let (over, writes) = (&over, &writes);
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let at = writes.fetch_add(1, Ordering::Relaxed);
                    let row = at % ROWS.len();
                    let (old, _) = names(row).nth(at % names(row).count()).unwrap();
                    write(&mut writer, row, &old, &format!("more-{}", at % 7), at);
                }
            });
            let applied = bench.apply(&plan).unwrap();
            assert!(applied.changed > 0);
            over.store(true, Ordering::Relaxed);
        });
        assert!(writes.load(Ordering::Relaxed) > 0);

        for _ in 0..2 {
            let applied = bench.apply(&plan).unwrap();
            assert!(applied.converged, "{applied:?}");
            for (old, new) in (0..ROWS.len()).flat_map(names) {
                assert!(are_same(&bench, &old, &new), "{old} and {new} are the same");
            }
            let fence = bench.redis(&["GET", "bo:~fence:{bo:order:settlement:lock:task}"]);
            assert_eq!(fence.text(), "1700000000000007");

            let undone = bench.undo(&plan).unwrap();
            assert_eq!(undone.conflicts, 0);
            for (old, new) in (0..ROWS.len()).flat_map(names) {
                assert_eq!(bench.redis(&["EXISTS", &old]).integer(), 1, "{old} stays");
                assert_eq!(bench.redis(&["EXISTS", &new]).integer(), 0, "{new} is taken back");
            }
        }
        assert!(bench.apply(&plan).unwrap().converged);

        bench.schema(&schema("read-fallback"));
        // Written under the new name only: the old value is not put over it.
        bench.redis(&["SET", "bo:auth:mapping:cache:1000", "18"]);
        let plan = bench.plan();
        assert!(bench.apply(&plan).unwrap().converged);
        assert_eq!(bench.redis(&["GET", "bo:auth:mapping:cache:1000"]).text(), "18");

        bench.schema(&schema("cleanup"));
        let plan = bench.plan();
        assert_eq!((plan.changes(), plan.conflicts()), (7 * KEYS as u64 + 2, 0));
        assert!(bench.apply(&plan).unwrap().converged);
        for (old, new) in (0..ROWS.len()).flat_map(names) {
            assert_eq!(bench.redis(&["EXISTS", &old]).integer(), 0, "{old} is gone");
            assert_eq!(bench.redis(&["EXISTS", &new]).integer(), 1, "{new} is there");
        }
        let [migration] = &bench.schema.migrations[..] else { panic!("one migration") };
        let end = migration.remove_after.as_ref().unwrap().to_string();
        assert_eq!(end, "2025-10-17", "one month after the start, as the document says");
    }
}
