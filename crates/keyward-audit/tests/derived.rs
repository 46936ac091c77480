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
