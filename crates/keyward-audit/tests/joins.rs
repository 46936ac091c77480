//! References and former names are compared only where all keys were seen that they could be among.

mod support;

use keyward_audit::report::Sample;
use keyward_audit::{Audit, Options, Report, Salt, ServerFacts, Subject, merge};
use std::fmt::Write as _;
use std::sync::Arc;
use support::{Dump, NOW, TODAY, messages, observe, report, schema};

const SHOP: &str = r#"
[keyspace]
name = "shop"
[keys.user]
pattern = "user:{user_id:uint}"
group = "users"
[keys.order]
pattern = "order:{order_id:uint}"
group = "orders"
type = "hash"
fields = { user = { ref = "user.user_id" } }
[migrations.v2]
phase = "cleanup"
renames = { user = "User:{user_id}" }
"#;

fn audit(salt: &str, group: Option<&str>) -> Arc<Audit> {
    let takes = |definition: &keyward_schema::model::Definition| {
        definition.group.as_ref().is_some_and(|it| Some(it.value.as_str()) == group)
    };
    let options = Options {
        salt: Salt::of(salt),
        today: TODAY,
        select: group.is_some().then_some(&takes),
        ..Options::default()
    };
    Arc::new(Audit::new(vec![Subject::new(schema(SHOP))], &options))
}

/// Users, and an order of each.
fn users(numbers: std::ops::Range<u32>) -> String {
    numbers.fold(String::new(), |mut all, number| {
        let _ = writeln!(all, "SET user:{number} x");
        all
    })
}

fn orders(numbers: std::ops::Range<u32>) -> String {
    numbers.fold(String::new(), |mut all, number| {
        let _ = writeln!(all, "HSET order:{number} user {number}");
        all
    })
}

fn dump(commands: &[String]) -> Vec<u8> {
    Dump::of(&commands.concat()).bytes()
}

/// As a node of a cluster writes it.
fn of_node(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 9;
    bytes.truncate(end);
    // Slot 5 with 3 keys, none of which expires; the end; no checksum.
    bytes.extend([244, 5, 3, 0, 255]);
    bytes.extend([0; 8]);
    bytes
}

/// What it says of keys that were compared, or why they were not.
fn said(report: &Report) -> String {
    let mut lines = messages(report);
    lines.retain(|line| line.starts_with("dangling") || line.starts_with("both"));
    let about = |note: &&String| note.contains("refer");
    lines.extend(report.source.notes.iter().filter(about).map(|note| format!("note: {note}")));
    lines.join("\n")
}

#[test]
fn what_was_not_asked_for_can_be_referred_to() {
    let bytes = dump(&[users(0..200), orders(0..200)]);
    let whole = report(&audit("test", Some("orders")), &bytes);
    assert_eq!((said(&whole).as_str(), whole.summary.keys), ("", 200));
    let broken = dump(&[users(0..150), orders(0..200)]);
    insta::assert_snapshot!(said(&report(&audit("test", Some("orders")), &broken)));
}

#[test]
fn a_sample_is_not_searched_for_what_it_refers_to() {
    let audit = audit("test", None);
    let bytes = dump(&[users(0..20), orders(180..200), "SET User:7 x\n".to_owned()]);
    let mut source = report(&audit, &bytes).source;
    source.sample = Some(Sample { percent: 10.0, error: 5.0 });
    let sampled = audit.report(source, vec![observe(&audit, &bytes)], &ServerFacts::default(), NOW);
    insta::assert_snapshot!(said(&sampled));
    insta::assert_snapshot!(said(&merge(vec![sampled.clone(), sampled]).unwrap()));
}

#[test]
fn reports_with_different_salts_are_not_compared_in_whatever_order() {
    let one = report(&audit("one", None), &dump(&[users(0..200)]));
    let two = report(&audit("two", None), &dump(&[orders(0..100)]));
    let three = report(&audit("one", None), &dump(&[orders(100..200)]));
    let merged = |reports: &[&Report]| merge(reports.iter().map(|it| (*it).clone()).collect());
    let all = merged(&[&one, &two, &three]).unwrap();
    insta::assert_snapshot!(said(&all));
    assert_eq!(said(&merged(&[&three, &one, &two]).unwrap()), said(&all));
    let first = merged(&[&one, &two]).unwrap();
    assert_eq!(said(&merged(&[&first, &three]).unwrap()), said(&all));
}

#[test]
fn one_shard_of_a_cluster_waits_for_the_others() {
    let audit = audit("test", None);
    let one = report(&audit, &of_node(dump(&[users(0..100), orders(100..200)])));
    let two = report(&audit, &of_node(dump(&[users(100..190), orders(0..100)])));
    insta::assert_snapshot!(said(&one));
    insta::assert_snapshot!(said(&merge(vec![one, two]).unwrap()));
}
