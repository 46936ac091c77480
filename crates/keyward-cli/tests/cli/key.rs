use crate::{SHOP, cli, shop};
use insta::assert_snapshot;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

const TENANTS: &str = r#"version = 1

[keyspace]
name = "tenants"
prefix = "{tenant:slug}:"

[keys.cart]
pattern = "cart:{user_id:uint}"
type = "hash"
open = true
ttl = "7d"
lifecycle = "retained"

[keys.seen]
pattern = "seen:{#user_id:uint}:{page...}"
value = "int"
ttl = "1h"
"#;

#[test]
fn a_key_is_built() {
    assert_snapshot!(shop(SHOP).run(["key", "build", "cart", "user_id=42"]));
}

#[test]
fn an_ipv6_address_is_spelled_in_digits() {
    assert_snapshot!(shop(SHOP).run(["key", "build", "login_limit", "ip=2001:db8::1"]));
}

#[test]
fn any_text_is_encoded_where_the_type_says_so() {
    let cli = shop(SHOP);
    let output = cli.run(["key", "build", "search", "query=a=b *:{}\t√"]);
    assert_snapshot!(output);
    assert_snapshot!(cli.run(["key", "parse", output.stdout.trim_end()]));
    assert_snapshot!(cli.run(["key", "parse", output.stdout.trim_end(), "--format", "concise"]));
}

#[test]
fn a_hostile_value_is_refused() {
    let cli = shop(SHOP);
    for value in ["*", "1:2", "", "-1", "１", "1\n", "99999999999999999999", "{1}"] {
        let output = cli.run(["key", "build", "cart", &format!("user_id={value}")]);
        assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)), "{output}");
    }
    assert_snapshot!(cli.run(["key", "build", "price", "sku=a:b"]));
}

#[test]
fn wrong_names_are_recognised() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["key", "build", "carts", "user_id=1"]));
    assert_snapshot!(cli.run(["key", "build", "basket", "user_id=1"]));
    assert_snapshot!(cli.run(["key", "build", "cart", "userid=1"]));
    assert_snapshot!(cli.run(["key", "build", "cart"]));
    assert_snapshot!(cli.run(["key", "build", "cart", "user_id=1", "user_id=2"]));
    assert_snapshot!(cli.run(["key", "build", "cart", "42"]));
}

#[test]
fn a_hint_can_be_copied() {
    let cli = cli();
    cli.write("my tenants.toml", TENANTS);
    let schema = ["--schema", "my tenants.toml", "key"];
    let run = |args: &[&str]| cli.run(schema.iter().chain(args));
    assert_snapshot!(run(&["build", "seen", "page=it's a page", "--bind", "tenant=acme"]));
    assert_snapshot!(run(&[
        "build",
        "seen",
        "page=a",
        "user_id=1",
        "x=1",
        "--bind",
        "tenant=acme"
    ]));
    let twice = ["build", "cart", "user_id=1", "tenant=acme", "--bind", "tenant=acme"];
    assert_snapshot!(run(&twice));
}

#[test]
fn missing_braces_of_a_hash_tag_are_recognised() {
    let cli = shop(TENANTS);
    assert_snapshot!(cli.run(["key", "parse", "acme:seen:7:home"]));
    let output = cli.run(["key", "parse", "acme:seen:x:home"]);
    assert!(!output.stderr.contains("braces"), "{output}");
}

#[test]
fn a_key_says_what_it_is() {
    assert_snapshot!(shop(SHOP).run(["key", "parse", "shop:cart:42"]));
    assert_snapshot!(shop(SHOP).run(["key", "parse", "shop:cart:42", "--format", "json"]));
    assert_snapshot!(shop(SHOP).run(["key", "parse", "shop:cart:42", "--format", "jsonl"]));
}

#[test]
fn several_keys_get_a_line_each() {
    let keys = ["shop:cart:42", "shop:cart:x", "shop:price:tea-pot"];
    assert_snapshot!(shop(SHOP).run(["key", "parse"].into_iter().chain(keys)));
}

#[test]
fn an_unknown_key_is_told_where_it_goes_wrong() {
    let cli = shop(SHOP);
    for key in [
        "shop:crat:42",
        "shop:cart:x",
        "shop:cart",
        "shop:cart:42:items",
        "shop:login:2001:db8::1:limit",
        "shop:nothing",
        "elsewhere:cart:42",
        "",
        "shop:cart:42\n",
    ] {
        assert_snapshot!(cli.run(["key", "parse", key]));
    }
    assert_snapshot!(cli.run(["key", "parse", "shop:cart:x", "--format", "json"]));
    assert_snapshot!(cli.run(["key", "parse", "nowhere", "--format", "json"]));
}

#[test]
fn a_key_need_not_be_text() {
    let key = OsStr::from_bytes(b"shop:cart:\xff\x01");
    assert_snapshot!(shop(SHOP).run([OsStr::new("key"), OsStr::new("parse"), key]));
    let args = ["key", "parse", "--format", "json"].map(OsStr::new);
    assert_snapshot!(shop(SHOP).run(args.into_iter().chain([key])));
}

#[test]
fn a_derived_key_names_its_owner() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["key", "parse", "shop:~lease:{shop:cart:42}"]));
    let json = ["key", "parse", "shop:~lease:{shop:cart:42}", "--format", "json"];
    assert_snapshot!(cli.run(json));
    let keys = ["shop:~lease:{shop:cart:42}", "~lease:{shop:cart:42}", "shop:~lease:{shop:cart:x}"];
    assert_snapshot!(cli.run(["key", "parse"].into_iter().chain(keys)));
    let tenants =
        ["acme:~lease:{acme:cart:42}", "acme:~lease:{other:cart:42}", "acme:seen:{7}:a~b~{lease}"];
    assert_snapshot!(shop(TENANTS).run(["key", "parse"].into_iter().chain(tenants)));
}

#[test]
fn a_glob_leaves_open_what_is_not_given() {
    let cli = shop(TENANTS);
    assert_snapshot!(cli.run(["key", "glob", "seen"]));
    assert_snapshot!(cli.run(["key", "glob", "seen", "page=[a]*?", "tenant=acme"]));
    assert_snapshot!(cli.run(["key", "glob", "seen", "pages=x"]));
}

#[test]
fn globs_of_many_are_selected() {
    let cli = shop(SHOP);
    assert_snapshot!(cli.run(["key", "glob", "--owner", "catalogue"]));
    assert_snapshot!(cli.run(["key", "glob", "--owner", "catalogue", "--group", "finding"]));
    assert_snapshot!(cli.run([
        "key",
        "glob",
        "--lifecycle",
        "retained",
        "--lifecycle",
        "temporary"
    ]));
    assert_snapshot!(cli.run(["key", "glob", "--group", "buyign"]));
    assert_snapshot!(cli.run(["key", "glob", "--group", "nothing"]));
    assert_snapshot!(cli.run(["key", "glob", "--group", "buying", "--owner", "catalogue"]));
    assert_snapshot!(cli.run(["key", "glob", "cart", "--group", "buying"]));
    assert_snapshot!(cli.run(["key", "glob"]));
}

#[test]
fn the_prefix_is_bound_once() {
    let cli = shop(TENANTS);
    assert_snapshot!(cli.run(["key", "build", "cart", "user_id=1", "--bind", "tenant=acme"]));
    assert_snapshot!(cli.run(["key", "build", "cart", "user_id=1", "tenant=acme"]));
    assert_snapshot!(cli.run(["key", "glob", "--lifecycle", "cache", "--bind", "tenant=acme"]));
    let keys = ["acme:cart:1", "other:cart:1"];
    let args = ["key", "parse", "--bind", "tenant=acme"];
    assert_snapshot!(cli.run(args.into_iter().chain(keys)));
    assert_snapshot!(cli.run(["key", "build", "cart", "user_id=1", "--bind", "tenant=a:b"]));
    assert_snapshot!(cli.run(["key", "build", "cart", "user_id=1", "--bind", "tennant=acme"]));
}

#[test]
fn several_schemas_are_asked_together() {
    let cli = cli();
    cli.write("shop.toml", SHOP);
    cli.write("tenants.toml", TENANTS);
    let schemas = ["--schema", "shop.toml", "--schema", "tenants.toml"];
    let run = |args: &[&str]| cli.run(schemas.iter().chain(args));
    assert_snapshot!(run(&["key", "parse", "shop:price:tea", "acme:cart:1", "x"]));
    assert_snapshot!(run(&["key", "build", "price", "sku=tea"]));
    assert_snapshot!(run(&["key", "build", "cart", "user_id=1"]));
}

#[test]
fn a_schema_with_errors_is_shown_instead() {
    assert_snapshot!(shop("version = 1\n").run(["key", "build", "cart"]));
}

const MOVED: &str = r#"
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
cart = "Cart:{user_id}"

[foreign.bullmq]
doc = "The mail queue"
glob = "bull:*"
"#;

#[test]
fn an_old_name_is_known() {
    let cli = shop(&format!("{SHOP}{MOVED}"));
    assert_snapshot!(cli.run(["key", "parse", "Cart:42"]));
    assert_snapshot!(cli.run(["key", "parse", "Cart:42", "--format", "json"]));
    assert_snapshot!(cli.run(["key", "parse", "Cart:x"]));
}

#[test]
fn an_old_name_says_what_changes_besides_it() {
    let cli = shop(
        r#"
version = 1
[keyspace]
name = "shop"
prefix = "{tenant}:"
[keys.code]
pattern = "code:{code:slug}"
[keys.card]
pattern = "card:{id}"
fields = { name = "text" }
[migrations.v2]
phase = "read-fallback"
[migrations.v2.renames]
code = { pattern = "{tenant}:CODE:{code:word}", recase = { code = "lower" } }
card = { pattern = "card:{id}", convert = "json-to-hash", db = 3 }
"#,
    );
    assert_snapshot!(cli.run(["key", "parse", "acme:CODE:AB7"]));
    assert_snapshot!(cli.run(["key", "parse", "acme:CODE:a_b"]));
    assert_snapshot!(cli.run(["key", "parse", "card:7"]));
}

#[test]
fn other_softwares_key_is_known() {
    let cli = shop(&format!("{SHOP}{MOVED}"));
    assert_snapshot!(cli.run(["key", "parse", "bull:mail:7"]));
    assert_snapshot!(cli.run(["key", "parse", "bull:mail:7", "--format", "json"]));
}

#[test]
fn several_keys_may_be_old_names_or_other_softwares() {
    let cli = shop(&format!("{SHOP}{MOVED}"));
    let keys = ["Cart:42", "bull:mail:7", "shop:cart:42"];
    assert_snapshot!(cli.run(["key", "parse"].into_iter().chain(keys)));
    cli.write("tenants.toml", TENANTS);
    let several = ["--schema", "tenants.toml", "--schema", "keyward.toml", "key", "parse"];
    assert_snapshot!(cli.run(several.into_iter().chain(keys).chain(["nothing"])));
    assert_snapshot!(cli.run(several.into_iter().chain(["Cart:42"])));
    assert_snapshot!(cli.run(several.into_iter().chain(["shop:cart:42"])));
    let lines = "Cart:42\nbull:mail:7\nshop:cart:1\nCart:x\n";
    assert_snapshot!(cli.command(["key", "parse", "-"]).stdin(lines).run());
    let jsonl = ["key", "parse", "-", "--format", "jsonl"];
    let output = cli.command(jsonl).stdin(lines).run();
    for line in output.stdout.lines() {
        let _: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
    }
    assert_snapshot!(output);
}

const TEXTS: &str = r#"version = 1

[keyspace]
name = "library"

[text.heading]
abbreviations = { VaR = "value at risk" }
numbers = "de"
max_len = 30

[params]
title = { type = "word", from = "heading" }

[keys.chapter]
pattern = "ch:{title}:{number:digits(3)}"
value = "text"
ttl = "none"
"#;

#[test]
fn a_text_is_followed_step_by_step() {
    let cli = shop(TEXTS);
    let text = ["key", "text", "heading"];
    let run = |args: &[&str]| cli.run(text.iter().chain(args));
    assert_snapshot!(run(&["## 5 Maße: VaR & Größe"]));
    assert_snapshot!(run(&["5 Maße", "--format", "json"]));
    assert_snapshot!(run(&["5 Maße", "--format", "result"]));
    assert_snapshot!(run(&["\u{1b}[2J!", "--at", "2024-01-01T13:00:00+01:00"]));
    assert_snapshot!(run(&["x", "--at", "noon"]));
    assert_snapshot!(cli.run(["key", "text", "headin", "x"]));
    assert_snapshot!(shop(SHOP).run(["key", "text", "heading", "x"]));
}

#[test]
fn a_value_is_made_from_text() {
    let cli = shop(TEXTS);
    let build = ["key", "build", "chapter", "number=001"];
    let run = |args: &[&str]| cli.run(build.iter().chain(args));
    assert_snapshot!(run(&["--text", "title=# Risiko & Ertrag"]));
    assert_snapshot!(run(&["--text", "title=!!!", "--at", "2024-01-01T12:00:00Z"]));
    assert_snapshot!(run(&["--text", "titel=Risiko"]));
    assert_snapshot!(run(&["title=a", "--text", "number=Risiko"]));
    assert_snapshot!(run(&["title=a", "--text", "title=Risiko"]));
    assert_snapshot!(run(&["title=a", "--at", "2024-01-01T12:00:00Z"]));
    assert_snapshot!(run(&["--text", "Risiko"]));
}
