//! The pictures of the book and of the README.

use crate::stage::{Stage, picture_of_screen, source};
use keyward_testkit::browser::Tab;
use keyward_testkit::{Flavor, repository, wait_until};
use std::fs;

/// `KEYWARD_SCREENSHOTS=docs/src/images cargo test -p keyward-serve --test pages pictures -- --ignored`, from the root
/// of the repository with its whole path.
#[test]
#[ignore = "it makes pictures, and asserts nothing"]
fn pictures() {
    let redis = Flavor::Redis.server().memory("16mb", "noeviction").start();
    let other = Flavor::Valkey.server().memory("64mb", "noeviction").start();
    for name in 0..40 {
        other.command(&["SET", &format!("bo:auth:mapping:cache:user{name}"), "7", "EX", "600"]);
    }
    other.command(&["SET", "BO:User:Mapping:ann", "7"]);
    // In English, since not every machine has the signs.
    let text = repository().join("examples/binary-options/keyward.toml");
    let text = fs::read_to_string(text).unwrap();
    let english = |line: &str| {
        let is_chinese = line.starts_with("doc = \"v2.0");
        let line = if is_chinese { "doc = \"v2.0: all names have five segments\"" } else { line };
        format!("{line}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let schema = folder.path().join("keyward.toml");
    fs::write(&schema, text.lines().map(english).collect::<String>()).unwrap();
    let stage = Stage::with(redis, |config| {
        config.servers.push(source("trading", &other, vec![schema]));
    });
    for number in 0..5 {
        stage.redis.command(&["RPUSH", "queue:job:thumbnail", &format!("{{\"id\":{number}}}")]);
    }
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
    tab.dark(true);
    tab.visit(&format!("{}?time=day", stage.url));
    picture_of_screen(&tab, "serve-overview-dark");
    tab.dark(false);
    tab.visit(&format!("{}/fleet", stage.root));
    picture_of_screen(&tab, "serve-fleet");
    tab.visit(&format!("{}/definitions/media-gateway/content_meta?time=day", stage.url));
    picture_of_screen(&tab, "serve-definition");
}

fn audits(tab: &Tab) -> u64 {
    let count = "fetch('/api/v1/servers/main/history').then((it) => it.json()).then((it) => it.audits.length)";
    tab.eval(count).as_u64().unwrap_or(0)
}
