//! Sessions: made, used, rotated, revoked, and listed by their users.

use super::cluster::store as cluster_store;
use super::{on_all, signed, signed_cluster};
use futures_util::future::{join, join_all};
use keyward::{Error, Store, Uuid};
use keyward_testkit::{Cluster, Flavor, Harm, Proxy, Reply, Server};
use std::time::Duration;

/// What holds on a server and on a cluster alike, by the schema for each.
macro_rules! everywhere {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::super::$schema::{fields, keys, values};
            use super::*;

            pub(super) fn login(user: u64) -> fields::Login {
                fields::Login { user, seen: None, cart: None }
            }

            pub(super) fn key(id: &str) -> keys::Login {
                keys::Login { session_id: values::SessionId::new(id).unwrap() }
            }

            fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
                items.sort();
                items
            }

            /// `ask` sends a command to the server that has the key.
            pub(super) async fn a_session_lives(store: &Store, ask: &impl Fn(&[&str]) -> Reply) {
                let sessions = store.sessions::<keys::Login>();
                let made = sessions.create(&login(1)).await.unwrap();
                assert_eq!(made.session_id.as_str().len(), 43, "256 bits as base64url");
                let session = store.at(made.clone());
                assert_eq!(session.get().await.unwrap(), Some(login(1)));
                assert!(!session.create(&login(2)).await.unwrap(), "it is there");
                assert_eq!(session.get().await.unwrap(), Some(login(1)));

                // Use starts the TTL again and notes when; reading does neither.
                ask(&["EXPIRE", session.name(), "100"]);
                session.get().await.unwrap();
                assert!(session.remaining().await.unwrap().unwrap() <= Duration::from_secs(100));
                assert!(session.touch().await.unwrap());
                assert!(session.remaining().await.unwrap().unwrap() > Duration::from_secs(3500));
                let seen = session.get_field(fields::Login::SEEN).await.unwrap().unwrap();
                let age = seen.to_system_time().unwrap().elapsed().unwrap_or_default();
                assert!(age < Duration::from_secs(600), "{seen} is not the server's time");
                ask(&["EXPIRE", session.name(), "100"]);
                assert!(session.update([fields::Login::CART.to(&"tea".to_owned())]).await.unwrap());
                assert!(session.remaining().await.unwrap().unwrap() > Duration::from_secs(3500));
                let cart = session.get_field(fields::Login::CART).await.unwrap();
                assert_eq!(cart.as_deref(), Some("tea"));

                // Whose it is decides where it is listed.
                let stolen = session.update([fields::Login::USER.to(&2)]).await.unwrap_err();
                assert!(stolen.to_string().contains("decides which index"), "{stolen}");

                let user = keys::Logins { user: 1 };
                let listed = sessions.list(&user).await.unwrap();
                assert_eq!(listed.len(), 1);
                assert_eq!(listed[0].0, made);
                assert_eq!(
                    ask(&["SMEMBERS", "sg:logins:1"]).array().remove(0).text(),
                    made.session_id.as_str()
                );
            }

            /// However often it is used, a session ends.
            pub(super) async fn a_session_ends(store: &Store, ask: &impl Fn(&[&str]) -> Reply) {
                let session = store.at(key("ends"));
                assert!(session.create(&login(7)).await.unwrap());
                let until = "sg:~until:{sg:login:ends}";
                let left: i64 = ask(&["PTTL", until]).integer();
                assert!((86_000_000..=86_400_000).contains(&left), "{left}");
                let end: i64 = ask(&["GET", until]).text().parse().unwrap();
                // Ten minutes before its end.
                let soon = (end - left + 600_000).to_string();
                ask(&["SET", until, &soon, "KEEPTTL"]);
                assert!(session.touch().await.unwrap());
                assert!(session.remaining().await.unwrap().unwrap() <= Duration::from_secs(600));
                let new = session.rotate().await.unwrap().unwrap();
                let until = format!("sg:~until:{{sg:login:{}}}", new.session_id.as_str());
                assert_eq!(ask(&["GET", &until]).text(), soon, "the end goes with it");
                assert!(ask(&["PTTL", &until]).integer() > 0);
                let new = store.at(new);
                assert!(new.touch().await.unwrap());
                assert!(new.remaining().await.unwrap().unwrap() <= Duration::from_secs(600));
                // One that another program made has no end that is known: its TTL runs out.
                ask(&["HSET", "sg:login:foreign", "user", "7"]);
                ask(&["EXPIRE", "sg:login:foreign", "100"]);
                let foreign = store.at(key("foreign"));
                assert!(foreign.touch().await.unwrap());
                assert!(foreign.remaining().await.unwrap().unwrap() <= Duration::from_secs(100));
            }

            pub(super) async fn what_is_revoked_stays_revoked(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let sessions = store.sessions::<keys::Login>();
                let session = store.at(key("thief"));
                assert!(session.create(&login(3)).await.unwrap());
                assert!(session.revoke().await.unwrap());
                assert!(!session.revoke().await.unwrap(), "it was already");
                // A tombstone holds, whatever stands beside it.
                ask(&["HSET", "sg:login:thief", "user", "3"]);
                assert!(!session.revoke().await.unwrap(), "it was not live");
                assert_eq!(session.get().await.unwrap(), None);
                assert!(!session.touch().await.unwrap());
                assert_eq!(session.rotate().await.unwrap(), None);
                let again = session.create(&login(3)).await.unwrap_err();
                assert!(matches!(again, Error::Revoked { definition: "login" }), "{again:?}");
                assert_eq!(
                    ask(&["EXISTS", "sg:logins:3"]).integer(),
                    0,
                    "it is not listed any more"
                );
                assert_eq!(ask(&["EXISTS", "sg:~ends:{sg:logins:3}"]).integer(), 0);
                // Other programs are told, as the convention says.
                let said = ask(&["GET", "sg:logged_out:thief"]).text();
                let said: keyward::Timestamp = said.parse().unwrap();
                assert!(
                    said.to_system_time().unwrap().elapsed().unwrap_or_default()
                        < Duration::from_secs(600)
                );
                assert!(ask(&["PTTL", "sg:logged_out:thief"]).integer() > 86_000_000);
                assert!(ask(&["PTTL", "sg:~revoked:{sg:login:thief}"]).integer() > 86_000_000);

                // And they can revoke.
                let theirs = store.at(key("theirs"));
                assert!(theirs.create(&login(3)).await.unwrap());
                ask(&["SET", "sg:logged_out:theirs", "2026-11-16T08:00:00Z"]);
                assert_eq!(theirs.get().await.unwrap(), None);
                assert!(!theirs.touch().await.unwrap());
                assert_eq!(theirs.rotate().await.unwrap(), None);
                ask(&["DEL", "sg:login:theirs"]);
                let again = theirs.create(&login(3)).await.unwrap_err();
                assert!(matches!(again, Error::Revoked { .. }), "{again:?}");

                // Even where something else stands.
                ask(&["LPUSH", "sg:login:odd", "x"]);
                assert!(matches!(
                    store.at(key("odd")).get().await,
                    Err(Error::WrongType { definition: "login" })
                ));
                store.at(key("odd")).revoke().await.unwrap();
                assert_eq!(ask(&["EXISTS", "sg:login:odd"]).integer(), 0);

                for _ in 0..3 {
                    sessions.create(&login(4)).await.unwrap();
                }
                let stays = sessions.create(&login(5)).await.unwrap();
                assert_eq!(sessions.revoke_all(&keys::Logins { user: 4 }).await.unwrap(), 3);
                assert_eq!(sessions.revoke_all(&keys::Logins { user: 4 }).await.unwrap(), 0);
                assert!(sessions.list(&keys::Logins { user: 4 }).await.unwrap().is_empty());
                assert!(store.at(stays).get().await.unwrap().is_some());
            }

            pub(super) async fn a_session_gets_another_id(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let sessions = store.sessions::<keys::Login>();
                for number in 0..20 {
                    let old = sessions.create(&login(6)).await.unwrap();
                    store
                        .at(old.clone())
                        .update([fields::Login::CART.to(&"tea".to_owned())])
                        .await
                        .unwrap();
                    ask(&["EXPIRE", store.at(old.clone()).name(), "1000"]);
                    let new = store.at(old.clone()).rotate().await.unwrap().unwrap();
                    assert_ne!(old, new);
                    let session = store.at(new.clone());
                    let held = session.get().await.unwrap().unwrap();
                    assert_eq!(held.cart.as_deref(), Some("tea"));
                    assert!(
                        session.remaining().await.unwrap().unwrap() <= Duration::from_secs(1000)
                    );
                    assert_eq!(store.at(old.clone()).get().await.unwrap(), None);
                    assert_eq!(store.at(old.clone()).rotate().await.unwrap(), None);
                    assert!(store.at(old).create(&login(6)).await.is_err());
                    let listed = sessions.list(&keys::Logins { user: 6 }).await.unwrap();
                    assert_eq!(listed.len(), number + 1);
                    assert!(listed.iter().any(|(key, _)| *key == new));
                    assert_eq!(
                        ask(&["SCARD", "sg:logins:6"]).integer(),
                        i64::try_from(listed.len()).unwrap()
                    );
                }
                assert_eq!(sessions.revoke_all(&keys::Logins { user: 6 }).await.unwrap(), 20);
            }

            /// Other shapes: a string, several parameters, a sorted set of keys; and all in one slot.
            pub(super) async fn sessions_have_many_shapes(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let visit_id: Uuid = keyward::random_id().unwrap();
                let key = keys::Visit { user: 1, visit_id };
                let visit = store.at(key.clone());
                assert!(visit.create(&"a".to_owned()).await.unwrap());
                assert!(visit.replace(&"b".to_owned()).await.unwrap());
                ask(&["EXPIRE", visit.name(), "100"]);
                assert_eq!(visit.get().await.unwrap().as_deref(), Some("b"), "reading renews it");
                assert!(visit.remaining().await.unwrap().unwrap() > Duration::from_secs(500));
                let index = keys::Visits { user: 1 };
                let visits = store.sessions::<keys::Visit>();
                assert_eq!(visits.list(&index).await.unwrap(), [(key, "b".to_owned())]);
                let score: f64 = ask(&["ZSCORE", "sg:visits:1", &format!("visit:1:{visit_id}")])
                    .text()
                    .parse()
                    .unwrap();
                let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
                assert!((score - now - 7200.0).abs() < 600.0, "{score}");
                let new = visit.rotate().await.unwrap().unwrap();
                assert_eq!(new.user, 1);
                assert_eq!(ask(&["ZCARD", "sg:visits:1"]).integer(), 1);
                assert_eq!(visits.revoke_all(&index).await.unwrap(), 1);
                assert_eq!(ask(&["GET", &format!("sg:left:{}", new.visit_id)]).text(), "left");
                // The id is one of two parameters: whoever makes one gives both.
                let refused = visits.create(&"a".to_owned()).await.unwrap_err();
                assert!(matches!(refused, Error::Settings(_)), "{refused:?}");

                let seat = |id: &str| keys::Seat {
                    user: 1,
                    session_id: values::SessionId::new(id).unwrap(),
                };
                let row = fields::Seat { row: 7 };
                assert!(store.at(seat("a")).create(&row).await.unwrap());
                ask(&["EXPIRE", "sg:seat:{1}:a", "100"]);
                assert!(store.at(seat("a")).touch().await.unwrap());
                let left = store.at(seat("a")).remaining().await.unwrap().unwrap();
                assert!(left <= Duration::from_secs(100), "without `max_age` nothing restarts");
                let new = store.at(seat("a")).rotate().await.unwrap().unwrap();
                let seats = store.sessions::<keys::Seat>();
                let listed = seats.list(&keys::Seats { user: 1 }).await.unwrap();
                assert_eq!(listed, [(new, row)]);
                assert_eq!(seats.revoke_all(&keys::Seats { user: 1 }).await.unwrap(), 1);
            }

            /// The time of use in seconds and in milliseconds, and a field that ends before its session.
            pub(super) async fn fields_hold_times_and_end(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let id = || values::SessionId::new("x").unwrap();
                let tap = store.at(keys::Tap { session_id: id() });
                let code = Some("1234".to_owned());
                assert!(tap.create(&fields::Tap { seen: None, code }).await.unwrap());
                let knock = store.at(keys::Knock { session_id: id() });
                assert!(knock.create(&fields::Knock { user: 1, seen: None }).await.unwrap());
                assert!(tap.touch().await.unwrap() && knock.touch().await.unwrap());
                let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
                for (key, unit) in [("sg:tap:x", 1.0), ("sg:knock:x", 1000.0)] {
                    let seen: f64 = ask(&["HGET", key, "seen"]).text().parse().unwrap();
                    assert!((seen / unit - now).abs() < 600.0, "{key}: {seen}");
                }
                // Redis 7.0 has no TTLs of fields.
                if ask(&["INFO", "server"]).text().contains("valkey_version") {
                    let left = ask(&["HPTTL", "sg:tap:x", "FIELDS", "1", "code"]);
                    assert!(left.array().remove(0).integer() > 200_000);
                }
            }

            /// What an index lists comes to an end, whoever listed it.
            pub(super) async fn an_index_does_not_leak(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let sessions = store.sessions::<keys::Login>();
                let (user, index, ends) =
                    (keys::Logins { user: 8 }, "sg:logins:8", "sg:~ends:{sg:logins:8}");
                let gone = sessions.create(&login(8)).await.unwrap();
                let lives = sessions.create(&login(8)).await.unwrap();
                // Its time is over.
                ask(&["DEL", store.at(gone.clone()).name()]);
                ask(&["ZADD", ends, "1", gone.session_id.as_str()]);
                // Another program has listed one that does not exist.
                ask(&["SADD", index, "nobody"]);
                let listed = sessions.list(&user).await.unwrap();
                assert_eq!(listed.len(), 1);
                assert_eq!(listed[0].0, lives);
                let members = |key: &str| {
                    let all = if key == index {
                        ask(&["SMEMBERS", key])
                    } else {
                        ask(&["ZRANGE", key, "0", "-1"])
                    };
                    sorted(all.array().into_iter().map(Reply::text).collect::<Vec<_>>())
                };
                let mut left = vec!["nobody".to_owned(), lives.session_id.as_str().to_owned()];
                left.sort();
                assert_eq!(members(index), left);
                assert_eq!(members(ends), left, "it gets an end too");
                assert!(ask(&["PTTL", index]).integer() > 0 && ask(&["PTTL", ends]).integer() > 0);
                // Making one prunes as well.
                ask(&["ZADD", ends, "1", "nobody"]);
                sessions.create(&login(8)).await.unwrap();
                assert!(!members(index).contains(&"nobody".to_owned()));
                assert!(!members(ends).contains(&"nobody".to_owned()));
                assert_eq!(sessions.revoke_all(&user).await.unwrap(), 2);
                assert_eq!(ask(&["EXISTS", index]).integer() + ask(&["EXISTS", ends]).integer(), 0);
                // Of an index that another program made, the ends end with it.
                ask(&["SADD", index, "nobody"]);
                ask(&["EXPIRE", index, "1000"]);
                assert!(sessions.list(&user).await.unwrap().is_empty());
                assert!((1..=1_000_000).contains(&ask(&["PTTL", ends]).integer()));
                ask(&["DEL", index]);
                ask(&["DEL", ends]);
                // What is no id is dropped with the rest.
                ask(&["SADD", index, "not an id"]);
                assert_eq!(sessions.revoke_all(&user).await.unwrap(), 0);
                assert_eq!(ask(&["EXISTS", index]).integer(), 0);

                for _ in 0..50 {
                    sessions.create(&login(8)).await.unwrap();
                }
                let full = sessions.create(&login(8)).await.unwrap_err();
                assert!(
                    matches!(full, Error::Full { definition: "logins", max_len: 50 }),
                    "{full:?}"
                );
                let one = sessions.list(&user).await.unwrap().remove(0).0;
                assert!(store.at(one).rotate().await.unwrap().is_some(), "as many as before");
                assert_eq!(sessions.revoke_all(&user).await.unwrap(), 50);
            }

            /// A session that cannot be read hides no other, and is revoked with them.
            pub(super) async fn one_that_cannot_be_read_hides_no_other(
                store: &Store,
                ask: &impl Fn(&[&str]) -> Reply,
            ) {
                let sessions = store.sessions::<keys::Login>();
                let user = keys::Logins { user: 9 };
                let good = sessions.create(&login(9)).await.unwrap();
                let odd = sessions.create(&login(9)).await.unwrap();
                let text = sessions.create(&login(9)).await.unwrap();
                ask(&["HSET", store.at(odd.clone()).name(), "user", "not a number"]);
                ask(&["DEL", store.at(text.clone()).name()]);
                ask(&["SET", store.at(text.clone()).name(), "not a hash"]);
                let listed = sessions.list(&user).await.unwrap();
                assert_eq!(listed.iter().map(|(key, _)| key).collect::<Vec<_>>(), [&good]);
                let each = sessions.list_each(&user).await.unwrap();
                assert_eq!(each.len(), 3);
                for (key, value) in each {
                    match value {
                        Ok(_) => assert_eq!(key, good),
                        Err(Error::Malformed { definition: "login", .. }) => assert_eq!(key, odd),
                        Err(Error::WrongType { definition: "login" }) => assert_eq!(key, text),
                        Err(error) => panic!("{error}"),
                    }
                }
                ask(&["DEL", store.at(text).name()]);
                sessions.revoke_all(&user).await.unwrap();
                assert!(sessions.list_each(&user).await.unwrap().is_empty());
            }

            /// While everybody rotates and logs in, a user logs out everywhere: nothing is left.
            pub(super) async fn revoking_all_leaves_none(store: &Store) {
                let sessions = store.sessions::<keys::Login>();
                let user = keys::Logins { user: 9 };
                for _ in 0..12 {
                    let mut first = Vec::new();
                    for _ in 0..4 {
                        first.push(sessions.create(&login(9)).await.unwrap());
                    }
                    let rotating = join_all(first.into_iter().map(async |mut key| {
                        let mut all = vec![key.clone()];
                        for _ in 0..20 {
                            match store.at(key.clone()).rotate().await {
                                Ok(Some(new)) => key = new,
                                Ok(None) | Err(Error::Revoked { .. }) => break,
                                Err(error) => panic!("{error:?}"),
                            }
                            all.push(key.clone());
                        }
                        all
                    }));
                    let revoking = async {
                        tokio::task::yield_now().await;
                        sessions.revoke_all(&user).await.unwrap()
                    };
                    let (rotated, _) = join(rotating, revoking).await;
                    // Those who were still rotating after it had returned found nothing.
                    for key in rotated.into_iter().flatten() {
                        assert_eq!(store.at(key).get().await.unwrap(), None);
                    }
                    assert!(sessions.list(&user).await.unwrap().is_empty());
                }
            }
        }
    };
}

everywhere!(single, signed);
everywhere!(many, signed_cluster);

#[tokio::test]
async fn sessions_on_a_server() {
    on_all(async |server: &Server, store: Store| {
        let ask = |args: &[&str]| server.command(args);
        single::a_session_lives(&store, &ask).await;
        single::a_session_ends(&store, &ask).await;
        single::what_is_revoked_stays_revoked(&store, &ask).await;
        single::a_session_gets_another_id(&store, &ask).await;
        single::sessions_have_many_shapes(&store, &ask).await;
        single::an_index_does_not_leak(&store, &ask).await;
        single::one_that_cannot_be_read_hides_no_other(&store, &ask).await;
        single::fields_hold_times_and_end(&store, &ask).await;
    })
    .await;
}

#[tokio::test]
async fn sessions_on_a_cluster() {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let cluster = Cluster::start(flavor);
        let store = cluster_store(&cluster).await;
        let ask = |args: &[&str]| cluster.primary_of(args[1]).command(args);
        many::a_session_lives(&store, &ask).await;
        many::a_session_ends(&store, &ask).await;
        many::what_is_revoked_stays_revoked(&store, &ask).await;
        many::a_session_gets_another_id(&store, &ask).await;
        many::sessions_have_many_shapes(&store, &ask).await;
        many::an_index_does_not_leak(&store, &ask).await;
        many::one_that_cannot_be_read_hides_no_other(&store, &ask).await;
        many::fields_hold_times_and_end(&store, &ask).await;
    }
}

/// A script that was run by its hash: the hash, and all keys and arguments.
struct Ran {
    hash: String,
    keys: Vec<String>,
    args: Vec<String>,
}

/// What servers ran by a hash, with so many keys and arguments.
fn ran(servers: &[&Server], keys: usize, args: usize) -> Vec<Ran> {
    let mut all = Vec::new();
    for server in servers {
        for entry in server.command(&["SLOWLOG", "GET", "-1"]).array() {
            let words = entry.array().remove(3).array().into_iter().map(|word| match word {
                Reply::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                other => panic!("{other:?} is not a word"),
            });
            let words: Vec<String> = words.collect();
            if words[0] == "EVALSHA"
                && words[2] == keys.to_string()
                && words.len() == 3 + keys + args
            {
                let (hash, rest) = (words[1].clone(), &words[3..]);
                all.push(Ran { hash, keys: rest[..keys].to_vec(), args: rest[keys..].to_vec() });
            }
        }
    }
    all
}

fn keep_all_commands(server: &Server) {
    server.command(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    server.command(&["CONFIG", "SET", "slowlog-max-len", "100000"]);
}

/// What may change between what a rotation has read and the script that relies on it.
#[tokio::test]
async fn a_session_that_changed_meanwhile_is_not_rotated() {
    on_all(async |server: &Server, store: Store| {
        use single::{key, login};
        keep_all_commands(server);
        for id in ["first", "second"] {
            assert!(store.at(key(id)).create(&login(1)).await.unwrap());
            assert!(store.at(key(id)).rotate().await.unwrap().is_some());
        }
        let rotation = ran(&[server], 9, 8).into_iter().find(|it| it.keys[0].ends_with("second"));
        let rotation = rotation.expect("the second rotation is run by its hash");
        let rotate = |id: &str| {
            let mut call = vec!["EVALSHA".to_owned(), rotation.hash.clone(), "9".to_owned()];
            call.extend(rotation.keys.iter().enumerate().map(|(at, key)| match at {
                3..6 => format!("{key}-{id}"),
                _ => key.replace("second", id),
            }));
            call.extend(rotation.args.iter().map(|arg| arg.replace("second", id)));
            server.command(&call).integer()
        };
        let make = async |id: &str| {
            assert!(store.at(key(id)).create(&login(1)).await.unwrap());
        };
        make("revoked").await;
        server.command(&["SET", "sg:~revoked:{sg:login:revoked}", "revoked"]);
        assert_eq!(rotate("revoked"), 0);
        make("theirs").await;
        server.command(&["SET", "sg:logged_out:theirs", "2026-11-16T08:00:00Z"]);
        assert_eq!(rotate("theirs"), 0);
        make("given").await;
        server.command(&["HSET", "sg:login:given", "user", "2"]);
        assert_eq!(rotate("given"), -1);
        assert_eq!(rotate("gone"), 0);
        make("same").await;
        assert_eq!(rotate("same"), 1);
    })
    .await;
}

/// The same where a session moves step by step.
#[tokio::test]
async fn a_session_that_changed_meanwhile_is_not_moved() {
    let cluster = Cluster::start(Flavor::Redis);
    cluster.nodes().iter().for_each(keep_all_commands);
    let store = cluster_store(&cluster).await;
    let mut key = many::key("first");
    assert!(store.at(key.clone()).create(&many::login(1)).await.unwrap());
    // Every server has run every script.
    for _ in 0..40 {
        key = store.at(key).rotate().await.unwrap().unwrap();
    }
    let servers: Vec<&Server> = cluster.nodes().iter().collect();
    let is_pending = |ran: &Ran| ran.args[0].starts_with("pending ");
    let hash_of = |keys, args, pending| {
        let mut all = ran(&servers, keys, args).into_iter();
        all.find(|it| is_pending(it) == pending).expect("it was run by its hash").hash
    };
    let [arrive, leave, settle] =
        [(3, 4, true), (3, 2, false), (1, 1, true)].map(|(keys, args, it)| hash_of(keys, args, it));
    let name = store.at(key.clone()).name().to_owned();
    let home = cluster.primary_of(&name);
    let Reply::Bytes(copy) = home.command(&["DUMP", &name]) else { panic!("it is there") };
    let call = |hash: &str, keys: &[&str], args: &[&[u8]]| {
        let count = keys.len().to_string();
        let head = ["EVALSHA", hash, &count].map(str::as_bytes);
        let named = keys.iter().map(|key| key.as_bytes());
        let words: Vec<&[u8]> = head.into_iter().chain(named).chain(args.iter().copied()).collect();
        cluster.primary_of(keys[0]).command(&words).integer()
    };

    // Whoever revokes all sessions has found the new id in the index.
    let [new, tombstone, until] =
        ["sg:login:new", "sg:~revoked:{sg:login:new}", "sg:~until:{sg:login:new}"];
    let there = cluster.primary_of(new);
    there.command(&["SET", tombstone, "revoked"]);
    let arriving: [&[u8]; 4] = [b"pending x", &copy, b"60000", b""];
    assert_eq!(call(&arrive, &[new, tombstone, until], &arriving), 0);
    assert_eq!(there.command(&["EXISTS", new]).integer(), 0);
    assert_eq!(call(&settle, &[tombstone], &[b"pending x"]), 0);
    assert_eq!(there.command(&["GET", tombstone]).text(), "revoked");

    // Somebody changes the session, and revokes it.
    let [tombstone, until] = ["revoked", "until"].map(|word| format!("sg:~{word}:{{{name}}}"));
    let own = [name.as_str(), &tombstone, &until];
    assert!(
        store
            .at(key)
            .update([signed_cluster::fields::Login::CART.to(&"tea".to_owned())])
            .await
            .unwrap()
    );
    assert_eq!(call(&leave, &own, &[&copy, b"60000"]), -1);
    let Reply::Bytes(copy) = home.command(&["DUMP", &name]) else { panic!("it is there") };
    home.command(&["SET", &tombstone, "revoked"]);
    assert_eq!(call(&leave, &own, &[&copy, b"60000"]), 0);
    assert_eq!(home.command(&["EXISTS", &name]).integer(), 1, "it is not touched");
}

#[tokio::test]
async fn no_rotation_escapes_whoever_logs_out_everywhere() {
    on_all(async |_server: &Server, store: Store| single::revoking_all_leaves_none(&store).await)
        .await;
    let cluster = Cluster::start(Flavor::Valkey);
    many::revoking_all_leaves_none(&cluster_store(&cluster).await).await;
}

#[tokio::test]
async fn a_full_server_makes_no_session_and_revokes() {
    on_all(async |server: &Server, store: Store| {
        use signed::keys;
        let sessions = store.sessions::<keys::Login>();
        for _ in 0..3 {
            sessions.create(&single::login(1)).await.unwrap();
        }
        let one = sessions.create(&single::login(1)).await.unwrap();
        server.command(&["CONFIG", "SET", "maxmemory", "1"]);
        server.command(&["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
        let full = sessions.create(&single::login(1)).await.unwrap_err();
        assert!(matches!(&full, Error::Refused { code, .. } if code == "OOM"), "{full:?}");
        assert!(store.at(one.clone()).revoke().await.unwrap());
        assert_eq!(store.at(one).get().await.unwrap(), None);
        assert_eq!(sessions.revoke_all(&keys::Logins { user: 1 }).await.unwrap(), 3);
        server.command(&["CONFIG", "SET", "maxmemory", "0"]);
    })
    .await;
}

#[tokio::test]
async fn a_rotation_that_cannot_be_listed_changes_nothing() {
    use single::{key, login};
    on_all(async |server: &Server, store: Store| {
        let session = store.at(key("one"));
        assert!(session.create(&login(1)).await.unwrap());
        let index = "sg:logins:1";
        server.command(&["RENAME", index, "aside"]);
        server.command(&["SET", index, "not a set"]);
        let error = session.rotate().await.unwrap_err();
        assert!(matches!(error, Error::WrongType { .. }), "{error}");
        assert_eq!(session.get().await.unwrap(), Some(login(1)));
        assert_eq!(server.command(&["KEYS", "*login:*"]).array().len(), 2, "it and its end");
    })
    .await;
}

#[tokio::test]
async fn a_session_is_refused_where_its_revocation_cannot_be_asked() {
    let server = Server::redis();
    let store = Store::builder(server.url())
        .response_timeout(Duration::from_millis(300))
        .connect()
        .await
        .unwrap();
    let session = store.at(single::key("a"));
    assert!(session.create(&single::login(1)).await.unwrap());
    server.kill();
    assert!(session.get().await.unwrap_err().is_unavailable());
    assert!(session.touch().await.unwrap_err().is_unavailable());

    // On a cluster the key that other programs revoke by is elsewhere.
    let cluster = Cluster::start(Flavor::Redis);
    let store = cluster_store(&cluster).await;
    let names = (0..100).map(|number| format!("s{number}"));
    let far = |id: &String| {
        let slot = |key: String| usize::from(keyward::slot(key.as_bytes())) * 3 / 16_384;
        slot(format!("sg:login:{id}")) != slot(format!("sg:logged_out:{id}"))
    };
    let id = names.into_iter().find(far).unwrap();
    let session = store.at(many::key(&id));
    assert!(session.create(&many::login(1)).await.unwrap());
    assert!(session.get().await.unwrap().is_some());
    cluster.primary_of(format!("sg:logged_out:{id}")).pause();
    assert!(session.get().await.is_err());
    assert!(session.touch().await.is_err());
}

#[tokio::test]
async fn a_script_that_was_forgotten_is_sent_again() {
    on_all(async |server: &Server, store: Store| {
        let session = store.at(single::key("a"));
        assert!(session.create(&single::login(1)).await.unwrap());
        server.command(&["SCRIPT", "FLUSH"]);
        assert!(session.get().await.unwrap().is_some());
        server.command(&["SCRIPT", "FLUSH"]);
        assert!(session.revoke().await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_lost_answer_leaves_no_session_that_works_and_is_not_listed() {
    on_all(async |server: &Server, _store: Store| {
        use signed::{fields, keys};
        let proxy = Proxy::new(server, Harm::Lose);
        let store = Store::builder(proxy.url()).response_timeout(Duration::from_secs(30));
        let store = store.connect_timeout(Duration::from_secs(30)).connect().await.unwrap();
        let sessions = store.sessions::<keys::Login>();
        let user = keys::Logins { user: 1 };
        // A random id is nobody else's: the call is repeated.
        proxy.lose_the_answer_to("sg:logins:1");
        let made = sessions.create(&single::login(1)).await.unwrap();
        assert_eq!(sessions.list(&user).await.unwrap().len(), 1);
        // One that was given may be another's.
        proxy.lose_the_answer_to("sg:login:given");
        let given = store.at(single::key("given"));
        assert!(matches!(given.create(&single::login(1)).await, Err(Error::Unknown(_))));
        proxy.lose_the_answer_to("sg:login:given");
        let changed = given.update([fields::Login::CART.to(&"tea".to_owned())]).await;
        assert!(matches!(changed, Err(Error::Unknown(_))), "{changed:?}");
        // Revoking twice is revoking.
        proxy.lose_the_answer_to("sg:~revoked:{sg:login:given}");
        given.revoke().await.unwrap();
        assert_eq!(given.get().await.unwrap(), None);
        // A rotation may have happened: then the old id is refused, and the new one is listed.
        let old = store.at(store.at(made).rotate().await.unwrap().unwrap());
        proxy.lose_the_answer_to("sg:logins:1");
        let lost = old.rotate().await;
        assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
        assert_eq!(old.get().await.unwrap(), None);
        assert_eq!(proxy.harmed(), 5);
        assert_eq!(sessions.revoke_all(&user).await.unwrap(), 1);
    })
    .await;
}
