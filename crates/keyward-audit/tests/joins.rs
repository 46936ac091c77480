//! References and former names are compared only where all keys were seen that they could be among.

mod support;

use keyward_audit::report::{Finding, Sample};
use keyward_audit::{Audit, Options, Report, Salt, ServerFacts, Subject, merge};
use keyward_rules::Rule;
use keyward_rules::judge::UnresolvedCounts;
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

const LIBRARY: &str = r#"
[keyspace]
name = "library"
prefix = "lib:"
[keys.chapter]
pattern = "ch:{chapter_id:uint}"
type = "hash"
[keys.note]
pattern = "note:{note_id:uint}"
[keys.reading]
pattern = "reading:{user_id:uint}"
type = "set"
member = { key = "chapter" }
[keys.last]
pattern = "last:{user_id:uint}"
type = "string"
value = { ref = "chapter.chapter_id" }
[keys.about]
pattern = "about:{chapter}"
params = { chapter = { key = "chapter" } }
"#;

/// A chapter that exists with and without the prefix; one of another type, one that does not exist, a note, an
/// undeclared key, and what is not a key at all.
const READ: &str = "\
HSET lib:ch:1 title a
SET lib:ch:2 a
SET lib:note:7 a
SET stray:9 a
SADD lib:reading:1 ch:1 lib:ch:1 ch:2 ch:3 note:7 note:8 alice
SET lib:last:1 1
SET lib:last:2 2
SET lib:last:3 3
SET lib:last:4 alice
SET lib:about:ch:1 x
SET lib:about:ch:3 x
";

fn library(show_keys: bool) -> Arc<Audit> {
    let options = Options { salt: Salt::of("test"), today: TODAY, show_keys, ..Options::default() };
    Arc::new(Audit::new(vec![Subject::new(schema(LIBRARY))], &options))
}

fn unresolved(report: &Report) -> Vec<&Finding> {
    report.findings.iter().filter(|it| it.rule == Rule::DanglingReference).collect()
}

/// What it reports of references, with examples.
fn shown(report: &Report) -> String {
    let mut text = String::new();
    for finding in unresolved(report) {
        let _ = writeln!(text, "{}", finding.message);
        finding.details.iter().for_each(|detail| _ = writeln!(text, "  {detail}"));
        for example in &finding.examples {
            let detail = example.detail.as_deref().unwrap_or_default();
            let _ = writeln!(text, "    {}: {detail}", example.key);
        }
    }
    text
}

#[test]
fn a_reference_that_does_not_resolve_says_why() {
    let bytes = Dump::of(READ).bytes();
    let clear = report(&library(true), &bytes);
    insta::assert_snapshot!(shown(&clear));
    let counts: Vec<_> = unresolved(&clear).iter().filter_map(|it| it.unresolved).collect();
    let each = |it: &UnresolvedCounts| [it.not_a_key, it.elsewhere, it.missing];
    assert_eq!(counts.iter().map(each).collect::<Vec<_>>(), [[2, 2, 1], [1, 1, 1], [0, 0, 1]]);
    let masked = report(&library(false), &bytes);
    assert!(!serde_json::to_string(&masked).unwrap().contains("alice"));
    insta::assert_snapshot!(shown(&masked));
}

#[test]
fn an_index_may_list_what_has_expired() {
    const TAGS: &str = r#"
[keyspace]
name = "tags"
[keys.article]
pattern = "article:{id:uint}"
value = "text"
ttl = "1h"
[keys.kept]
pattern = "kept:{id:uint}"
value = "text"
ttl = "none"
[keys.tag]
pattern = "tag:{tag:slug}"
member = { ref = "article.id" }
index = { of = "article" }
[keys.kept_tag]
pattern = "kept_tag:{tag:slug}"
member = { ref = "kept.id" }
index = { of = "kept" }
"#;
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(TAGS))], &options));
    let dump = Dump::of("SADD tag:a 1\nSADD kept_tag:a 1\n");
    let said = said(&report(&audit, &dump.bytes()));
    assert!(said.contains("`kept_tag`") && !said.contains("`tag`"), "{said}");
}

#[test]
fn references_of_shards_are_merged_as_if_they_were_read_at_once() {
    let lines: Vec<&str> = READ.lines().collect();
    let audit = library(false);
    let whole = shown(&report(&audit, &Dump::of(READ).bytes()));
    let shards = |count: usize| {
        let one = |shard: usize| {
            let own = lines.iter().skip(shard).step_by(count).copied();
            report(&audit, &of_node(Dump::of(&own.collect::<Vec<_>>().join("\n")).bytes()))
        };
        (0..count).map(one).collect::<Vec<Report>>()
    };
    for count in 2..lines.len() {
        let mut reports = shards(count);
        assert_eq!(shown(&merge(reports.clone()).unwrap()), whole, "{count} shards");
        reports.reverse();
        let last = reports.pop().unwrap();
        let others = merge(reports).unwrap();
        // A merged report is merged again from its file.
        let text = serde_json::to_string(&others).unwrap();
        let read: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(shown(&merge(vec![read, last]).unwrap()), whole, "{count} shards");
    }
}

#[test]
fn what_is_not_a_key_is_counted_however_many_keys_there_are() {
    let mut commands = users(0..20_000);
    commands.push_str(&orders(0..20));
    commands.push_str("HSET order:20 user alice\nHSET order:21 user -3\n");
    let found = report(&audit("test", Some("orders")), &Dump::of(&commands).bytes());
    let finding = unresolved(&found)[0];
    assert_eq!(finding.unresolved.unwrap().not_a_key, 2);
    assert!(finding.sampled);
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

const TENANTS: &str = r#"
[keyspace]
name = "shop"
prefix = "{tenant:word}:shop:"
[keys.session]
pattern = "session:{session_id:uint}"
[keys.sessions_of]
pattern = "user:{user_id:uint}:sessions"
type = "set"
member = { ref = "session.session_id" }
[keys.last]
pattern = "last:{user_id:uint}"
type = "string"
value = { key = "session" }
"#;

#[test]
fn a_reference_resolves_within_the_values_of_the_prefix() {
    let options = Options { salt: Salt::of("test"), today: TODAY, ..Options::default() };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(TENANTS))], &options));
    let mut commands = String::new();
    for tenant in ["acme", "globex", "initech"] {
        for session in 0..100 {
            let _ = writeln!(commands, "SET {tenant}:shop:session:{session} x");
        }
        for user in 0..110 {
            let _ = writeln!(commands, "SADD {tenant}:shop:user:{user}:sessions {user}");
        }
    }
    commands.push_str("SET acme:shop:session:900 x\nSADD globex:shop:user:900:sessions 900\n");
    // With the prefix and without, and with that of another tenant.
    commands.push_str(
        "SET globex:shop:last:1 session:7\nSET globex:shop:last:2 globex:shop:session:7\n",
    );
    commands.push_str(
        "SET globex:shop:last:3 session:900\nSET globex:shop:last:4 acme:shop:session:900\n",
    );
    let found = report(&audit, &Dump::of(&commands).bytes());
    insta::assert_snapshot!(shown(&found));
}

#[test]
fn a_reference_is_counted_in_each_key_that_has_it() {
    let orders = (0..30).fold(String::new(), |mut all, number| {
        let _ = writeln!(all, "HSET order:{number} user {}", number % 3);
        all
    });
    let bytes = dump(&[users(0..2), orders]);
    let found = report(&audit("test", None), &bytes);
    assert_eq!(
        messages(&found),
        [
            "dangling-reference: field `user` of `order` does not resolve: 10 of 30 references (33.3 %)"
        ]
    );
}
