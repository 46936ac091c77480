//! A team's check-list, ticked by an audit.

use crate::shop;
use insta::assert_snapshot;
use keyward_testkit::{Cli, Flavor, Server};
use serde_json::Value;

const SCHEMA: &str = r#"version = 1

[keyspace]
name = "shop"

[server]
maxmemory-policy = "noeviction"

[rules]
undocumented = "off"

[groups.buying]

[[checklist]]
text = "Every key ends"
rules = ["ttl-missing"]

[[checklist]]
text = "Types are <b>as declared</b>"
rules = ["wrong-type"]

[[checklist]]
text = "The server is set up for it"
rules = ["server-setting"]

[[checklist]]
text = "Words are in lower case"
rules = ["uppercase-literal"]

[[checklist]]
text = "Nothing is written beside the schema"
level = "should"
rules = ["unknown-key", "old-name"]

[[checklist]]
text = "Every key is documented"
level = "should"
rules = ["undocumented"]

[[checklist]]
text = "Names mean something to the business"
level = "should"

[keys.cart]
group = "buying"
pattern = "cart:{user_id:uint}"
type = "string"
ttl = "7d"

[keys.price]
pattern = "price:{sku}"
type = "string"
ttl = "1h"
allow = [{ rule = "ttl-missing", reason = "the old importer writes them" }]
"#;

/// The state of each item, with its numbers of findings and of what is accepted.
fn states(cli: &Cli, args: &[&str]) -> Vec<(String, u64, u64)> {
    let output = cli.run([&["audit", "--format", "json"], args].concat());
    let report: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"));
    let item = |it: &Value| {
        let number = |name: &str| it[name].as_u64().unwrap();
        (it["state"].as_str().unwrap().to_owned(), number("findings"), number("accepted"))
    };
    report["checklist"].as_array().unwrap().iter().map(item).collect()
}

fn names(states: &[(String, u64, u64)]) -> Vec<&str> {
    states.iter().map(|(state, ..)| state.as_str()).collect()
}

/// The check-list as it is printed.
fn printed(server: &Server, cli: &Cli, args: &[&str]) -> String {
    let output = cli.run([&["audit", &server.url()], args].concat());
    let text = output.stdout;
    let start = text.find("check-list").unwrap_or_else(|| panic!("no check-list: {text}"));
    let end = text[start..].find("\nnotes").map_or(text.len(), |end| start + end);
    text[start..end].trim_end().to_owned()
}

#[test]
fn an_audit_ticks_what_only_keys_decide() {
    let server = Flavor::Redis.start();
    let (cli, url) = (shop(SCHEMA), server.url());
    server.command(&["SET", "cart:1", "x", "EX", "100"]);
    server.command(&["SET", "price:mug", "1"]);
    let clean = states(&cli, &[&url]);
    assert_eq!(
        names(&clean),
        ["holds", "holds", "holds", "holds", "holds", "off", "by-review"],
        "{clean:?}"
    );
    assert_eq!(clean[0].2, 1, "what `allow` accepts is said");
    server.command(&["SET", "cart:2", "x"]);
    server.command(&["SET", "crat:2", "x"]);
    server.command(&["SET", "misc", "x"]);
    let broken = states(&cli, &[&url]);
    assert_eq!(
        names(&broken),
        ["broken", "holds", "holds", "holds", "broken", "off", "by-review"],
        "{broken:?}"
    );
    assert_eq!((broken[0].1, broken[0].2), (1, 1));
    assert_snapshot!("ticked", printed(&server, &cli, &[]));
    // Pages show it too, and what a schema says is text there.
    let page = cli.run(["audit", &url, "--format", "html"]).stdout;
    assert!(page.contains("Types are &lt;b&gt;as declared&lt;"), "{page}");
    assert!(page.contains("1 finding of") && page.contains("1 accepted"), "{page}");
}

#[test]
fn what_an_audit_did_not_judge_is_not_ticked() {
    let server = Flavor::Redis.start();
    let (cli, url) = (shop(SCHEMA), server.url());
    server.command(&["SET", "cart:1", "x", "EX", "100"]);
    // Of definitions that were left out, nothing is known.
    let narrowed = states(&cli, &[&url, "--group", "buying"]);
    assert_eq!(names(&narrowed)[..2], ["not-judged", "not-judged"], "{narrowed:?}");
    assert_eq!(names(&narrowed)[3], "holds", "a rule of schemas needs no keys");
    assert_snapshot!("not_judged", printed(&server, &cli, &["--group", "buying"]));
    // A snapshot does not show settings.
    let snapshot = states(&cli, &[server.save().to_str().unwrap()]);
    assert_eq!(names(&snapshot)[..4], ["holds", "holds", "not-judged", "holds"], "{snapshot:?}");
    // Who may not read all keys has not judged them.
    server.command(&["ACL", "SETUSER", "half", "on", ">pw", "~cart:*", "+@all"]);
    let half = format!("redis://half:pw@{}", server.address());
    server.command(&["SET", "price:mug", "1", "EX", "100"]);
    assert_eq!(names(&states(&cli, &[&half]))[0], "not-judged");
}

#[test]
fn reports_that_are_merged_tick_one_list() {
    let (first, second) = (Flavor::Redis.start(), Flavor::Valkey.start());
    let cli = shop(SCHEMA);
    first.command(&["SET", "cart:1", "x", "EX", "100"]);
    second.command(&["SET", "cart:2", "x"]);
    for (server, file) in [(&first, "a.json"), (&second, "b.json")] {
        let url = server.url();
        cli.run(["audit", &url, "--salt", "s", "--format", "json", "--out", file]);
    }
    let merged = cli.run(["report", "merge", "a.json", "b.json", "--out", "all.json"]);
    let report: Value = serde_json::from_str(&cli.read("all.json")).unwrap();
    assert_eq!(report["checklist"][0]["state"], "broken", "{merged}");
    assert_eq!(report["checklist"].as_array().unwrap().len(), 7);
}
