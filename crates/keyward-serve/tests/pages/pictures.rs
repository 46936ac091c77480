//! The pictures of the book and of the README.

use crate::stage::{Stage, picture_of_screen};
use keyward_testkit::browser::Tab;
use keyward_testkit::{Flavor, wait_until};

/// `KEYWARD_SCREENSHOTS=docs/src/images cargo test -p keyward-serve --test pages pictures -- --ignored`, from the root
/// of the repository with its whole path.
#[test]
#[ignore = "it makes pictures, and asserts nothing"]
fn pictures() {
    let redis = Flavor::Redis.server().memory("16mb", "noeviction").start();
    let stage = Stage::with(redis, |_| {});
    let tab = stage.visit("");
    tab.dark(false);
    for step in 0..24 {
        for number in 0..40 + step % 5 * 10 {
            let key = format!("content:meta:tt9{step:02}{number:04}");
            let title = "A film ".repeat(number % 40 + 1);
            let fields = ["title", &title, "content_type", "movie", "release_date", "2024-05-01"];
            let more = ["popularity_score", "7.5", "genres", "[]", "platforms", "[]"];
            stage.redis.command(&[&["HSET", &key][..], &fields, &more].concat());
            stage.redis.command(&["EXPIRE", &key, "80000"]);
        }
        let before = audits(&tab);
        wait_until("there are more audits", || audits(&tab) > before + 1);
    }
    tab.screen(1280, 1180);
    tab.visit(&format!("{}?time=day", stage.url));
    picture_of_screen(&tab, "serve-overview");
    tab.visit(&format!("{}/definitions/media-gateway/content_meta?time=day", stage.url));
    picture_of_screen(&tab, "serve-definition");
}

fn audits(tab: &Tab) -> u64 {
    let count = "fetch('/api/v1/servers/main/history').then((it) => it.json()).then((it) => it.audits.length)";
    tab.eval(count).as_u64().unwrap_or(0)
}
