//! A report of keys that were really audited.

use crate::support::{Dump, audit, report, shop, told};
use keyward_audit::Report;
use keyward_audit::render::{Shown, html, terminal};
use keyward_schema::Style;
use std::fmt::Write as _;

const TABLES: &str = r#"
[server]
maxmemory = "1gb"
maxmemory-policy = "noeviction"
[alerts]
memory = "80%"
[keys.cart]
owner = "checkout"
pattern = "cart:{user_id:uint}"
ttl = "7d"
fields = { items = "uint", currency = ["eur", "usd"] }
[keys.product]
pattern = "product:{sku:slug}"
value = "text"
ttl = "1h"
[keys.queue]
pattern = "queue:{name:slug}"
type = "list"
ttl = "none"
max_len = 3
[keys.motd]
pattern = "motd"
value = "text"
ttl = "1d"
[migrations.v2]
phase = "cleanup"
renames = { cart = "Cart:{user_id}" }
"#;

/// A keyspace in which something of everything is wrong.
fn commands() -> String {
    let mut text = String::new();
    for id in 0..400 {
        let _ = writeln!(text, "HSET shop:cart:{id} items {} currency eur", id % 9);
        if id % 20 != 0 {
            let _ = writeln!(text, "EXPIRE shop:cart:{id} {}", 3_600 + id * 1_000);
        }
    }
    for id in 0..300 {
        let seconds = if id % 50 == 0 { 360_000 } else { 60 + id * 10 };
        let words = "lorem ipsum ".repeat(id % 30 + 1);
        let _ = writeln!(text, "SET shop:product:thing-{id} \"{words}\" EX {seconds}");
    }
    for id in 0..12 {
        let _ = writeln!(text, "SET shop:crat:{id} 1");
        let _ = writeln!(text, "SET bull:{id}:wait 1");
        let _ = writeln!(text, "HSET Cart:{id} items 1 currency eur");
        let _ = writeln!(text, "EXPIRE Cart:{id} 900");
        let _ = writeln!(text, "SET shop:limit:10.0.0.{id} 7 EX 40");
        let _ = writeln!(text, "SET shop:limit:2001:db8::{id} 7 EX 40");
    }
    text.push_str(
        "HSET shop:cart:9001 items many currency gbp colour red\nEXPIRE shop:cart:9001 60\n",
    );
    text.push_str("SET shop:cart:9002 1 EX 60\n");
    text.push_str("RPUSH shop:queue:mail a b c d e\n");
    text.push_str("CONFIG SET maxmemory 1073741824\nCONFIG SET maxmemory-policy allkeys-lru\n");
    text.push_str("INFO used_memory 1000000000\n");
    text
}

fn audited() -> Report {
    told(&audit(vec![shop(TABLES)]), &Dump::of(&commands()))
}

#[test]
fn an_audit_reads_well() {
    let style = Style { color: false, width: 100 };
    insta::assert_snapshot!(terminal(&audited(), &style, Shown::Top));
}

#[test]
fn keys_without_a_schema_read_well() {
    let audit = audit(Vec::new());
    let bytes = Dump::of(&commands()).bytes();
    let style = Style { color: false, width: 100 };
    insta::assert_snapshot!(terminal(&report(&audit, &bytes), &style, Shown::Top));
}

#[test]
fn a_page_says_what_the_report_says() {
    let report = audited();
    let page = html(&report);
    for definition in &report.definitions {
        assert!(page.contains(&format!(">{}<", definition.name)), "{}", definition.name);
    }
    for finding in &report.findings {
        assert!(page.contains(&format!("data-rule=\"{}\"", finding.rule)), "{}", finding.rule);
    }
}

#[test]
fn a_page_counts_one_key_marks_code_and_blames_nothing_that_is_declared() {
    let mut report = audited();
    let definition = &mut report.definitions[0];
    definition.facts.keys = 1;
    definition.facts.ttl.declared = Some("none".to_owned());
    definition.facts.ttl.none = 1;
    definition.derived.keys = 0;
    definition.old_names.clear();
    let finding = report.findings.iter_mut().find(|it| !it.examples.is_empty());
    finding.expect("a finding with an example").examples[0].detail = Some("field `hue`".to_owned());
    let page = html(&report);
    assert!(page.contains("· 1 key") && !page.contains("· 1 keys"));
    assert!(page.contains("field <code>hue</code>") && !page.contains("field `"));
    assert!(page.contains("class=\"kept\"") && page.contains("no TTL, as declared"));
}
