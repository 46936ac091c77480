//! Sessions and tokens: what was revoked is never used again, and what works once is used once.
//!
//! Every login has a *lineage*, a number in its data that rotations keep, so that a session is known under any id. Refresh
//! tokens have a *family* in the same way. A client notes every use that succeeded, and every revocation that returned, with
//! the times before and after the call.

mod check;

use super::Role;
use super::client::Client;
use super::history::now;
use anyhow::Result;
use keyward::{Error, Store};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

keyward::keyspace!("src/torture/session.toml");
keyward::keyspace!("src/torture/session-cluster.toml");

pub(super) const ROLE: Role = Role {
    name: "session",
    client,
    check: check::check,
    spares: &[],
    owns: |key| {
        let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
        signing::Key::parse(owner).is_some()
    },
    on_cluster: true,
};

const USERS: u64 = 6;
const TASKS: u64 = 12;
/// How many sessions, families and tokens of each kind a client remembers.
const KNOWN: usize = 48;
/// Tokens forget their successors when they would have expired: older families are left alone.
const YOUNG: Duration = Duration::from_secs(10);

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let is_cluster = client.url.starts_with("redis+cluster:");
        if client.is_last {
            // Nobody harms it: what is slow is the machine.
            let patience = Duration::from_secs(30);
            let builder = Store::builder(&client.url).connect_timeout(patience);
            let store = builder.response_timeout(patience).lazy()?;
            if is_cluster {
                cluster::last(&store, &client).await;
            } else {
                single::last(&store, &client).await;
            }
            return Ok(());
        }
        let store = Store::builder(&client.url).lazy()?;
        let seed = client.random.u64(..);
        let (client, known) = (Arc::new(client), Arc::new(Mutex::new(Known::default())));
        for task in 0..TASKS {
            let random = fastrand::Rng::with_seed(seed ^ task);
            let user = User { store: store.clone(), client: client.clone(), known: known.clone() };
            if is_cluster {
                tokio::spawn(cluster::act(user, random));
            } else {
                tokio::spawn(single::act(user, random));
            }
        }
        client.over().await;
        Ok(())
    })
}

/// What the tasks of a client share.
#[derive(Debug, Default)]
struct Known {
    sessions: Vec<Session>,
    families: Vec<Family>,
    states: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Session {
    id: String,
    lineage: u64,
}

#[derive(Debug, Clone)]
struct Family {
    number: u64,
    /// In the order in which they were exchanged
    tokens: Vec<String>,
    since: Instant,
}

struct User {
    store: Store,
    client: Arc<Client>,
    known: Arc<Mutex<Known>>,
}

impl User {
    fn known<R>(&self, look: impl FnOnce(&mut Known) -> R) -> R {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a call that was answered as hoped; whoever was not waits a little.
    async fn note<T>(&self, what: impl FnOnce(T) -> Option<String>, answer: Result<T, Error>) {
        match answer.map(what) {
            Ok(Some(line)) => self.client.log(line),
            Ok(None) => self.client.log("no"),
            Err(_) => {
                self.client.log("error");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }
}

/// Forgets something at random where there is more than a client remembers.
fn bound<T>(all: &mut Vec<T>, random: &mut fastrand::Rng) {
    while all.len() > KNOWN {
        all.swap_remove(random.usize(..all.len()));
    }
}

/// What clients do, by the schema for a server and by that for a cluster.
macro_rules! clients {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::$schema::{fields, keys, values};
            use super::*;

            pub(super) async fn act(user: User, mut random: fastrand::Rng) {
                loop {
                    match random.u8(0..100) {
                        0..12 => create(&user, &mut random).await,
                        12..48 => visit(&user, &mut random).await,
                        48..58 => rotate(&user, &mut random).await,
                        58..64 => revoke(&user, &mut random).await,
                        64..66 => revoke_all(&user, &mut random).await,
                        66..69 => list(&user, &mut random).await,
                        69..92 => exchange(&user, &mut random).await,
                        _ => once(&user, &mut random).await,
                    }
                }
            }

            /// Everybody is logged out, and nobody stays.
            pub(super) async fn last(store: &Store, client: &Client) {
                let sessions = store.sessions::<keys::Login>();
                for user in 0..USERS {
                    let index = keys::Logins { user };
                    let gone = sessions.revoke_all(&index).await;
                    let left = sessions.list(&index).await.map(|it| it.len());
                    match (gone, left) {
                        (Ok(_), Ok(0)) => client.log(format_args!("out {user}")),
                        other => client.log(format_args!("stays {user} {other:?}")),
                    }
                }
            }

            fn login(id: &str) -> keys::Login {
                keys::Login { session_id: values::SessionId::new(id).expect("it is an id") }
            }

            fn some_session(user: &User, random: &mut fastrand::Rng) -> Option<Session> {
                user.known(|known| random.choice(&known.sessions).cloned())
            }

            async fn create(user: &User, random: &mut fastrand::Rng) {
                let (of, lineage) = (random.u64(..USERS), random.u64(..));
                let id = format!("{:016x}", random.u64(..));
                let fields = fields::Login { user: of, lineage, seen: None };
                let begin = now();
                let made = user.store.at(login(&id)).create(&fields).await;
                let line = |_| Some(format!("made {lineage} {of} {begin} {}", now()));
                user.note(line, made).await;
                user.known(|known| {
                    known.sessions.push(Session { id, lineage });
                    bound(&mut known.sessions, random);
                });
            }

            async fn visit(user: &User, random: &mut fastrand::Rng) {
                let Some(Session { id, lineage }) = some_session(user, random) else { return };
                let session = user.store.at(login(&id));
                let begin = now();
                let used =
                    |used: bool| used.then(|| format!("used {lineage} {id} {begin} {}", now()));
                if random.bool() {
                    user.note(used, session.get().await.map(|it| it.is_some())).await;
                } else {
                    user.note(used, session.touch().await).await;
                }
            }

            async fn rotate(user: &User, random: &mut fastrand::Rng) {
                let Some(Session { id, lineage }) = some_session(user, random) else { return };
                let begin = now();
                let rotated = user.store.at(login(&id)).rotate().await;
                if let Ok(Some(new)) = &rotated {
                    let id = new.session_id.as_str().to_owned();
                    user.known(|known| known.sessions.push(Session { id, lineage }));
                }
                let used =
                    |new: Option<_>| new.map(|_| format!("used {lineage} {id} {begin} {}", now()));
                user.note(used, rotated).await;
            }

            async fn revoke(user: &User, random: &mut fastrand::Rng) {
                let Some(Session { id, lineage }) = some_session(user, random) else { return };
                let begin = now();
                let revoked = user.store.at(login(&id)).revoke().await;
                let line = |live: bool| {
                    Some(format!("revoked {lineage} {id} {} {begin} {}", u8::from(live), now()))
                };
                user.note(line, revoked).await;
            }

            async fn revoke_all(user: &User, random: &mut fastrand::Rng) {
                let (of, begin) = (random.u64(..USERS), now());
                let sessions = user.store.sessions::<keys::Login>();
                let revoked = sessions.revoke_all(&keys::Logins { user: of }).await;
                let line = |_| Some(format!("revoked_all {of} {begin} {}", now()));
                user.note(line, revoked).await;
            }

            async fn list(user: &User, random: &mut fastrand::Rng) {
                let (of, begin) = (random.u64(..USERS), now());
                let sessions = user.store.sessions::<keys::Login>();
                let listed = sessions.list(&keys::Logins { user: of }).await;
                let line = |all: Vec<(keys::Login, fields::Login)>| {
                    let end = now();
                    for (key, fields) in all {
                        let (id, lineage) = (key.session_id, fields.lineage);
                        user.client
                            .log(format_args!("used {lineage} {} {begin} {end}", id.as_str()));
                    }
                    None
                };
                user.note(line, listed).await;
            }

            fn token(hash: &str) -> keys::Refresh {
                keys::Refresh { token_hash: values::TokenHash::new(hash).expect("it is a hash") }
            }

            /// Issues a token, exchanges one, uses an old one again, or ends a family.
            async fn exchange(user: &User, random: &mut fastrand::Rng) {
                let new = format!("{:016x}", random.u64(..));
                let family = user.known(|known| {
                    known.families.retain(|family| family.since.elapsed() < YOUNG);
                    bound(&mut known.families, random);
                    random.choice(&known.families).cloned()
                });
                let family = family.filter(|_| random.u8(0..6) > 0);
                let begin = now();
                let Some(Family { number, tokens, .. }) = family else {
                    let (number, since) = (random.u64(..), Instant::now());
                    let issued =
                        user.store.at(token(&new)).issue(&fields::Refresh { family: number }).await;
                    if issued.is_ok() {
                        let family = Family { number, tokens: vec![new], since };
                        user.known(|known| known.families.push(family));
                    }
                    return user.note(|_| Some(format!("issued {number} {begin}")), issued).await;
                };
                // Mostly the last token, sometimes one that was used already.
                let back = if random.u8(0..8) == 0 { random.usize(..tokens.len()) } else { 0 };
                let old = &tokens[tokens.len() - 1 - back];
                let handle = user.store.at(token(old));
                match random.u8(0..20) {
                    0 => {
                        let ended = handle.revoke_family().await;
                        let line = |()| Some(format!("ended {number} {begin} {}", now()));
                        user.note(line, ended).await;
                    }
                    1..8 => {
                        let got = handle.get().await;
                        let line = |got: Option<_>| {
                            got.map(|_| format!("valid {number} {begin} {}", now()))
                        };
                        user.note(line, got).await;
                    }
                    _ => match handle.refresh(&token(&new), []).await {
                        Err(Error::Reused { .. }) => {
                            user.client.log(format_args!("ended {number} {begin} {}", now()));
                        }
                        done => {
                            if let Ok(Some(done)) = &done {
                                let next = done.successor.token_hash.as_str().to_owned();
                                user.known(|known| {
                                    let mut all = known.families.iter_mut();
                                    if let Some(it) = all.find(|it| it.number == number)
                                        && !it.tokens.contains(&next)
                                    {
                                        it.tokens.push(next);
                                    }
                                });
                            }
                            let line = |done: Option<keyward::Refreshed<keys::Refresh, _>>| {
                                let next = done?.successor.token_hash;
                                let next = next.as_str();
                                Some(format!("refreshed {number} {old} {next} {begin} {}", now()))
                            };
                            user.note(line, done).await;
                        }
                    },
                }
            }

            /// Makes a token that works once, or uses one.
            async fn once(user: &User, random: &mut fastrand::Rng) {
                let state = user.known(|known| random.choice(&known.states).copied());
                let begin = now();
                if let Some(state) = state.filter(|_| random.u8(0..4) > 0) {
                    let taken = user.store.at(keys::Once { state }).take().await;
                    let line = |taken: Option<u64>| {
                        taken.map(|_| format!("taken {state} {begin} {}", now()))
                    };
                    return user.note(line, taken).await;
                }
                let state = random.u64(..);
                let put = user.store.at(keys::Once { state }).set(&state).await;
                if put.is_ok() {
                    user.known(|known| {
                        known.states.push(state);
                        bound(&mut known.states, random);
                    });
                }
                user.note(|_| Some("put".to_owned()), put).await;
            }
        }
    };
}

clients!(single, signing);
clients!(cluster, signing_cluster);
