//! Several servers, and many definitions.

use crate::stage::{Stage, listening, picture, source};
use keyward_testkit::{Server, repository};
use std::fmt::Write as _;
use std::fs;

#[test]
fn servers_are_listed_and_each_has_its_pages() {
    let other = Server::redis();
    other.command(&["SET", "BO:User:Mapping:ann", "7"]);
    other.command(&["SET", "bo:auth:mapping:cache:bob", "8", "EX", "60"]);
    let schema = repository().join("examples/binary-options/keyward.toml");
    let stage = Stage::with(Server::redis(), |config| {
        config.servers.push(source("trading", &other, vec![schema]));
    });
    let tab = stage.visit("");
    assert_eq!(tab.eval("document.querySelectorAll('.servers a').length"), 3);
    tab.visit(&stage.root);
    assert_eq!(tab.eval("document.querySelectorAll('#servers tr').length"), 2);
    tab.wait("[...document.querySelectorAll('#servers tr')].every((it) => it.textContent.includes('ago'))");
    assert_eq!(tab.overflow(), 0);
    tab.screen(390, 844);
    assert_eq!(tab.overflow(), 0);
    picture(&tab, "fleet-several-phone");
    tab.screen(1280, 900);
    for part in ["needs", "migrations"] {
        let there = format!("document.getElementById('{part}') !== null");
        assert_eq!(tab.eval(&there), true, "{part}");
    }
    let needs = tab.eval("document.getElementById('needs').innerText");
    assert!(needs.as_str().unwrap().contains("v2 is overdue: 1 key has"), "{needs}");
    picture(&tab, "fleet-several-light");
    tab.dark(true);
    picture(&tab, "fleet-several-dark");
    tab.dark(false);
    // What needs somebody leads to the page that says more.
    tab.eval("[...document.querySelectorAll('#needs li')].find((it) => it.textContent.includes('overdue')).querySelector('a').click()");
    tab.wait("location.pathname === '/s/trading/migrations'");
    tab.wait("document.getElementById('results')?.textContent.includes('BO:User:Mapping:')");
    let row = tab.eval("document.querySelector('#results tbody tr').innerText");
    for part in ["v2", "cleanup", "2025-09-17", "2025-10-17", "overdue by"] {
        assert!(row.as_str().unwrap().contains(part), "{part}: {row}");
    }
    picture(&tab, "trading-migrations-light");
    tab.screen(390, 844);
    assert_eq!(tab.overflow(), 0);
    picture(&tab, "trading-migrations-phone");
    tab.screen(1280, 900);
    tab.visit(&stage.root);

    tab.eval("[...document.querySelectorAll('#servers a')].find((it) => it.textContent === 'trading').click()");
    tab.wait("location.pathname === '/s/trading' && document.getElementById('memory') !== null");
    tab.visit(&format!("{}/s/trading/checklist", stage.root));
    assert_eq!(tab.eval("document.querySelectorAll('#results tbody tr').length"), 9);
    let review = "[...document.querySelectorAll('#results .mark')].filter((it) => it.textContent === 'by review').length";
    assert_eq!(tab.eval(review), 2);
    picture(&tab, "trading-checklist");
    let mapping = format!("{}/s/trading/definitions/binary-options/auth_mapping", stage.root);
    tab.visit(&mapping);
    let former = tab.eval("document.getElementById('former').innerText");
    let former = former.as_str().unwrap();
    assert!(former.contains("BO:User:Mapping:") && former.contains("cleanup"), "{former}");
    picture(&tab, "trading-definition");
    // A new dead letter comes by itself.
    tab.visit(&format!("{}/queues", stage.url));
    listening(&tab);
    stage.redis.command(&["RPUSH", "queue:job:mail", "{}", "{}"]);
    tab.wait("document.querySelectorAll('#results tbody tr').length === 1");
    let row = tab.eval("document.querySelector('#results tbody tr').innerText");
    assert!(row.as_str().unwrap().contains("job_queue"), "{row}");
    picture(&tab, "queues-several-light");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_thousand_definitions_are_shown_filtered_and_documented() {
    let mut schema = String::from("version = 1\n[keyspace]\nname = \"large\"\n");
    for number in 0..1000 {
        let name = format!("kind_{number}");
        let owner = if number % 2 == 0 { "even" } else { "odd" };
        let _ = write!(
            schema,
            "[keys.{name}]\npattern = \"{name}:{{id:uint}}\"\nvalue = \"text\"\nttl = \"1h\"\nowner = \"{owner}\"\n"
        );
    }
    schema.push_str("[owners.even]\n[owners.odd]\ncontact = \"odd@example.org\"\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyward.toml");
    fs::write(&path, schema).unwrap();
    let redis = Server::redis();
    for number in 0..1000 {
        redis.command(&["SET", &format!("kind_{number}:7"), "x"]);
    }
    let stage = Stage::with(redis, |config| config.servers[0].schemas = vec![path]);
    let tab = stage.visit("/definitions");
    assert_eq!(tab.eval("document.querySelectorAll('#results tbody tr').length"), 1000);
    assert_eq!(tab.overflow(), 0);
    listening(&tab);
    tab.press("/");
    tab.write("kind_99");
    tab.wait("document.querySelectorAll('#results tbody tr').length === 11");
    for (path, shown) in [("?owner=odd", 500), ("?q=kind_77&owner=even", 5), ("?findings=none", 0)]
    {
        tab.visit(&format!("{}/definitions{path}", stage.url));
        let rows = tab.eval("document.querySelectorAll('#results tbody tr').length");
        assert_eq!(rows, shown, "{path}");
    }
    // Each definition has a key without a TTL: more findings than a page shows.
    tab.visit(&format!("{}/findings?owner=odd", stage.url));
    assert_eq!(tab.eval("document.querySelectorAll('.finding').length"), 200);
    let meta = tab.eval("document.querySelector('.finding .meta').textContent");
    assert!(meta.as_str().unwrap().contains("written by odd, odd@example.org"), "{meta}");
    tab.eval("document.querySelector('[rel=next]').click()");
    tab.wait("location.search.includes('from=200') && document.readyState === 'complete'");
    assert_eq!(tab.eval("document.querySelectorAll('.finding').length"), 200);
    assert_eq!(tab.errors(), [""; 0]);
}
