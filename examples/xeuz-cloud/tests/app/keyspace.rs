//! What comes out of it: a keyspace that an auditor finds nothing in.

use super::harness::{App, redis};
use super::xeuz_cloud::Key;
use super::{ADA, BOB, id};
use keyward::Ttl;
use keyward_testkit::{Flavor, Server};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn every_key_is_declared_and_lives_as_long_as_declared() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let redis = redis(flavor);
        let app = App::start(&redis.url()).with_people();
        super::api::a_day(&app);
        app.add_folder(ADA, id(21), ADA, "folder").is(201);
        app.upload(ADA, id(31), id(21), "file.pdf", 100).is(201);
        let share = format!("/folders/{}/shares/{BOB}", id(21));
        app.put(ADA, &share, json!({ "permission": "viewer" })).is(204);
        app.names(BOB, id(21));
        app.get(BOB, &format!("/files/{}", id(31))).is(200);
        let found = audited(&redis);
        let definitions: Vec<&str> = found.keys().copied().collect();
        let declared = ["file_meta", "folder_listing", "permission", "quota_used", "upload_limit"];
        assert_eq!(definitions, declared, "one of each is left");
    }
}

/// How many keys there are of each definition. Panics at one that no definition has, or whose TTL is
/// not the declared one.
pub(crate) fn audited(redis: &Server) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    for key in redis.command(&["KEYS", "*"]).array() {
        let key = key.text();
        let left = redis.command(&["PTTL", &key]).integer();
        if key.starts_with("xc:~") {
            // Keyward's own: leases and indexes, all of which end.
            assert!(left > 0, "{key} never expires");
            continue;
        }
        let parsed = Key::parse(&key).unwrap_or_else(|| panic!("{key} is not declared"));
        let definition = parsed.definition();
        let left = u64::try_from(left).ok().map(Duration::from_millis);
        let longest = definition.ttl.longest();
        match (definition.ttl, left) {
            (Ttl::None, None) => {}
            (_, Some(left)) => assert!(Some(left) <= longest, "{key} lives for {left:?}"),
            (declared, left) => panic!("{key} has {left:?}, and {declared:?} is declared"),
        }
        *found.entry(definition.name).or_default() += 1;
    }
    found
}
