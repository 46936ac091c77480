//! Shards audited apart and merged equal one pass, whatever the order and the grouping.

mod support;

use keyward_audit::{Audit, Report, merge};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use support::{Entry, Stored, audit, bytes, report, shop};

const TABLES: &str = r#"
[keys.cart]
pattern = "cart:{user_id:uint}"
ttl = "7d"
fields = { items = "json", total = "uint", user = { ref = "user.user_id" } }
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

static SHOP_AUDIT: LazyLock<Arc<Audit>> = LazyLock::new(|| audit(vec![shop(TABLES)]));
static NO_SCHEMA: LazyLock<Arc<Audit>> = LazyLock::new(|| audit(Vec::new()));

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
        id.prop_map(|id| format!("session:{:08x}", id.wrapping_mul(2_654_435_761))),
    ];
    let text = || prop_oneof!["[0-9]{1,3}", "[a-z]{0,80}"].prop_map(String::into_bytes);
    let value = prop_oneof![
        text().prop_map(Stored::Text),
        proptest::collection::vec(text(), 1..4).prop_map(Stored::List),
        (text(), text(), any::<bool>()).prop_map(|(total, user, more)| {
            let mut fields = vec![(b"total".to_vec(), total), (b"user".to_vec(), user)];
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

/// The first lines that differ.
fn differences(left: &Report, right: &Report) -> String {
    let lines = |report: &Report| serde_json::to_string_pretty(report).unwrap();
    let (left, right) = (lines(left), lines(right));
    let pairs = left.lines().zip(right.lines()).filter(|(left, right)| left != right);
    let pairs: Vec<_> = pairs.take(8).map(|(left, right)| format!("{left}  |  {right}")).collect();
    pairs.join("\n")
}

fn same(left: &Report, right: &Report) -> Result<(), TestCaseError> {
    prop_assert!(left == right, "{}", differences(left, right));
    Ok(())
}

/// A report as it comes back from a file.
fn stored(report: &Report) -> Report {
    let text = serde_json::to_string(report).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn without_shards(mut report: Report) -> Report {
    report.source.shards.clear();
    report
}

/// Reports of as many shards as asked for.
fn shards(audit: &Arc<Audit>, entries: &[Entry], count: usize) -> Vec<Report> {
    let shard = |number: usize| {
        let own: Vec<Entry> = entries
            .iter()
            .enumerate()
            .filter(|(at, _)| at % count == number)
            .map(|(_, it)| it.clone())
            .collect();
        report(audit, &bytes(&own))
    };
    (0..count).map(shard).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_keys_does_not_matter(mut entries in keyspace()) {
        for audit in [&*SHOP_AUDIT, &*NO_SCHEMA] {
            let one = report(audit, &bytes(&entries));
            entries.reverse();
            same(&report(audit, &bytes(&entries)), &one)?;
            entries.sort_by(|left, right| left.key.cmp(&right.key));
            same(&report(audit, &bytes(&entries)), &one)?;
        }
    }

    #[test]
    fn several_threads_report_what_one_reports(entries in keyspace()) {
        let audit = &*SHOP_AUDIT;
        let bytes = bytes(&entries);
        let reading = keyward_audit::Reading {
            threads: std::num::NonZero::new(3).unwrap(),
            now: support::NOW,
            ..Default::default()
        };
        let several = audit.read(keyward_rdb::Reader::from_slice(&bytes), "dump.rdb", reading).unwrap();
        same(&several, &report(audit, &bytes))?;
    }

    #[test]
    fn merging_does_not_depend_on_order_or_grouping(entries in keyspace()) {
        let audit = &*SHOP_AUDIT;
        let [a, b, c]: [Report; 3] = shards(audit, &entries, 3).try_into().unwrap();
        let merged = |reports: &[&Report]| merge(reports.iter().map(|it| stored(it)).collect()).unwrap();
        let all = merged(&[&a, &b, &c]);
        same(&merged(&[&c, &a, &b]), &all)?;
        same(&merged(&[&merged(&[&a, &b]), &c]), &all)?;
        same(&merged(&[&a, &merged(&[&b, &c])]), &all)?;
    }

    /// Everything but the patterns of undeclared keys, which a shard shows only if it has enough of them.
    #[test]
    fn merged_shards_are_one_pass(entries in keyspace()) {
        let audit = &*SHOP_AUDIT;
        let one = without_shards(report(audit, &bytes(&entries)));
        let merged = merge(shards(audit, &entries, 2).iter().map(stored).collect()).unwrap();
        let declared = |mut report: Report| {
            report.unknown.clear();
            report.state.leaves.clear();
            report.findings.retain(|finding| finding.rule != "unknown-key");
            report
        };
        let unknown = |report: &Report| report.findings.iter().filter(|it| it.rule == "unknown-key").map(|it| it.count).sum::<u64>();
        prop_assert_eq!(unknown(&merged), unknown(&one));
        same(&declared(without_shards(merged)), &declared(one))?;
    }
}
