//! Nothing that a server says is more than text.

use crate::stage::{PAGES, Stage};
use keyward_testkit::browser::Tab;
use keyward_testkit::{Server, repository};

const EVIL: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}:`a`:</title><svg onload=alert(3)>",
    "\u{202e}gnp.exe\u{1b}[2J",
];

#[test]
fn hostile_names_are_text() {
    let stage = Stage::new();
    let tab = stage.visit("/unknown");
    for name in EVIL {
        for number in 0..50 {
            stage.redis.command(&["SET", &format!("{name}:{number}"), name]);
        }
        let member = format!("session:active:{name}");
        stage.redis.command(&["HSET", &member, name, name]);
        stage.redis.command(&["ZADD", "cache:popular:de:movie", "1", name]);
    }
    tab.wait("document.querySelectorAll('#results tbody tr').length > 3");
    for path in PAGES {
        tab.visit(&format!("{}{path}", stage.url));
        is_text(&tab, path);
    }
}

#[test]
fn a_hostile_schema_is_text() {
    let schema = repository().join("crates/keyward-docs/tests/docs/hostile.toml");
    let stage = Stage::with(Server::redis(), |config| config.servers[0].schemas = vec![schema]);
    let tab = stage.visit("");
    is_text(&tab, "");
    tab.visit(&format!("{}/definitions", stage.url));
    let definition = tab.eval("document.querySelector('#results tbody a').href");
    tab.visit(definition.as_str().unwrap());
    assert_ne!(tab.eval("document.querySelector('h1').textContent"), "Not found");
    is_text(&tab, "a definition");
    for path in ["/definitions", "/findings", "/unknown", "/reference", "/add", "/checklist"] {
        tab.visit(&format!("{}{path}", stage.url));
        is_text(&tab, path);
    }
}

/// Nothing was run, made or hidden by what a page shows, and it still fits.
#[track_caller]
fn is_text(tab: &Tab, path: &str) {
    assert_eq!(tab.errors(), [""; 0], "{path}");
    assert_eq!(tab.eval("document.scripts.length"), 1, "{path}");
    assert_eq!(tab.eval("document.images.length"), 0, "{path}");
    assert_eq!(tab.eval("document.querySelectorAll('[onload], [onerror]').length"), 0, "{path}");
    assert_eq!(tab.eval("document.body.textContent.includes('\\u202e')"), false, "{path}");
    for (width, height) in [(1280, 900), (390, 844)] {
        tab.screen(width, height);
        assert_eq!(tab.overflow(), 0, "{path} is wider than {width} pixels");
    }
}

#[test]
fn an_address_cannot_make_markup() {
    let stage = Stage::new();
    let tab = stage.visit("/definitions?q=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E&sort=%3Cb%3E");
    assert_eq!(
        tab.eval("document.querySelector('[name=q]').value"),
        "\"><script>alert(1)</script>"
    );
    assert_eq!(tab.eval("document.scripts.length"), 1);
    assert_eq!(tab.errors(), [""; 0]);
}
