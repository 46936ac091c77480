//! Reports against schemas that differ are added up only where that makes no difference to what is counted.

mod support;

use keyward_audit::{Audit, MergeError, Options, Report, Salt, Subject, fingerprint, merge};
use std::sync::Arc;
use support::{Dump, TODAY, messages, report, schema};

const SHOP: &str = r#"
[keyspace]
name = "shop"
[keys.user]
pattern = "user:{user_id:uint}"
ttl = "none"
[foreign.bull]
glob = "bull:*"
[migrations.v2]
phase = "cleanup"
renames = { user = "User:{user_id}" }
"#;

const KEYS: &str = "SET user:1 x\nSET User:2 x\nSET bull:1 x\nSET cron:1 x\nSET nobody:1 x\n";

/// The same keys against this schema.
fn against(text: &str) -> Report {
    let options = Options {
        salt: Salt::of("test"),
        today: TODAY,
        schemas: fingerprint([text]),
        ..Options::default()
    };
    let audit = Arc::new(Audit::new(vec![Subject::new(schema(text))], &options));
    report(&audit, &Dump::of(KEYS).bytes())
}

/// Both orders, which must come to the same.
#[track_caller]
fn merged(one: &Report, other: &Report) -> Result<Report, MergeError> {
    let there = merge(vec![one.clone(), other.clone()]);
    assert_eq!(merge(vec![other.clone(), one.clone()]), there);
    there
}

#[test]
fn what_is_counted_must_be_the_same() {
    let one = against(SHOP);
    let more_foreign = format!("{SHOP}[foreign.cron]\nglob = \"cron:*\"\n");
    let for_others = [
        more_foreign.clone(),
        // The other way round, a key that both globs find would be somebody else's.
        SHOP.replace("[foreign.bull]", "[foreign.cron]\nglob = \"cron:*\"\n[foreign.bull]"),
        SHOP.replace("bull:*", "bull:[a-z]*"),
        SHOP.replace("\"User:{user_id}\"", "\"USER:{user_id}\""),
        SHOP.replace("user_id:uint", "user_id:int"),
        SHOP.replace("\"none\"", "\"1d\""),
        SHOP.replace("ttl =", "owner = \"accounts\"\nttl ="),
    ];
    for text in for_others {
        let refused = merged(&one, &against(&text));
        assert_eq!(refused, Err(MergeError::Schemas), "{text}");
    }
    let both = against(&more_foreign);
    assert_eq!(merged(&both, &both).unwrap().summary.foreign.keys, 4);
}

#[test]
fn rules_may_differ_and_a_note_says_so() {
    let one = against(SHOP);
    let lenient = against(&format!("{SHOP}[rules]\nunknown-key = \"warn\"\n"));
    let both = merged(&one, &lenient).unwrap();
    assert_eq!(both.summary.keys, 10);
    assert_eq!(merged(&both, &one).unwrap().source.notes, both.source.notes);
    insta::assert_snapshot!([messages(&both), both.source.notes].concat().join("\n"));
    assert!(merged(&one, &one).unwrap().source.notes.is_empty());
}
