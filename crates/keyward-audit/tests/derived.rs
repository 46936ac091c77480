//! Keys that were derived from a definition's.

mod support;

use keyward_rules::Rule;
use support::{Dump, audit, schema, told};

const SHOP: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.price]
pattern = "price:{sku:slug}"
value = "uint"
ttl = "10m"
negative_ttl = "1m"
stale_if_error = "1h"
[keys.import]
pattern = "import"
lock = { fair = true }
ttl = "30s"
"#;

/// What is said about derived keys.
fn leaked(commands: &str) -> Vec<String> {
    let report = told(&audit(vec![schema(SHOP)]), &Dump::of(commands));
    let findings = report.findings.iter().filter(|it| it.rule == Rule::LeakedDerivedKey);
    findings.map(|finding| finding.message.clone()).collect()
}

#[test]
fn a_derived_key_lives_as_long_as_its_purpose() {
    let fine = "SET shop:~none:{shop:price:lamp} x\n\
                EXPIRE shop:~none:{shop:price:lamp} 60\n\
                SET shop:~lease:{shop:price:lamp} x\n\
                EXPIRE shop:~lease:{shop:price:lamp} 10\n\
                SET shop:~stale:{shop:price:lamp} 7\n\
                EXPIRE shop:~stale:{shop:price:lamp} 4200\n";
    assert_eq!(leaked(fine), [""; 0]);
    let long = "SET shop:~none:{shop:price:lamp} x\n\
                SET shop:~lease:{shop:price:lamp} x\n\
                EXPIRE shop:~lease:{shop:price:lamp} 60\n\
                SET shop:~stale:{shop:price:lamp} 7\n\
                EXPIRE shop:~stale:{shop:price:lamp} 42000\n";
    insta::assert_snapshot!(leaked(long).join("\n"));
}

#[test]
fn a_derived_key_that_its_definition_does_not_have_is_reported() {
    insta::assert_snapshot!(
        leaked(
            "SET shop:~fence:{shop:price:lamp} x\n\
                EXPIRE shop:~fence:{shop:price:lamp} 1\n"
        )
        .join("\n")
    );
}

#[test]
fn the_marker_of_a_plan_is_known() {
    let marked = "SET shop:~plan:{00ff00ff00ff00ff} x\nSET shop:~plan:{other} x\n";
    let report = told(&audit(vec![schema(SHOP)]), &Dump::of(marked));
    let findings: Vec<_> =
        report.findings.iter().map(|it| (it.rule, it.message.as_str())).collect();
    let [(Rule::UnknownKey, message)] = findings[..] else { panic!("{findings:?}") };
    assert!(message.contains("1 of 2"), "{message}");
}

#[test]
fn what_a_lock_keeps_ends_a_day_after_it() {
    let keys = |fence: u64, waiters: u64| {
        leaked(&format!(
            "SET shop:~fence:{{shop:import}} x\n\
             EXPIRE shop:~fence:{{shop:import}} {fence}\n\
             ZADD shop:~waiters:{{shop:import}} 1 x\n\
             EXPIRE shop:~waiters:{{shop:import}} {waiters}\n\
             ZADD shop:~alive:{{shop:import}} 1 x\n\
             EXPIRE shop:~alive:{{shop:import}} {waiters}\n"
        ))
    };
    assert_eq!(keys(86_430, 5), [""; 0]);
    let long = keys(86_500, 60).join("\n");
    assert!(
        long.contains("~fence") && long.contains("~waiters") && long.contains("~alive"),
        "{long}"
    );
}

#[test]
fn what_a_queue_keeps_beside_its_list_is_its_own_and_never_expires() {
    const JOBS: &str = r#"
[keyspace]
name = "jobs"
prefix = "q:"
[keys.work]
pattern = "work:{kind:slug}"
queue = {}
value = "text"
"#;
    let commands = "RPUSH q:work:a one\n\
                    HSET q:~jobs:{q:work:a} seq 1763280000000000\n\
                    RPUSH q:~taken:{q:work:a} two\n\
                    ZADD q:~leases:{q:work:a} 1763280000000 1763280000000000\n\
                    ZADD q:~due:{q:work:a} 1763280000000 1763280000000000\n\
                    ZADD q:~ready:{q:work:a} 0 1763280000000000\n";
    let report = told(&audit(vec![schema(JOBS)]), &Dump::of(commands));
    let messages: Vec<&str> = report.findings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, [""; 0]);
    let kept = "ZADD q:~done:{q:work:a} 1763280000000 1763280000000000\n";
    let report = told(&audit(vec![schema(JOBS)]), &Dump::of(kept));
    assert_eq!(report.findings.len(), 1, "nothing is retained without `retain`");
}

#[test]
fn what_sessions_tokens_and_indexes_keep_ends_with_them() {
    const SCHEMA: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
[keys.login]
pattern = "login:{session_id:slug}"
fields = { user = "uint" }
session = { index = "logins", max_age = "1d" }
ttl = "1h"
[keys.logins]
pattern = "logins:{user:uint}"
type = "set"
member = { ref = "login.session_id" }
ttl = "1d"
[keys.refresh]
pattern = "refresh:{hash:slug}"
fields = { user = "uint" }
refresh_token = {}
ttl = "30d"
[keys.word]
pattern = "word:{word:slug}"
member = { key = "login" }
index = { of = "login", reverse = "words" }
ttl = "1d"
[keys.words]
pattern = "words:{session_id:slug}"
type = "set"
member = { ref = "word.word" }
ttl = "1d"
"#;
    let keys = |more: u64| {
        let key = |word: &str, owner: &str, seconds: u64| {
            let (key, seconds) = (format!("shop:~{word}:{{shop:{owner}}}"), seconds + more);
            format!("SET {key} x\nEXPIRE {key} {seconds}\n")
        };
        let commands = [
            key("revoked", "login:a", 86_400),
            key("until", "login:a", 86_400),
            key("ends", "logins:1", 86_400),
            key("token", "refresh:a", 2_592_000),
            key("changes", "word:a", 600),
            key("versions", "words:a", 600),
        ];
        let report = told(&audit(vec![schema(SCHEMA)]), &Dump::of(&commands.concat()));
        let findings = report.findings.iter().filter(|it| it.rule == Rule::LeakedDerivedKey);
        findings.map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys(0), [""; 0]);
    let long = keys(100).join("\n");
    for word in ["~revoked", "~until", "~ends", "~token", "~changes", "~versions"] {
        assert!(long.contains(word), "{word}: {long}");
    }
}

#[test]
fn versions_and_leases_of_keys_that_change_their_slot_live_for_an_hour() {
    const SCHEMA: &str = r#"
[keyspace]
name = "shop"
prefix = "shop:"
cluster = true
[keys.price]
pattern = "price:{id:uint}"
value = "text"
ttl = "1d"
[migrations.v2]
phase = "read-fallback"
[migrations.v2.renames]
price = "old:price:{id}"
"#;
    let leaked = |word: &str, seconds: u64| {
        let key = format!("shop:~{word}:{{shop:price:1}}");
        let commands = format!("SET {key} x\nEXPIRE {key} {seconds}\n");
        let report = told(&audit(vec![schema(SCHEMA)]), &Dump::of(&commands));
        report.findings.iter().filter(|it| it.rule == Rule::LeakedDerivedKey).count()
    };
    for word in ["version", "lease"] {
        assert_eq!((leaked(word, 3600), leaked(word, 3700)), (0, 1), "{word}");
    }
}
