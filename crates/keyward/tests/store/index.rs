//! Indexes: members in sets, the sets of a member, and searches that miss nothing.

use super::cluster::store as cluster_store;
use super::on_all;
use futures_util::future::join_all;
use keyward::{Error, Store};
use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Reply, Server};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

macro_rules! everywhere {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::super::$schema::{keys, values};
            use super::*;

            pub(super) fn article(id: u64) -> keys::Article {
                keys::Article { kind: values::Kind::new("post").unwrap(), id }
            }

            pub(super) fn word(word: &str) -> keys::WordIndex {
                keys::WordIndex { word: values::Word::new(word).unwrap() }
            }

            fn words(words: &[&str]) -> Vec<keys::WordIndex> {
                words.iter().map(|it| word(it)).collect()
            }

            fn tag(tag: &str) -> keys::TagIndex {
                let group = values::Group::new("g").unwrap();
                keys::TagIndex { group, tag: values::Tag::new(tag).unwrap() }
            }

            fn ids(articles: Vec<keys::Article>) -> Vec<u64> {
                let ids: BTreeSet<u64> = articles.into_iter().map(|it| it.id).collect();
                ids.into_iter().collect()
            }

            fn texts(reply: Reply) -> Vec<String> {
                let texts: BTreeSet<String> = reply.array().into_iter().map(Reply::text).collect();
                texts.into_iter().collect()
            }

            pub(super) async fn members_are_found(store: &Store, ask: &impl Fn(&[&str]) -> Reply) {
                let index = store.index::<keys::WordIndex>();
                index.assign(&article(1), words(&["Modern", "welcome", "art"])).await.unwrap();
                index.assign(&article(2), words(&["modern", "art"])).await.unwrap();
                index.assign(&article(3), words(&["modern"])).await.unwrap();
                let all = index.all_of(words(&["modern", "art"])).await.unwrap();
                assert_eq!(ids(all), [1, 2]);
                assert_eq!(ids(index.any_of(words(&["welcome", "art"])).await.unwrap()), [1, 2]);
                assert!(index.all_of(words(&["modern", "nothing"])).await.unwrap().is_empty());
                assert!(index.all_of([]).await.unwrap().is_empty());
                assert_eq!(
                    texts(ask(&["SMEMBERS", "ix:article_words:1"])),
                    ["art", "modern", "welcome"]
                );
                assert_eq!(texts(ask(&["SMEMBERS", "ix:word:welcome"])), ["article:post:1"]);

                index.assign(&article(1), words(&["modern", "new"])).await.unwrap();
                assert!(index.all_of(words(&["welcome"])).await.unwrap().is_empty());
                assert_eq!(ids(store.at(word("modern")).get().await.unwrap()), [1, 2, 3]);
                assert_eq!(texts(ask(&["SMEMBERS", "ix:article_words:1"])), ["modern", "new"]);
                assert_eq!(ask(&["EXISTS", "ix:word:welcome"]).integer(), 0);

                store.at(word("new")).move_to(&article(1), &word("old")).await.unwrap();
                store.at(word("extra")).put(&article(1)).await.unwrap();
                store.at(word("modern")).remove(&article(1)).await.unwrap();
                assert_eq!(texts(ask(&["SMEMBERS", "ix:article_words:1"])), ["extra", "old"]);
                assert!(store.at(word("old")).contains(&article(1)).await.unwrap());
                assert!(!store.at(word("modern")).contains(&article(1)).await.unwrap());
                assert_eq!(store.at(word("modern")).len().await.unwrap(), 2);
                index.assign(&article(1), []).await.unwrap();
                assert_eq!(ask(&["EXISTS", "ix:article_words:1"]).integer(), 0);
                assert_eq!(ask(&["EXISTS", "ix:word:extra"]).integer(), 0);
                // What another program wrote into the reverse names no set, and goes.
                ask(&["SADD", "ix:article_words:2", ""]);
                index.assign(&article(2), words(&["art"])).await.unwrap();
                assert_eq!(texts(ask(&["SMEMBERS", "ix:article_words:2"])), ["art"]);
                for key in ["ix:~versions:{ix:article_words:2}"] {
                    assert!((1..=600_000).contains(&ask(&["PTTL", key]).integer()));
                }

                // Members that are ids, a reverse that holds keys, and TTLs.
                let tags = store.index::<keys::TagIndex>();
                tags.assign(&7, [tag("a"), tag("b")]).await.unwrap();
                assert_eq!(texts(ask(&["SMEMBERS", "ix:tags_of:7"])), ["tag:g:a", "tag:g:b"]);
                assert!(ask(&["PTTL", "ix:tag:g:a"]).integer() > 3_000_000);
                assert!(ask(&["PTTL", "ix:tags_of:7"]).integer() > 3_000_000);
                assert_eq!(tags.all_of([tag("a"), tag("b")]).await.unwrap(), [7]);

                // Without a reverse.
                let status =
                    |it: &str| keys::StatusIndex { status: values::Status::new(it).unwrap() };
                store.at(status("draft")).put(&article(1)).await.unwrap();
                store.at(status("draft")).move_to(&article(1), &status("live")).await.unwrap();
                assert_eq!(ask(&["EXISTS", "ix:status:draft"]).integer(), 0);
                assert_eq!(ids(store.at(status("live")).get().await.unwrap()), [1]);
            }

            pub(super) async fn a_full_set_takes_no_more(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let tags = store.index::<keys::TagIndex>();
                for id in 20..23 {
                    tags.assign(&id, [tag("full")]).await.unwrap();
                }
                tags.assign(&23, [tag("other")]).await.unwrap();
                let full = tags.assign(&23, [tag("full")]).await.unwrap_err();
                assert!(
                    matches!(full, Error::Full { definition: "tag_index", max_len: 3 }),
                    "{full:?}"
                );
                assert_eq!(
                    texts(ask(&["SMEMBERS", "ix:tags_of:23"])),
                    ["tag:g:other"],
                    "nothing half-written"
                );
                let many: Vec<String> = (0..51).map(|number| format!("w{number}")).collect();
                let many: Vec<&str> = many.iter().map(String::as_str).collect();
                let full = store
                    .index::<keys::WordIndex>()
                    .assign(&article(9), words(&many))
                    .await
                    .unwrap_err();
                assert!(
                    matches!(full, Error::Full { definition: "article_words", max_len: 50 }),
                    "{full:?}"
                );
                assert_eq!(ask(&["EXISTS", "ix:article_words:9"]).integer(), 0);
            }

            /// Whatever others do to the same member, a word that it always has finds it.
            pub(super) async fn no_search_misses(store: &Store, ask: &impl Fn(&[&str]) -> Reply) {
                let index = store.index::<keys::WordIndex>();
                index.assign(&article(50), words(&["always", "w0"])).await.unwrap();
                let done = AtomicBool::new(false);
                let writing = join_all((0..4).map(async |number| {
                    for round in 0..30 {
                        let other = format!("w{}", (number + round) % 5);
                        match round % 3 {
                            0 => index
                                .assign(&article(50), words(&["always", &other]))
                                .await
                                .unwrap(),
                            1 => store.at(word(&other)).put(&article(50)).await.unwrap(),
                            _ => store.at(word(&other)).remove(&article(50)).await.unwrap(),
                        }
                    }
                }));
                let writing = async {
                    writing.await;
                    done.store(true, Ordering::SeqCst);
                };
                let searching = async {
                    while !done.load(Ordering::SeqCst) {
                        assert_eq!(ids(index.all_of(words(&["always"])).await.unwrap()), [50]);
                    }
                };
                futures_util::future::join(writing, searching).await;
                index.assign(&article(50), words(&["always", "w1"])).await.unwrap();
                assert_eq!(texts(ask(&["SMEMBERS", "ix:article_words:50"])), ["always", "w1"]);
                for number in 0..5 {
                    let there =
                        store.at(word(&format!("w{number}"))).contains(&article(50)).await.unwrap();
                    assert_eq!(there, number == 1, "w{number}");
                }
            }

            pub(super) async fn a_rebuild_is_the_truth(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let index = store.index::<keys::WordIndex>();
                index.assign(&article(60), words(&["a", "b"])).await.unwrap();
                index.assign(&article(61), words(&["a"])).await.unwrap();
                index.assign(&article(62), words(&["gone"])).await.unwrap();
                // What a crash, an eviction and another program left.
                ask(&["SADD", "ix:word:wrong", "article:post:60"]);
                ask(&["SADD", "ix:word:wrong", "no article"]);
                ask(&["SREM", "ix:word:b", "article:post:60"]);
                ask(&["DEL", "ix:article_words:61"]);
                let truth = [(article(60), words(&["a", "b"])), (article(61), words(&["a", "c"]))];
                let done = index.rebuild().await.unwrap().from(truth.clone()).await.unwrap();
                assert_eq!((done.assigned, done.skipped), (2, 0), "{done:?}");
                assert_eq!(done.removed, 3, "{done:?}");
                assert_eq!(ids(store.at(word("b")).get().await.unwrap()), [60]);
                assert_eq!(ids(store.at(word("c")).get().await.unwrap()), [61]);
                assert_eq!(ask(&["EXISTS", "ix:word:wrong"]).integer(), 0);
                assert_eq!(ask(&["EXISTS", "ix:word:gone"]).integer(), 0);
                assert_eq!(ask(&["EXISTS", "ix:article_words:62"]).integer(), 0);
                let again = index.rebuild().await.unwrap().from(truth).await.unwrap();
                assert_eq!(again.removed, 0);
            }

            /// The truth may be older than what it finds.
            pub(super) async fn a_rebuild_spares_what_is_newer(store: &Store) {
                let index = store.index::<keys::WordIndex>();
                let sets = index.any_of(words(&["a", "b", "c"])).await.unwrap();
                assert_eq!(ids(sets), [60, 61]);
                index.assign(&article(70), words(&["old"])).await.unwrap();
                index.assign(&article(71), words(&["old"])).await.unwrap();
                let rebuild = index.rebuild().await.unwrap();
                let truth = [(article(70), words(&["old"])), (article(71), words(&["old"]))];
                index.assign(&article(70), words(&["new"])).await.unwrap();
                index.assign(&article(72), words(&["new"])).await.unwrap();
                let done = rebuild.from(truth).await.unwrap();
                assert_eq!((done.assigned, done.skipped), (1, 2), "{done:?}");
                // Those of the last truth are gone from all their sets.
                assert_eq!(done.removed, 4, "{done:?}");
                assert!(index.any_of(words(&["a", "b", "c"])).await.unwrap().is_empty());
                assert_eq!(ids(store.at(word("new")).get().await.unwrap()), [70, 72]);
                assert_eq!(ids(store.at(word("old")).get().await.unwrap()), [71]);
            }
        }
    };
}

everywhere!(single, indexed);
everywhere!(many, indexed_cluster);

#[tokio::test]
async fn indexes_on_a_server() {
    on_all(async |server: &Server, store: Store| {
        let ask = |args: &[&str]| server.command(args);
        single::members_are_found(&store, &ask).await;
        single::a_full_set_takes_no_more(&store, &ask).await;
        single::no_search_misses(&store, &ask).await;
        server.command(&["FLUSHALL"]);
        single::a_rebuild_is_the_truth(&store, &ask).await;
        single::a_rebuild_spares_what_is_newer(&store).await;
    })
    .await;
}

#[tokio::test]
async fn indexes_on_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = cluster_store(&cluster).await;
        let ask = |args: &[&str]| cluster.primary_of(args[1]).command(args);
        many::members_are_found(&store, &ask).await;
        many::a_full_set_takes_no_more(&store, &ask).await;
        many::no_search_misses(&store, &ask).await;
        for node in cluster.primaries() {
            node.command(&["FLUSHALL"]);
        }
        many::a_rebuild_is_the_truth(&store, &ask).await;
        many::a_rebuild_spares_what_is_newer(&store).await;
    }
}

#[tokio::test]
async fn a_change_that_a_crash_cut_off_is_finished_by_the_next() {
    use super::indexed_cluster::keys;
    let cluster = Cluster::start(Flavor::Redis);
    let store = cluster_store(&cluster).await;
    let ask = |args: &[&str]| cluster.primary_of(args[1]).command(args);
    let index = store.index::<keys::WordIndex>();
    index.assign(&many::article(1), [many::word("old")]).await.unwrap();
    // The reverse was written, and a set that gained: the process ended before another lost.
    ask(&["SADD", "ix:article_words:1", "new"]);
    ask(&["SADD", "ix:word:new", "article:post:1"]);
    index.assign(&many::article(1), [many::word("newer")]).await.unwrap();
    for (word, there) in [("old", 0), ("new", 0), ("newer", 1)] {
        let found = ask(&["SISMEMBER", &format!("ix:word:{word}"), "article:post:1"]).integer();
        assert_eq!(found, there, "{word}");
    }
    // A change that was planned before another, and comes after it, undoes nothing.
    let late = "1";
    ask(&["ZADD", "ix:~changes:{ix:word:newer}", "GT", late, "article:post:1"]);
    assert!(store.at(many::word("newer")).contains(&many::article(1)).await.unwrap());
}

#[tokio::test]
async fn a_change_that_meets_another_type_changes_nothing() {
    use single::{article, word};
    on_all(async |server: &Server, store: Store| {
        let index = store.index();
        index.assign(&article(1), [word("foo"), word("bar")]).await.unwrap();
        server.command(&["RENAME", "ix:word:bar", "aside"]);
        server.command(&["SET", "ix:word:bar", "not a set"]);
        let error = index.assign(&article(1), [word("baz")]).await.unwrap_err();
        assert!(matches!(error, Error::WrongType { .. }), "{error}");
        assert_eq!(server.command(&["EXISTS", "ix:word:baz"]).integer(), 0);
        assert_eq!(server.command(&["SCARD", "ix:article_words:1"]).integer(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_and_a_full_server_removes() {
    on_all(async |server: &Server, _store: Store| {
        use super::indexed::keys;
        let proxy = Proxy::new(server, Harm::Lose);
        let store = Store::builder(proxy.url()).response_timeout(Duration::from_secs(30));
        let store = store.connect_timeout(Duration::from_secs(30)).connect().await.unwrap();
        let index = store.index::<keys::WordIndex>();
        proxy.lose_the_answer_to("ix:word:a");
        index.assign(&single::article(1), [single::word("a")]).await.unwrap();
        proxy.lose_the_answer_to("ix:word:b");
        store.at(single::word("a")).move_to(&single::article(1), &single::word("b")).await.unwrap();
        assert_eq!(proxy.harmed(), 2);
        assert!(store.at(single::word("b")).contains(&single::article(1)).await.unwrap());

        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        let full = store.at(single::word("c")).put(&single::article(1)).await.unwrap_err();
        assert!(matches!(&full, Error::Refused { code, .. } if code == "OOM"), "{full:?}");
        index.assign(&single::article(1), []).await.unwrap();
        assert_eq!(server.command(&["EXISTS", "ix:word:b"]).integer(), 0);
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
        server.command(&["LPUSH", "ix:word:odd", "x"]);
        let wrong = store.at(single::word("odd")).put(&single::article(1)).await.unwrap_err();
        assert!(matches!(wrong, Error::WrongType { definition: "word_index" }), "{wrong:?}");
        assert_eq!(
            server.command(&["EXISTS", "ix:article_words:1"]).integer(),
            0,
            "nothing half-written"
        );
    })
    .await;
}
