//! Events find what a plan has brought: it is in their indexes.

use crate::bench::Bench;
use keyward::Store;
use std::collections::BTreeMap;

keyward::keyspace!("tests/plan/indexed.toml");

#[test]
fn an_event_finds_keys_that_a_plan_has_renamed() {
    let text = include_str!("indexed.toml");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for bench in Bench::all(text) {
        for path in ["a", "b"] {
            bench.redis(&["SET", &format!("Page:main:{path}"), "x", "EX", "600"]);
        }
        bench.redis(&["SET", "Page:other:a", "x", "EX", "600"]);
        let (from, to) = ("Page:{site}:{path}".to_owned(), "page".to_owned());
        let order = keyward_plan::Order::Rename { from, to, values: BTreeMap::new() };
        let plan = bench.plan_of(order).unwrap();
        assert!(bench.apply(&plan).unwrap().converged);
        runtime.block_on(async {
            let store = Store::builder(bench.url()).lazy().unwrap();
            let changed = indexed::events::SiteChanged { site: "main".parse().unwrap() };
            store.emit(changed).await.unwrap();
        });
        for gone in ["shop:page:main:a", "shop:page:main:b"] {
            assert_eq!(bench.redis(&["EXISTS", gone]).integer(), 0, "{gone}");
        }
        assert_eq!(bench.redis(&["EXISTS", "shop:page:other:a"]).integer(), 1);
    }
}
