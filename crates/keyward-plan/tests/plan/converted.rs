//! Values that get another form, while stores and old programs change them and plans are stopped half-way.

use crate::bench::{Bench, Host};
use keyward::Store;
use keyward_testkit::Server;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

keyward::keyspace!("tests/plan/converted.toml");

const SCHEMA: &str = include_str!("converted.toml");
const KEYS: u64 = 40;
const WRITES: u64 = 800;

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn bench(phase: &str) -> Vec<Bench> {
    Bench::all(&SCHEMA.replace("read-fallback", phase))
}

fn old(id: u64) -> String {
    format!("Profile:{id}")
}

fn json(visits: u64) -> String {
    format!(r#"{{"name": "ann", "visits": {visits}}}"#)
}

fn fill(bench: &Bench) {
    for id in 0..KEYS {
        bench.redis(&["SET", &old(id), &json(0), "PX", "3600000"]);
    }
}

/// What is there under the new name.
fn visits(bench: &Bench, id: u64) -> Option<u64> {
    let found = bench.redis(&["HGET", &format!("shop:profile:{id}"), "visits"]);
    (found != keyward_testkit::Reply::Nil).then(|| found.text().parse().unwrap())
}

/// Applies plans over and over until whoever writes has ended, and then one that must find an end.
fn apply_beside(bench: &Bench, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        bench.apply(&bench.plan()).unwrap();
    }
    let applied = bench.apply(&bench.plan()).unwrap();
    assert!(applied.converged, "{:?}", applied.left);
}

/// What a store does while plans are applied: the last that was acknowledged of each key, `None` where it was deleted.
async fn change(url: String, seed: u64) -> BTreeMap<u64, Option<u64>> {
    use converted::{fields, keys};
    let store = Store::connect(url).await.unwrap();
    let mut numbers = Numbers(seed);
    let mut last = BTreeMap::new();
    for visits in 1..=WRITES {
        // Some are left to the plan.
        let id = numbers.below(KEYS * 3 / 4);
        let profile = store.at(keys::Profile { id });
        let is_there = numbers.below(4) > 0;
        if is_there {
            profile.set(&fields::Profile { name: "bob".to_owned(), visits }).await.unwrap();
        } else {
            profile.delete().await.unwrap();
        }
        last.insert(id, is_there.then_some(visits));
    }
    last
}

#[test]
fn what_a_store_writes_and_deletes_outlives_plans_that_convert_meanwhile() {
    for (mut bench, seed) in bench("read-fallback").into_iter().zip(14..) {
        fill(&bench);
        let (over, url) = (&AtomicBool::new(false), bench.url());
        let last = thread::scope(|scope| {
            let writing = scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let last = runtime.unwrap().block_on(change(url, seed));
                over.store(true, Ordering::Relaxed);
                last
            });
            apply_beside(&bench, over);
            writing.join().unwrap()
        });
        let expect = |bench: &Bench| {
            for id in 0..KEYS {
                let wanted = last.get(&id).copied().unwrap_or(Some(0));
                assert_eq!(visits(bench, id), wanted, "profile {id}, seed {seed}");
            }
        };
        expect(&bench);
        bench.schema(&SCHEMA.replace("read-fallback", "cleanup"));
        apply_beside(&bench, over);
        expect(&bench);
        for id in 0..KEYS {
            assert_eq!(bench.redis(&["EXISTS", &old(id)]).integer(), 0);
        }
    }
}

#[test]
fn what_old_programs_write_is_converted_again_until_both_are_the_same() {
    for (bench, seed) in bench("dual-write").into_iter().zip(14..) {
        fill(&bench);
        let over = &AtomicBool::new(false);
        let Host::One(server) = &bench.host else { panic!("one server") };
        let last = thread::scope(|scope| {
            let writing = scope.spawn(|| write_old(server, over, seed));
            apply_beside(&bench, over);
            writing.join().unwrap()
        });
        for id in 0..KEYS {
            assert_eq!(visits(&bench, id), Some(last.get(&id).copied().unwrap_or(0)), "{id}");
            let ends = |name: &str| bench.redis(&["PEXPIRETIME", name]).integer();
            assert_eq!(ends(&format!("shop:profile:{id}")), ends(&old(id)));
        }
    }
}

/// What a program without a store does.
fn write_old(server: &Server, over: &AtomicBool, seed: u64) -> BTreeMap<u64, u64> {
    let mut connection = server.connect();
    let mut numbers = Numbers(seed);
    let mut last = BTreeMap::new();
    for visits in 1..=WRITES {
        let (id, lives) = (numbers.below(KEYS), (3_600_000 + visits).to_string());
        connection.command(&["SET", &old(id), &json(visits), "PX", &lives]).unwrap();
        last.insert(id, visits);
    }
    over.store(true, Ordering::Relaxed);
    last
}
