//! Repairs on real servers: what is changed, what is left alone, and the way back.

use crate::bench::Bench;
use keyward_plan::{Order, Plan, Row};
use keyward_testkit::{Flavor, Reply};

const TTLS: &str = r#"
version = 1
[keyspace]
name = "shop"
[keys.session]
pattern = "session:{id:uint}"
type = "hash"
ttl = "1h"
[keys.quote]
pattern = "quote:{id:uint}"
value = "text"
ttl = "1m..5m"
[keys.kept]
pattern = "kept:{id:uint}"
value = "text"
ttl = "1m"
allow = [{ rule = "ttl-missing", reason = "some are pinned" }]
[migrations.v2]
phase = "cleanup"
remove_after = 2025-10-17
old_ttl = "10m"
renames = { session = "Session:{id}" }
[migrations.v3]
phase = "read-fallback"
remove_after = 2025-10-17
renames = { quote = "Quote:{id}" }
[migrations.v4]
phase = "cleanup"
remove_after = 2025-12-17
renames = { kept = "Kept:{id}" }
"#;

fn order(rules: &[&str]) -> Order {
    let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
    Order::Fix { rules, today: "2025-11-15".to_owned() }
}

fn fix(bench: &Bench, rules: &[&str]) -> Plan {
    bench.plan_of(order(rules)).unwrap()
}

fn texts(reply: Reply) -> Vec<String> {
    reply.array().into_iter().map(Reply::text).collect()
}

/// The changes and conflicts of a rule.
fn counts(plan: &Plan, rule: &str) -> (u64, u64) {
    let rows = || plan.rows.iter().filter(|row| row.rule.as_deref() == Some(rule));
    (rows().map(Row::changes).sum(), rows().map(Row::conflict_count).sum())
}

#[test]
fn keys_without_a_ttl_get_one_each_another_and_undo_takes_it_away() {
    for bench in Bench::all(TTLS) {
        for id in 0..200 {
            bench.redis(&["SET", &format!("quote:{id}"), "x"]);
        }
        bench.redis(&["SET", "quote:1000", "x", "PX", "1000000"]);
        bench.redis(&["SET", "kept:1", "x"]);
        bench.redis(&["SET", "foreign", "x"]);
        let plan = fix(&bench, &["ttl-missing"]);
        assert_eq!((plan.changes(), plan.conflicts()), (200, 0));
        assert_eq!(bench.redis(&["PTTL", "quote:1"]).integer(), -1, "planning only reads");

        let applied = bench.apply(&plan).unwrap();
        assert!(applied.converged && applied.changed == 200, "{applied:?}");
        let ttl = |id: u32| bench.redis(&["PTTL", &format!("quote:{id}")]).integer();
        let mut ttls: Vec<i64> = (0..200).map(ttl).collect();
        assert!(ttls.iter().all(|ttl| (50_000..=300_000).contains(ttl)), "{ttls:?}");
        ttls.sort_unstable();
        assert!(ttls[199] - ttls[0] > 150_000, "spread over the range: {ttls:?}");
        assert_eq!(bench.redis(&["PTTL", "kept:1"]).integer(), -1, "the schema accepts it");
        assert_eq!(bench.redis(&["PTTL", "foreign"]).integer(), -1);
        assert!(bench.redis(&["PTTL", "quote:1000"]).integer() > 900_000, "another rule's matter");
        let ends = bench.redis(&["PEXPIRETIME", "quote:7"]).integer();
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");
        assert_eq!(bench.redis(&["PEXPIRETIME", "quote:7"]).integer(), ends);

        // Written again since, it has the TTL of its writer: that is not taken away.
        bench.redis(&["SET", "quote:8", "y", "PX", "70000"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (199, 1));
        assert_eq!(bench.redis(&["PTTL", "quote:7"]).integer(), -1);
        assert!(bench.redis(&["PTTL", "quote:8"]).integer() > 0);
    }
}

#[test]
fn too_long_ttls_are_shortened_and_undo_gives_them_back() {
    for bench in Bench::all(TTLS) {
        bench.redis(&["HSET", "session:1", "user", "7"]);
        bench.redis(&["PEXPIREAT", "session:1", "9999999999999"]);
        bench.redis(&["HSET", "session:2", "user", "7"]);
        bench.redis(&["PEXPIRE", "session:2", "3600000"]);
        bench.redis(&["HSET", "session:3", "user", "7"]);
        let right = bench.redis(&["PEXPIRETIME", "session:2"]).integer();
        let plan = fix(&bench, &["ttl-too-long"]);
        assert_eq!(plan.changes(), 1);
        assert!(bench.apply(&plan).unwrap().converged);
        let ttl = bench.redis(&["PTTL", "session:1"]).integer();
        assert!((3_000_000..=3_600_000).contains(&ttl), "{ttl}");
        assert_eq!(bench.redis(&["PEXPIRETIME", "session:2"]).integer(), right);
        assert_eq!(bench.redis(&["PTTL", "session:3"]).integer(), -1, "another rule's matter");
        assert_eq!(bench.apply(&plan).unwrap().changed, 0);
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["PEXPIRETIME", "session:1"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.undo(&plan).unwrap().undone, 0, "undone twice changes nothing");
    }
}

#[test]
fn a_ttl_is_given_back_only_where_it_is_still_the_one_that_was_set() {
    for bench in Bench::all(TTLS) {
        for id in 1..=4 {
            bench.redis(&["HSET", &format!("session:{id}"), "user", "7"]);
        }
        let plan = fix(&bench, &["ttl-missing"]);
        assert_eq!(bench.apply(&plan).unwrap().changed, 4);
        bench.redis(&["DEL", "session:1"]);
        bench.redis(&["PERSIST", "session:2"]);
        bench.redis(&["PEXPIREAT", "session:3", "9999999999999"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.same, undone.conflicts), (1, 2, 1));
        assert_eq!(bench.redis(&["PEXPIRETIME", "session:3"]).integer(), 9_999_999_999_999);
        assert_eq!(bench.redis(&["PTTL", "session:4"]).integer(), -1);
    }
}

#[test]
fn old_names_get_a_short_ttl_after_their_day_unless_the_phase_uses_them() {
    for bench in Bench::all(TTLS) {
        bench.redis(&["HSET", "Session:1", "user", "7"]);
        bench.redis(&["HSET", "session:1", "user", "7"]);
        bench.redis(&["HSET", "Session:2", "user", "only here"]);
        bench.redis(&["SET", "Quote:1", "x"]);
        bench.redis(&["SET", "Kept:1", "x"]);
        let plan = fix(&bench, &["old-name"]);
        assert_eq!((plan.changes(), plan.conflicts()), (1, 2));
        assert!(!bench.apply(&plan).unwrap().converged, "one is still in use");
        assert_eq!(bench.redis(&["PTTL", "Session:2"]).integer(), -1, "the only one stays");
        let ttl = bench.redis(&["PTTL", "Session:1"]).integer();
        assert!((500_000..=600_000).contains(&ttl), "{ttl}");
        assert_eq!(bench.redis(&["PTTL", "Quote:1"]).integer(), -1, "it is still read");
        assert_eq!(bench.redis(&["PTTL", "Kept:1"]).integer(), -1, "its day has not come");
        assert_eq!(bench.undo(&plan).unwrap().undone, 1);
        assert_eq!(bench.redis(&["PTTL", "Session:1"]).integer(), -1);
    }
}

const NAMES: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[keys.session]
pattern = "session:{id:uint}"
type = "hash"
ttl = "1h"
[keys.cart]
pattern = "cart:{id:uint}"
type = "hash"
ttl = "none"
[keys.card]
pattern = "card:{id:uint}"
type = "hash"
ttl = "none"
[foreign.celery]
glob = "shop:sessions:*"
"#;

#[test]
fn misspelt_keys_get_the_name_that_was_meant_and_undo_gives_it_back() {
    for bench in Bench::all(NAMES) {
        for id in 1..=9 {
            bench.redis(&["HSET", &format!("shop:sesion:{id}"), "user", "7"]);
        }
        bench.redis(&["HSET", "shop:session:1", "user", "8"]);
        bench.redis(&["DEL", "shop:sesion:2"]);
        bench.redis(&["SET", "shop:sesion:2", "of another type"]);
        for alone in
            ["shop:sessions:3", "shop:cars:1", "shop:sesion:x", "other:sesion:1", "sesion:1"]
        {
            bench.redis(&["HSET", alone, "user", "7"]);
        }
        let plan = fix(&bench, &[]);
        assert_eq!(counts(&plan, "unknown-key"), (7, 2));
        let shown = serde_json::to_string(&plan.rows).unwrap();
        assert!(!shown.contains("sesion:9"), "samples are masked: {shown}");

        // The TTL of what has its name now is set as well.
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 7 + 8, "{applied:?}");
        for id in 3..=9 {
            let key = format!("shop:session:{id}");
            assert_eq!(bench.redis(&["HGET", &key, "user"]).text(), "7");
            assert!(bench.redis(&["PTTL", &key]).integer() > 0);
            assert_eq!(bench.redis(&["EXISTS", &format!("shop:sesion:{id}")]).integer(), 0);
        }
        assert_eq!(bench.redis(&["HGET", "shop:session:1", "user"]).text(), "8", "it was taken");
        for alone in
            ["shop:sessions:3", "shop:cars:1", "shop:sesion:x", "other:sesion:1", "sesion:1"]
        {
            assert_eq!(bench.redis(&["EXISTS", alone]).integer(), 1, "{alone}");
        }
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");

        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (15, 0), "{undone:?}");
        for id in 3..=9 {
            assert_eq!(bench.redis(&["PTTL", &format!("shop:sesion:{id}")]).integer(), -1);
            assert_eq!(bench.redis(&["EXISTS", &format!("shop:session:{id}")]).integer(), 0);
        }
    }
}

const BOUNDS: &str = r#"
version = 1
[keyspace]
name = "shop"
[keys.recent]
pattern = "recent:{id:uint}"
type = "list"
value = "text"
max_len = 3
keep = "last"
ttl = "none"
[keys.top]
pattern = "top:{id:uint}"
type = "zset"
member = "text"
score = "int"
max_len = 2
ttl = "none"
[keys.log]
pattern = "log:{id:uint}"
type = "stream"
fields = { text = "text" }
max_len = 2
ttl = "none"
[keys.tags]
pattern = "tags:{id:uint}"
type = "set"
member = "text"
max_len = 2
ttl = "none"
[keys.first]
pattern = "first:{id:uint}"
type = "list"
value = "text"
max_len = 700
keep = "first"
ttl = "none"
[keys.either]
pattern = "either:{id:uint}"
type = "list"
value = "text"
max_len = 2
ttl = "none"
"#;

#[test]
fn oversized_collections_lose_the_declared_end_and_undo_brings_it_back() {
    for bench in Bench::all(BOUNDS) {
        bench.redis(&["RPUSH", "recent:1", "a", "b", "c", "d", "e"]);
        bench.redis(&["RPUSH", "recent:2", "a", "b", "c"]);
        bench.redis(&["ZADD", "top:1", "1", "low", "2.5", "mid", "3", "high"]);
        for id in 1..=4 {
            bench.redis(&["XADD", "log:1", &format!("{id}-0"), "text", "x"]);
        }
        bench.redis(&["XADD", "log:1", "9-9", "text", "last"]);
        bench.redis(&["XDEL", "log:1", "9-9"]);
        bench.redis(&["PEXPIREAT", "log:1", "9999999999999"]);
        bench.redis(&["SADD", "tags:1", "a", "b", "c"]);
        bench.redis(&["RPUSH", "either:1", "a", "b", "c"]);
        bench.redis(&["SET", "recent:3", "of another type"]);
        let many: Vec<String> = (0..2000).map(|it| format!("item {it}")).collect();
        let push: Vec<&str> =
            ["RPUSH", "first:1"].into_iter().chain(many.iter().map(String::as_str)).collect();
        bench.redis(&push);
        let all = ["recent:1", "top:1", "log:1", "tags:1", "either:1", "first:1"];
        let before: Vec<_> = all.iter().map(|key| bench.redis(&["DUMP", key])).collect();

        let plan = fix(&bench, &["oversized-collection"]);
        assert_eq!((plan.changes(), plan.conflicts()), (4, 3));
        let row = plan.rows.iter().find(|row| row.definition == "first").unwrap();
        assert_eq!(row.counts["entries that go"], 1300);
        let unchanged: Vec<_> = all.iter().map(|key| bench.redis(&["DUMP", key])).collect();
        assert_eq!(before, unchanged, "planning only reads");

        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 4);
        assert!(!applied.converged, "conflicts are left");
        assert_eq!(texts(bench.redis(&["LRANGE", "recent:1", "0", "-1"])), ["c", "d", "e"]);
        assert_eq!(texts(bench.redis(&["ZRANGE", "top:1", "0", "-1"])), ["mid", "high"]);
        assert_eq!(bench.redis(&["XLEN", "log:1"]).integer(), 2);
        assert_eq!(bench.redis(&["LLEN", "first:1"]).integer(), 700);
        assert_eq!(bench.redis(&["LINDEX", "first:1", "-1"]).text(), "item 699");
        assert_eq!(bench.redis(&["SCARD", "tags:1"]).integer(), 3, "a set has no order");
        assert_eq!(bench.redis(&["LLEN", "either:1"]).integer(), 3, "no end is declared");
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");

        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (6, 0), "{undone:?}");
        let list = texts(bench.redis(&["LRANGE", "recent:1", "0", "-1"]));
        assert_eq!(list, ["a", "b", "c", "d", "e"]);
        assert_eq!(bench.redis(&["ZSCORE", "top:1", "low"]).text(), "1");
        assert_eq!(bench.redis(&["ZSCORE", "top:1", "mid"]).text(), "2.5");
        assert_eq!(bench.redis(&["XRANGE", "log:1", "-", "+"]).array().len(), 4);
        let earlier = bench.connect().command(&["XADD", "log:1", "9-8", "text", "x"]).unwrap();
        assert!(matches!(earlier, Reply::Error(_)), "its last id is kept");
        assert_eq!(bench.redis(&["PEXPIRETIME", "log:1"]).integer(), 9_999_999_999_999);
        assert_eq!(texts(bench.redis(&["LRANGE", "first:1", "0", "-1"])), many);
        assert_eq!(bench.undo(&plan).unwrap().undone, 0, "undone twice changes nothing");
    }
}

#[test]
fn what_was_trimmed_does_not_come_back_into_a_collection_that_was_changed() {
    for bench in Bench::all(BOUNDS) {
        bench.redis(&["RPUSH", "recent:1", "a", "b", "c", "d", "e"]);
        bench.redis(&["ZADD", "top:1", "1", "low", "2", "mid", "3", "high"]);
        bench.redis(&["XADD", "log:1", "1-0", "text", "x"]);
        bench.redis(&["XADD", "log:1", "2-0", "text", "x"]);
        bench.redis(&["XADD", "log:1", "3-0", "text", "x"]);
        let plan = fix(&bench, &[]);
        assert!(bench.apply(&plan).unwrap().converged);
        bench.redis(&["RPOPLPUSH", "recent:1", "recent:1"]);
        bench.redis(&["ZADD", "top:1", "9", "mid"]);
        bench.redis(&["XGROUP", "CREATE", "log:1", "readers", "0"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (0, 3));
        assert_eq!(texts(bench.redis(&["LRANGE", "recent:1", "0", "-1"])), ["e", "c", "d"]);
        assert_eq!(bench.redis(&["ZCARD", "top:1"]).integer(), 2);
        assert_eq!(bench.redis(&["XLEN", "log:1"]).integer(), 2);
    }
}

const INDEXES: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "{shop:slug}:"
[keys.page]
pattern = "page:{id:uint}"
fields = { status = "text?" }
ttl = "none"
[keys.by_status]
pattern = "status:{status:slug}"
index = { of = "page", by = "status" }
member = { ref = "page.id" }
ttl = "none"
[keys.session]
pattern = "session:{id:uint}"
type = "hash"
ttl = "1h"
[keys.sessions_of]
pattern = "user:{user_id:uint}:sessions"
type = "zset"
index = { of = "session" }
member = { key = "session" }
ttl = "2h"
"#;

#[test]
fn members_that_lead_nowhere_or_contradict_are_pruned_and_undo_brings_them_back() {
    let cluster = Bench::cluster(Flavor::Redis, INDEXES);
    for bench in Bench::all(INDEXES).into_iter().chain([cluster]) {
        let list = |set: &str, score: &str, member: &str| {
            bench.redis(&["ZADD", set, score, member]);
            bench.redis(&["PEXPIRE", set, "3600000"]);
        };
        bench.redis(&["HSET", "a:session:1", "user", "7"]);
        bench.redis(&["PEXPIRE", "a:session:1", "1800000"]);
        list("a:user:7:sessions", "1.5", "session:1");
        list("a:user:7:sessions", "2.5", "session:2");
        list("a:user:7:sessions", "3", "not a key");
        list("a:user:8:sessions", "0.1", "a:session:3");
        list("b:user:7:sessions", "1", "session:1");
        let ends = bench.redis(&["PEXPIRETIME", "a:user:8:sessions"]).integer();
        let score = bench.redis(&["ZSCORE", "a:user:8:sessions", "a:session:3"]);
        bench.redis(&["HSET", "a:page:7", "status", "draft"]);
        bench.redis(&["HSET", "a:page:8", "status", "published"]);
        bench.redis(&["HSET", "a:page:9", "title", "without"]);
        bench.redis(&["SADD", "a:status:published", "7", "8", "9", "10"]);

        let plan = fix(&bench, &[]);
        assert_eq!(counts(&plan, "stale-index"), (3, 0), "{:?}", plan.rows);
        assert_eq!(counts(&plan, "dangling-reference"), (1, 0));
        assert_eq!(counts(&plan, "index-contradiction"), (1, 0));
        assert_eq!(
            bench.redis(&["SCARD", "a:status:published"]).integer(),
            4,
            "planning only reads"
        );
        let applied = bench.apply(&plan).unwrap();
        assert!(applied.converged && applied.changed == 5, "{applied:?}");
        let left = |key: &str| texts(bench.redis(&["ZRANGE", key, "0", "-1"]));
        assert_eq!(left("a:user:7:sessions"), ["session:1", "not a key"]);
        assert_eq!(bench.redis(&["EXISTS", "a:user:8:sessions"]).integer(), 0);
        assert_eq!(bench.redis(&["EXISTS", "b:user:7:sessions"]).integer(), 0, "another prefix");
        let mut members = texts(bench.redis(&["SMEMBERS", "a:status:published"]));
        members.sort();
        assert_eq!(members, ["8", "9"]);
        assert_eq!(bench.apply(&plan).unwrap().changed, 0, "the second time changes nothing");

        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.conflicts), (5, 0), "{undone:?}");
        assert_eq!(bench.redis(&["ZSCORE", "a:user:7:sessions", "session:2"]).text(), "2.5");
        assert_eq!(bench.redis(&["PEXPIRETIME", "a:user:8:sessions"]).integer(), ends);
        assert_eq!(bench.redis(&["ZSCORE", "a:user:8:sessions", "a:session:3"]), score);
        assert_eq!(bench.redis(&["SCARD", "a:status:published"]).integer(), 4);
        assert_eq!(bench.undo(&plan).unwrap().undone, 0, "undone twice changes nothing");
    }
}

#[test]
fn what_refers_to_a_misspelt_key_is_kept_since_the_plan_gives_it_its_name() {
    for bench in Bench::all(INDEXES) {
        for id in 0..50 {
            bench.redis(&["HSET", &format!("a:pagee:{id}"), "status", "draft"]);
            bench.redis(&["SADD", "a:status:draft", &id.to_string()]);
        }
        bench.redis(&["SADD", "a:status:draft", "99"]);
        let plan = fix(&bench, &[]);
        assert_eq!(counts(&plan, "unknown-key"), (50, 0), "{:?}", plan.rows);
        let pruned = plan.rows.iter().filter_map(|row| row.counts.get("entries that go"));
        assert_eq!(pruned.sum::<u64>(), 1, "{:?}", plan.rows);
        let applied = bench.apply(&plan).unwrap();
        assert!(applied.converged, "{applied:?}");
        assert_eq!(bench.redis(&["SCARD", "a:status:draft"]).integer(), 50);
        assert_eq!(bench.redis(&["EXISTS", "a:page:49"]).integer(), 1);
    }
}

#[test]
fn a_long_index_is_pruned_page_by_page_and_its_live_members_stay() {
    for bench in Bench::all(INDEXES) {
        for id in 0..3000 {
            bench.redis(&["ZADD", "a:user:7:sessions", "1", &format!("session:{id}")]);
            if id % 3 == 0 {
                bench.redis(&["HSET", &format!("a:session:{id}"), "user", "7"]);
            }
        }
        let plan = fix(&bench, &["stale-index"]);
        let row = plan.rows.iter().find(|row| row.definition == "sessions_of").unwrap();
        assert_eq!((row.changes(), row.counts["entries that go"]), (1, 2000));
        assert!(bench.apply(&plan).unwrap().converged);
        let left = texts(bench.redis(&["ZRANGE", "a:user:7:sessions", "0", "-1"]));
        let is_live = |key: &String| key["session:".len()..].parse::<u32>().unwrap() % 3 == 0;
        assert!(left.len() == 1000 && left.iter().all(is_live), "{}", left.len());
        assert_eq!(bench.undo(&plan).unwrap().undone, 2000);
        assert_eq!(bench.redis(&["ZCARD", "a:user:7:sessions"]).integer(), 3000);
    }
}

#[test]
fn members_are_kept_while_a_migration_may_have_their_keys_under_old_names() {
    let moving = format!(
        "{INDEXES}[migrations.v2]\nphase = \"dual-write\"\nrenames = {{ session = \"{{shop}}:Session:{{id}}\" }}\n"
    );
    let bench = Bench::all(&moving).pop().unwrap();
    bench.redis(&["ZADD", "a:user:7:sessions", "1", "session:1"]);
    bench.redis(&["HSET", "a:Session:1", "user", "7"]);
    let plan = fix(&bench, &["stale-index"]);
    assert_eq!((plan.changes(), plan.rows.len()), (0, 0));
}

#[test]
fn a_repair_is_for_the_schema_and_the_rules_that_it_was_planned_with() {
    let mut bench = Bench::all(TTLS).pop().unwrap();
    bench.redis(&["HSET", "session:1", "user", "7"]);
    let plan = fix(&bench, &[]);
    assert_eq!(counts(&plan, "ttl-missing"), (1, 0));
    bench.schema(&TTLS.replace("\"1h\"", "\"2h\""));
    let error = bench.apply(&plan).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("something else"), "{error}");
    assert_eq!(bench.redis(&["PTTL", "session:1"]).integer(), -1);

    let error = bench.plan_of(order(&["ttl-mising"])).unwrap_err();
    assert_eq!(error.help(), "did you mean `ttl-missing`?");
    let order = Order::Fix { rules: Vec::new(), today: "today".to_owned() };
    assert!(bench.plan_of(order).unwrap_err().is_usage());
}
