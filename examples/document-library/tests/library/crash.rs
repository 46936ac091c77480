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
        // Every answer that a connection gets is the last one once.
        for bytes in (0..).step_by(4) {
            add(&direct, BEFORE).unwrap();
            let proxy =
                Proxy::new(&shelf.server, Harm::Cut { connections: usize::MAX, after: bytes });
            let Ok(library) = runtime.block_on(Library::connect(&proxy.url())) else { continue };
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
    let read = shelf.run(&["read", "doc:before:001"]);
    assert!(read.stderr.contains("was changed while it was read"), "{read}");
    assert_eq!(shelf.run(&["verify"]).code, Some(1));
}
