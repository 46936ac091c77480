//! Input that is broken, huge or made to hurt: a clear message, a right exit code, in bounded time.

use crate::check::LEAKY;
use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use keyward_testkit::Output;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

#[test]
fn a_missing_file_is_named() {
    assert_snapshot!(cli().run(["check", "missing.toml"]));
    assert_snapshot!(cli().run(["--schema", "missing.toml", "key", "parse", "a"]));
}

#[test]
fn a_directory_is_no_schema() {
    let cli = cli();
    cli.write("folder/keyward.toml", SHOP);
    assert_snapshot!(cli.run(["check", "folder"]));
    assert_snapshot!(cli.run(["fmt", "folder"]));
}

#[test]
fn a_binary_file_is_no_schema() {
    let cli = cli();
    cli.write("binary.toml", b"\x7fELF\x02\x01\x01\0\xff\xfe\n");
    assert_snapshot!(cli.run(["check", "binary.toml"]));
    cli.write("nul.toml", b"version = 1\0\n");
    assert_snapshot!(cli.run(["check", "nul.toml"]));
}

#[test]
fn a_huge_file_is_refused_without_being_read() {
    let cli = cli();
    let file = fs::File::create(cli.folder().join("huge.toml")).expect("the folder is writable");
    file.set_len(100_000_000).expect("a sparse file takes no room");
    assert_snapshot!(cli.run(["check", "huge.toml"]));
    assert_snapshot!(cli.run(["fmt", "huge.toml"]));
    assert_eq!(cli.run(["check", "/dev/zero"]).code, Some(2));
    assert_snapshot!(cli.command(["fmt", "-"]).stdin(vec![b'#'; 17 * 1024 * 1024]).run());
    assert_snapshot!(cli.command(["fmt", "-"]).stdin(b"a = \"\xff\"\n").run());
}

#[test]
fn a_file_without_permission_is_named() {
    let cli = shop(SHOP);
    let path = cli.folder().join("keyward.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("it is ours");
    // Whoever may read everything reads this too.
    if fs::read(&path).is_err() {
        let output = cli.run(["check"]);
        assert!(output.stdout.contains("`keyward.toml`: permission denied"), "{output}");
        assert_eq!(output.code, Some(2));
    }
}

#[test]
fn arguments_need_not_be_text() {
    let name = OsStr::from_bytes(b"\xff.toml");
    assert_snapshot!(cli().run([OsStr::new("check"), name]));
    let value = OsStr::from_bytes(b"user_id=\xff");
    assert_snapshot!(
        shop(SHOP).run(["key", "build", "cart"].map(OsStr::new).into_iter().chain([value]))
    );
}

#[test]
fn ten_thousand_overlapping_patterns_are_reported_and_cut() {
    let mut schema = "version = 1\n[keyspace]\nname = \"clash\"\n".to_owned();
    for number in 0..10_000 {
        let _ = write!(
            schema,
            "[keys.k{number}]\npattern = \"a:{{p{number}}}\"\nttl = \"1m\"\nvalue = \"int\"\n"
        );
    }
    let output = shop(&schema).run(["check", "--format", "concise"]);
    assert_eq!(output.code, Some(1), "{}", output.stderr);
    assert!(output.stdout.contains("error[overlapping-patterns]"));
    assert!(output.stdout.lines().count() < 5_000);
}

#[test]
fn an_expression_that_explodes_is_refused() {
    let schema =
        SHOP.replace("sku = \"slug\"", "sku = { regex = \"(a|aa){5000}b{5000}(c|d){5000}\" }");
    let output = shop(&schema).run(["check"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert_snapshot!(output);
}

#[test]
fn deep_nesting_is_refused() {
    let schema = format!("version = 1\nx = {}{}\n", "[".repeat(50_000), "]".repeat(50_000));
    let output = shop(&schema).run(["check", "--format", "concise"]);
    assert_eq!(output.code, Some(2), "{}", output.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_changes_no_verdict() {
    let cli = shop(SHOP);
    cli.write("leaky.toml", LEAKY);
    cli.write("broken.toml", "version = 1\n[keyspace]\n");
    cli.write("unformatted.toml", "version=1\n");
    cli.write("keys", "shop:cart:1\n".repeat(500_000));
    cli.write("unknown", "nothing\n".repeat(500_000));
    for (command, code) in [
        ("rules", 0),
        ("demo", 0),
        ("--help", 0),
        ("completions bash", 0),
        ("check", 0),
        ("check leaky.toml", 1),
        ("check leaky.toml --format json", 1),
        ("check broken.toml", 2),
        ("fmt --check unformatted.toml -q", 1),
        ("key parse - < keys", 0),
        ("key parse - < unknown", 1),
        ("key parse nothing shop:cart:1", 1),
        ("explain nothing 2>&1", 2),
        ("chek 2>&1", 2),
    ] {
        let script = format!("'{}' {command}; echo $? >code", env!("CARGO_BIN_EXE_keyward"));
        // One reader that takes a line, and one that has gone before the first.
        let takes_a_line = (format!("{{ {script}; }} | head -n 1 >/dev/null"), Stdio::piped());
        for (script, stdout) in [takes_a_line, (script, Stdio::from(unread()))] {
            let mut bash = Command::new("bash");
            bash.args(["-c", &script]).current_dir(cli.folder()).stdout(stdout);
            let output = bash.output().expect("bash is there");
            assert_eq!(cli.read("code"), format!("{code}\n"), "{script}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{script}");
        }
    }
}

/// A pipe whose reader has gone.
fn unread() -> io::PipeWriter {
    let (_reader, writer) = io::pipe().expect("a pipe can be made");
    writer
}

#[test]
fn answers_that_nobody_reads_end_the_questions() {
    let cli = shop(SHOP);
    // Would never end otherwise.
    let script = format!(
        "{{ yes shop:cart:1 | '{}' key parse -; echo $? >code; }} | head -n 1",
        env!("CARGO_BIN_EXE_keyward")
    );
    let output = Command::new("bash").args(["-c", &script]).current_dir(cli.folder()).output();
    assert_eq!(output.expect("bash is there").stdout, b"cart\tuser_id=1\n");
    assert_eq!(cli.read("code"), "0\n");
}

#[test]
fn a_full_disk_is_a_failure() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let output = Command::new(env!("CARGO_BIN_EXE_keyward"))
        .arg("rules")
        .stdout(Stdio::from(full))
        .output()
        .expect("it can be run");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr, "error: cannot write the output: the disk is full\n");
}

#[test]
fn closed_streams_are_survived() {
    let cli = shop(SHOP);
    for (redirection, args, code) in [
        ("<&-", "key parse -", "2"),
        (">&-", "check", "2"),
        ("2>&-", "check --format concise", "0"),
        (">&- 2>&-", "explain nothing", "2"),
    ] {
        let script =
            format!("'{}' {args} {redirection}; echo $? >code", env!("CARGO_BIN_EXE_keyward"));
        let status = Command::new("bash").args(["-c", &script]).current_dir(cli.folder()).output();
        assert!(status.is_ok());
        assert_eq!(cli.read("code").trim(), code, "{args} {redirection}");
    }
}

#[test]
fn a_schema_cannot_make_a_terminal_do_things() {
    let schema = SHOP.replace("What a customer", "\\u001b[2J What a customer");
    let output: Output = shop(&schema).run(["key", "parse", "shop:cart:1", "--color", "always"]);
    assert!(!output.stdout.contains("\x1b[2J"), "{output}");
}
