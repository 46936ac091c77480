//! Shards audited apart and merged equal one pass, whatever the order and the grouping; without a schema, but for the
//! patterns.

mod support;

use keyward_audit::report::KeyLengths;
use keyward_audit::{Audit, Options, Report, Salt, Subject, merge};
use keyward_rules::Rule;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use support::{Entry, Stored, TODAY, bytes, report, shop};

const TABLES: &str = r#"
[keys.cart]
pattern = "cart:{user_id:uint}"
ttl = "7d"
fields = { items = "json", total = "uint", user = { ref = "user.user_id" }, of = { key = "user" } }
max_bytes = "200b"
[keys.user]
pattern = "user:{user_id:uint}"
value = "text"
ttl = "none"
invalidate = "index"
[keys.recent]
pattern = "recent:{user_id:uint}"
type = "list"
max_len = 2
ttl = "1d"
[migrations.v2]
phase = "cleanup"
renames = { user = "User:{user_id}" }
"#;

/// With a schema and without one; with keys masked, and as they are.
static AUDITS: LazyLock<[[Arc<Audit>; 2]; 2]> = LazyLock::new(|| {
    [false, true].map(|show_keys| {
        let options =
            Options { salt: Salt::of("test"), today: TODAY, show_keys, ..Options::default() };
        let subjects = [vec![Subject::new(shop(TABLES))], Vec::new()];
        subjects.map(|subjects| Arc::new(Audit::new(subjects, &options)))
    })
});

fn audits(show_keys: bool) -> &'static [Arc<Audit>; 2] {
    &AUDITS[usize::from(show_keys)]
}

fn entry() -> impl Strategy<Value = Entry> {
    let id = 0u32..40;
    let key = prop_oneof![
        id.clone().prop_map(|id| format!("shop:cart:{id}")),
        id.clone().prop_map(|id| format!("shop:user:{id}")),
        id.clone().prop_map(|id| format!("User:{id}")),
        id.clone().prop_map(|id| format!("shop:limit:10.0.0.{id}")),
        id.clone().prop_map(|id| format!("shop:limit:2001:db8::{id}")),
        id.clone().prop_map(|id| format!("shop:recent:{id}")),
        id.clone().prop_map(|id| format!("shop:~index:{{shop:user:{id}}}")),
        id.clone().prop_map(|id| format!("bull:{id}:wait")),
        id.clone().prop_map(|id| format!("shop:crat:{id}")),
        id.clone().prop_map(|id| format!("shop:cart:x{id}")),
        "[a-z]{1,2}:[a-z]{1,3}(:[0-9]{1,2})?",
        "(user|cart|team):[a-d]:(x|y):[0-9]{1,2}",
        id.prop_map(|id| format!("session:{:08x}", id.wrapping_mul(2_654_435_761))),
    ];
    let text = || prop_oneof!["[0-9]{1,3}", "[a-z]{0,80}"].prop_map(String::into_bytes);
    let named = || "(shop:)?(user|cart|recent):[0-9]{1,2}|[a-z]{1,3}".prop_map(String::into_bytes);
    let value = prop_oneof![
        text().prop_map(Stored::Text),
        proptest::collection::vec(text(), 1..4).prop_map(Stored::List),
        (text(), text(), named(), any::<bool>()).prop_map(|(total, user, of, more)| {
            let mut fields = vec![(b"total".to_vec(), total), (b"user".to_vec(), user)];
            fields.push((b"of".to_vec(), of));
            if more {
                fields.push((b"items".to_vec(), b"{}".to_vec()));
            } else {
                fields.push((b"colour".to_vec(), b"red".to_vec()));
            }
            Stored::Hash(fields)
        }),
    ];
    let ttl = prop_oneof![Just(None), (0u64..2_000_000).prop_map(Some)];
    (key, value, ttl).prop_map(|(key, value, ttl)| Entry { key: key.into_bytes(), ttl, value })
}

/// Some keys, each once, as a server has them.
fn keyspace() -> impl Strategy<Value = Vec<Entry>> {
    proptest::collection::vec(entry(), 0..150).prop_map(|entries| {
        let mut known = std::collections::HashSet::new();
        entries.into_iter().filter(|entry| known.insert(entry.key.clone())).collect()
    })
}

/// A report without what says that it is of several files.
fn document(report: &Report) -> Value {
    let mut document = serde_json::to_value(report).unwrap();
    for place in ["/source/shards", "/counts/numbers/sources"] {
        document.pointer_mut(place).unwrap().take();
    }
    document
}

/// The first lines that differ.
fn same(left: &Value, right: &Value) -> Result<(), TestCaseError> {
    let (one, other) = (format!("{left:#}"), format!("{right:#}"));
    let pairs = one.lines().zip(other.lines()).filter(|(left, right)| left != right);
    let pairs: Vec<_> = pairs.take(8).map(|(left, right)| format!("{left}  |  {right}")).collect();
    prop_assert!(left == right, "{}", pairs.join("\n"));
    Ok(())
}

/// A report as it comes back from a file.
fn stored(report: &Report) -> Report {
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}

fn merged(reports: &[&Report]) -> Report {
    merge(reports.iter().map(|it| stored(it)).collect()).unwrap()
}

/// Reports of shards, by the number that each key has.
fn shards(audit: &Arc<Audit>, entries: &[Entry], numbers: &[usize], count: usize) -> Vec<Report> {
    let shard = |number: usize| {
        let own = entries.iter().zip(numbers).filter(|(_, it)| *it % count == number);
        let own: Vec<Entry> = own.map(|(entry, _)| entry.clone()).collect();
        report(audit, &bytes(&own))
    };
    (0..count).map(shard).collect()
}

/// How many keys look alike, where no word has a name.
fn unnamed(report: &Report) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for group in &report.unknown {
        let segments = group.pattern.as_str().split_inclusive([':', '/', '|']);
        let bare = segments.map(|segment| {
            let inside = segment.trim_end_matches([':', '/', '|']);
            let is_value = inside.starts_with('<') && inside.ends_with('>') && inside != "<word>";
            let end = &segment[inside.len()..];
            if is_value { segment.to_owned() } else { format!("<text>{end}") }
        });
        *all.entry(bare.collect::<String>()).or_default() += group.facts.keys;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_keys_does_not_matter(mut entries in keyspace()) {
        for audit in audits(false) {
            let one = document(&report(audit, &bytes(&entries)));
            entries.reverse();
            same(&document(&report(audit, &bytes(&entries))), &one)?;
            entries.sort_by(|left, right| left.key.cmp(&right.key));
            same(&document(&report(audit, &bytes(&entries))), &one)?;
        }
    }

    #[test]
    fn several_threads_report_what_one_reports(entries in keyspace()) {
        for audit in audits(false) {
            let bytes = bytes(&entries);
            let reading = keyward_audit::ReadOptions {
                threads: std::num::NonZero::new(3).unwrap(),
                now: support::NOW,
                ..Default::default()
            };
            let several = audit.read(keyward_rdb::Reader::from_slice(&bytes), "dump.rdb", reading).unwrap();
            prop_assert_eq!(several.to_json().unwrap(), report(audit, &bytes).to_json().unwrap());
        }
    }

    /// Whatever the order and the grouping, merged reports are the same to the byte.
    #[test]
    fn merging_does_not_depend_on_order_or_grouping(
        entries in keyspace(),
        numbers in proptest::collection::vec(0usize..4, 150),
        order in Just([0, 1, 2, 3]).prop_shuffle(),
        split in 1usize..4,
    ) {
        for audit in audits(false) {
            let parts = shards(audit, &entries, &numbers, 4);
            let all = merged(&parts.iter().collect::<Vec<_>>()).to_json().unwrap();
            let shuffled: Vec<&Report> = order.iter().map(|at| &parts[*at]).collect();
            let (left, right) = shuffled.split_at(split);
            let grouped = merged(&[&merged(left), &merged(right)]);
            prop_assert_eq!(&grouped.to_json().unwrap(), &all);
            let nested = shuffled.iter().skip(1).fold(stored(shuffled[0]), |sum, it| merged(&[&sum, it]));
            prop_assert_eq!(&nested.to_json().unwrap(), &all);
        }
    }

    /// Where keys are shown, nothing is lost on the way.
    #[test]
    fn merged_shards_are_one_pass(
        entries in keyspace(),
        numbers in proptest::collection::vec(0usize..3, 150),
    ) {
        let [audit, _] = audits(true);
        let one = report(audit, &bytes(&entries));
        let parts = shards(audit, &entries, &numbers, 3);
        same(&document(&merged(&parts.iter().collect::<Vec<_>>())), &document(&one))?;
    }

    /// Without a schema, patterns are those that were drafted of the shards: only the numbers of all keys are the same.
    #[test]
    fn merged_shards_without_a_schema_have_all_keys(
        entries in keyspace(),
        numbers in proptest::collection::vec(0usize..3, 150),
    ) {
        for [_, audit] in [audits(false), audits(true)] {
            let one = report(audit, &bytes(&entries));
            let parts = shards(audit, &entries, &numbers, 3);
            let merged = merged(&parts.iter().collect::<Vec<_>>());
            let keys = |report: &Report| report.groups.iter().map(|it| it.facts.keys).sum::<u64>();
            prop_assert_eq!(keys(&merged), keys(&one));
            prop_assert_eq!(&merged.summary, &one.summary);
            for group in &merged.groups {
                let is_it = |it: &&keyward_audit::report::Group| it.pattern == group.pattern;
                let own = parts.iter().filter_map(|part| part.groups.iter().find(is_it));
                prop_assert_eq!(group.facts.keys, own.map(|it| it.facts.keys).sum::<u64>());
            }
        }
    }

    /// Where keys are masked, a word may stay hidden that no shard had often enough: all else is the same.
    #[test]
    fn merged_shards_are_one_pass_but_for_words_that_every_shard_hides(
        entries in keyspace(),
        numbers in proptest::collection::vec(0usize..2, 150),
    ) {
        let [audit, _] = audits(false);
        let one = report(audit, &bytes(&entries));
        let parts = shards(audit, &entries, &numbers, 2);
        let merged = merged(&parts.iter().collect::<Vec<_>>());
        prop_assert_eq!(unnamed(&merged), unnamed(&one));
        let declared = |mut report: Report| {
            report.unknown.clear();
            report.findings.retain(|finding| finding.rule != Rule::UnknownKey);
            let mut document = document(&report);
            document.pointer_mut("/counts/numbers/leaves").unwrap().take();
            document
        };
        let unknown = |report: &Report| {
            let findings = report.findings.iter().filter(|it| it.rule == Rule::UnknownKey);
            findings.map(|it| it.count).sum::<u64>()
        };
        prop_assert_eq!(unknown(&merged), unknown(&one));
        same(&declared(merged), &declared(one))?;
    }
}

#[test]
fn the_lengths_of_names_are_counted_and_merged() {
    let [with_schema, without] = audits(false);
    let [short, long] = ["shop:cart:7", "shop:user:123456789"].map(|key| Entry {
        key: key.as_bytes().to_vec(),
        ttl: None,
        value: Stored::Text(b"x".to_vec()),
    });
    let expired = Entry { key: vec![b'x'; 500], ttl: Some(0), ..short.clone() };
    let foreign = Entry { key: b"bull:1".to_vec(), ..short.clone() };
    let of = |entries: &[Entry]| report(with_schema, &bytes(entries));
    let merged =
        merge(vec![of(std::slice::from_ref(&short)), of(&[long.clone(), foreign])]).unwrap();
    let lengths = |average, longest| Some(KeyLengths { average, longest });
    assert_eq!(merged.summary.key_lengths, lengths(12.0, 19));
    let named = |name: &str| merged.definitions.iter().find(|it| it.name == name).unwrap();
    assert_eq!(named("cart").facts.key_lengths, lengths(11.0, 11));
    assert_eq!(named("user").facts.key_lengths, lengths(19.0, 19));
    assert_eq!(named("recent").facts.key_lengths, None);
    assert_eq!(of(&[]).summary.key_lengths, None);
    let without = report(without, &bytes(&[short.clone(), long, expired]));
    assert_eq!(without.summary.key_lengths, lengths(15.0, 19));
    assert_eq!(without.groups[0].facts.key_lengths.map(|it| it.longest), Some(19));
    let difference = keyward_audit::difference(&of(&[short]), &merged, 0.0);
    assert_eq!(difference.key_lengths, [lengths(11.0, 11), lengths(12.0, 19)]);
}
