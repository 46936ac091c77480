//! Changes to a key whose names are in different slots, with others in between.

use super::Names;
use super::course::forget;
use crate::definition::{Lifecycle, Ttl};
use crate::store::core::Core;
use crate::store::lua::{Lua, lua};
use crate::store::request::{Answers, Calls};
use crate::store::write::{Command, Mode, Write};
use crate::{Definition, Store};
use keyward_testkit::{Cluster, Flavor};
use redis::Value;
use std::time::Duration;

pub(super) static LEASE: Lua = lua!("../lua/lease.lua");

static TEXT: Definition = Definition::new(
    0,
    ["text", "new:text", "new:text", "new:text"],
    &[],
    Some("string"),
    Lifecycle::Cache,
    Ttl::None,
);

/// The names of a key, of which the old one counts or the new one.
pub(super) fn names(old: bool, [former, own]: [&str; 2]) -> Names {
    let [name, other] = if old { [former, own] } else { [own, former] }.map(str::to_owned);
    Names { others: vec![other], old, ..Names::one(name, 0) }
}

/// A write of the whole value.
pub(super) fn write(names: &Names, command: Command) -> Write<'_> {
    Write {
        definition: &TEXT,
        names,
        indexes: &[],
        mode: Mode::Whole,
        commands: vec![command],
        ttl: Some(3_600_000),
        token: None,
        keep_ttl: false,
        refuse: false,
    }
}

fn writing(core: &Core, names: &Names, value: &str) -> Calls {
    write(names, Command::new("SET").arg(value)).calls(core)
}

/// A change whose first part was made, and whose rest is on its way.
struct Begun {
    rest: Calls,
    answers: Answers,
}

async fn begin(core: &Core, mut calls: Calls) -> Begun {
    let mut versions = Vec::new();
    for call in std::mem::take(&mut calls.before) {
        versions.push(core.send(&call).await.unwrap());
    }
    calls.main.exceed(&versions);
    let answers = Answers { first: core.send(&calls.main.first).await.unwrap(), rest: Vec::new() };
    Begun { rest: calls, answers }
}

impl Begun {
    async fn end(self, core: &Core) {
        for follow in self.rest.after.into_iter().flatten() {
            if let Some(call) = follow.after(&self.answers) {
                core.send(&call).await.unwrap();
            }
        }
    }
}

pub(super) async fn on_clusters(test: impl AsyncFn(&Core, &dyn Fn(&str) -> Option<String>)) {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let nodes: Vec<String> =
            cluster.nodes().iter().map(keyward_testkit::Server::address).collect();
        let builder = Store::builder(format!("redis+cluster://{}", nodes.join(",")));
        let builder = builder.connect_timeout(Duration::from_secs(30));
        let store = builder.response_timeout(Duration::from_secs(30)).connect().await.unwrap();
        let get = |name: &str| match cluster.command(&["GET", name]) {
            keyward_testkit::Reply::Nil => None,
            reply => Some(reply.text()),
        };
        test(&store.core, &get).await;
    }
}

const NAMES: [&str; 2] = ["OLD:Text", "new:text"];

#[tokio::test]
async fn an_older_write_that_arrives_late_in_the_other_slot_replaces_nothing() {
    on_clusters(async |core, get| {
        for old in [true, false] {
            let names = names(old, NAMES);
            let first = begin(core, writing(core, &names, "first")).await;
            begin(core, writing(core, &names, "second")).await.end(core).await;
            first.end(core).await;
            assert_eq!(NAMES.map(get), [Some("second".to_owned()), Some("second".to_owned())]);
        }
    })
    .await;
}

#[tokio::test]
async fn writes_of_stores_in_adjacent_phases_end_with_one_value() {
    on_clusters(async |core, get| {
        for first_ends_first in [true, false] {
            let (dual, turned) = (names(true, NAMES), names(false, NAMES));
            let first = begin(core, writing(core, &dual, "dual-write")).await;
            let second = begin(core, writing(core, &turned, "read-fallback")).await;
            let (one, two) = if first_ends_first { (first, second) } else { (second, first) };
            one.end(core).await;
            two.end(core).await;
            assert_eq!(get(NAMES[0]), get(NAMES[1]));
        }
    })
    .await;
}

#[tokio::test]
async fn a_delete_and_a_write_that_overtake_each_other_leave_both_names_alike() {
    on_clusters(async |core, get| {
        for old in [true, false] {
            let names = names(old, NAMES);
            let write = begin(core, writing(core, &names, "deleted")).await;
            begin(core, forget(&names, &[], &[], true)).await.end(core).await;
            write.end(core).await;
            assert_eq!(NAMES.map(get), [None, None], "what was deleted is back");
            let delete = begin(core, forget(&names, &[], &[], true)).await;
            begin(core, writing(core, &names, "kept")).await.end(core).await;
            delete.end(core).await;
            let kept = Some("kept".to_owned());
            assert_eq!(NAMES.map(get), [kept.clone(), kept], "what was written later is gone");
        }
    })
    .await;
}

#[tokio::test]
async fn a_change_is_newer_than_what_another_slot_has_seen_whatever_the_clocks_say() {
    on_clusters(async |core, get| {
        let set = |name: &str, value: &str| redis::cmd("SET").arg(name).arg(value).clone();
        // Left by a program in the next phase that died, on a server whose clock is years ahead.
        core.link.query(&set(NAMES[1], "ahead"), true).await.unwrap();
        core.link.query(&set("~version:{new:text}", "8000000000000001"), true).await.unwrap();
        let names = names(true, NAMES);
        begin(core, writing(core, &names, "later")).await.end(core).await;
        assert_eq!(NAMES.map(get), [Some("later".to_owned()), Some("later".to_owned())]);
        // With the key goes what stands beside it in the other slot.
        core.link.query(&set("~stale:{new:text}", "ahead"), true).await.unwrap();
        begin(core, forget(&names, &[], &[], true)).await.end(core).await;
        assert_eq!(NAMES.map(get), [None, None]);
        assert_eq!(get("~stale:{new:text}"), None);
    })
    .await;
}

#[tokio::test]
async fn while_a_key_is_deleted_nobody_moves_it_back_and_somebody_may_load_it() {
    on_clusters(async |core, get| {
        let names = names(false, NAMES);
        begin(core, writing(core, &names, "old")).await.end(core).await;
        let lease = "~lease:{new:text}";
        let take = |token: &str| redis::cmd("SET").arg(lease).arg(token).arg("NX").clone();
        // One that was taken before has ended, and there is no other until the old name is gone.
        core.link.query(&take("a plan's"), true).await.unwrap();
        let delete = begin(core, forget(&names, &[], &[], true)).await;
        assert_eq!(core.link.query(&take("a plan's"), true).await.unwrap(), Value::Nil);
        assert_eq!(get(NAMES[0]).as_deref(), Some("old"), "nothing is moved from there");
        let loads = LEASE.call(&["new:text", lease], |cmd| {
            cmd.arg("a load's").arg(10_000).arg(0).arg("new:text").arg(0);
        });
        assert_eq!(core.send(&loads).await.unwrap(), Value::Int(1));
        delete.end(core).await;
        assert_eq!(NAMES.map(get), [None, None]);
        assert_eq!(get(lease).as_deref(), Some("a load's"));
    })
    .await;
}
