//! The exit code is the verdict; the format has no part in it.

use crate::check::LEAKY;
use crate::{SHOP, cli, shop};

const FORMATS: [&str; 6] = ["full", "concise", "json", "jsonl", "github", "sarif"];

#[test]
fn the_format_never_changes_the_verdict_of_check() {
    let broken = "version = 1\n[keyspace]\n";
    let empty = "version = 1\n[keyspace]\nname = \"shop\"\n";
    for (schema, code) in [(SHOP, 0), (LEAKY, 1), (broken, 2), (empty, 2)] {
        let cli = shop(schema);
        for format in FORMATS {
            for quiet in ["--color=never", "--quiet", "--verbose"] {
                let output = cli.run(["check", "--format", format, quiet]);
                assert_eq!(output.code, Some(code), "{output}");
            }
        }
    }
    for format in FORMATS {
        assert_eq!(cli().run(["check", "--format", format, "missing.toml"]).code, Some(2));
    }
}

#[test]
fn warnings_fail_unless_only_errors_are_to() {
    let warned = LEAKY.replace("allkeys-lru", "noeviction");
    for (schema, on, code) in
        [(SHOP, "error", 0), (&warned, "warning", 1), (&warned, "error", 0), (LEAKY, "error", 1)]
    {
        let output = shop(schema).run(["check", "--fail-on", on]);
        assert_eq!(output.code, Some(code), "{output}");
    }
    let broken = shop("version = 1\n[keyspace]\n").run(["check", "--fail-on", "error"]);
    assert_eq!(broken.code, Some(2), "{broken}");
}

#[test]
fn every_command_has_its_code() {
    let codes: [(i32, &[&str]); 24] = [
        (0, &["--version"]),
        (0, &["--help"]),
        (0, &["check", "--help"]),
        (0, &["demo"]),
        (0, &["rules"]),
        (0, &["explain", "missing-ttl"]),
        (0, &["fmt"]),
        (0, &["key", "build", "cart", "user_id=1"]),
        (0, &["key", "parse", "shop:cart:1"]),
        (0, &["key", "glob", "cart"]),
        (0, &["completions", "bash"]),
        (1, &["key", "parse", "shop:unknown"]),
        (1, &["key", "parse", "shop:cart:1", "shop:unknown"]),
        (2, &[]),
        (2, &["key"]),
        (2, &["chek"]),
        (2, &["check", "--format", "xml"]),
        (2, &["check", "-q", "-v"]),
        (2, &["explain", "nothing"]),
        (2, &["key", "build", "carts", "user_id=1"]),
        (2, &["key", "build", "cart", "user_id=x"]),
        (2, &["key", "glob"]),
        (2, &["key", "parse", "-"]),
        (2, &["init"]),
    ];
    let cli = shop(SHOP);
    for (code, args) in codes {
        let output = cli.run(args);
        assert_eq!(output.code, Some(code), "{output}");
    }
}

#[test]
fn a_file_that_would_change_is_a_finding() {
    for (args, code) in
        [(&["--check"][..], 1), (&["--diff"], 1), (&["--check", "--diff"], 1), (&["--quiet"], 0)]
    {
        let output = shop("version=1\n").run(["fmt"].iter().chain(args));
        assert_eq!(output.code, Some(code), "{output}");
    }
}
