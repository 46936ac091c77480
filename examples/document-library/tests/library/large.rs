//! Large documents, end to end, in bounded memory.

use super::harness::{Shelf, numbered};
use keyward_testkit::{Flavor, Output};
use std::fs;
use std::thread::sleep;
use std::time::Duration;

/// More than this is not what a document needs: the one with the headings has less than 1 MB.
const MOST_KILOBYTES: u64 = 150_000;

/// Enough for many batches and pages of everything. `cargo xtask bench library` does it with 1,000.
const CHAPTERS: usize = 200;

#[test]
fn many_thousand_headings_need_bounded_memory() {
    let shelf = Shelf::new(Flavor::Valkey);
    let mut text = String::new();
    for chapter in 0..CHAPTERS {
        text += &format!("# {} Chapter\n", word(chapter));
        for paragraph in 0..10 {
            text += &format!("## {} {} Part\n", word(paragraph), word(chapter));
            for at in 0..9 {
                text += &format!("### {} {} {}\n", word(at), word(paragraph), word(chapter));
            }
        }
    }
    shelf.write("headings.md", &text);
    let added = bounded(&shelf, &["add", "headings.md"]);
    assert!(added.stdout.contains("; 20,200 elements"), "{added}");
    let read = bounded(&shelf, &["read", "doc:headings:001"]);
    assert!(read.stdout == text, "the text is another one");
    bounded(&shelf, &["verify"]);
}

#[test]
fn a_thousand_levels_need_bounded_memory() {
    let shelf = Shelf::new(Flavor::Valkey);
    let list = numbered(1000, |level| format!("{}- level {level}\n", "  ".repeat(level)));
    let quotes = format!("{} text\n", "> ".repeat(1000));
    shelf.write("deep.md", format!("# Levels\n\n{list}\n# Quotes\n\n{quotes}"));
    bounded(&shelf, &["add", "deep.md"]);
    bounded(&shelf, &["verify"]);
    shelf.reads_like("doc:deep:001", &shelf.cli.folder().join("deep.md"));
    assert_eq!(shelf.keys("chunk:*:001").len(), 2);
}

/// Runs the program to its end, and compares the most memory that it had with the bound.
#[track_caller]
fn bounded(shelf: &Shelf, args: &[&str]) -> Output {
    let mut running = shelf.command(args).start();
    let status = format!("/proc/{}/status", running.id());
    let mut peak = 0;
    while !running.has_ended() {
        // A process that has ended has none.
        peak = kilobytes(&fs::read_to_string(&status).unwrap_or_default()).unwrap_or(peak);
        // The mark only rises: it is read often enough to see where it ends.
        sleep(Duration::from_millis(5));
    }
    let output = running.finish();
    assert_eq!(output.code, Some(0), "{output}");
    assert!(peak > 0, "the memory of {args:?} was not seen");
    assert!(peak < MOST_KILOBYTES, "{args:?} had {peak} kB");
    output
}

/// The most memory that a process had until now.
fn kilobytes(status: &str) -> Option<u64> {
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().strip_suffix(" kB")?.parse().ok()
}

/// A word of its own for each number.
fn word(mut number: usize) -> String {
    let mut word = String::from("x");
    for _ in 0..3 {
        word.push(char::from(b"bcdfghjklm"[number % 10]));
        number /= 10;
    }
    word
}
