//! Imports that end in the middle, at every point where they can.

use super::harness::Shelf;
use document_library::import::{self, Desired};
use document_library::server::Library;
use keyward_testkit::{Flavor, Harm, Proxy};
use std::time::SystemTime;
use tokio::runtime::Runtime;

const BEFORE: &str = "---\ntitle: Before\nauthor: Ada\ntags: [one, two]\n---\nIntro.\n\n# Alpha\n\nText of alpha.\n\n\
                      ## Example\n\nSame.\n\n# Beta\n\n## Example\n\nSame.\n\n# Gamma\n\nText of gamma.\n";
const AFTER: &str = "---\ntitle: After\ncategory: Cat\ntags: [two, three]\n---\n# Gamma\n\nText of gamma.\n\n# Beta\n\n\
                     ### Deep\n\nNew text.\n\n## Example\n\nSame.\n";

#[test]
fn an_import_that_was_cut_off_is_completed_by_the_next() {
    cut_off_everywhere(|library| library);
}

#[test]
fn an_import_in_many_steps_that_was_cut_off_is_completed_by_the_next() {
    cut_off_everywhere(Library::in_small_steps);
}

/// Every answer that a connection gets is the last one once.
fn cut_off_everywhere(written: fn(Library) -> Library) {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        let runtime = Runtime::new().unwrap();
        shelf.write("neighbour.md", "# Neighbour\n");
        shelf.ok(&["add", "neighbour.md"]);
        let direct = runtime.block_on(Library::connect(&shelf.server.url())).unwrap();
        let path = shelf.path("text.md");
        let add = |library: &Library, text: &str| {
            let desired = Desired::new(&path, text, SystemTime::now()).unwrap();
            runtime.block_on(import::add(library, &desired)).map_err(|error| error.to_string())
        };
        let unlock = || {
            for lock in shelf.keys("source:*:lock") {
                shelf.server.command(&["DEL", &lock]);
            }
        };
        let verify = || {
            let report = runtime.block_on(document_library::verify::verify(&direct)).unwrap();
            assert!(report.is_clean(), "{:#?}", report.findings);
        };
        let mut stages = 0;
        for bytes in (0..).step_by(4) {
            add(&direct, BEFORE).unwrap();
            let proxy =
                Proxy::new(&shelf.server, Harm::Cut { connections: usize::MAX, after: bytes });
            let Ok(library) = runtime.block_on(Library::connect(&proxy.url())) else { continue };
            let library = written(library);
            let done = add(&library, AFTER);
            shelf.every_link_leads_somewhere();
            unlock();
            if done.is_ok() {
                break;
            }
            stages += 1;
            // Whatever is added next, the same text or the one before.
            add(&direct, if stages % 2 == 0 { AFTER } else { BEFORE }).unwrap();
            verify();
        }
        assert!(stages > 8, "{stages}");
        // The same for a removal.
        stages = 0;
        for bytes in (0..).step_by(4) {
            add(&direct, BEFORE).unwrap();
            let proxy =
                Proxy::new(&shelf.server, Harm::Cut { connections: usize::MAX, after: bytes });
            let Ok(library) = runtime.block_on(Library::connect(&proxy.url())) else { continue };
            let library = written(library);
            let done = runtime.block_on(import::remove(&library, &path));
            shelf.every_link_leads_somewhere();
            unlock();
            if done.is_ok() {
                break;
            }
            stages += 1;
            if stages % 2 == 0 {
                runtime.block_on(import::remove(&direct, &path)).unwrap();
                assert_eq!(
                    shelf.keys("doc:*").iter().filter(|key| key.contains("before")).count(),
                    0
                );
            } else {
                add(&direct, BEFORE).unwrap();
            }
            verify();
        }
        assert!(stages > 3, "{stages}");
        shelf.verify();
    }
}

#[test]
fn who_lost_the_lock_writes_nothing_any_more() {
    let shelf = Shelf::new(Flavor::Valkey);
    shelf.write("text.md", BEFORE);
    shelf.ok(&["add", "text.md"]);
    let id = document_library::keyspace::source_id(&shelf.path("text.md")).unwrap();
    // Somebody whose lock was granted in the year 2100 has written since.
    shelf.server.command(&[
        "SET",
        &format!("source:{id}:fence"),
        "4102444800000000",
        "PX",
        "60000",
    ]);
    let before = shelf.ok(&["read", "doc:before:001"]);
    shelf.write("text.md", AFTER);
    let refused = shelf.run(&["add", "text.md"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("another process took over this document"), "{refused}");
    let removed = shelf.run(&["remove", "text.md"]);
    assert_ne!(removed.code, Some(0), "{removed}");
    assert_eq!(shelf.ok(&["read", "doc:before:001"]), before);
}

#[test]
fn a_reader_is_told_of_an_import_that_was_not_finished() {
    let shelf = Shelf::new(Flavor::Redis);
    shelf.write("text.md", BEFORE);
    shelf.ok(&["add", "text.md"]);
    shelf.server.command(&["HDEL", "doc:before:001", "content_hash"]);
    let read = shelf.run(&["read", "doc:before:001"]);
    assert_eq!(read.code, Some(2), "{read}");
    assert!(read.stderr.contains("was not finished: run `library add"), "{read}");
    let verify = shelf.run(&["verify"]);
    assert_eq!(verify.code, Some(1), "{verify}");
    shelf.ok(&["add", "text.md"]);
    shelf.verify();
    // A text that somebody changed on the server is noticed.
    shelf.server.command(&["HSET", "chunk:intro:001", "text", "Forged.\n\n"]);
    let damaged = |what: &str| {
        let read = shelf.run(&["read", "doc:before:001"]);
        assert_eq!(read.code, Some(1), "{read}");
        let message = format!(
            "`doc:before:001` is damaged: {what}. `library remove [DIR]/text.md`, then `library add [DIR]/text.md` repairs it"
        );
        assert!(read.stderr.contains(&message), "{message}\n{read}");
        assert_eq!(shelf.run(&["verify"]).code, Some(1));
        shelf.ok(&["remove", "text.md"]);
        shelf.ok(&["add", "text.md"]);
        shelf.verify();
    };
    damaged("`chunk:intro:001` is not what was written");
    shelf.server.command(&["DEL", "ch:alpha:001"]);
    damaged("`ch:alpha:001` is not there");
    shelf.server.command(&["ZREM", "doc:before:001:sequence", "ch:alpha:001"]);
    damaged("`doc:before:001:sequence` or its front matter is not what was written");
    // Whoever writes it now has changed it.
    shelf.server.command(&["HSET", "chunk:intro:001", "text", "Forged.\n\n"]);
    let id = document_library::keyspace::source_id(&shelf.path("text.md")).unwrap();
    shelf.server.command(&["SET", &format!("source:{id}:lock"), "somebody", "PX", "60000"]);
    let read = shelf.run(&["read", "doc:before:001"]);
    assert!(read.stderr.contains("was changed while it was read: read it again"), "{read}");
}

#[test]
fn a_lock_that_was_given_too_long_ago_is_refused_although_nobody_is_known_since() {
    let shelf = Shelf::new(Flavor::Redis);
    let script = concat!(include_str!("../../src/import/fence.lua"), "return 1");
    let time = shelf.server.command(&["TIME"]).array().into_iter().next().unwrap().text();
    let seconds: u64 = time.parse().unwrap();
    for (age, answer) in [(0, "1"), (100, "1"), (3700, "FENCED the lock was given too long ago")] {
        let fence = ((seconds - age) * 1_000_000).to_string();
        let key = format!("source:{age}:fence");
        let wrapped = format!(
            "local function run() {script} end local done = run() return type(done) == 'table' and done.err or tostring(done)"
        );
        let done = shelf.server.command(&["EVAL", &wrapped, "1", &key, &fence, "3600000"]);
        assert_eq!(done.text(), answer, "{age}");
    }
}
