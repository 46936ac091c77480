//! Files that somebody else has laid out: nothing of the user's is lost, nothing is read without end, and
//! nothing is lost without a message.

use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use keyward_testkit::{Cli, Output};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

/// The program, beside a schema, a snapshot and its report.
fn sampled() -> Cli {
    let cli = cli();
    assert_eq!(cli.run(["demo", "--out", "."]).code, Some(0));
    cli
}

/// Runs `keyward` with these words in a shell.
fn shell(cli: &Cli, words: &str) -> (Option<i32>, String, String) {
    let script = format!("'{}' {words}", env!("CARGO_BIN_EXE_keyward"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(cli.folder()).output();
    let output = output.expect("bash is there");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_forged_list_of_files_removes_nothing_of_the_users() {
    for (command, generator) in
        [(&["generate", "--lang", "go"][..], "go/shop"), (&["docs"], "docs")]
    {
        let cli = shop(SHOP);
        cli.write("home/precious.txt", "mine\n");
        cli.write("out/mine.txt", "mine\n");
        symlink("../home", cli.folder().join("out/lnk")).unwrap();
        let mut list = String::new();
        for path in ["lnk/precious.txt", "mine.txt", "../home/precious.txt"] {
            list += &format!("{generator} {path}\n{generator}\t0123456789abcdef\t{path}\n");
        }
        cli.write("out/.keyward-files", list);
        let output = cli.run([command, &["--out", "out"]].concat());
        assert_eq!(output.code, Some(0), "{output}");
        assert!(output.stderr.contains("kept out/mine.txt: "), "{output}");
        assert_eq!(cli.read("out/mine.txt"), "mine\n");
        assert_eq!(cli.read("home/precious.txt"), "mine\n");
    }
}

#[test]
fn nothing_is_generated_through_a_link() {
    for (command, name) in [(&["generate", "--lang", "go"][..], "shop"), (&["docs"], "keyspace.md")]
    {
        let cli = shop(SHOP);
        cli.write("home/keys.go", "mine\n");
        fs::create_dir(cli.folder().join("out")).unwrap();
        symlink("../home", cli.folder().join("out").join(name)).unwrap();
        let output = cli.run([command, &["--out", "out", "--force"]].concat());
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains(&format!("`out/{name}` is a symbolic link")), "{output}");
        assert_eq!(fs::read_dir(cli.folder().join("home")).unwrap().count(), 1);
        assert_eq!(cli.read("home/keys.go"), "mine\n");
    }
}

#[test]
fn a_file_without_an_end_is_refused() {
    let cli = sampled();
    fs::create_dir(cli.folder().join("templates")).unwrap();
    symlink("/dev/zero", cli.folder().join("templates/keys.go.j2")).unwrap();
    let secured = "rediss://127.0.0.1:1";
    for args in [
        &["check", "/dev/zero"][..],
        &["report", "show", "/dev/zero"],
        &["report", "html", "/dev/zero"],
        &["report", "merge", "audit.json", "/dev/zero"],
        &["report", "diff", "audit.json", "/dev/zero"],
        &["audit", "dump.rdb", "--baseline", "/dev/zero"],
        &["audit", secured, "--password-file", "/dev/zero"],
        &["audit", secured, "--resume", "/dev/zero"],
        &["audit", secured, "--tls-ca", "/dev/zero"],
        &["audit", secured, "--tls-cert", "/dev/zero", "--tls-key", "audit.json"],
        &["audit", secured, "--tls-cert", "audit.json", "--tls-key", "/dev/zero"],
        &["generate", "--template", "templates"],
        &["docs", "--template", "templates"],
    ] {
        let output = cli.run(args);
        assert_eq!(output.code, Some(2), "{output}");
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(
            text.contains("at most") || text.contains("it is a device, not a file"),
            "{output}"
        );
    }
    assert_snapshot!(cli.run(["report", "show", "/dev/zero"]).stderr, @"
    error: cannot read `/dev/zero`: it has more, and at most 256.0 MiB are read
    ");
}

#[test]
fn a_pipe_is_read_where_one_makes_sense() {
    let cli = sampled();
    let made = Command::new("mkfifo").arg(cli.folder().join("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    // Nobody writes to it: reading would never end.
    for args in [&["check", "pipe"][..], &["check", "--schema", "pipe"], &["fmt", "pipe"]] {
        let output = cli.run(args);
        assert_eq!(output.code, Some(2), "{output}");
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(text.contains("it is a pipe, not a file"), "{output}");
    }
    for words in [
        "report show <(cat audit.json)",
        "report diff <(cat audit.json) <(cat audit.json)",
        "audit dump.rdb --baseline <(cat audit.json)",
        "report show /dev/stdin < audit.json",
    ] {
        let (code, _, stderr) = shell(&cli, words);
        assert!(matches!(code, Some(0 | 1)), "{words}: {stderr}");
    }
    // The password is read, and then nobody listens.
    let (code, _, stderr) = shell(&cli, "audit redis://127.0.0.1:1 --password-file <(echo secret)");
    assert_eq!(code, Some(3), "{stderr}");
}

#[test]
fn no_message_repeats_the_password_of_a_url() {
    let cli = sampled();
    let url = "redis://:SECRETpw@h";
    let option = format!("--schema={url}");
    for args in [
        &[url][..],
        &["audit", "redis://127.0.0.1:1", url],
        &["audit", "dump.rdb", "--db", url],
        &["audit", "dump.rdb", "--baseline", url],
        &["audit", "dump.rdb", "--out", "redis://:SECRETpw@h/a"],
        &["audit", "dump.rdb", &option],
        &["audit", "redis://127.0.0.1:1", "--password-file", url],
        &["report", "show", url],
        &["report", "show", "redis:/:SECRETpw@h"],
        &["check", url],
        &["check", url, "--format", "json"],
        &["check", "redis+unix:///sock?password=SECRETpw"],
        &["check", "--schema", url],
        &["fmt", url],
        &["explain", url],
        &["key", "parse", "a", "--schema", url],
        &["docs", "--template", url],
        &["generate", "--lang", url],
    ] {
        let output = cli.run(args);
        assert!(matches!(output.code, Some(2 | 3)), "{output}");
        let text = format!("{}{}", output.stdout, output.stderr);
        assert!(!text.contains("SECRET"), "{args:?}: {text}");
    }
    assert_snapshot!(cli.run(["check", url]).stderr, @"
    error: `redis://h` is a URL, and a schema is a file
    help: `keyward audit URL` audits a server
    ");
}

#[test]
fn an_output_never_overwrites_an_input_or_another_output() {
    let cli = sampled();
    cli.write("keyward.toml", "include = [\"more.toml\"]\n".to_owned() + &cli.read("keyward.toml"));
    cli.write("more.toml", "");
    symlink("dump.rdb", cli.folder().join("link")).unwrap();
    fs::hard_link(cli.folder().join("dump.rdb"), cli.folder().join("hard")).unwrap();
    let before: Vec<Vec<u8>> = FILES.map(|name| fs::read(cli.folder().join(name)).unwrap()).into();
    for words in [
        "audit dump.rdb --format json --out dump.rdb",
        "audit dump.rdb --format json --out ./dump.rdb",
        "audit dump.rdb --format csv --out link",
        "audit link --html hard",
        "audit - --out dump.rdb < dump.rdb",
        "audit dump.rdb --out keyward.toml",
        "audit dump.rdb --html more.toml",
        "audit dump.rdb --baseline audit.json --format json --out audit.json",
        "audit dump.rdb --out same --html same",
        "audit dump.rdb --out same --html ./same",
        "audit redis://127.0.0.1:1 --resume same --out same",
        "audit redis://127.0.0.1:1 --password-file audit.json --out audit.json",
        "report show audit.json --out audit.json",
        "report show audit.json --out same --html same",
        "report html audit.json --out audit.json",
        "report merge audit.json --out audit.json",
    ] {
        let (code, stdout, stderr) = shell(&cli, words);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{words}: {stderr}");
        assert!(stderr.contains("which is read") || stderr.contains("both write to"), "{stderr}");
        assert!(!cli.folder().join("same").exists(), "{words}");
    }
    for (name, before) in FILES.iter().zip(before) {
        assert!(fs::read(cli.folder().join(name)).unwrap() == before, "{name} was changed");
    }
    let (code, _, stderr) = shell(&cli, "audit dump.rdb --out /dev/null --html /dev/null");
    assert_eq!(code, Some(1), "{stderr}");
}

const FILES: [&str; 4] = ["dump.rdb", "keyward.toml", "more.toml", "audit.json"];

#[test]
fn a_closed_output_is_a_failure() {
    let cli = sampled();
    for words in [
        "check",
        "rules",
        "--help",
        "audit dump.rdb",
        "audit dump.rdb --format json",
        "audit dump.rdb --format jsonl",
        "report show audit.json",
        "report merge audit.json",
        "report diff audit.json audit.json",
        "key glob permission",
    ] {
        let (code, _, stderr) = shell(&cli, &format!("{words} >&-"));
        assert_eq!(code, Some(2), "{words}: {stderr}");
        assert_eq!(
            stderr, "error: cannot write the output: standard output is closed\n",
            "{words}"
        );
    }
}

/// As Python's `subprocess.DEVNULL` opens it.
#[test]
fn an_output_that_is_thrown_away_is_not_closed() {
    let nowhere = fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
    let mut rules = Command::new(env!("CARGO_BIN_EXE_keyward"));
    let output = rules.arg("rules").stdout(Stdio::from(nowhere)).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn a_report_may_begin_with_a_byte_order_mark() {
    let cli = sampled();
    cli.write("marked.json", "\u{feff}".to_owned() + &cli.read("audit.json"));
    let shown = |name: &str| -> Output { cli.run(["report", "show", name]) };
    assert_eq!(shown("marked.json").stdout, shown("audit.json").stdout);
    assert!(shown("marked.json").stdout.contains("dump.rdb"));
}

#[test]
fn a_schema_writes_no_code_outside_its_folder() {
    for (out, refused) in
        [("../x", true), ("a/../../x", true), ("/tmp/x", true), ("lnk/x", true), ("a/../x", false)]
    {
        let cli = cli();
        cli.write("schema/keyward.toml", format!("{SHOP}\n[generate.go]\nout = \"{out}\"\n"));
        symlink("..", cli.folder().join("schema/lnk")).unwrap();
        let output = cli.run(["generate", "--schema", "schema/keyward.toml", "--check"]);
        assert_eq!(output.code, Some(if refused { 2 } else { 1 }), "{output}");
        assert_eq!(output.stderr.contains("the folder of the schema"), refused, "{output}");
    }
    // A path that was typed is the user's decision.
    let cli = cli();
    cli.write("schema/keyward.toml", SHOP);
    let typed = ["--schema", "schema/keyward.toml", "generate", "--lang", "go", "--out", "x"];
    assert_eq!(cli.run(typed).code, Some(0));
    assert!(cli.folder().join("x").exists());
}

#[test]
fn a_bound_or_a_name_that_says_nothing_is_refused() {
    for (from, to, message) in [
        ("ttl = \"10m\"", "ttl = \"10m\"\nmax_bytes = \"0\"", "`max_bytes` must be more than 0"),
        ("[params]", "[defaults]\nmax_bytes = 0\n[params]", "`max_bytes` must be more than 0"),
        ("name = \"shop\"", "name = \" \"", "cannot be blank"),
        ("name = \"shop\"", "name = \"\"", "cannot be empty"),
    ] {
        let output = shop(&SHOP.replace(from, to)).run(["check"]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stdout.contains(message), "{output}");
    }
}

#[test]
fn the_demo_overwrites_no_schema() {
    let cli = cli();
    cli.write("keyward.toml", "# mine\n");
    let refused = cli.run(["demo", "--out", "."]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.stderr.contains("the demo would overwrite it"), "{refused}");
    assert_eq!(cli.read("keyward.toml"), "# mine\n");
    for _ in 0..2 {
        assert_eq!(
            cli.run(["demo", "--out", "new"]).code,
            Some(0),
            "a second demo replaces its own"
        );
    }
}
