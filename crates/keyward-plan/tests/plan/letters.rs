//! Dead letters on real servers: pushed again, removed, and brought back.

use crate::bench::Bench;
use keyward_plan::{Applied, Buried, Error, Order, Plan};
use keyward_testkit::Flavor;

const SCHEMA: &str = r#"
version = 1
[keyspace]
name = "jobs"
prefix = "app:"
[keys.work]
pattern = "{#kind:slug}:work"
queue = { dead_letter = "failed", status = "status", job_id = "job" }
value = "json"
max_len = 3
on_full = "refuse"
[keys.failed]
pattern = "{#kind:slug}:failed"
type = "list"
value = "json"
ttl = "none"
[keys.status]
pattern = "{#kind:slug}:status:{job:slug}"
ttl = "1h"
jitter = "10%"
[keys.status.fields]
status = "text"
created_at = "unix"
error = "text?"
[keys.mail]
pattern = "mail"
type = "stream"
queue = { dead_letter = "bounced" }
fields = { to = "text" }
[keys.bounced]
pattern = "mail:bounced"
type = "list"
value = "json"
ttl = "none"
[keys.label]
pattern = "label"
queue = { dead_letter = "old_label" }
value = "text"
[keys.old_label]
pattern = "label:old"
type = "list"
value = "text"
ttl = "none"
"#;

const LATER: &str = "2999-01-01T00:00:00.000Z";
const BEFORE: &str = "2026-01-01T00:00:00.000Z";

fn letter(job: &str, id: &str, queue: &str, failed_at: &str) -> String {
    format!(
        r#"{{"job":{job},"id":"{id}","error":"no","attempts":5,"queue":"{queue}","failed_at":"{failed_at}"}}"#
    )
}

fn requeue(bench: &Bench, queue: &str, limit: Option<u64>) -> Result<Plan, Error> {
    bench.plan_of(Order::Requeue(Buried::new(queue.to_owned(), limit)))
}

fn purge(bench: &Bench, queue: &str, limit: Option<u64>) -> Result<Plan, Error> {
    bench.plan_of(Order::Purge(Buried::new(queue.to_owned(), limit)))
}

fn texts(bench: &Bench, command: &[&str]) -> Vec<String> {
    bench.redis(command).array().into_iter().map(keyward_testkit::Reply::text).collect()
}

fn left(applied: &Applied, word: &str) -> u64 {
    applied.left.iter().flatten().filter(|(name, _)| name.contains(word)).map(|it| it.1).sum()
}

#[test]
fn a_dead_letter_is_pushed_again_with_its_id_and_status_and_only_once() {
    for bench in Bench::all(SCHEMA) {
        let queue = "app:{mail}:work";
        bench.redis(&["RPUSH", "app:{mail}:failed", &letter(r#"{"n":1}"#, "a", queue, BEFORE)]);
        bench.redis(&["RPUSH", "app:{mail}:failed", "not json"]);
        let plan = requeue(&bench, "work", None).unwrap();
        assert_eq!((plan.changes(), plan.conflicts()), (1, 1));
        assert_eq!(bench.redis(&["LLEN", "app:{mail}:failed"]).integer(), 2, "planning only reads");
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 1);
        assert_eq!(left(&applied, "holds no job"), 1);
        assert_eq!(texts(&bench, &["LRANGE", queue, "0", "-1"]), [r#"{"n":1}"#]);
        let ticket = bench.redis(&["HGET", "app:{mail}:work~{jobs}", "i:a"]).text();
        let record =
            bench.redis(&["HGET", "app:{mail}:work~{jobs}", &format!("m:{ticket}")]).text();
        assert!(record.starts_with("w 0 0 0 0 "), "without its attempts: {record}");
        assert_eq!(bench.redis(&["HGET", "app:{mail}:status:a", "status"]).text(), "pending");
        let ttl = bench.redis(&["PTTL", "app:{mail}:status:a"]).integer();
        assert!((3_200_000..=3_600_000).contains(&ttl), "{ttl}");
        bench.redis(&["RPUSH", "app:{mail}:failed", &letter("{}", "b", queue, LATER)]);
        let again = bench.apply(&plan).unwrap();
        assert_eq!((again.changed, left(&again, "failed after")), (0, 1));
        assert_eq!(bench.redis(&["LLEN", queue]).integer(), 1);
        assert!(bench.undo(&plan).unwrap_err().to_string().contains("cannot be undone"));
    }
}

#[test]
fn a_full_queue_and_a_job_with_the_same_id_keep_letters_where_they_are() {
    for bench in Bench::all(SCHEMA) {
        let queue = "app:{mail}:work";
        for (number, id) in ["a", "a", "b", "c", "d"].into_iter().enumerate() {
            let letter = letter(&format!("{{\"n\":{number}}}"), id, queue, BEFORE);
            bench.redis(&["RPUSH", "app:{mail}:failed", &letter]);
        }
        let plan = requeue(&bench, queue, None).unwrap();
        assert_eq!(plan.changes(), 5);
        let applied = bench.apply(&plan).unwrap();
        assert_eq!(applied.changed, 3, "as many as fit");
        assert!(!applied.converged);
        assert_eq!((left(&applied, "full"), left(&applied, "with its id")), (1, 1));
        assert_eq!(bench.redis(&["LLEN", queue]).integer(), 3);
        assert_eq!(bench.redis(&["LLEN", "app:{mail}:failed"]).integer(), 2);
    }
}

#[test]
fn a_limit_holds_over_several_runs_and_letters_of_another_queue_stay() {
    for bench in Bench::all(SCHEMA) {
        for number in 0..4 {
            let letter =
                letter(&format!("{number}"), &format!("j{number}"), "app:{x}:work", BEFORE);
            bench.redis(&["RPUSH", "app:{x}:failed", &letter]);
        }
        bench.redis(&["RPUSH", "app:{x}:failed", &letter("9", "j9", "app:{y}:work", BEFORE)]);
        let plan = requeue(&bench, "work", Some(2)).unwrap();
        assert_eq!(plan.changes(), 2);
        assert_eq!(bench.apply(&plan).unwrap().changed, 2);
        assert_eq!(texts(&bench, &["LRANGE", "app:{x}:work", "0", "-1"]), ["0", "1"]);
        assert_eq!(bench.apply(&plan).unwrap().changed, 0);
        let rest = requeue(&bench, "work", None).unwrap();
        assert_eq!(rest.changes(), 2, "one is of another queue");
    }
}

#[test]
fn a_letter_of_a_stream_becomes_an_entry_again() {
    for bench in Bench::all(SCHEMA) {
        let bounced = letter(r#"{"to":"ann"}"#, "m1", "app:mail", BEFORE);
        bench.redis(&["RPUSH", "app:mail:bounced", &bounced]);
        let plan = requeue(&bench, "mail", None).unwrap();
        assert_eq!(plan.estimate.keys, 1, "the only key is known");
        assert!(bench.apply(&plan).unwrap().converged);
        let entry =
            bench.redis(&["XRANGE", "app:mail", "-", "+"]).array().remove(0).array().remove(1);
        let entry: Vec<String> =
            entry.array().into_iter().map(keyward_testkit::Reply::text).collect();
        assert_eq!(entry, ["to", "ann"]);
    }
}

#[test]
fn letters_that_are_values_are_pushed_unless_they_failed_again() {
    for bench in Bench::all(SCHEMA) {
        bench.redis(&["RPUSH", "app:label:old", "red", "red", "blue"]);
        let sha =
            |text: &str| bench.redis(&["EVAL", "return redis.sha1hex(ARGV[1])", "0", text]).text();
        let note = |failed: &str| {
            format!(r#"{{"id":"l1","error":"no","queue":"app:label","failed_at":"{failed}"}}"#)
        };
        let notes = "app:~letters:{app:label:old}";
        bench.redis(&["HSET", notes, &sha("blue"), &note(LATER)]);
        let plan = requeue(&bench, "label", None).unwrap();
        assert_eq!(bench.apply(&plan).unwrap().changed, 2);
        assert_eq!(texts(&bench, &["LRANGE", "app:label", "0", "-1"]), ["red", "red"]);
        assert_eq!(texts(&bench, &["LRANGE", "app:label:old", "0", "-1"]), ["blue"]);
        assert_eq!(bench.redis(&["HLEN", notes]).integer(), 1);
    }
}

#[test]
fn what_is_purged_is_brought_back_with_its_notes() {
    for bench in Bench::all(SCHEMA) {
        let dead = "app:label:old";
        bench.redis(&["RPUSH", dead, "red", "red", "blue"]);
        bench.redis(&["PEXPIREAT", dead, "9999999999999"]);
        let sha = bench.redis(&["EVAL", "return redis.sha1hex('blue')", "0"]).text();
        let notes = "app:~letters:{app:label:old}";
        bench.redis(&["HSET", notes, &sha, r#"{"error":"no"}"#]);
        let plan = purge(&bench, "app:label", None).unwrap();
        let applied = bench.apply(&plan).unwrap();
        assert_eq!((applied.changed, applied.converged), (3, true));
        assert_eq!(bench.redis(&["EXISTS", dead]).integer(), 0);
        assert_eq!(bench.redis(&["EXISTS", notes]).integer(), 0);
        assert_eq!(bench.apply(&plan).unwrap().changed, 0);

        bench.redis(&["RPUSH", dead, "green"]);
        assert_eq!(bench.undo(&plan).unwrap().undone, 3);
        let letters = ["green", "red", "red", "blue"];
        assert_eq!(texts(&bench, &["LRANGE", dead, "0", "-1"]), letters);
        assert_eq!(bench.redis(&["HGET", notes, &sha]).text(), r#"{"error":"no"}"#);
        assert_eq!(bench.undo(&plan).unwrap().undone, 0, "undone twice changes nothing");
        assert_eq!(texts(&bench, &["LRANGE", dead, "0", "-1"]), letters);
    }
}

#[test]
fn letters_come_back_with_the_end_of_their_list_and_not_after_it() {
    for bench in Bench::all(SCHEMA) {
        let (dead, notes) = ("app:label:old", "app:~letters:{app:label:old}");
        let sha = bench.redis(&["EVAL", "return redis.sha1hex('blue')", "0"]).text();
        bench.redis(&["RPUSH", dead, "red", "red", "blue"]);
        bench.redis(&["PEXPIREAT", dead, "9999999999999"]);
        bench.redis(&["HSET", notes, &sha, r#"{"error":"no"}"#]);
        let plan = purge(&bench, "app:label", None).unwrap();
        assert_eq!(bench.apply(&plan).unwrap().changed, 3);
        assert_eq!(bench.undo(&plan).unwrap().undone, 3);
        assert_eq!(bench.redis(&["PEXPIRETIME", dead]).integer(), 9_999_999_999_999);
        assert_eq!(bench.redis(&["PEXPIRETIME", notes]).integer(), 9_999_999_999_999);

        // One came back in another way, or by an undo that was killed.
        let plan = purge(&bench, "app:label", None).unwrap();
        assert_eq!(bench.apply(&plan).unwrap().changed, 3);
        bench.redis(&["RPUSH", dead, "red"]);
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.same), (2, 1));
        assert_eq!(texts(&bench, &["LRANGE", dead, "0", "-1"]), ["red", "red", "blue"]);

        let soon = bench.redis(&["TIME"]).array().remove(0).text().parse::<u64>().unwrap() + 2;
        bench.redis(&["EXPIREAT", dead, &soon.to_string()]);
        let plan = purge(&bench, "app:label", None).unwrap();
        assert_eq!(bench.apply(&plan).unwrap().changed, 3);
        keyward_testkit::wait_until("the time of the list is over", || {
            bench.redis(&["TIME"]).array().remove(0).text().parse::<u64>().unwrap() > soon
        });
        let undone = bench.undo(&plan).unwrap();
        assert_eq!((undone.undone, undone.same), (0, 3));
        assert_eq!(bench.redis(&["EXISTS", dead]).integer(), 0);
    }
}

#[test]
fn a_queue_that_is_unknown_or_has_letters_of_another_type_is_refused() {
    for bench in Bench::all(SCHEMA) {
        let error = |error: Error| format!("{error}: {}", error.help());
        assert!(
            error(requeue(&bench, "lable", None).unwrap_err()).contains("did you mean `label`")
        );
        bench.redis(&["SET", "app:mail:bounced", "of another type"]);
        assert_eq!(requeue(&bench, "mail", None).unwrap().conflicts(), 1);
    }
}

/// The schema with queues that are renamed.
fn renamed(phase: &str) -> String {
    format!(
        "{SCHEMA}[migrations.v2]\nphase = \"{phase}\"\n[migrations.v2.renames]\nlabel = \"Label\"\n\
         old_label = \"Label:Old\"\nmail = \"Mail\"\n"
    )
}

#[test]
fn letters_of_a_renamed_queue_are_pushed_where_stores_push() {
    for (phase, label, mail) in [
        ("dual-write", "Label", "Mail"),
        ("read-fallback", "app:label", "app:mail"),
        ("cleanup", "app:label", "app:mail"),
    ] {
        for bench in Bench::all(&renamed(phase)) {
            bench.redis(&["RPUSH", "Label:Old", "red"]);
            bench.redis(&["RPUSH", "app:label:old", "blue"]);
            let applied = bench.apply(&requeue(&bench, "label", None).unwrap()).unwrap();
            assert_eq!((applied.changed, applied.converged), (2, true), "{phase}");
            let mut pushed = texts(&bench, &["LRANGE", label, "0", "-1"]);
            pushed.sort();
            assert_eq!(pushed, ["blue", "red"], "{phase}");
            // Named by its key, it is the same queue.
            bench.redis(&["RPUSH", "Label:Old", "green"]);
            let plan = requeue(&bench, "app:label", None).unwrap();
            assert_eq!(bench.apply(&plan).unwrap().changed, 1, "{phase}");
            assert_eq!(bench.redis(&["EXISTS", "Label:Old", "app:label:old"]).integer(), 0);

            // A job that failed under either name is one of this queue.
            for queue in ["Mail", "app:mail", "app:post"] {
                let letter = letter(r#"{"to":"ann"}"#, "", queue, BEFORE);
                bench.redis(&["RPUSH", "app:mail:bounced", &letter]);
            }
            let applied = bench.apply(&requeue(&bench, "mail", None).unwrap()).unwrap();
            assert_eq!(applied.changed, 2, "{phase}");
            assert_eq!(bench.redis(&["XLEN", mail]).integer(), 2, "{phase}");
        }
    }
}

#[test]
fn letters_under_an_old_name_are_removed_and_brought_back_there() {
    for phase in ["dual-write", "read-fallback", "cleanup"] {
        for bench in Bench::all(&renamed(phase)) {
            bench.redis(&["RPUSH", "Label:Old", "red", "green"]);
            bench.redis(&["RPUSH", "app:label:old", "blue"]);
            let plan = purge(&bench, "label", None).unwrap();
            assert_eq!(bench.apply(&plan).unwrap().changed, 3, "{phase}");
            assert_eq!(bench.redis(&["EXISTS", "Label:Old", "app:label:old"]).integer(), 0);
            assert_eq!(bench.undo(&plan).unwrap().undone, 3, "{phase}");
            assert_eq!(texts(&bench, &["LRANGE", "Label:Old", "0", "-1"]), ["red", "green"]);
            assert_eq!(texts(&bench, &["LRANGE", "app:label:old", "0", "-1"]), ["blue"]);
        }
    }
}

#[test]
fn the_letters_of_all_queues_of_a_cluster_are_pushed_again() {
    let bench = Bench::cluster(Flavor::Redis, SCHEMA);
    for kind in ["a", "b", "c", "d"] {
        let (queue, dead) = (format!("app:{{{kind}}}:work"), format!("app:{{{kind}}}:failed"));
        bench.redis(&["RPUSH", &dead, &letter("1", "one", &queue, BEFORE)]);
    }
    let plan = requeue(&bench, "work", None).unwrap();
    let applied = bench.apply(&plan).unwrap();
    assert_eq!((applied.changed, applied.converged), (4, true));
    for kind in ["a", "b", "c", "d"] {
        assert_eq!(bench.redis(&["LLEN", &format!("app:{{{kind}}}:work")]).integer(), 1);
    }
    // Its dead letters are in another slot.
    bench.redis(&["RPUSH", "app:label:old", "red"]);
    let why = requeue(&bench, "label", None).unwrap_err().to_string();
    assert!(why.contains("different slots"), "{why}");
}
