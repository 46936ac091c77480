//! The Media Gateway's profiles get a second version of their name: both names are written, the use of the old one is
//! watched, what is left of it gets a short TTL, and then it is gone.

use crate::bench::{Bench, Host};
use keyward::Store;
use keyward_plan::{Control, MakeOptions, Status};
use keyward_testkit::{Server, repository};
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use std::collections::BTreeMap;
use uuid::Uuid;

keyward::keyspace!("tests/plan/media_gateway_dual_write.toml");
keyward::keyspace!("tests/plan/media_gateway_read_fallback.toml");
keyward::keyspace!("tests/plan/media_gateway_cleanup.toml");

/// What a program of the first version writes.
fn write_old(bench: &Bench, id: Uuid, name: &str) {
    let key = format!("user:profile:{id}");
    let fields =
        ["email", "a@b.c", "display_name", name, "is_premium", "true", "subscription_tier", "x"];
    let mut command = vec!["HSET", &key];
    command.extend(fields);
    bench.redis(&command);
    bench.redis(&["PEXPIRE", &key, "3600000"]);
}

fn status(bench: &Bench) -> Status {
    let options = MakeOptions::new(keyward_audit::live::Options::default(), bench.now);
    let found = keyward_plan::status(
        &bench.url(),
        &bench.schema,
        &BTreeMap::new(),
        &options,
        &bench.mask(),
        &Control::default(),
    );
    let (mut statuses, _) = found.unwrap();
    statuses.pop().unwrap()
}

/// How often old names were read and written through a store since this was last asked, as its metrics say.
fn uses(metrics: &Snapshotter) -> (u64, u64) {
    let (mut reads, mut writes) = (0, 0);
    for (key, .., value) in metrics.snapshot().into_vec() {
        let DebugValue::Counter(count) = value else { continue };
        if key.key().name() == "keyward_old_names_total" {
            let mut labels = key.key().labels();
            match labels.find(|label| label.key() == "use").map(metrics::Label::value) {
                Some("read") => reads += count,
                _ => writes += count,
            }
        }
    }
    (reads, writes)
}

#[test]
fn profiles_go_through_all_phases() {
    let example = repository().join("examples/media-gateway/keyward.toml");
    let example = std::fs::read_to_string(example).unwrap();
    assert!(example.contains("pattern = \"user:profile:{user_id}\"\nttl = \"1h\""));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for server in Server::all() {
        let phase = |name: &str| {
            let path =
                format!("{}/tests/plan/media_gateway_{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        let mut bench = Bench::at(Host::One(server), &phase("dual_write"));
        let ids: Vec<Uuid> = (1..=30).map(|it| Uuid::from_u128(it << 64 | it)).collect();
        for id in &ids {
            write_old(&bench, *id, "first");
        }
        let recorder = DebuggingRecorder::new();
        let metrics = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            runtime.block_on(async {
                use media_gateway_dual_write::{fields, keys};
                let store = Store::builder(bench.url()).lazy().unwrap();
                let at = |user_id: Uuid| store.at(keys::UserProfile { user_id });
                assert_eq!(at(ids[0]).get().await.unwrap().unwrap().display_name, "first");
                let name = fields::UserProfile::DISPLAY_NAME;
                assert!(at(ids[1]).set_field(name, &"second".to_owned()).await.unwrap());

                // Only stores of this phase are connected: nothing has to be accepted.
                bench.accept_unnamed = false;
                let plan = bench.plan();
                assert_eq!(plan.changes(), 29, "one was written under both names");
                assert!(bench.apply(&plan).unwrap().converged);
                bench.accept_unnamed = true;
            });
        });
        let (reads, writes) = uses(&metrics);
        assert!(reads >= 1 && writes >= 1, "{reads} reads and {writes} writes of old names");
        let stands = status(&bench);
        assert_eq!(stands.renames[0].same, 30);
        assert!(stands.next.contains("read-fallback"), "{}", stands.next);

        bench.schema(&phase("read_fallback"));
        let late = Uuid::from_u128(99 << 64);
        write_old(&bench, late, "late");
        assert_eq!(status(&bench).renames[0].left, 1, "a program of the first version still runs");
        let recorder = DebuggingRecorder::new();
        let metrics = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            runtime.block_on(async {
                use media_gateway_read_fallback::keys;
                let store = Store::builder(bench.url()).lazy().unwrap();
                let at = |user_id: Uuid| store.at(keys::UserProfile { user_id });
                assert_eq!(at(ids[1]).get().await.unwrap().unwrap().display_name, "second");
                assert_eq!(uses(&metrics).0, 0, "the new name has it");
                assert_eq!(at(late).get().await.unwrap().unwrap().display_name, "late");
            });
        });
        assert_eq!(uses(&metrics).0, 1, "and is seen by its use");
        let plan = bench.plan();
        assert_eq!(plan.changes(), 1);
        assert!(bench.apply(&plan).unwrap().converged);

        bench.schema(&phase("cleanup"));
        let plan = bench.plan();
        assert_eq!((plan.rows[0].action.as_str(), plan.changes()), ("shorten", 31));
        assert!(bench.apply(&plan).unwrap().converged);
        let left = |name: &str| bench.redis(&["PTTL", name]).integer();
        for id in ids.iter().chain([&late]) {
            assert!((1..=600_000).contains(&left(&format!("user:profile:{id}"))));
            assert!(left(&format!("user:v2:profile:{id}")) > 600_000);
        }
        runtime.block_on(async {
            use media_gateway_cleanup::keys;
            let store = Store::builder(bench.url()).lazy().unwrap();
            let late = store.at(keys::UserProfile { user_id: late }).get().await.unwrap();
            assert_eq!(late.unwrap().display_name, "late");
        });

        // Ten minutes later.
        for id in ids.iter().chain([&late]) {
            bench.redis(&["PEXPIRE", &format!("user:profile:{id}"), "1"]);
        }
        keyward_testkit::wait_until("the old names have expired", || {
            ids.iter().all(|id| left(&format!("user:profile:{id}")) == -2)
        });
        let stands = status(&bench);
        assert_eq!((stands.renames[0].old, stands.renames[0].new), (0, 31));
        assert!(stands.next.contains("remove `[migrations.v2]`"), "{}", stands.next);
    }
}
