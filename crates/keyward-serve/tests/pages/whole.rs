//! Pages are whole: without a script, on a phone, in the dark; and one leads to the next.

use crate::stage::{PAGES, Stage, picture};

fn name(path: &str) -> &str {
    path.rsplit('/').next().filter(|it| !it.is_empty()).unwrap_or("overview")
}

#[test]
fn every_page_is_whole_on_every_screen_and_without_a_script() {
    let stage = Stage::new();
    let tab = stage.visit("");
    for path in PAGES {
        let url = format!("{}{path}", stage.url);
        for (dark, width, height) in [(false, 1280, 900), (true, 1280, 900), (false, 390, 844)] {
            tab.dark(dark);
            tab.screen(width, height);
            tab.visit(&url);
            assert_eq!(tab.errors(), [""; 0], "{path}");
            assert_eq!(tab.overflow(), 0, "{path} is wider than {width} pixels");
            assert_eq!(tab.eval("document.querySelectorAll('h1').length"), 1, "{path}");
            for landmark in ["nav[aria-label]", "main", "footer", "a.skip"] {
                let found = tab.eval(&format!("document.querySelectorAll('{landmark}').length"));
                assert_eq!(found, 1, "{path}: {landmark}");
            }
            let heads = "[...document.querySelectorAll('main thead th')]
                .filter((it) => it.textContent.trim() && !it.scope && !it.closest('.reference')).length";
            assert_eq!(tab.eval(heads), 0, "{path}: a column does not say that it heads one");
            let charts = "[...document.querySelectorAll('main svg')].filter((it) =>
                !it.parentElement.closest('svg') && !it.getAttribute('aria-label') && !it.ariaHidden).length";
            assert_eq!(tab.eval(charts), 0, "{path}: a picture says nothing to a screen reader");
            let red =
                "Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) < 128";
            assert_eq!(tab.eval(red), dark, "{path}");
            let look = if dark {
                "dark"
            } else if width == 390 {
                "phone"
            } else {
                "light"
            };
            picture(&tab, &format!("{}-{look}", name(path)));
        }
        tab.screen(1280, 900);
        tab.dark(false);
        let text = "document.querySelector('main').textContent.length";
        let with = tab.eval(text).as_u64().unwrap();
        tab.scripts(false);
        tab.visit(&url);
        let without = tab.eval(text).as_u64().unwrap();
        tab.scripts(true);
        assert!(without * 10 > with * 8, "{path}: {without} characters instead of {with}");
    }
    assert_eq!(tab.eval("document.querySelectorAll('[style], script:not([src])').length"), 0);
}

#[test]
fn an_area_leads_to_its_definition_and_that_to_its_findings() {
    let stage = Stage::new();
    let tab = stage.visit("");
    let area = "[...document.querySelectorAll('.treemap.wide a')]
        .find((it) => it.getAttribute('href').endsWith('/active_session'))";
    tab.eval(&format!(
        "{area}.dispatchEvent(new MouseEvent('click', {{ bubbles: true, cancelable: true }}))"
    ));
    tab.wait("location.pathname.endsWith('/definitions/media-gateway/active_session')");
    tab.wait("document.querySelector('h1 code')?.textContent === 'active_session'");
    for part in ["distributions", "keys", "documentation"] {
        let there = format!("document.getElementById('{part}') !== null");
        assert_eq!(tab.eval(&there), true, "{part}");
    }
    tab.eval("document.querySelector('#findings a').click()");
    tab.wait("location.pathname.endsWith('/findings') && location.hash.startsWith('#finding-')");
    tab.wait("document.querySelector('.finding:target') !== null");
    let command = tab.eval("document.querySelector('.finding:target .command code').textContent");
    assert!(command.as_str().unwrap().starts_with("keyward plan fix redis://"), "{command}");
    let owner = tab.eval("document.querySelector('.finding:target .meta').textContent");
    assert!(owner.as_str().unwrap().contains("written by identity"), "{owner}");
    assert_eq!(tab.errors(), [""; 0]);
}

#[test]
fn a_definition_of_unknown_keys_is_shown_and_copied() {
    let stage = Stage::new();
    for number in 0..20 {
        let key = format!("content:extra:{number}");
        stage.redis.command(&["SADD", &key, "a"]);
        stage.redis.command(&["EXPIRE", &key, "3000"]);
    }
    let tab = stage.visit("/unknown");
    let own = "[...document.querySelectorAll('#results tr')].find((it) => it.querySelector('.pattern')?.textContent === 'content:extra:<number>')";
    tab.wait(&format!("{own} !== undefined"));
    let expected = "[keys.content_extra]\npattern = \"content:extra:{extra_id:uint}\"\ntype = \"set\"\nttl = \"1h\"\n";
    assert_eq!(tab.eval(&format!("{own}.querySelector('details.toml pre').textContent")), expected);
    for (dark, width) in [(false, 1280), (true, 1280), (false, 390), (true, 390)] {
        tab.dark(dark);
        tab.screen(width, 844);
        tab.visit(&format!("{}/unknown", stage.url));
        tab.wait(&format!("{own}?.querySelector('details.toml .copy') != null"));
        let shown = format!("{own}.querySelector('details.toml pre').checkVisibility()");
        assert_eq!(tab.eval(&shown), false, "it is folded");
        tab.eval(&format!("{own}.querySelector('details.toml summary').focus()"));
        tab.press("Enter");
        tab.wait(&shown);
        assert_eq!(tab.overflow(), 0, "it is wider than {width} pixels");
        picture(&tab, &format!("unknown-toml-{width}-{}", if dark { "dark" } else { "light" }));
        tab.eval(&format!(
            "navigator.clipboard.writeText = async (text) => {{ window.copied = text; }};
            {own}.querySelector('details.toml .copy').click()"
        ));
        tab.wait("window.copied !== undefined");
        assert_eq!(tab.eval("window.copied"), expected);
        tab.wait(&format!("{own}.querySelector('details.toml .copy').textContent === 'copied'"));
        assert_eq!(tab.errors(), [""; 0]);
    }
    tab.scripts(false);
    tab.visit(&format!("{}/unknown", stage.url));
    let folded = format!("{own}.querySelector('details.toml pre').checkVisibility()");
    assert_eq!(tab.eval(&folded), false);
    tab.eval(&format!("{own}.querySelector('details.toml summary').click()"));
    tab.wait(&folded);
    assert_eq!(tab.eval(&format!("{own}.querySelector('.copy') === null")), true);
}

#[test]
fn what_is_not_there_is_said() {
    let stage = Stage::new();
    let tab = stage.visit("/definitions/media-gateway/nothing");
    assert_eq!(tab.eval("document.querySelector('h1').textContent"), "Not found");
    tab.visit(&format!("{}/s/nowhere", stage.root));
    assert_eq!(tab.eval("document.querySelector('h1').textContent"), "Not found");
}
