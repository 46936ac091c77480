//! Servers that are watched while something is written.

use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use keyward_testkit::{Flavor, Output, Server, wait_until};
use serde_json::Value;

/// Runs a line of shell under watch, with `$R` for `redis-cli`.
fn under_watch(server: &Server, options: &[&str], line: &str) -> Output {
    let line = format!("R='redis-cli -p {}'; {line}", server.port());
    let url = server.url();
    let args = [&["watch", &url, "--salt", "s"], options, &["--", "sh", "-c", &line]].concat();
    let mut output = shop(SHOP).run(args);
    output.stderr = output.stderr.replace(&server.address(), "<server>");
    output
}

// The TTL that is missing comes last in any case: it is looked for a second later.
const WRONG: &str = "$R SET shop:crat:7 x; $R SET shop:price:mug 1; $R SET shop:crat:8 x EX 9";

#[test]
fn a_command_that_writes_outside_the_schema_fails() {
    for server in Server::all() {
        let output = under_watch(&server, &["--show-keys"], WRONG);
        assert_eq!(output.code, Some(1), "{output}");
        assert_snapshot!("outside", output.stderr);
        let masked = under_watch(&server, &[], "$R SET shop:cart:4711 secret");
        assert!(!masked.stderr.contains("4711"), "{masked}");
        assert!(masked.stderr.contains("wrong-type"), "{masked}");
    }
}

#[test]
fn a_command_that_writes_as_declared_keeps_its_exit_code() {
    let server = Flavor::Valkey.start();
    let good =
        "$R SET shop:price:mug 1290 EX 300; $R HSET shop:cart:7 mug 1; $R EXPIRE shop:cart:7 9";
    assert_snapshot!("inside", under_watch(&server, &[], good).stderr);
    assert_eq!(under_watch(&server, &[], &format!("{good}; exit 5")).code, Some(5));
    assert_eq!(under_watch(&server, &[], "kill -9 $$").code, Some(137));
    // Findings come first.
    assert_eq!(under_watch(&server, &[], &format!("{WRONG}; exit 5")).code, Some(1));
    // Which findings fail can be chosen.
    let only = ["--fail-on", "wrong-type"];
    assert_eq!(under_watch(&server, &only, &format!("{WRONG}; exit 5")).code, Some(5));
}

#[test]
fn programs_read_it_too() {
    let server = Flavor::Redis.start();
    let output = under_watch(&server, &["--format", "jsonl"], WRONG);
    let events = output.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut events: Vec<Value> = events.collect();
    for event in &mut events {
        event["at"] = "[TIME]".into();
        if event["event"] == "end" {
            event["looked_up"] = "[COUNT]".into();
        }
    }
    let shown: Vec<String> = events.iter().map(Value::to_string).collect();
    assert_snapshot!("jsonl", shown.join("\n"));
    assert_snapshot!("github", under_watch(&server, &["--format", "github"], WRONG).stderr);
}

#[test]
fn what_cannot_be_watched_is_said() {
    let server = Flavor::Redis.start();
    let cli = shop(SHOP);
    let url = server.url();
    let said = |args: &[&str]| {
        let output = cli.run([&["watch"], args].concat());
        assert_ne!(output.code, Some(0), "{output}");
        format!(
            "{}\n{}",
            output.code.unwrap(),
            output.stderr.replace(&server.address(), "<server>")
        )
    };
    assert_snapshot!("a_file", said(&["dump.rdb"]));
    assert_snapshot!("no_such_rule", said(&[&url, "--fail-on", "unknown-keys"]));
    assert_snapshot!("a_rule_of_schemas", said(&[&url, "--fail-on", "missing-ttl"]));
    assert_snapshot!("notifications_that_are_off", said(&[&url, "--via", "notifications"]));
    assert_snapshot!("no_such_command", said(&[&url, "--", "no-such-program"]));
    assert_snapshot!("no_command", said(&[&url, "--"]));
    assert_snapshot!("no_server", said(&["redis://127.0.0.1:1", "--", "true"]));
    let without = super::cli().run(["watch", &url]);
    assert_eq!(without.code, Some(2), "{without}");
    drop(cli);
}

#[test]
fn it_runs_until_it_is_asked_to_end_or_a_rule_ends_it() {
    let server = Flavor::Redis.start();
    let cli = shop(SHOP);
    for (signal, findings) in [(true, 0), (false, 1)] {
        let mut options = vec!["watch".to_owned(), server.url(), "--show-keys".to_owned()];
        if !signal {
            options.extend(["--fail-on".to_owned(), "unknown-key".to_owned()]);
        }
        let watch = cli.command(options).start();
        wait_until("it watches", || is_told(&server));
        if signal {
            watch.interrupt();
        } else {
            server.command(&["SET", "shop:crat:7", "x"]);
        }
        let output = watch.finish();
        assert_eq!(output.code, Some(findings), "{output}");
        assert_eq!(output.stdout.matches("unknown-key").count(), usize::from(!signal), "{output}");
    }
}

#[test]
fn who_may_not_look_keys_up_does_not_pass() {
    let server = Flavor::Redis.start();
    let user = ["ACL", "SETUSER", "blind", "on", ">pw", "&*", "~other:*", "+@all", "-@dangerous"];
    server.command(&user);
    let url = format!("redis://blind:pw@{}", server.address());
    let line = format!("redis-cli -p {} SET shop:cart:7 x", server.port());
    let output = shop(SHOP).run(["watch", &url, "--quiet", "--", "sh", "-c", &line]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("1 key could not be looked up"), "{output}");
}

#[test]
fn who_closes_the_pipe_has_seen_enough() {
    let server = Flavor::Redis.start();
    let cli = shop(SHOP);
    let program = env!("CARGO_BIN_EXE_keyward");
    let line = format!("{program} watch {} --show-keys | head -1", server.url());
    let mut reader = std::process::Command::new("sh")
        .args(["-c", &line])
        .current_dir(cli.folder())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it watches", || is_told(&server));
    let mut number = 0;
    wait_until("it ends", || {
        number += 1;
        server.command(&["SET", &format!("wrong:{}", "x".repeat(number % 20 + 1)), "x"]);
        reader.try_wait().unwrap().is_some()
    });
}

#[test]
fn a_command_is_asked_to_end_too() {
    let server = Flavor::Redis.start();
    let cli = cli();
    cli.write("keyward.toml", SHOP);
    let url = server.url();
    let line =
        "trap 'echo ended > ended; exit 7' TERM; echo began > began; while :; do sleep 0.1; done";
    let watch = cli.command(["watch", &url, "--", "sh", "-c", line]).start();
    wait_until("the command runs", || cli.folder().join("began").exists());
    watch.terminate();
    assert_eq!(watch.finish().code, Some(7));
    assert!(cli.folder().join("ended").exists());
}

#[test]
fn an_interrupt_reaches_the_command_as_one() {
    let server = Flavor::Redis.start();
    let cli = cli();
    cli.write("keyward.toml", SHOP);
    let url = server.url();
    let line =
        "trap 'exit 8' TERM; trap 'exit 9' INT; echo began > began; while :; do sleep 0.1; done";
    let watch = cli.command(["watch", &url, "--", "sh", "-c", line]).start();
    wait_until("the command runs", || cli.folder().join("began").exists());
    watch.interrupt();
    assert_eq!(watch.finish().code, Some(9));
}

#[test]
fn what_a_bound_leaves_unjudged_does_not_pass() {
    let server = Flavor::Redis.start();
    let script = "for i = 1, 1000 do redis.call('SET', 'shop:price:a' .. i, 1, 'EX', 300) end";
    let line = format!("$R EVAL \"{script}\" 0");
    let bound = ["--max-keys", "100", "--quiet"];
    let output = under_watch(&server, &bound, &line);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("keys were passed over"), "{output}");
    // What the command itself says, and what was found, come first.
    assert_eq!(under_watch(&server, &bound, &format!("{line}; exit 5")).code, Some(5));
    let wrong = format!("$R SET shop:crat:7 x; {line}");
    assert_eq!(under_watch(&server, &bound, &wrong).code, Some(1));
    assert_eq!(under_watch(&server, &["--quiet"], &line).code, Some(0));
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    let server = Flavor::Redis.start();
    let names: [&[u8]; 6] = [
        b"evil:\x1b[2J\x1b]0;title\x07",
        b"wicked\n::error::line\r::error::too",
        b"::error file=a::bad",
        b"cruel:\xff\xfe\x9b31m",
        "vile:\u{202e}gnp.exe\u{2028}x".as_bytes(),
        b"%0A::warning::mean",
    ];
    let cli = shop(SHOP);
    for format in ["full", "jsonl", "github"] {
        server.command(&["FLUSHALL"]);
        let url = server.url();
        let before = server.calls("type");
        let watch = cli.command(["watch", &url, "--show-keys", "--format", format]).start();
        wait_until("it watches", || is_told(&server));
        for name in names {
            server.command(&[b"SET", name, b"x"]);
        }
        // The last to be written is not the last to be looked up, but all are within the same second.
        wait_until("all are looked up", || server.calls("type") > before + names.len() as u64);
        watch.interrupt();
        let output = watch.finish();
        assert_eq!(output.code, Some(1), "{output}");
        let text = &output.stdout;
        let is_plain = |char: char| {
            char == '\n' || !char.is_control() && !('\u{2028}'..='\u{202e}').contains(&char)
        };
        assert!(text.chars().all(is_plain), "{format}: {text:?}");
        match format {
            "github" => {
                let commands = text.lines().filter(|line| line.starts_with("::"));
                let own = |line: &str| line.starts_with("::error title=unknown-key");
                assert!(
                    commands.clone().all(|line| own(line) || line.contains(",title=")),
                    "{text}"
                );
                assert_eq!(commands.count(), names.len(), "{text}");
                assert!(text.contains("%250A::warning"), "{text}");
            }
            "jsonl" => {
                let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let found = events.filter(|event| event["event"] == "found").count();
                assert_eq!(found, names.len(), "{text}");
            }
            _ => {
                let heads = text.lines().filter(|line| line.starts_with("error[unknown-key]"));
                assert_eq!(heads.count(), names.len(), "{text}");
            }
        }
    }
}

/// Whether a watch has got as far as to be told of every name that is written.
fn is_told(server: &Server) -> bool {
    let clients = server.command(&["CLIENT", "LIST"]).text();
    let mut flags = clients.split_whitespace().filter_map(|it| it.strip_prefix("flags="));
    flags.any(|flags| flags.contains('B'))
}
