//! The guide's pages about servers, as a newcomer would run them.

use keyward_testkit::{Server, transcript};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_guide_to_plans_shows_what_is_printed() {
    assert!(run("docs/src/guide/plans.md") > 20);
}

#[test]
fn the_guide_to_forgetting_shows_what_is_printed() {
    assert!(run("docs/src/guide/forget.md") > 10);
}

#[test]
fn the_guide_to_watching_shows_what_is_printed() {
    assert_eq!(run("docs/src/guide/watch.md"), 2);
}

#[test]
fn the_guide_to_adopting_shows_what_is_printed() {
    assert!(run("docs/src/guide/adopt.md") > 8);
}

/// Runs the commands of a page; how many.
fn run(page: &str) -> usize {
    let page = Path::new(page);
    let text = fs::read_to_string(keyward_testkit::repository().join(page)).unwrap();
    let server = Server::redis();
    let folder = tempfile::tempdir().unwrap();
    if let Some((_, schema)) = text.split_once("<!-- place: keyward.toml -->\n```toml,fragment\n") {
        let (schema, _) = schema.split_once("```").unwrap();
        fs::write(folder.path().join("keyward.toml"), schema).unwrap();
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_keyward"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let ran = transcript::check_in("server", page, |command| {
        let command = command
            .replace("127.0.0.1:6379", &server.address())
            .replace("redis-cli", &format!("redis-cli -p {}", server.port()));
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("KEYWARD_TODAY", "2026-11-16")
            .env("XDG_RUNTIME_DIR", folder.path())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        settled(&printed.replace(&server.address(), "127.0.0.1:6379"))
    });
    ran.unwrap_or_else(|differences| panic!("{differences}"))
}

/// What is another thing in each run: the marks of a mask, how fast it was, and how long ago.
fn settled(printed: &str) -> String {
    let mut text = String::new();
    for line in printed.lines() {
        let line = match line.split_once("; about ") {
            Some((keys, _)) => {
                format!("{keys}; about 1 s, at the 20,000 keys a second that were measured")
            }
            None => line.to_owned(),
        };
        let mut parts = line.split('#');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            // A comment in a file is not a mark.
            let mark = part.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
            text.push('#');
            text.push_str(mark.map_or("", |_| "a3f9"));
            text.push_str(mark.map_or(part, |mark| &part[mark.len()..]));
        }
        for recent in ["1 s", "2 s", "3 s", "4 s"] {
            if text.ends_with(&format!("  {recent}")) {
                text.truncate(text.len() - recent.len());
                text.push_str("0 s");
            }
        }
        text.push('\n');
    }
    text
}
