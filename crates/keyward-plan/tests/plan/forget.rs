//! People who are forgotten, on real servers.

use crate::bench::Bench;
use keyward_plan::{Applied, Certificate, Error, Order, Plan, Subject};
use keyward_testkit::Flavor;
use std::collections::BTreeMap;

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "app"
prefix = "app:"
[params]
user_id = "uint"
session_id = "slug"
item = "slug"
[keys.profile]
pattern = "profile:{user_id}"
fields = { name = "text" }
ttl = "none"
[keys.feed]
pattern = "feed:{user_id}"
value = "json"
ttl = "1h"
stale_if_error = "1h"
[keys.progress]
pattern = "progress:{user_id}:{item}"
value = "uint"
ttl = "1d"
invalidate = "index"
[keys.session]
pattern = "session:{session_id}"
session = { index = "sessions", revoked = "revoked" }
fields = { user_id = "uint" }
ttl = "7d"
[keys.sessions]
pattern = "sessions:{user_id}"
type = "set"
member = { ref = "session.session_id" }
ttl = "30d"
[keys.revoked]
pattern = "revoked:{session_id}"
value = "timestamp"
ttl = "30d"
[keys.recent]
pattern = "recent"
type = "zset"
member = { ref = "session.session_id" }
score = "unix"
ttl = "none"
[keys.likes]
pattern = "likes:{item}"
type = "set"
member = { ref = "profile.user_id" }
ttl = "none"
[keys.turns]
pattern = "turns:{item}"
type = "list"
value = { ref = "profile.user_id" }
ttl = "none"
[keys.login]
pattern = "login:{name:slug}"
value = { ref = "profile.user_id" }
ttl = "none"
[keys.room]
pattern = "room:{room:slug}"
fields = { title = "text", owner = { ref = "profile.user_id", optional = true } }
ttl = "none"
[keys.note]
pattern = "note:{item}"
fields = { user_id = "uint", words = "text" }
ttl = "none"
[keys.pinned]
pattern = "pinned"
type = "set"
member = { key = "profile" }
ttl = "none"
[keys.work]
pattern = "work"
queue = {}
value = "json"
[foreign.other]
glob = "other:*"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
profile = "Profile:{user_id}"
note = "Note:{item}"
"#;

fn fill(bench: &Bench) {
    for (user, session) in [("7", "aa"), ("7", "bb"), ("8", "cc")] {
        bench.redis(&["HSET", &format!("app:session:{session}"), "user_id", user]);
        bench.redis(&["SADD", &format!("app:sessions:{user}"), session]);
        bench.redis(&["SET", &format!("app:revoked:{session}"), "2026-01-01T00:00:00Z"]);
        bench.redis(&["ZADD", "app:recent", "1", session]);
        bench.redis(&["HSET", &format!("app:profile:{user}"), "name", "somebody"]);
        bench.redis(&["HSET", &format!("Profile:{user}"), "name", "somebody"]);
        bench.redis(&["HSET", &format!("Note:{session}"), "user_id", user, "words", "x"]);
        bench.redis(&["SET", &format!("app:feed:{user}"), "{}"]);
        bench.redis(&["SET", &format!("app:progress:{user}:film"), "1"]);
        bench.redis(&["SADD", "app:likes:film", user]);
        bench.redis(&["RPUSH", "app:turns:film", user]);
        bench.redis(&["SET", &format!("app:login:name-{user}"), user]);
        bench.redis(&["HSET", &format!("app:room:r{user}"), "title", "t", "owner", user]);
        bench.redis(&["SADD", "app:pinned", &format!("profile:{user}")]);
    }
    // The key itself is gone, and what is served in an outage is not.
    bench.redis(&["SET", "app:~stale:{app:feed:7}", "{}"]);
    // An index lists keys that are gone too.
    for index in ["app:~index:{app:progress:*:film}", "app:~index:{app:progress:7:*}"] {
        bench.redis(&["ZADD", index, "9999999999999", "app:progress:7:film"]);
        bench.redis(&["ZADD", index, "9999999999999", "app:progress:7:gone"]);
    }
    bench.redis(&["ZADD", "app:~index:{app:progress:*:film}", "1", "app:progress:8:film"]);
    bench.redis(&["RPUSH", "app:work", r#"{"user_id":7}"#]);
    bench.redis(&["SET", "other:7", "x"]);
    bench.redis(&["SET", "nobodys:7", "x"]);
}

fn who(value: &str) -> Option<(String, String)> {
    Some(("user_id".to_owned(), value.to_owned()))
}

fn plan(bench: &mut Bench, value: &str) -> Result<Plan, Error> {
    bench.subject = who(value);
    let subject = Subject::new("user_id", value).unwrap();
    bench.plan_of(Order::Forget { subject, values: BTreeMap::new() })
}

fn certificate(applied: &Applied) -> &Certificate {
    applied.certificate.as_ref().unwrap()
}

fn erased(applied: &Applied, definition: &str) -> u64 {
    let all = certificate(applied).erased.iter();
    all.filter(|it| it.definition == definition).map(|it| it.count).sum()
}

#[test]
fn everything_that_names_a_person_is_erased_and_nothing_else() {
    for mut bench in Bench::all(SCHEMA) {
        fill(&bench);
        let before = bench.redis(&["DBSIZE"]).integer();
        let it = plan(&mut bench, "7").unwrap();
        assert_eq!(bench.redis(&["DBSIZE"]).integer(), before, "planning only reads");
        let applied = bench.apply(&it).unwrap();
        assert!(applied.converged, "{:?}", applied.left);
        assert_eq!(applied.changed, it.changes(), "what was planned");
        for gone in [
            "app:profile:7",
            "Profile:7",
            "app:feed:7",
            "app:~stale:{app:feed:7}",
            "app:progress:7:film",
            "app:session:aa",
            "app:session:bb",
            "Note:aa",
            "Note:bb",
            "app:sessions:7",
            "app:revoked:aa",
            "app:revoked:bb",
            "app:login:name-7",
            "app:~index:{app:progress:7:*}",
        ] {
            assert_eq!(bench.redis(&["EXISTS", gone]).integer(), 0, "{gone}");
        }
        for kept in [
            "app:profile:8",
            "Profile:8",
            "app:feed:8",
            "app:progress:8:film",
            "app:session:cc",
            "Note:cc",
            "app:sessions:8",
            "app:revoked:cc",
            "app:login:name-8",
            "app:room:r7",
            "other:7",
            "nobodys:7",
        ] {
            assert_eq!(bench.redis(&["EXISTS", kept]).integer(), 1, "{kept}");
        }
        let texts = |command: &[&str]| -> Vec<String> {
            bench.redis(command).array().into_iter().map(keyward_testkit::Reply::text).collect()
        };
        assert_eq!(texts(&["ZRANGE", "app:recent", "0", "-1"]), ["cc"]);
        let listed = texts(&["ZRANGE", "app:~index:{app:progress:*:film}", "0", "-1"]);
        assert_eq!(listed, ["app:progress:8:film"]);
        assert_eq!(texts(&["SMEMBERS", "app:likes:film"]), ["8"]);
        assert_eq!(texts(&["LRANGE", "app:turns:film", "0", "-1"]), ["8"]);
        assert_eq!(texts(&["SMEMBERS", "app:pinned"]), ["profile:8"]);
        assert_eq!(texts(&["HKEYS", "app:room:r7"]), ["title"]);
        assert_eq!(texts(&["HKEYS", "app:room:r8"]), ["title", "owner"]);
        assert_eq!(
            (erased(&applied, "session"), erased(&applied, "profile")),
            (2, 2),
            "under both names"
        );
        assert_eq!(erased(&applied, "recent"), 2);

        let again = bench.apply(&it).unwrap();
        assert_eq!((again.changed, erased(&again, "session")), (0, 2), "of all runs together");
        assert!(bench.undo(&it).unwrap_err().to_string().contains("keeps nothing"));
        assert_eq!(plan(&mut bench, "7").unwrap().changes(), 0, "a second plan finds nothing");
    }
}

#[test]
fn neither_plan_nor_certificate_nor_journal_holds_the_person() {
    for mut bench in Bench::all(
        &SCHEMA.replace("user_id = \"uint\"\nsession_id", "user_id = \"slug\"\nsession_id"),
    ) {
        bench.redis(&["HSET", "app:profile:annabel", "name", "Annabel"]);
        bench.redis(&["SADD", "app:likes:film", "annabel"]);
        let it = plan(&mut bench, "annabel").unwrap();
        let applied = bench.apply(&it).unwrap();
        assert_eq!(applied.changed, 2);
        let path = bench.folder.path().join("certificate.json");
        certificate(&applied).write(&path).unwrap();
        for entry in std::fs::read_dir(bench.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap().to_ascii_lowercase();
            let is_there = bytes.windows(7).any(|it| it == b"annabel");
            assert!(!is_there, "{}", path.display());
        }
        let mut found = Vec::new();
        for (command, arg) in [("KEYS", "*"), ("KEYS", "*annabel*")] {
            found.push(bench.redis(&[command, arg]).array().len());
        }
        assert_eq!(found[1], 0);
        // Another value, and none, are refused without saying one.
        bench.subject = who("other");
        assert!(bench.apply(&it).unwrap_err().to_string().contains("forgets another"));
        bench.subject = None;
        assert!(bench.apply(&it).unwrap_err().to_string().contains("does not have the value"));
    }
}

#[test]
fn what_could_not_be_searched_and_what_is_kept_elsewhere_is_named() {
    for mut bench in Bench::all(SCHEMA) {
        fill(&bench);
        bench.connect().command(&["SELECT", "5"]).unwrap();
        let mut other = bench.connect();
        other.command(&["SELECT", "5"]).unwrap();
        other.command(&["SET", "user:7", "x"]).unwrap();
        let it = plan(&mut bench, "7").unwrap();
        let applied = bench.apply(&it).unwrap();
        let certificate = certificate(&applied);
        let has = |what: &str| {
            let mut all = certificate.not_searched.iter();
            assert!(all.any(|it| it.what.contains(what)), "{what}: {:?}", certificate.not_searched);
        };
        for what in
            ["jobs of `work`", "foreign keys `other`", "keys of no definition", "database 5"]
        {
            has(what);
        }
        let kept = certificate.not_erased.join("\n");
        for what in ["RDB files", "replicas", "backups", "journals of earlier plans"] {
            assert!(kept.contains(what), "{what}: {kept}");
        }
        assert!(certificate.complete);
    }
}

#[test]
fn what_is_erased_is_exported_to_a_file_of_its_owner() {
    for mut bench in Bench::all(SCHEMA) {
        fill(&bench);
        bench.export = Some(bench.folder.path().join("export.jsonl"));
        let it = plan(&mut bench, "7").unwrap();
        let path = bench.export.clone().unwrap();
        let planned = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        bench.apply(&it).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let keys = |text: &str| -> Vec<String> {
            let lines =
                text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
            let mut keys: Vec<String> =
                lines.map(|it| it["key"].as_str().unwrap().to_owned()).collect();
            keys.sort();
            keys
        };
        assert_eq!(keys(&text), keys(&planned));
        assert!(text.contains(r#""value":{"user_id":"7"}"#), "{text}");
        assert!(text.contains(r#""removed":["7"]"#), "{text}");
        assert!(!text.contains("app:profile:8"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

#[test]
fn keys_that_are_known_are_found_without_looking_at_all_others() {
    const KNOWN: &str = r#"
version = 1
[keyspace]
name = "app"
prefix = "{tenant:slug}:"
[keys.profile]
pattern = "profile:{user_id:uint}"
value = "uint"
ttl = "1h"
[keys.count]
pattern = "count"
counter = {}
ttl = "none"
"#;
    for mut bench in Bench::all(KNOWN) {
        for tenant in ["acme", "other"] {
            bench.redis(&["SET", &format!("{tenant}:profile:7"), "1"]);
            bench.redis(&["SET", &format!("{tenant}:profile:8"), "1"]);
        }
        bench.subject = who("7");
        let order = |values: &[(&str, &str)]| Order::Forget {
            subject: Subject::new("user_id", "7").unwrap(),
            values: values
                .iter()
                .map(|(it, value)| ((*it).to_owned(), (*value).to_owned()))
                .collect(),
        };
        let why = bench.plan_of(order(&[])).unwrap_err();
        assert!(why.help().contains("--bind tenant="), "{why}");
        let plan = bench.plan_of(order(&[("tenant", "acme")])).unwrap();
        assert!(plan.estimate.keys <= 2, "{}", plan.estimate.keys);
        assert_eq!(bench.apply(&plan).unwrap().changed, 1);
        assert_eq!(bench.redis(&["EXISTS", "acme:profile:7"]).integer(), 0);
        assert_eq!(bench.redis(&["EXISTS", "other:profile:7"]).integer(), 1);
        assert_eq!(bench.redis(&["EXISTS", "acme:profile:8"]).integer(), 1);
    }
}

#[test]
fn a_parameter_that_no_definition_has_and_a_value_of_another_type_are_refused() {
    for mut bench in Bench::all(SCHEMA) {
        let why = plan(&mut bench, "not-a-number").unwrap_err();
        assert!(why.to_string().contains("not one of `user_id`"), "{why}");
        assert!(!format!("{why} {}", why.help()).contains("not-a-number"));
        bench.subject = Some(("usr_id".to_owned(), "7".to_owned()));
        let subject = Subject::new("usr_id", "7").unwrap();
        let why = bench.plan_of(Order::Forget { subject, values: BTreeMap::new() }).unwrap_err();
        assert!(why.help().contains("did you mean `user_id`"), "{}", why.help());
    }
}

#[test]
fn a_person_is_forgotten_on_all_servers_of_a_cluster() {
    let mut bench = Bench::cluster(Flavor::Valkey, SCHEMA);
    for item in ["a", "b", "c", "d", "e", "f"] {
        bench.redis(&["SET", &format!("app:progress:7:{item}"), "1"]);
        bench.redis(&["SADD", &format!("app:likes:{item}"), "7", "8"]);
    }
    let it = plan(&mut bench, "7").unwrap();
    let applied = bench.apply(&it).unwrap();
    assert_eq!((applied.changed, applied.converged), (12, true));
    let servers = certificate(&applied).erased.iter().map(|it| &it.server);
    assert!(servers.collect::<std::collections::BTreeSet<_>>().len() > 1);
    assert_eq!(bench.redis(&["SCARD", "app:likes:a"]).integer(), 1);
}
