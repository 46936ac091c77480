//! The HTML page in a browser: filters, details, themes, narrow, without scripts; and nothing that a
//! report says is run.

use crate::fixture;
use base64::Engine as _;
use keyward_audit::Report;
use keyward_audit::render::html;
use keyward_audit::report::{Definition, SchemaInfo, Summary};
use keyward_testkit::browser::{Browser, WATCH};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Runs inside of the page and tells the frame around it what it saw.
const PROBE: &str = include_str!("probe.js");

/// Shows the page in frames and gathers what their probes tell.
const AROUND: &str = include_str!("frames.html");

/// What the probes saw.
fn look(page: &str, dark: bool) -> Value {
    let probe = format!("{WATCH}{PROBE}");
    let hash = base64::engine::general_purpose::STANDARD.encode(Sha256::digest(&probe));
    // The page's policy lets no foreign script run, so the probe must be introduced.
    let probed = page.replacen("script-src ", &format!("script-src 'sha256-{hash}' "), 1).replacen(
        "<title>",
        &format!("<script>{probe}</script><title>"),
        1,
    );
    // The frame without scripts cannot tell what it is; the one around it looks into it.
    let browser = Browser::new().look_into_frames();
    let browser = browser.file("page.html", &probed).file("bare.html", page);
    browser.file("around.html", AROUND).look("around.html", dark)
}

#[test]
fn the_page_works_in_a_browser() {
    let report = fixture::report();
    let page = html(&report);
    let seen = look(&page, false);
    for name in ["wide", "narrow"] {
        let seen = &seen[name];
        let context = format!("{name}: {seen:#}");
        assert_eq!(seen["errors"], json!([]), "{context}");
        assert_eq!(seen["width"], 0, "the page is wider than the screen: {context}");
        assert_eq!(seen["width_open"], 0, "open details are wider than the screen: {context}");
        assert_eq!(seen["treemap"], name, "{context}");
        is_readable(seen);
        assert_eq!(seen["unknown"], "4 4", "a pattern is listed once: {context}");
        assert_eq!(seen["kept_is_a_fault"], false, "{context}");
        assert_eq!(seen["toml"], 3, "three patterns have a definition to copy: {context}");
        assert_eq!(seen["folded"], true, "{context}");
        let toml = "[keys.watchlist]\npattern = \"watchlist:{id}\"\ntype = \"zset\"\n";
        assert_eq!(
            (&seen["copied"], &seen["button"]),
            (&json!(toml), &json!("copied")),
            "{context}"
        );
        assert_eq!(seen["findings"], report.findings.len(), "{context}");
        assert_eq!(
            seen["by_severity"], "ttl-missing ttl-too-long wrong-type server-setting",
            "{context}"
        );
        assert_eq!(seen["by_both"], "wrong-type", "{context}");
        assert_eq!(seen["told"], "1 of 8", "{context}");
        assert_eq!(seen["by_text"], "old-name", "{context}");
        assert_eq!(seen["nothing"], "0 1", "{context}");
        assert_eq!(seen["escaped"], report.findings.len(), "{context}");
        assert_eq!(seen["slash"], true, "{context}");
        assert_eq!(seen["closed"], 0, "{context}");
        assert_eq!(seen["drilled"], "user_watchlist", "{context}");
        assert_eq!(seen["in_view"], true, "{context}");
        assert_eq!(seen["to_finding"], "ttl-missing", "{context}");
        assert_eq!(seen["sorted"], "active_session user_watchlist", "{context}");
        assert_eq!(seen["dark"], "auto false, dark true, light false, auto false", "{context}");
        assert_eq!(seen["menu"], name == "wide", "{context}");
    }
    let dark = look(&page, true);
    let themes = "auto true, light false, dark true, auto true";
    assert_eq!(dark["wide"]["dark"], themes, "{dark:#}");
    assert_eq!(dark["wide"]["errors"], json!([]), "{dark:#}");
}

/// Labels stay inside their tiles, colours are explained, the axis has its numbers, no column is cut off.
#[track_caller]
fn is_readable(seen: &Value) {
    assert!(seen["tiles"].as_u64() > Some(0), "{seen:#}");
    for nothing in ["too_long", "unlabelled", "unlisted", "unexplained", "cut_off"] {
        assert_eq!(seen[nothing], json!([]), "{nothing}: {seen:#}");
    }
    assert_eq!(seen["axis"], true, "{seen:#}");
}

#[test]
fn long_patterns_and_all_scripts_stay_inside_their_tiles_and_columns() {
    let mut report = fixture::without_schema();
    let names = [
        "service-<number>:region:eu-central-<number>:tenant:<number>:profile:settings:notifications:v2",
        "مفتاح:المستخدم:<number>",
        "京都:ユーザー:設定:<number>:プロフィール",
        "\u{202e}gnp.exe:<number>",
        "<script>alert(1)</script>",
        "a`b`c:<uuid>",
    ];
    for (group, name) in report.groups.iter_mut().zip(names) {
        group.pattern = fixture::masked(name);
    }
    let seen = look(&html(&report), false);
    is_readable(&seen["wide"]);
    is_readable(&seen["narrow"]);
}

#[test]
fn memory_of_unknown_keys_is_shown_by_pattern() {
    let mut report = fixture::report();
    report.definitions.clear();
    report.summary.unknown.bytes = report.summary.unknown.bytes.map(|it| it + 5_000_000);
    let page = html(&report);
    assert!(page.contains("<title>usr:watchlist:&lt;uuid&gt;: 14.2 MiB"));
    assert!(page.contains("<title>more unknown keys: 4.8 MiB"));
    let seen = look(&page, false);
    for nothing in ["too_long", "unlabelled", "unlisted", "unexplained", "cut_off"] {
        assert_eq!(seen["wide"][nothing], json!([]), "{nothing}: {seen:#}");
    }
}

#[test]
fn the_essentials_need_no_script() {
    let report = fixture::report();
    let seen = &look(&html(&report), false)["bare"];
    assert_eq!(seen["findings"], report.findings.len(), "{seen:#}");
    assert_eq!(seen["tiles"], true, "{seen:#}");
    assert_eq!(seen["toml"], 3, "{seen:#}");
    assert_eq!(seen["controls"], 0, "what only a script can do is not offered: {seen:#}");
    assert_eq!(seen["drilled"], "user_watchlist", "a link opens its details: {seen:#}");
}

#[test]
fn a_page_without_a_schema_fits_too() {
    for report in [fixture::without_schema(), nothing()] {
        let seen = look(&html(&report), false);
        for name in ["wide", "narrow"] {
            assert_eq!(seen[name]["errors"], json!([]), "{seen:#}");
            assert_eq!(seen[name]["width"], 0, "{seen:#}");
        }
    }
}

#[test]
fn definitions_of_two_schemas_are_told_apart() {
    let mut report = fixture::report();
    let twins = report.definitions.clone().into_iter().map(|mut definition| {
        definition.schema = "archive".to_owned();
        definition
    });
    report.definitions.extend(twins.collect::<Vec<_>>());
    let twin = SchemaInfo { name: "archive".to_owned(), path: None, definitions: 15 };
    report.schemas.push(twin);
    report.findings[0].schema = Some("archive".to_owned());
    let page = html(&report);
    for place in ["key-user_watchlist", "key-user_watchlist-"] {
        assert_eq!(page.matches(&format!(" id=\"{place}\"")).count(), 1, "{place}");
    }
    assert!(page.contains("<span class=\"quiet\">archive/</span>user_watchlist"));
    let (_, finding) = page.split_once("id=\"finding-1\"").expect("it has its place");
    let (finding, _) = finding.split_once("</article>").expect("it has an end");
    assert!(finding.contains("<a href=\"#key-user_watchlist-\">"), "it leads to its own schema");
}

#[test]
fn many_small_definitions_share_an_area() {
    let mut report = fixture::report();
    let definition = report.definitions[0].clone();
    let many = |number| Definition { name: format!("definition_{number}"), ..definition.clone() };
    report.definitions.extend((0..300).map(many));
    let page = html(&report);
    assert_eq!(page.matches(">238 more: ").count(), 2, "one for wide screens, one for narrow ones");
    assert_eq!(page.matches("<a href=\"#details\" class=\"group\"><title>").count(), 2);
    assert_eq!(page.matches("<details class=\"card").count(), 313, "all have their details");
}

#[test]
fn nothing_that_a_report_says_is_run() {
    let report = hostile(&fixture::report());
    let page = html(&report);
    let seen = look(&page, false);
    for name in ["wide", "narrow"] {
        let seen = &seen[name];
        assert_eq!(seen["errors"], json!([]), "{seen:#}");
        // The page's own and the probe
        assert_eq!(seen["scripts"], 2, "{seen:#}");
        assert_eq!(seen["images"], 0, "{seen:#}");
        assert_eq!(seen["width"], 0, "{seen:#}");
        assert_eq!(seen["width_open"], 0, "{seen:#}");
    }
}

#[test]
fn a_page_asks_for_nothing_from_outside() {
    let page = html(&fixture::report());
    for reference in ["src=", "url(", "@import", "http:", "https:", " style=", " onclick="] {
        assert!(!page.contains(reference), "{reference}");
    }
}

/// A report of an empty keyspace.
fn nothing() -> Report {
    let mut report = fixture::report();
    report.definitions.clear();
    report.unknown.clear();
    report.foreign.clear();
    report.settings.clear();
    report.findings.clear();
    report.schemas.clear();
    report.checklist.clear();
    report.summary = Summary::default();
    report
}

/// A report in which every text that can be anything tries to be more than text.
fn hostile(report: &Report) -> Report {
    const EVIL: &str = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>`{{ 7 }}";
    fn spoil(value: &mut Value, name: &str) {
        match value {
            Value::String(text) => {
                const CHOSEN: [&str; 8] =
                    ["kind", "bytes", "severity", "verdict", "rule", "unit", "level", "state"];
                let chosen = CHOSEN.contains(&name);
                if !chosen {
                    text.push_str(EVIL);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, name)),
            Value::Object(fields) => {
                let spoilt = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    // Nothing is shown of the counts.
                    if name != "counts" {
                        spoil(&mut value, &name);
                    }
                    (name, value)
                });
                *fields = spoilt.collect();
                for map in ["types", "encodings"] {
                    if let Some(Value::Object(counts)) = fields.get_mut(map) {
                        counts.insert(EVIL.to_owned(), 1.into());
                    }
                }
            }
            _ => {}
        }
    }
    let mut value = serde_json::to_value(report).expect("a report is JSON");
    spoil(&mut value, "");
    serde_json::from_value(value).expect("it is still a report")
}
