//! What is new comes by itself, and filters are part of the address.

use crate::stage::{Stage, listening};

#[test]
fn a_page_shows_what_is_new_without_being_loaded_again() {
    let stage = Stage::new();
    let tab = stage.visit("/unknown");
    listening(&tab);
    tab.eval("window.same = true");
    // A word that many keys have is shown.
    let keys: Vec<String> = (0..50).map(|number| format!("fresh:{number}")).collect();
    for key in &keys {
        stage.redis.command(&["SET", key, "1"]);
    }
    tab.wait("document.getElementById('results').textContent.includes('fresh:')");
    assert_eq!(tab.eval("window.same"), true, "the page was loaded again");
    for key in &keys {
        stage.redis.command(&["DEL", key]);
    }
    tab.wait("!document.getElementById('results').textContent.includes('fresh:')");
    assert_eq!(tab.eval("window.same"), true, "the page was loaded again");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_page_that_one_comes_back_to_is_live_again() {
    let stage = Stage::new();
    let tab = stage.visit("/unknown");
    listening(&tab);
    // More pages than a browser has connections to a server.
    for page in ["", "/definitions", "/findings", "/server", "/reference", "/add", "/checklist"] {
        tab.visit(&format!("{}{page}", stage.url));
    }
    tab.eval("history.go(-7)");
    tab.wait("location.pathname.endsWith('/unknown')");
    listening(&tab);
    for number in 0..50 {
        stage.redis.command(&["SET", &format!("fresh:{number}"), "1"]);
    }
    tab.wait("document.getElementById('results').textContent.includes('fresh:')");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_filter_is_part_of_the_address() {
    let stage = Stage::new();
    let tab = stage.visit("/definitions");
    let rows = "[...document.querySelectorAll('#results tbody tr')].map((it) =>
        it.querySelector('a').textContent).join(' ')";
    listening(&tab);
    tab.press("/");
    tab.write("watch");
    tab.wait("location.search === '?q=watch&sort=bytes'");
    tab.wait("document.querySelectorAll('#results tbody tr').length === 2");
    assert_eq!(tab.eval("document.activeElement.name"), "q");
    let found = tab.eval(rows);
    tab.visit(&format!("{}/definitions?q=watch&sort=bytes", stage.url));
    assert_eq!(tab.eval(rows), found, "the address alone gives the same");
    tab.eval("document.querySelector('[name=q]').focus()");
    tab.press("Escape");
    tab.wait("document.querySelectorAll('#results tbody tr').length > 20");
    // Without a script the form does the same.
    tab.scripts(false);
    tab.visit(&format!("{}/definitions?owner=identity&findings=errors", stage.url));
    assert_eq!(tab.eval(rows), "active_session");
    assert_eq!(tab.errors(), [""; 0]);
}
