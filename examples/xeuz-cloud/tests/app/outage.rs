//! Section 4 of the convention: Redis goes away, and nobody notices.

use super::harness::{App, redis};
use super::keyspace::audited;
use super::{ADA, BOB, id};
use keyward_testkit::{Flavor, Server, wait_until};
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Asks for everything that can be asked, over and over, while something happens to Redis.
fn under_load(app: &App, happening: impl FnOnce()) {
    let (over, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    assert_eq!(app.names(BOB, id(1)), ["a.pdf"]);
                    assert_eq!(app.permission(BOB, id(1)).as_deref(), Some("viewer"));
                    app.get(BOB, &format!("/files/{}", id(11))).is(200);
                    app.get(BOB, &format!("/folders/{}", id(99))).is(404);
                    app.upload(BOB, id(12), id(1), "b.pdf", 1).is(403);
                    assert_eq!(app.used(ADA), 1000);
                    answers.fetch_add(6, Ordering::SeqCst);
                }
            });
        }
        let enough = answers.load(Ordering::SeqCst) + 24;
        wait_until("it is under load", || answers.load(Ordering::SeqCst) > enough);
        let outcome = catch_unwind(AssertUnwindSafe(happening));
        over.store(true, Ordering::SeqCst);
        outcome.unwrap_or_else(|panic| resume_unwind(panic));
    });
}

/// A Redis that refuses connections is noticed at once; one that hangs, after the timeout.
fn prepared(flavor: Flavor, timeout: &str) -> (Server, App) {
    let redis = redis(flavor);
    let app = App::start_with(&redis.url(), &[("REDIS_TIMEOUT_MS", timeout)]).with_people();
    app.add_folder(ADA, id(1), ADA, "folder").is(201);
    app.upload(ADA, id(11), id(1), "a.pdf", 1000).is(201);
    let share = format!("/folders/{}/shares/{BOB}", id(1));
    app.put(ADA, &share, json!({ "permission": "viewer" })).is(204);
    app.names(BOB, id(1));
    (redis, app)
}

#[test]
fn redis_dies_and_comes_back_under_load() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let (redis, app) = prepared(flavor, "30000");
        under_load(&app, || {
            redis.kill();
            wait_until("the breaker opens", || app.breaker() == "open");
            redis.restart();
            wait_until("the breaker closes", || app.breaker() == "closed");
            redis.kill();
            wait_until("the breaker opens again", || app.breaker() == "open");
        });
        // What changes meanwhile is seen at once, and counted.
        app.upload(ADA, id(12), id(1), "b.pdf", 50).is(201);
        app.put(ADA, &format!("/files/{}/name", id(12)), json!({ "name": "c.pdf" })).is(204);
        assert_eq!(app.names(BOB, id(1)), ["a.pdf", "c.pdf"]);
        assert_eq!(app.used(ADA), 1050);
        for number in 0..20 {
            let answer = app.upload(BOB, id(100 + number), BOB, &format!("{number}.pdf"), 1);
            let answer = answer.is(201);
            assert_eq!(answer.header("x-ratelimit-remaining"), None, "open while Redis is away");
        }
        assert_eq!(app.used(BOB), 20);
        redis.restart();
        // The listing of before survived in Redis; nobody gets to see it.
        wait_until("the breaker closes", || {
            assert_eq!(app.names(BOB, id(1)), ["a.pdf", "c.pdf"]);
            app.breaker() == "closed"
        });
        assert_eq!((app.used(ADA), app.used(BOB)), (1050, 20));
        wait_until("the caches come back", || {
            app.names(BOB, id(1));
            app.get(BOB, &format!("/files/{}", id(11))).is(200);
            let found = audited(&redis);
            ["file_meta", "folder_listing", "permission"].iter().all(|it| found.contains_key(it))
        });
        // The counters are right again in Redis itself.
        for (user, used) in [(ADA, "1050"), (BOB, "20")] {
            assert_eq!(redis.command(&["GET", &format!("xc:quota:{user}:used")]).text(), used);
        }
        let log = app.log();
        let warnings: Vec<&str> = log.lines().filter(|line| line.contains("WARN")).collect();
        let about = |what| warnings.iter().filter(|line| line.contains(what)).count();
        assert_eq!(about("the breaker is open"), 2, "two outages:\n{log}");
        assert_eq!(about("invalidations are postponed"), 1, "one with changes:\n{log}");
        // Of each kind of failed request the first, however many there were.
        let mut failed: Vec<&str> = warnings
            .iter()
            .filter_map(|line| line.split_once("a request failed")?.1.split(" error=").next())
            .collect();
        let logged = failed.len();
        failed.sort_unstable();
        failed.dedup();
        assert_eq!(logged, failed.len(), "one series, one line:\n{log}");
        assert_eq!(warnings.len(), 3 + logged, "and nothing else:\n{log}");
        assert!(!log.contains("ERROR"), "{log}");
    }
}

#[test]
fn redis_hangs_under_load() {
    let (redis, app) = prepared(Flavor::Redis, "500");
    under_load(&app, || {
        redis.pause();
        wait_until("the breaker opens", || app.breaker() == "open");
        redis.resume();
        wait_until("the breaker closes", || app.breaker() == "closed");
    });
    assert!(!app.log().contains("ERROR"), "{}", app.log());
}

#[test]
fn what_is_no_listing_is_loaded_anew() {
    let (redis, app) = prepared(Flavor::Redis, "30000");
    let key = format!("xc:folder:{}:listing", id(1));
    redis.command(&["SET", &key, "neither zstd nor JSON"]);
    assert_eq!(app.names(BOB, id(1)), ["a.pdf"]);
    redis.command(&["DEL", &key]);
    redis.command(&["LPUSH", &key, "not even a string"]);
    assert_eq!(app.names(BOB, id(1)), ["a.pdf"]);
    redis.command(&["DEL", &format!("xc:rl:upload:{ADA}")]);
    redis.command(&["LPUSH", &format!("xc:rl:upload:{ADA}"), "no limit"]);
    app.upload(ADA, id(12), id(1), "b.pdf", 1).is(201);
}
