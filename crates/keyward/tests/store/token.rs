//! Refresh tokens: exchanged once, answered again for a while, revoked when somebody else has one.

use super::cluster::store as cluster_store;
use super::on_all;
use futures_util::future::join_all;
use keyward::{Error, Store};
use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Reply, Server};
use std::collections::BTreeSet;
use std::time::Duration;

macro_rules! everywhere {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::super::$schema::{fields, keys, values};
            use super::*;
            use fields::Refresh;

            pub(super) fn token(hash: impl std::fmt::Display) -> keys::Refresh {
                keys::Refresh { token_hash: values::TokenHash::new(hash.to_string()).unwrap() }
            }

            pub(super) fn of(user: u64) -> Refresh {
                Refresh { user, used: None, issued: 1 }
            }

            fn issued(at: u64) -> [keyward::Change<Refresh>; 1] {
                [Refresh::ISSUED.to(&at)]
            }

            pub(super) async fn a_token_is_exchanged(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let (a, b, c) = (store.at(token("a")), store.at(token("b")), store.at(token("c")));
                assert!(a.issue(&of(1)).await.unwrap());
                assert!(!a.issue(&of(2)).await.unwrap());
                assert_eq!(a.get().await.unwrap(), Some(of(1)));
                assert!(a.remaining().await.unwrap().unwrap() > Duration::from_secs(29 * 86_400));
                ask(&["EXPIRE", a.name(), "1000"]);
                let done = a.refresh(&token("b"), issued(2)).await.unwrap().unwrap();
                assert!(!done.repeated);
                assert_eq!(done.successor, token("b"));
                assert_eq!((done.fields.user, done.fields.issued), (1, 2));
                let used = done.fields.used.expect("when the token before it was used");
                let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
                assert!(u128::from(used.get()).abs_diff(now) < 600_000);
                assert_eq!(a.get().await.unwrap(), None);
                assert!(!a.issue(&of(1)).await.unwrap(), "it was used");
                assert_eq!(b.get().await.unwrap(), Some(done.fields.clone()));
                assert!(b.remaining().await.unwrap().unwrap() > Duration::from_secs(29 * 86_400));
                let remembered = ask(&["PTTL", "sg:~token:{sg:refresh:a}"]).integer();
                assert!(
                    (1..=1_000_000).contains(&remembered),
                    "as long as the token would have lived"
                );

                // The client has not heard of it, and asks again: the same successor, whatever is proposed.
                for proposed in ["b", "other"] {
                    let again = a.refresh(&token(proposed), issued(3)).await.unwrap().unwrap();
                    assert!(again.repeated);
                    assert_eq!((again.successor, again.fields), (token("b"), done.fields.clone()));
                }
                assert_eq!(ask(&["EXISTS", "sg:refresh:other"]).integer(), 0);
                let taken = b.refresh(&token("b"), []).await.unwrap_err();
                assert!(matches!(taken, Error::Settings(_)), "{taken:?}");
                b.refresh(&token("c"), []).await.unwrap().unwrap();
                assert_eq!(
                    a.refresh(&token("b"), []).await.unwrap(),
                    None,
                    "its successor was used"
                );
                assert!(c.get().await.unwrap().is_some());
                assert_eq!(store.at(token("never")).refresh(&token("x"), []).await.unwrap(), None);

                // One that another program made without a TTL is remembered as long as its successor lives.
                ask(&["HSET", "sg:refresh:lasting", "user", "1", "issued", "1"]);
                let lasting = store.at(token("lasting"));
                assert!(lasting.refresh(&token("after"), []).await.unwrap().is_some());
                assert!(ask(&["PTTL", "sg:~token:{sg:refresh:lasting}"]).integer() > 86_400_000);
                assert!(lasting.refresh(&token("after"), []).await.unwrap().unwrap().repeated);

                // A hash that is taken is nobody's successor.
                assert!(store.at(token("busy")).issue(&of(9)).await.unwrap());
                for number in 0..4 {
                    let free = store.at(token(format!("free{number}")));
                    assert!(free.issue(&of(1)).await.unwrap());
                    let taken = free.refresh(&token("busy"), []).await.unwrap_err();
                    assert!(matches!(taken, Error::Settings(_)), "{taken:?}");
                    assert_eq!(free.get().await.unwrap(), Some(of(1)));
                }
                assert_eq!(store.at(token("busy")).get().await.unwrap(), Some(of(9)));
            }

            /// As if so many milliseconds had passed since a token was used.
            fn later(ask: &impl Fn(&[&str]) -> Reply, hash: &str) {
                let key = format!("sg:~token:{{sg:refresh:{hash}}}");
                let used: i64 = ask(&["HGET", &key, "used"]).text().parse().unwrap();
                ask(&["HSET", &key, "used", &(used - 11_000).to_string()]);
            }

            pub(super) async fn reuse_revokes_the_family(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                assert!(store.at(token("r0")).issue(&of(1)).await.unwrap());
                for number in 0..5 {
                    let (old, new) =
                        (token(format!("r{number}")), token(format!("r{}", number + 1)));
                    store.at(old).refresh(&new, []).await.unwrap().unwrap();
                }
                later(ask, "r2");
                assert!(store.at(token("r5")).get().await.unwrap().is_some());
                let reused = store.at(token("r2")).refresh(&token("thief"), []).await.unwrap_err();
                assert!(matches!(reused, Error::Reused { definition: "refresh" }), "{reused:?}");
                for number in 2..6 {
                    let token = store.at(token(format!("r{number}")));
                    assert_eq!(token.get().await.unwrap(), None);
                    let refused = token.refresh(&self::token("thief"), []).await.unwrap_err();
                    assert!(matches!(refused, Error::Revoked { .. }), "{refused:?}");
                }
                assert_eq!(ask(&["EXISTS", "sg:refresh:r5"]).integer(), 0);
                assert_eq!(ask(&["EXISTS", "sg:refresh:thief"]).integer(), 0);

                assert!(store.at(token("l0")).issue(&of(1)).await.unwrap());
                store.at(token("l0")).refresh(&token("l1"), []).await.unwrap().unwrap();
                store.at(token("l0")).revoke_family().await.unwrap();
                store.at(token("l0")).revoke_family().await.unwrap();
                assert_eq!(store.at(token("l1")).get().await.unwrap(), None);
                assert!(!store.at(token("l1")).issue(&of(1)).await.unwrap(), "it was revoked");
            }

            /// However many ask at once, there is one successor.
            pub(super) async fn there_is_one_successor(store: &Store) {
                for round in 0..20 {
                    let old = store.at(token(format!("o{round}")));
                    assert!(old.issue(&of(1)).await.unwrap());
                    let asking = (0..8).map(async |number| {
                        // Some propose the same, as a client that asks again does.
                        let proposed = token(format!("n{round}-{}", number / 2));
                        old.refresh(&proposed, []).await.unwrap().unwrap()
                    });
                    let answers = join_all(asking).await;
                    let names: BTreeSet<String> = answers
                        .iter()
                        .map(|it| it.successor.token_hash.as_str().to_owned())
                        .collect();
                    assert_eq!(names.len(), 1, "{names:?}");
                    for number in 0..4 {
                        let name = format!("n{round}-{number}");
                        let there = store.at(token(&name)).get().await.unwrap().is_some();
                        assert_eq!(there, names.contains(&name));
                    }
                }
            }

            /// Whoever revokes a family while it is exchanged leaves none of it.
            pub(super) async fn revoking_leaves_none(store: &Store) {
                for round in 0..20 {
                    let first = token(format!("f{round}-0"));
                    assert!(store.at(first.clone()).issue(&of(1)).await.unwrap());
                    let exchanging = async {
                        for number in 0..20 {
                            let old = token(format!("f{round}-{number}"));
                            let new = token(format!("f{round}-{}", number + 1));
                            match store.at(old).refresh(&new, []).await {
                                Ok(Some(_)) => {}
                                Ok(None) | Err(Error::Revoked { .. }) => break,
                                Err(error) => panic!("{error:?}"),
                            }
                        }
                    };
                    let revoking = async {
                        tokio::task::yield_now().await;
                        store.at(first).revoke_family().await.unwrap();
                    };
                    futures_util::future::join(exchanging, revoking).await;
                    for number in 0..=20 {
                        assert_eq!(
                            store.at(token(format!("f{round}-{number}"))).get().await.unwrap(),
                            None
                        );
                    }
                }
            }

            /// A process that ended between two steps leaves a successor that works as soon as the client asks again.
            pub(super) async fn asking_again_finishes_what_was_begun(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                assert!(store.at(token("p0")).issue(&of(1)).await.unwrap());
                store.at(token("p0")).refresh(&token("p1"), []).await.unwrap().unwrap();
                ask(&["HSET", "sg:~token:{sg:refresh:p1}", "pending", "refresh:p0"]);
                assert_eq!(store.at(token("p1")).get().await.unwrap(), None, "not yet");
                assert_eq!(store.at(token("p1")).refresh(&token("p2"), []).await.unwrap(), None);
                let again = store.at(token("p0")).refresh(&token("p1"), []).await.unwrap().unwrap();
                assert!(again.repeated);
                assert!(store.at(token("p1")).get().await.unwrap().is_some());
            }
        }
    };
}

everywhere!(single, signed);
everywhere!(many, signed_cluster);

#[tokio::test]
async fn refresh_tokens_on_a_server() {
    on_all(async |server: &Server, store: Store| {
        let ask = |args: &[&str]| server.command(args);
        single::a_token_is_exchanged(&store, &ask).await;
        single::reuse_revokes_the_family(&store, &ask).await;
        single::there_is_one_successor(&store).await;
        single::revoking_leaves_none(&store).await;
        single::asking_again_finishes_what_was_begun(&store, &ask).await;
    })
    .await;
}

#[tokio::test]
async fn refresh_tokens_on_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = cluster_store(&cluster).await;
        let ask = |args: &[&str]| cluster.primary_of(args[1]).command(args);
        many::a_token_is_exchanged(&store, &ask).await;
        many::reuse_revokes_the_family(&store, &ask).await;
        many::there_is_one_successor(&store).await;
        many::revoking_leaves_none(&store).await;
        many::asking_again_finishes_what_was_begun(&store, &ask).await;
    }
}

#[tokio::test]
async fn a_lost_answer_costs_no_login() {
    on_all(async |server: &Server, _store: Store| {
        let proxy = Proxy::new(server, Harm::Lose);
        let store = Store::builder(proxy.url()).response_timeout(Duration::from_secs(30));
        let store = store.connect_timeout(Duration::from_secs(30)).connect().await.unwrap();
        let (old, new) = (single::token("old"), single::token("new"));
        assert!(store.at(old.clone()).issue(&single::of(1)).await.unwrap());
        store.at(single::token("x")).refresh(&single::token("y"), []).await.unwrap();
        proxy.lose_the_answer_to("sg:refresh:new");
        let done = store.at(old).refresh(&new, []).await.unwrap().unwrap();
        assert_eq!(proxy.harmed(), 1);
        assert_eq!(done.successor, new);
        assert!(store.at(new.clone()).get().await.unwrap().is_some());

        // A full server revokes.
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        assert!(store.at(single::token("z")).issue(&single::of(1)).await.is_err());
        store.at(new.clone()).revoke_family().await.unwrap();
        assert_eq!(store.at(new).get().await.unwrap(), None);
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    })
    .await;
}
