//! The HTML page in a browser: search, places, dark, narrow; and nothing that a schema says is run.

use crate::{EVERYTHING, HOSTILE, examples, html_of, schema};
use keyward_docs::{Locale, Options};
use keyward_testkit::browser::{Browser, WATCH};
use serde_json::{Value, json};

/// Runs inside of the page and tells the frame around it what it saw.
const PROBE: &str = include_str!("probe.js");

/// Shows the page in frames of these widths and gathers what their probes tell.
const AROUND: &str = include_str!("frames.html");

/// What the probes saw.
fn look(page: &str, dark: bool) -> Value {
    let charset = "<meta charset=\"utf-8\">";
    assert!(page.contains(charset));
    let probed = page.replacen(charset, &format!("{charset}<script>{WATCH}{PROBE}</script>"), 1);
    let browser = Browser::new().file("page.html", &probed).file("around.html", AROUND);
    browser.look("around.html", dark)
}

#[test]
fn the_page_works_in_a_browser() {
    let schema = schema(EVERYTHING);
    let page = html_of(&schema, &Options::default());
    let seen = look(&page, false);
    for (name, menu) in [("wide", true), ("narrow", false)] {
        let seen = &seen[name];
        let context = format!("{name}: {seen:#}");
        assert_eq!(seen["errors"], json!([]), "{context}");
        assert_eq!(seen["width"], 0, "the page is wider than the screen: {context}");
        assert_eq!(seen["cards"], schema.keys.len(), "{context}");
        assert_ne!(seen["cells"], 0, "{context}");
        assert_eq!(seen["beyond"], json!([]), "cells are out of sight: {context}");
        assert_ne!(seen["switched"], seen["paper"], "the theme does not switch: {context}");
        assert_eq!(seen["back"], true, "{context}");
        assert_eq!(seen["found"], "price", "{context}");
        assert_eq!(seen["tables"], 0, "{context}");
        assert_eq!(seen["cleared"], schema.keys.len(), "{context}");
        assert_eq!(seen["nothing"], "0 1", "{context}");
        assert_eq!(seen["escaped"], schema.keys.len(), "{context}");
        assert_eq!(seen["slash"], true, "{context}");
        assert_eq!(seen["copy"], true, "{context}");
        assert_eq!(seen["menu"], menu, "{context}");
        assert_eq!(seen["dark"], false, "{context}");
    }
    assert_eq!(seen["wide"]["groups"], "buying", "{seen:#}");
    let dark = look(&page, true);
    assert_eq!(dark["wide"]["dark"], true, "{dark:#}");
    assert_ne!(dark["wide"]["paper"], seen["wide"]["paper"], "{dark:#}");
    assert_eq!(dark["wide"]["switched"], seen["wide"]["paper"], "{dark:#}");
}

#[test]
fn nothing_that_a_schema_says_is_run() {
    let seen = look(&html_of(&schema(HOSTILE), &Options::default()), false);
    for name in ["wide", "narrow"] {
        let seen = &seen[name];
        assert_eq!(seen["errors"], json!([]), "{seen:#}");
        // The page's own and the probe
        assert_eq!(seen["scripts"], 2, "{seen:#}");
        assert_eq!(seen["images"], 0, "{seen:#}");
        assert_eq!(seen["width"], 0, "{seen:#}");
        assert_eq!(seen["title"], "</title><script>alert('name')</script>: Redis keys", "{seen:#}");
    }
}

#[test]
fn the_examples_fit_on_a_phone() {
    for ((name, schema), locale) in examples().iter().zip(Locale::ALL.into_iter().cycle()) {
        let seen = look(&html_of(schema, &Options { locale, ..Options::default() }), false);
        assert_eq!(seen["narrow"]["width"], 0, "{name}: {seen:#}");
        for frame in ["narrow", "wide"] {
            assert_eq!(seen[frame]["beyond"], json!([]), "{name}: cells are out of sight");
            assert_eq!(seen[frame]["bare"], 0, "{name}: a position of the layout says nothing");
        }
        assert_eq!(seen["narrow"]["errors"], json!([]), "{name}: {seen:#}");
    }
}
