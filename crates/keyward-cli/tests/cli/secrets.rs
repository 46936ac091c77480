//! No command and no file shows what keys, fields, members and values hold, or with which password they were read.

use crate::audit_resume::{SLOWLY, fill};
use crate::{SHOP, shop};
use keyward_testkit::{Cli, Flavor, Output, Server, wait_until};
use std::fs;

const PASSWORD: &str = "zqPassword77";

/// What is planted; each stands in fewer keys than a word needs to be shown.
const SECRETS: [&str; 12] = [
    "zqundeclared",
    "zqsegment",
    "zqparameter",
    "zqmisfit",
    "zqfield",
    "zqvalue",
    "zqmember",
    "zqitem",
    "zqname@mail.org",
    "881234567890123",
    "zqé-é",
    PASSWORD,
];

/// A server whose keys hold secrets, and a copy of the program beside its schema and its snapshot.
fn planted() -> (Server, Cli) {
    let server = Flavor::Redis.server().password(PASSWORD).start();
    fill(&server);
    for command in [
        "SET zqundeclared:1 x",
        "SET zqundeclared:2 x",
        "SET somebody:zqsegment:1 x",
        "SET shop:price:zqparameter zqvalue",
        "SET shop:login:zqmisfit:limit 1",
        "SET shop:login:881234567890123:limit 1",
        "HSET shop:cart:zqmisfit zqfield zqvalue",
        "HSET shop:search:tea zqfield zqvalue",
        "SADD shop:price:tea zqmember",
        "RPUSH shop:pirce:zqname@mail.org zqitem",
        "ZADD shop:prices 1 zqmember",
        "SET 881234567890123 x",
        "SET zqé-é zqvalue",
    ] {
        let words: Vec<&str> = command.split(' ').collect();
        server.command(&words);
    }
    let cli = shop(SHOP);
    cli.write("dump.rdb", fs::read(server.save()).unwrap());
    (server, cli)
}

/// Fails where a secret stands in what was written.
#[track_caller]
fn look_at(cli: &Cli, output: &Output, args: &[&str]) {
    let mut texts = vec![("output".to_owned(), format!("{}{}", output.stdout, output.stderr))];
    for entry in fs::read_dir(cli.folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "rdb") {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            texts.push((path.display().to_string(), text));
        }
    }
    for (name, text) in texts {
        for secret in SECRETS {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{name} shows `{secret}` after {:?}", &args[..1]);
        }
    }
}

fn run(cli: &Cli, args: &[&str]) {
    let output = cli.run(args);
    assert!(matches!(output.code, Some(0..=3)), "{output}");
    look_at(cli, &output, args);
}

const FORMATS: [&str; 8] = ["full", "concise", "json", "jsonl", "csv", "github", "sarif", "html"];

#[test]
fn no_form_of_an_audit_shows_a_secret() {
    let (server, cli) = planted();
    let url = server.url();
    assert!(url.contains(PASSWORD), "{url}");
    for source in ["dump.rdb", &url] {
        for format in FORMATS {
            for more in [&["--all"][..], &["--no-schema"]] {
                let args = [&["audit", source, "--format", format, "--unbounded"], more].concat();
                let args: Vec<&str> =
                    args.into_iter().filter(|it| source == url || *it != "--unbounded").collect();
                run(&cli, &args);
            }
        }
    }
    run(&cli, &["audit", "dump.rdb", "--format", "json", "--out", "a.json", "--html", "a.html"]);
    run(&cli, &["audit", &url, "--via", "snapshot", "--format", "json", "--out", "b.json"]);
    let glob = "zqundeclared:*";
    run(&cli, &["audit", &url, "--match", glob, "--format", "json", "--out", "m.json"]);
    assert!(cli.read("m.json").contains("only keys that match `<"));
    run(&cli, &["audit", &url, "--match", glob, "--via", "snapshot", "--html", "m.html"]);
    run(&cli, &["audit", "dump.rdb", "--baseline", "b.json"]);
    for format in FORMATS {
        run(&cli, &["report", "show", "a.json", "--format", format, "--all"]);
    }
    run(&cli, &["report", "merge", "a.json", "a.json", "--out", "c.json"]);
    run(&cli, &["report", "diff", "a.json", "c.json"]);
    run(&cli, &["report", "diff", "a.json", "c.json", "--format", "json"]);
    run(&cli, &["report", "html", "c.json", "--out", "c.html"]);
    // Otherwise nothing was looked for.
    let shown = cli.run(["audit", "dump.rdb", "--show-keys", "--format", "jsonl"]);
    assert!(
        shown.stdout.contains("zqundeclared") && shown.stdout.contains("zqparameter"),
        "{shown}"
    );
}

#[test]
fn no_message_and_no_file_to_resume_from_shows_a_secret() {
    let (server, cli) = planted();
    let url = server.url();
    let args = [&["audit", &url, "--resume", "scan"], SLOWLY].concat();
    let calls = server.calls("scan");
    let running = cli.command(&args).start();
    wait_until("the scan is under way", || server.calls("scan") >= calls + 4);
    running.interrupt();
    let stopped = running.finish();
    assert_eq!(stopped.code, Some(3), "{stopped}");
    assert!(cli.folder().join("scan").exists());
    look_at(&cli, &stopped, &args);
    let place = url.rsplit_once('@').unwrap().1;
    let wrong = format!("redis://:{PASSWORD}x@{place}");
    let unreachable = format!("redis://zqfield:{PASSWORD}@127.0.0.1:1/0");
    for source in [
        wrong.as_str(),
        &unreachable,
        &format!("redis:/:{PASSWORD}@127.0.0.1:1"),
        &format!("REDIS://:{PASSWORD}@127.0.0.1:1"),
        &format!("http://:{PASSWORD}@127.0.0.1:1"),
        &format!("redis+sentinel://:{PASSWORD}@127.0.0.1:1/zq"),
        &format!("redis://127.0.0.1:1/{PASSWORD}"),
        &format!("redis://127.0.0.1:{PASSWORD}"),
    ] {
        run(&cli, &["audit", source]);
    }
    run(&cli, &["audit", &url, "--resume", "scan", "--top", "3"]);
}
