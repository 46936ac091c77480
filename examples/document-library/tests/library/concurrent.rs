//! Many processes that add the same and different documents, some of which are killed.

use super::harness::Shelf;
use keyward_testkit::{Flavor, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;

const WRITERS: usize = 8;
const DOCUMENTS: usize = 12;
const ROUNDS: usize = 3;

#[test]
fn eight_writers_of_which_some_are_killed_leave_a_consistent_library() {
    for flavor in Flavor::ALL {
        let shelf = Shelf::new(flavor);
        for round in 0..ROUNDS {
            for document in 0..DOCUMENTS {
                shelf.write(&format!("d/{document:02}.md"), text(document, round));
            }
            let mut writers = Vec::new();
            for writer in 0..WRITERS {
                // All of them, some of them, or one that others are busy with.
                let folder = format!("d/{:02}.md", writer % 3);
                let paths = if writer % 2 == 0 { "d" } else { folder.as_str() };
                writers.push(shelf.command(&["add", "--quiet", "--jobs", "3", paths]).start());
            }
            let seen = shelf.server.calls("evalsha");
            for (at, mut writer) in writers.into_iter().enumerate() {
                if at % 3 == 0 {
                    // In the middle of something, whatever that is.
                    let more = fastrand::u64(1..60);
                    wait_until("it has written, or ended", || {
                        shelf.every_link_leads_somewhere();
                        writer.has_ended() || shelf.server.calls("evalsha") >= seen + more
                    });
                    if !writer.has_ended() {
                        let id = Pid::from_raw(i32::try_from(writer.id()).unwrap()).unwrap();
                        kill_process(id, Signal::KILL).unwrap();
                    }
                    writer.finish();
                } else {
                    let output = writer.finish();
                    assert_eq!(output.code, Some(0), "{output}");
                }
            }
            shelf.every_link_leads_somewhere();
        }
        shelf.ok(&["add", "d"]);
        shelf.verify();
        let listed = shelf.ok(&["list"]);
        assert_eq!(listed.lines().count(), DOCUMENTS, "{listed}");
        for line in listed.lines() {
            let (document, file) =
                (line.split("  ").next().unwrap(), line.rsplit('/').next().unwrap());
            shelf.reads_like(document, &shelf.cli.folder().join("d").join(file));
        }
        fs::remove_dir_all(shelf.cli.folder().join("d")).unwrap();
    }
}

/// Three titles for all documents, the same headings in all of them, and something that changes with each round.
fn text(document: usize, round: usize) -> String {
    let mut text = format!("---\ntitle: Title {}\ntags: [all, round{round}]\n---\n", document % 3);
    for chapter in 0..20 {
        text += &format!(
            "# Chapter {chapter}\n\nText of {document}.\n\n## Example\n\nShared words.\n\n"
        );
        if (chapter + round).is_multiple_of(4) {
            text += &format!("### Added in {round}\n\nNew in {round}.\n\n");
        }
    }
    text
}
