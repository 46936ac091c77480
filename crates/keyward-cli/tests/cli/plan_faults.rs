//! `keyward plan` that is killed, finds its disk full, or asks on a terminal.

use crate::plan::{JOBS, Shop};
use keyward_testkit::{Flavor, wait_until};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn an_undo_that_is_killed_goes_on() {
    const KEYS: usize = 5000;
    let shop = Shop::new();
    for id in 1..=KEYS {
        shop.server.command(&["HSET", &format!("User:{id}"), "name", "ann"]);
    }
    assert_eq!(
        shop.plan(&["drop", "URL", "User:*", "--no-prefix", "--out", "plan.json"]).code,
        Some(0)
    );
    shop.approve();
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    // Without the marker of the plan.
    let there = || usize::try_from(shop.server.command(&["DBSIZE"]).integer()).unwrap() - 1;
    assert_eq!(there(), 0);
    let url = shop.server.url();
    for killed in 0..6 {
        let args = ["plan", "undo", "plan.json", &url, "--yes", "--max-rate", "2000"];
        let mut running = shop.cli.command(args).env("XDG_RUNTIME_DIR", shop.runtime()).start();
        wait_until("some are back", || there() > killed * 700 + 13 || running.has_ended());
        // Gone already is as good.
        _ = Command::new("kill").args(["-KILL", &running.id().to_string()]).status();
        running.finish();
    }
    let undone = shop.plan(&["undo", "plan.json", "URL", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    assert_eq!(there(), KEYS);
    assert_eq!(shop.server.command(&["HGET", "User:77", "name"]).text(), "ann");
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!((applied.code, there()), (Some(0), 0), "{applied}");
}

impl Shop {
    fn approve(&self) {
        let approve = ["approve", "plan.json", "--owner", "accounts", "--by", "Ada"];
        assert_eq!(self.plan(&approve).code, Some(0));
    }

    /// Runs the program where no file may grow beyond so many blocks of 512 bytes, as if the disk were full.
    fn cramped(&self, blocks: u32, args: &[&str]) {
        let url = self.server.url();
        let args = args.iter().map(|arg| if *arg == "URL" { &url } else { *arg });
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_keyward"), "plan"])
            .args(args)
            .current_dir(self.cli.folder())
            .env("XDG_RUNTIME_DIR", self.runtime())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        let stderr = text(output.stderr);
        assert!(stderr.contains("cannot write") || stderr.contains("cannot make"), "{stderr}");
    }
}

#[test]
fn a_full_disk_loses_no_key_that_is_not_in_the_journal() {
    let shop = Shop::new();
    let page = "x".repeat(3000);
    for id in 1..=200 {
        shop.server.command(&["HSET", &format!("User:{id}"), "page", &page]);
    }
    let drop = ["drop", "URL", "User:*", "--no-prefix", "--out", "plan.json"];
    shop.cramped(1, &drop);
    let left = fs::read_dir(shop.cli.folder()).unwrap().flatten();
    let left: Vec<String> = left.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with("plan.")), "{left:?}");

    assert_eq!(shop.plan(&drop).code, Some(0));
    shop.approve();
    shop.cramped(8, &["apply", "plan.json", "URL", "--yes"]);
    let applied = shop.plan(&["apply", "plan.json", "URL", "--yes"]);
    assert_eq!(applied.code, Some(0), "{applied}");
    let undone = shop.plan(&["undo", "plan.json", "URL", "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone}");
    for id in 1..=200 {
        let found = shop.server.command(&["HGET", &format!("User:{id}"), "page"]).text();
        assert_eq!(found, page, "{id}");
    }
}

#[test]
fn nobody_is_erased_who_could_not_be_exported() {
    let shop = Shop { cli: crate::shop(JOBS), server: Flavor::Redis.server().start() };
    let page = "x".repeat(1000);
    for item in 0..300 {
        shop.server.command(&["SET", &format!("app:seen:7:{item}"), &page]);
    }
    let made = shop.plan(&["forget", "URL", "user_id=7", "--out", "plan.json"]);
    assert_eq!(made.code, Some(0), "{made}");
    let left = || shop.server.command(&["KEYS", "app:seen:7:*"]).array().len();
    let apply =
        ["apply", "plan.json", "URL", "--yes", "--subject", "user_id=7", "--export", "ann.jsonl"];
    shop.cramped(200, &apply);
    let exported = || -> std::collections::BTreeSet<String> {
        let text = fs::read_to_string(shop.cli.folder().join("ann.jsonl")).unwrap();
        let whole = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        whole.map(|it: serde_json::Value| it["key"].as_str().unwrap().to_owned()).collect()
    };
    let (kept, written) = (left(), exported().len());
    assert!(kept > 0 && kept + written >= 300, "{kept} are left, and {written} were exported");
    let applied = shop.plan(&apply);
    assert_eq!(applied.code, Some(0), "{applied}");
    assert_eq!((left(), exported().len()), (0, 300));
}

/// `script` is part of every Linux, and gives a program a terminal.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_a_person_is_asked() {
    let shop = Shop::new();
    let drop = ["drop", "URL", "User:*", "--no-prefix", "--out", "plan.json"];
    assert_eq!(shop.plan(&drop).code, Some(0));
    shop.approve();
    let ask = |answer: &str| {
        let command =
            format!("{} plan apply plan.json {}", env!("CARGO_BIN_EXE_keyward"), shop.server.url());
        let mut running = Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .current_dir(shop.cli.folder())
            .env("XDG_RUNTIME_DIR", shop.runtime())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        running.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = running.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = ask("no\n");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("Type `yes`: ") && said.contains("nothing was changed"), "{said}");
    assert_eq!(shop.server.command(&["DBSIZE"]).integer(), 200);
    let (code, said) = ask("yes\n");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("200 keys were changed"), "{said}");
}

#[test]
fn a_forged_plan_hides_nothing_on_a_terminal() {
    let shop = Shop::new();
    let drop = ["drop", "URL", "User:*", "--no-prefix", "--out", "plan.json"];
    assert_eq!(shop.plan(&drop).code, Some(0));
    let path = shop.cli.folder().join("plan.json");
    let mut plan = keyward_plan::Plan::read(&path).unwrap();
    // Approvals are outside of the seal.
    plan.approvals.push(keyward_plan::Approval {
        owner: "accounts".to_owned(),
        by: "\u{1b}[2J\u{1b}[Hplan migrate".to_owned(),
        at: "\r".to_owned(),
    });
    plan.write(&path).unwrap();
    for args in [&["show", "plan.json"][..], &["lint", "plan.json"]] {
        let shown = shop.plan(args);
        assert!(!shown.stdout.contains(['\u{1b}', '\r']), "{shown}");
    }
}
