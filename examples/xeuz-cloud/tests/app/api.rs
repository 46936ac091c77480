//! Every path, with what it answers to whom.

use super::harness::{App, redis};
use super::{ADA, BOB, EVE, id};
use keyward_testkit::{Cluster, Flavor, MariaDb};
use serde_json::{Value, json};

/// A day in the life of three users. Whatever the servers, the answers are the same.
pub(crate) fn a_day(app: &App) {
    // Ada makes a tree and uploads.
    app.add_folder(ADA, id(1), ADA, "work").is(201);
    app.add_folder(ADA, id(2), id(1), "reports").is(201);
    app.upload(ADA, id(11), id(1), "plan.pdf", 1000).is(201);
    app.upload(ADA, id(12), id(2), "2026.pdf", 500).is(201);
    assert_eq!(app.names(ADA, ADA), ["work"]);
    assert_eq!(app.names(ADA, id(1)), ["reports", "plan.pdf"]);
    assert_eq!(app.used(ADA), 1500);
    let meta = json!({ "name": "plan.pdf", "size": 1000, "mime": "application/pdf", "owner": ADA });
    for _ in 0..2 {
        assert_eq!(app.get(ADA, &format!("/files/{}", id(11))).json(), meta);
    }

    // Bob sees nothing of it until it is shared, and what he may do then follows.
    assert_eq!(app.permission(BOB, id(1)), None);
    app.get(BOB, &format!("/folders/{}", id(1))).is(404);
    app.get(BOB, &format!("/files/{}", id(11))).is(404);
    let share = |folder, with| format!("/folders/{folder}/shares/{with}");
    app.put(BOB, &share(id(1), BOB), json!({ "permission": "owner" })).is(404);
    app.put(ADA, &share(id(1), BOB), json!({ "permission": "viewer" })).is(204);
    assert_eq!(app.permission(BOB, id(1)).as_deref(), Some("viewer"));
    assert_eq!(app.permission(BOB, id(2)).as_deref(), Some("viewer"), "also below");
    assert_eq!(app.get(BOB, &format!("/files/{}", id(11))).is(200).json(), meta);
    app.upload(BOB, id(13), id(2), "notes.pdf", 70).is(403);
    app.put(ADA, &share(id(1), BOB), json!({ "permission": "editor" })).is(204);
    app.upload(BOB, id(13), id(2), "notes.pdf", 70).is(201);
    assert_eq!((app.used(ADA), app.used(BOB)), (1500, 70), "whoever uploads pays");
    assert_eq!(app.names(ADA, id(2)), ["2026.pdf", "notes.pdf"]);
    app.delete(BOB, &format!("/folders/{}", id(2))).is(403);

    // An admin makes him a guest everywhere, and a member again.
    let role = |user| format!("/users/{user}/role");
    app.put(BOB, &role(EVE), json!({ "role": "admin" })).is(403);
    app.put(ADA, &role(BOB), json!({ "role": "guest" })).is(204);
    assert_eq!(app.permission(BOB, id(1)).as_deref(), Some("viewer"));
    assert_eq!(app.permission(BOB, BOB).as_deref(), Some("viewer"));
    app.put(ADA, &role(BOB), json!({ "role": "member" })).is(204);
    assert_eq!(app.permission(BOB, id(1)).as_deref(), Some("editor"));

    // Names and places change.
    app.put(BOB, &format!("/files/{}/name", id(13)), json!({ "name": "minutes.pdf" })).is(204);
    app.put(BOB, &format!("/files/{}/folder", id(13)), json!({ "folder_id": id(1) })).is(204);
    app.put(ADA, &format!("/folders/{}/name", id(2)), json!({ "name": "years" })).is(204);
    assert_eq!(app.names(BOB, id(1)), ["years", "minutes.pdf", "plan.pdf"]);
    assert_eq!(app.names(BOB, id(2)), ["2026.pdf"]);
    assert_eq!(app.get(BOB, &format!("/files/{}", id(13))).json()["name"], "minutes.pdf");

    // What is revoked is gone at once, below too; what he uploaded he may still see.
    app.delete(ADA, &share(id(1), BOB)).is(204);
    assert_eq!((app.permission(BOB, id(1)), app.permission(BOB, id(2))), (None, None));
    app.get(BOB, &format!("/files/{}", id(11))).is(404);
    app.get(BOB, &format!("/files/{}", id(13))).is(200);

    // Deleting gives storage back, to whom it belonged.
    app.delete(ADA, &format!("/files/{}", id(11))).is(204);
    app.delete(ADA, &format!("/files/{}", id(11))).is(404);
    assert_eq!(app.used(ADA), 500);
    app.delete(ADA, &format!("/folders/{}", id(1))).is(204);
    assert_eq!((app.used(ADA), app.used(BOB)), (0, 0));
    assert!(app.names(ADA, ADA).is_empty());
    for folder in [id(1), id(2)] {
        app.get(BOB, &format!("/folders/{folder}")).is(404);
    }
    app.get(ADA, &format!("/files/{}", id(12))).is(404);
}

#[test]
fn a_day_on_sqlite() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let redis = redis(flavor);
        a_day(&App::start(&redis.url()).with_people());
    }
}

#[test]
fn a_day_on_mariadb() {
    let (redis, mariadb) = (redis(Flavor::Redis), MariaDb::start());
    let url = mariadb.url();
    let settings = [("DATABASE_URL", url.as_str()), ("REDIS_TIMEOUT_MS", "30000")];
    a_day(&App::start_with(&redis.url(), &settings).with_people());
    // The tables are there when it is started again, and so are the people.
    let app = App::start_with(&redis.url(), &settings);
    app.put(ADA, &format!("/users/{ADA}"), json!({ "name": "Ada" })).is(409);
}

#[test]
fn a_day_on_a_cluster() {
    let cluster = Cluster::start(Flavor::Valkey);
    let url = format!("redis+cluster://{}", cluster.nodes()[0].address());
    a_day(&App::start(&url).with_people());
}

#[test]
fn two_processes_see_each_others_changes() {
    let (redis, mariadb) = (redis(Flavor::Redis), MariaDb::start());
    let url = mariadb.url();
    let settings = [("DATABASE_URL", url.as_str()), ("REDIS_TIMEOUT_MS", "30000")];
    let here = App::start_with(&redis.url(), &settings).with_people();
    let there = App::start_with(&redis.url(), &settings);
    here.add_folder(ADA, id(1), ADA, "folder").is(201);
    assert!(here.names(ADA, id(1)).is_empty());
    assert_eq!(there.permission(BOB, id(1)), None);
    there.upload(ADA, id(11), id(1), "a.pdf", 10).is(201);
    let share = format!("/folders/{}/shares/{BOB}", id(1));
    here.put(ADA, &share, json!({ "permission": "viewer" })).is(204);
    assert_eq!(here.names(BOB, id(1)), ["a.pdf"]);
    assert_eq!(there.permission(BOB, id(1)).as_deref(), Some("viewer"));
    here.delete(ADA, &share).is(204);
    assert_eq!(there.permission(BOB, id(1)), None);
    assert_eq!((here.used(ADA), there.used(ADA)), (10, 10));
}

#[test]
fn a_day_without_redis() {
    let redis = redis(Flavor::Redis);
    let url = redis.url();
    drop(redis);
    let app = App::start(&url).with_people();
    a_day(&app);
    assert_eq!(app.breaker(), "open");
    app.post(ADA, "/quotas/rebuild").is(503);
}

#[test]
fn the_eleventh_upload_in_a_minute_is_refused() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    for number in 0..10 {
        let answer = app.upload(BOB, id(100 + number), BOB, &format!("{number}.pdf"), 1).is(201);
        assert_eq!(answer.header("x-ratelimit-limit"), Some("10"));
        let left = (9 - number).to_string();
        assert_eq!(answer.header("x-ratelimit-remaining"), Some(left.as_str()));
        assert_eq!(answer.header("retry-after"), None);
    }
    let refused = app.upload(BOB, id(110), BOB, "10.pdf", 1).is(429);
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(refused.header("x-ratelimit-reset"), refused.header("retry-after"));
    assert_eq!(app.used(BOB), 10, "what was refused is not counted");
    app.upload(EVE, id(120), EVE, "hers.pdf", 1).is(201);
}

#[test]
fn of_fifteen_uploads_at_once_ten_are_let_through_and_counted() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let upload = |number: u128| {
            let app = &app;
            scope.spawn(move || app.upload(BOB, id(number), BOB, &format!("{number}"), 7).status)
        };
        let uploads: Vec<_> = (100..115).map(upload).collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    assert_eq!((count(201), count(429)), (10, 5));
    assert_eq!(app.used(BOB), 70);
    assert_eq!(app.names(BOB, BOB).len(), 10);
}

#[test]
fn storage_ends_where_the_subscription_says() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    app.upload(BOB, id(1), BOB, "most.pdf", 4_999_999_999).is(201);
    app.upload(BOB, id(2), BOB, "too-much.pdf", 2).is(507);
    app.upload(BOB, id(2), BOB, "huge.pdf", u64::MAX).is(507);
    app.upload(BOB, id(2), BOB, "the-last-byte.pdf", 1).is(201);
    let quota = app.get(BOB, "/quota").is(200).json();
    assert_eq!(quota, json!({ "used": 5_000_000_000u64, "limit": 5_000_000_000u64 }));
}

#[test]
fn the_nightly_job_sets_every_counter_from_the_database() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    app.upload(BOB, id(1), BOB, "a.pdf", 300).is(201);
    assert_eq!(app.used(BOB), 300);
    redis.command(&["SET", &format!("xc:quota:{BOB}:used"), "7"]);
    redis.command(&["SET", &format!("xc:quota:{EVE}:used"), "7"]);
    assert_eq!((app.used(BOB), app.used(EVE)), (7, 7));
    app.post(BOB, "/quotas/rebuild").is(403);
    assert_eq!(app.post(ADA, "/quotas/rebuild").is(200).json(), json!({ "rebuilt": 3 }));
    assert_eq!((app.used(BOB), app.used(EVE)), (300, 0));
}

#[test]
fn a_counter_that_would_fall_below_zero_is_counted_anew() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    app.upload(BOB, id(1), BOB, "a.pdf", 300).is(201);
    app.upload(BOB, id(2), BOB, "b.pdf", 40).is(201);
    redis.command(&["DEL", &format!("xc:quota:{BOB}:used")]);
    app.delete(BOB, &format!("/files/{}", id(1))).is(204);
    assert_eq!(app.used(BOB), 40);
    assert_eq!(redis.command(&["GET", &format!("xc:quota:{BOB}:used")]).text(), "40");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let redis = redis(Flavor::Redis);
    let app = App::start(&redis.url()).with_people();
    app.add_folder(BOB, id(1), BOB, "docs").is(201);
    app.add_folder(BOB, id(1), BOB, "again").is(409);
    app.add_folder(BOB, id(2), BOB, "docs").is(409);
    app.add_folder(BOB, id(2), id(99), "nowhere").is(404);
    app.add_folder(BOB, id(2), BOB, "").is(422);
    app.add_folder(BOB, id(2), BOB, "a/b").is(422);
    app.add_folder(BOB, id(2), BOB, &"x".repeat(201)).is(422);
    app.delete(BOB, &format!("/folders/{BOB}")).is(422);
    app.put(BOB, &format!("/folders/{BOB}/name"), json!({ "name": "mine" })).is(422);
    app.put(ADA, &format!("/users/{}/role", id(99)), json!({ "role": "guest" })).is(404);
    app.put(ADA, &format!("/users/{BOB}/role"), json!({ "role": "king" })).is(422);
    let share = format!("/folders/{}/shares/{EVE}", id(1));
    app.put(BOB, &share, json!({ "permission": "king" })).is(422);
    app.put(
        BOB,
        &format!("/folders/{}/shares/{}", id(1), id(99)),
        json!({ "permission": "viewer" }),
    )
    .is(409);
    app.get(BOB, "/folders/no-uuid").is(400);
    app.get(id(99), "/quota").is(404);
    app.get_as_nobody("/quota").is(401);
}

#[test]
fn those_who_run_it_see_how_it_is() {
    let redis = redis(Flavor::Redis);
    let mut app = App::start(&redis.url()).with_people();
    app.names(BOB, BOB);
    app.names(BOB, BOB);
    app.upload(BOB, id(1), BOB, "a.pdf", 1).is(201);
    let health: Value = app.get(ADA, "/health").is(200).json();
    assert_eq!(health, json!({ "database": "up", "breaker": "closed" }));
    let metrics = app.get(ADA, "/metrics").is(200).text;
    for line in [
        "keyward_cache_hits_total{definition=\"folder_listing\"} 1",
        "keyward_cache_misses_total{definition=\"folder_listing\"} 1",
        "keyward_limit_checks_total{definition=\"upload_limit\",outcome=\"allowed\"} 1",
        "keyward_invalidated_keys_total{event=\"file_uploaded\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(!metrics.contains(&BOB.to_string()), "no key, no id in any label");
    assert!(app.stop().success());
    assert!(app.log().contains("stopped"));
}
