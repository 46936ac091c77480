//! `key parse -`: keys on standard input, one a line.

use crate::{SHOP, shop};
use insta::assert_snapshot;
use std::fmt::Write as _;

#[test]
fn every_line_is_answered_in_order() {
    let input = "shop:cart:1\nshop:price:tea\nnothing\n\nshop:search:a%09b%5C\nshop:cart:2";
    assert_snapshot!(shop(SHOP).command(["key", "parse", "-"]).stdin(input).run());
    let json = ["key", "parse", "-", "--format", "json"];
    assert_snapshot!(shop(SHOP).command(json).stdin(input).run());
}

#[test]
fn hostile_keys_are_keys_like_any_other() {
    let input = b"\0\n\xff\xfe\nshop:cart:\0\n\xc3\x28\nshop:cart:1\r\nshop:~lease:{shop:cart:1}\n~\n\x1b[31m\n\"\\\n";
    assert_snapshot!(shop(SHOP).command(["key", "parse", "-"]).stdin(input).run());
    let jsonl = shop(SHOP).command(["key", "parse", "-", "--format", "jsonl"]).stdin(input).run();
    for line in jsonl.stdout.lines() {
        let _: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
    }
    assert_snapshot!(jsonl);
}

#[test]
fn a_list_from_windows_is_read_like_any_other() {
    let cli = shop(SHOP);
    let input = "shop:cart:1\r\nshop:price:tea\r\nshop:cart:2";
    let output = cli.command(["key", "parse", "-"]).stdin(input).run();
    assert_eq!(output.stdout, "cart\tuser_id=1\nprice\tsku=tea\ncart\tuser_id=2\n");
    assert_eq!(output.code, Some(0), "{output}");
    let output = cli.command(["key", "parse", "-", "--format", "jsonl"]).stdin(input).run();
    assert!(!output.stdout.contains("\\r"), "{output}");
}

#[test]
fn all_known_is_a_pass() {
    let output = shop(SHOP).command(["key", "parse", "-"]).stdin("shop:cart:1\n").run();
    assert_eq!(output.code, Some(0), "{output}");
}

#[test]
fn no_keys_at_all_is_no_pass() {
    assert_snapshot!(shop(SHOP).run(["key", "parse", "-"]));
}

#[test]
fn many_blocks_keep_their_order() {
    let mut input = String::new();
    let mut expected = String::new();
    for number in 0..200_000u64 {
        if number % 1_000 == 7 {
            // Longer than a block of the reader.
            let long = "x".repeat(if number % 50_000 == 7 { 600_000 } else { 100 });
            let _ = writeln!(input, "shop:price:{long}");
            let _ = writeln!(expected, "price\tsku={long}");
        } else {
            let _ = writeln!(input, "shop:cart:{number}");
            let _ = writeln!(expected, "cart\tuser_id={number}");
        }
    }
    let output = shop(SHOP).command(["key", "parse", "-"]).stdin(input).run();
    assert!(output.stdout == expected, "{}", &output.stdout[..200]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_line_that_never_ends_is_refused() {
    let input = vec![b'x'; 17 * 1024 * 1024];
    assert_snapshot!(shop(SHOP).command(["key", "parse", "-"]).stdin(input).run());
}
