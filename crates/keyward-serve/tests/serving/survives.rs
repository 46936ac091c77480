//! What is kept across restarts, and what is done about files that are broken.

use crate::instance::{Instance, Place, files};
use keyward_audit::ResumeFile;
use keyward_audit::live::Bound;
use keyward_testkit::{Server, wait_until};
use std::env;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

fn notices(instance: &Instance) -> String {
    instance.get("/api/v1/servers").json()["notices"].to_string()
}

#[test]
fn a_restart_keeps_the_history_and_shows_the_last_audit() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let url = server.url();
    let instance = place.start(&url);
    instance.wait_for_audits(2);
    wait_until("the server was asked", || {
        !instance.api("history")["polls"].as_array().unwrap().is_empty()
    });
    instance.stop();
    server.kill();
    let instance = place.start(&url);
    assert_eq!(instance.api("overview")["summary"]["keys"], 1);
    assert!(instance.api("history")["audits"].as_array().unwrap().len() >= 2);
    assert!(!instance.api("history")["polls"].as_array().unwrap().is_empty());
    assert_eq!(instance.get("/readyz").status, 200);
    let mode = std::fs::metadata(place.state()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    for file in files(&place.state()) {
        let mode = std::fs::metadata(place.state().join(&file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file} is open to others");
    }
}

#[test]
fn two_instances_do_not_share_a_folder() {
    let server = Server::redis();
    let place = Place::new();
    let _first = place.start(&server.url());
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let error = keyward_serve::serve(&place.config(&server.url()), &stop, |_| {}).unwrap_err();
    assert!(error.to_string().ends_with("another `keyward serve` uses it"), "{error}");
}

#[test]
fn a_corrupt_history_is_moved_aside_and_a_new_one_begun() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    for garbage in [vec![0xa5; 100_000], b"SQLite format 3\0 and then nonsense".repeat(1000)] {
        let place = Place::new();
        std::fs::create_dir(place.state()).unwrap();
        std::fs::write(place.state().join("history.sqlite"), &garbage).unwrap();
        let instance = place.start(&server.url());
        instance.wait_for_audits(1);
        let moved = files(&place.state());
        let moved = moved.iter().find(|it| it.starts_with("history.corrupt-")).unwrap();
        assert_eq!(std::fs::read(place.state().join(moved)).unwrap(), garbage);
        assert!(notices(&instance).contains("the history was corrupt"), "{}", notices(&instance));
        assert!(instance.said().iter().any(|it| it.contains("the history was corrupt")));
    }
}

#[test]
fn a_history_that_breaks_while_it_is_used_is_begun_again() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(2);
    instance.stop();
    let path = place.state().join("history.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    // The head is whole; the pages behind it are not.
    bytes[4096..].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let instance = place.start(&server.url());
    instance.wait_for_audits(1);
    wait_until("it is said", || notices(&instance).contains("the history was corrupt"));
}

#[test]
fn a_history_of_a_newer_version_is_left_alone() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    std::fs::create_dir(place.state()).unwrap();
    let path = place.state().join("history.sqlite");
    let newer = rusqlite::Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 1000).unwrap();
    drop(newer);
    let before = std::fs::read(&path).unwrap();
    let instance = place.start(&server.url());
    wait_until("it was audited", || instance.get("/readyz").status == 200);
    wait_until("it is said", || notices(&instance).contains("a newer version of keyward"));
    assert_eq!(instance.get("/api/v1/servers/main/history").status, 503);
    instance.stop();
    assert_eq!(std::fs::read(&path).unwrap().len(), before.len());
}

#[test]
fn a_stopped_audit_goes_on_after_a_restart() {
    let server = Server::redis();
    for user in 0..2_000 {
        server.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "600"]);
    }
    let place = Place::new();
    let url = server.url();
    let mut slow = place.config(&url);
    let bound = Bound { max_ops: Some(500), ..Bound::default() };
    slow.servers[0].options.bound = Some(bound);
    let instance = Instance::start(slow);
    // More than are asked for at once: some of them were answered.
    wait_until("some keys were read", || server.calls("pttl") > 100);
    instance.stop();
    assert!(files(&place.state()).contains(&"resume-main.json".to_owned()));
    let looked_up = server.calls("pttl");
    assert!((1..2_000).contains(&looked_up), "{looked_up}");
    let mut once = place.config(&url);
    once.servers[0].every = Duration::from_secs(3600);
    let instance = Instance::start(once);
    instance.wait_for_audits(1);
    assert_eq!(instance.api("history")["audits"][0]["keys"], 2_000);
    let all = server.calls("pttl");
    assert!(all < 2_000 + looked_up, "{all} lookups, {looked_up} of them before: it began again");
    wait_until("nothing is left to resume", || {
        !files(&place.state()).contains(&"resume-main.json".to_owned())
    });
}

/// A slow instance, which keeps what it has counted four times a second.
fn slow(place: &Place, url: &str) -> keyward_serve::Config {
    let mut config = place.config(url);
    let bound = Bound { max_ops: Some(500), ..Bound::default() };
    config.servers[0].options.bound = Some(bound);
    config.servers[0].keep = Duration::from_millis(250);
    config
}

const KILLED: &str = "KEYWARD_TEST_KILLED";

#[test]
#[ignore = "another test runs it as a process of its own, and kills it"]
fn a_process_to_be_killed() {
    let Some(url) = env::var_os(KILLED) else { return };
    let place = Place::at(env::current_dir().unwrap());
    let _instance = Instance::start(slow(&place, url.to_str().unwrap()));
    loop {
        std::thread::park();
    }
}

#[test]
fn an_audit_goes_on_after_a_kill() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:0", "[]", "EX", "600"]);
    let (place, url) = (Place::new(), server.url());
    let instance = place.start(&url);
    instance.wait_for_audits(1);
    instance.stop();
    for user in 1..3_000 {
        server.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "600"]);
    }
    let before = server.calls("pttl");
    let mut process = Command::new(env::current_exe().unwrap())
        .args(["--exact", "survives::a_process_to_be_killed", "--ignored", "--nocapture"])
        .current_dir(place.folder())
        .env(KILLED, &url)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let resume = "resume-main.json".to_owned();
    wait_until("it keeps what it has counted", || {
        let bytes = std::fs::read(place.state().join(&resume)).unwrap_or_default();
        ResumeFile::parse(&bytes).is_ok_and(|it| it.stopped.keys() > 100)
    });
    process.kill().unwrap();
    process.wait().unwrap();
    let looked_up = server.calls("pttl") - before;
    assert!((1..3_000).contains(&looked_up), "{looked_up}");

    let mut once = place.config(&url);
    once.servers[0].every = Duration::from_secs(3600);
    let instance = Instance::start(once);
    wait_until("it has ended", || instance.api("overview")["summary"]["keys"] == 3_000);
    let audits = instance.api("history")["audits"].clone();
    assert_eq!(audits[0]["keys"], 1, "the history is still there: {audits:#}");
    let all = server.calls("pttl") - before;
    assert!(all < 3_000 + looked_up, "{all} lookups, {looked_up} of them before: it began again");
    wait_until("nothing is left to resume", || !files(&place.state()).contains(&resume));
}

#[test]
fn an_audit_in_many_stretches_ends_and_counts_each_key_once() {
    let server = Server::redis();
    for user in 0..2_000 {
        server.command(&["SET", &format!("shop:cart:{user}"), "[]", "EX", "600"]);
    }
    let place = Place::new();
    let mut config = slow(&place, &server.url());
    config.servers[0].keep = Duration::from_millis(100);
    let instance = Instance::start(config);
    instance.wait_for_audits(1);
    let report = instance.api("report");
    assert_eq!(report["summary"]["keys"], 2_000);
    assert_eq!(instance.api("overview")["complete"], true);
    let notes = report["source"]["notes"].to_string();
    assert_eq!(notes.matches("stopped and resumed").count(), 1, "{notes}");
}

#[test]
fn a_folder_that_is_removed_is_noticed() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(2);
    // Meanwhile a file may be written there again.
    wait_until("it is removed", || {
        let _ = std::fs::remove_dir_all(place.state());
        !place.state().exists()
    });
    wait_until("it is said", || notices(&instance).contains("was removed: create it again"));
    assert!(instance.said().iter().any(|it| it.contains("was removed: create it again")));
    assert_eq!(instance.get("/api/v1/servers/main/history").status, 503);
    assert_eq!(instance.api("overview")["summary"]["keys"], 1, "audits go on");
    std::fs::create_dir(place.state()).unwrap();
    wait_until("it is kept again", || !notices(&instance).contains("create it again"));
}

#[test]
fn a_history_that_is_removed_is_begun_again() {
    let server = Server::redis();
    server.command(&["SET", "shop:cart:1", "[]", "EX", "60"]);
    let place = Place::new();
    let instance = place.start(&server.url());
    instance.wait_for_audits(2);
    for name in ["history.sqlite", "history.sqlite-wal", "history.sqlite-shm"] {
        // Not all of them are always there.
        let _ = std::fs::remove_file(place.state().join(name));
    }
    wait_until("it is said", || notices(&instance).contains("was removed, and a new one begun"));
    instance.wait_for_audits(1);
    assert!(place.state().join("history.sqlite").exists());
}
