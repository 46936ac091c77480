//! Pages from entities, templates and bundles: rendered once, and again after a change.

use super::harness::{App, Client, exists, prefix, reference, server};
use super::reed_cms::{keys, values};
use keyward_testkit::{Answer, Flavor};
use serde_json::json;

#[test]
fn a_page_is_rendered_once_and_again_after_every_change() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let (ada, visitor) = (app.ada(), app.visitor());
        visitor.get("/about").is(404);
        let (page, hero) = about(&ada);
        let shown = || visitor.get("/about").is(200).text;
        let (first, second) = (shown(), shown());
        assert_eq!(first, second);
        for text in
            ["<h1>About us</h1>", "<p>Sch\u{f6}n, dass Sie da sind</p>", "<a href=\"/\">Home</a>"]
        {
            assert!(first.contains(text), "{text} is not in {first}");
        }
        assert!(!first.contains("not yet"), "a draft is not shown: {first}");
        let metrics = visitor.get("/metrics").is(200).text;
        let hits = "keyward_cache_hits_total{definition=\"page_cache\"} 1";
        assert!(metrics.contains(hits), "{hits} is not in\n{metrics}");

        // A view of its own for each language and theme, each removed by a change.
        let english = visitor.get("/about?locale=en_GB&theme=corporate.berlin").is(200).text;
        assert!(english.contains("<p>Glad that you are here</p>"), "{english}");
        assert!(english.contains("Welcome in Berlin"), "{english}");
        let cached =
            [cached("/about", "de_DE", "corporate"), cached("/about", "en_GB", "corporate.berlin")];
        assert!(cached.iter().all(|key| exists(&server, key)));
        let writing = json!({ "template": "hero-banner", "title": "<Hello>", "fields": {} });
        ada.put(&format!("/api/entities/{hero}"), writing).is(204);
        assert!(!cached.iter().any(|key| exists(&server, key)));
        assert!(shown().contains("<h2>&lt;Hello&gt;</h2>"));
        ada.settle(); // the word index has changed, so that pages are removed once more

        // Other changes: of a status, of the tree, of a place, of a name.
        ada.set_status(&hero, "draft");
        assert!(!shown().contains("Hello"));
        ada.set_status(&hero, "published");
        assert!(shown().contains("Hello"));
        ada.delete(&format!("/api/entities/{hero}/parent")).is(204);
        assert!(!shown().contains("Hello"));
        ada.delete("/api/places/nav.1").is(204);
        assert!(!shown().contains("<a href"));
        ada.delete("/api/names/page/about").is(204);
        visitor.get("/about").is(404);
        ada.name(&page, "news.about");
        visitor.get("/news/about").is(200);
        visitor.get("/news.about").is(404);
        visitor.get("//news/about").is(404);
        visitor.get("/news/about?locale=fr_FR").is(404);
        visitor.get("/news/about?theme=nowhere%20at%20all").is(422);
    }
}

#[test]
fn a_deployment_makes_pages_new_and_bundles_are_found_by_their_hash() {
    for flavor in Flavor::ALL {
        let server = server(flavor);
        let app = App::start(Some(&server));
        let (ada, visitor) = (app.ada(), app.visitor());
        about(&ada);
        let shown = || visitor.get("/about?theme=corporate.berlin").is(200);
        let first = shown();
        let compiled =
            keys::TemplateCache { name: name("hero-banner"), theme: theme("corporate.berlin") };
        assert!(exists(&server, &compiled.key(&prefix())));
        let deploy = |path: &str, source: &str| ada.put(path, json!({ "source": source }));
        deploy("/api/templates/corporate/hero-banner", "{{title").is(422);
        deploy("/api/templates/corporate/hero-banner", "{{bundle wasm}}").is(422);
        deploy("/api/templates/corporate.berlin/hero-banner", "<b>{{title}}</b>").is(204);
        assert!(!exists(&server, &compiled.key(&prefix())));
        assert!(shown().text.contains("<b>Welcome</b>"));

        let css = bundle(&first, "css");
        let styles = visitor.get(&css).is(200);
        assert_eq!(styles.header("content-type"), Some("text/css; charset=utf-8"));
        assert!(styles.text.contains("background: navy;\n") && styles.text.contains("crimson"));
        assert!(visitor.get(&bundle(&first, "js")).is(200).text.contains("querySelectorAll"));
        // What was evicted is made again; what no theme has is not found.
        let key = format!("reed:asset:bundle:css:{}", css.rsplit('/').next().unwrap());
        assert_eq!(server.command(&["DEL", &key]).integer(), 1);
        assert_eq!(visitor.get(&css).is(200).text, styles.text);
        visitor.get("/assets/css/00000000").is(404);
        visitor.get("/assets/wasm/00000000").is(422);
        // Another text has another path, and the old one is still there for old pages.
        deploy("/api/assets/corporate/css", "body { color: black; }").is(204);
        let after = bundle(&shown(), "css");
        assert_ne!(after, css);
        assert!(visitor.get(&after).is(200).text.contains("color: black"));
        visitor.get(&css).is(200);
    }
}

/// The page `/about` with a banner, a draft and a link in the navigation: page and banner.
pub(crate) fn about(ada: &Client<'_>) -> (String, String) {
    let page = ada.publish("page", "page", "About us", json!({}));
    let body =
        json!({ "body": "Sch\u{f6}n, dass Sie da sind", "body_en_GB": "Glad that you are here" });
    let hero = ada.publish("snippet", "hero-banner", "Welcome", body);
    let draft = ada.draft("snippet", "text", "not yet", json!({}));
    let link = ada.publish("link", "link", "Home", json!({ "href": "/" }));
    ada.attach(&hero, &page, 1).is(204);
    ada.attach(&draft, &page, 2).is(204);
    ada.put("/api/places/nav.1", reference(&link)).is(204);
    ada.name(&page, "about");
    ada.settle();
    (page, hero)
}

fn bundle(page: &Answer, kind: &str) -> String {
    let at = page.text.find(&format!("/assets/{kind}/")).unwrap();
    page.text[at..].split('"').next().unwrap().to_owned()
}

fn cached(path: &str, locale: &str, theme: &str) -> String {
    let path = values::PageCachePath::new(path).unwrap();
    let (locale, theme) =
        (values::Locale::new(locale).unwrap(), values::Theme::new(theme).unwrap());
    keys::PageCache::new(path, locale, theme).unwrap().key(&prefix())
}

fn name(name: &str) -> values::TemplateCacheName {
    values::TemplateCacheName::new(name).unwrap()
}

fn theme(theme: &str) -> values::Theme {
    values::Theme::new(theme).unwrap()
}
