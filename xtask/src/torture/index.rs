//! Indexes: a search misses no member whose put was acknowledged, and what is left in the end is what a rebuild would make.
//!
//! Clients put articles under words, move and remove them, and note each change before it is sent and after it was answered.
//! A search notes all that it has found. In the end the last client reads all sets and all reverses, rebuilds the index from
//! the reverses, and reads them again.

mod check;

use super::Role;
use super::client::Client;
use super::history::now;
use anyhow::Result;
use keyward::{Error, Store};
use std::sync::Arc;
use std::time::Duration;

keyward::keyspace!("src/torture/index.toml");
keyward::keyspace!("src/torture/index-cluster.toml");

pub(super) const ROLE: Role = Role {
    name: "index",
    client,
    check: check::check,
    // What an eviction took away stays away until a rebuild.
    spares: &[super::Kind::Evict],
    owns: |key| {
        let owner = keyward_pattern::owner_of("arena:", key).map_or(key, |(owner, _)| owner);
        indexing::Key::parse(owner).is_some()
    },
    on_cluster: true,
};

const ARTICLES: u64 = 64;
const WORDS: u64 = 24;
const TASKS: u64 = 12;

fn client(mut client: Client) -> Result<()> {
    Client::runtime()?.block_on(async {
        let is_cluster = client.url.starts_with("redis+cluster:");
        if client.is_last {
            // Nobody harms it: what is slow is the machine.
            let patience = Duration::from_secs(30);
            let builder = Store::builder(&client.url).connect_timeout(patience);
            let store = builder.response_timeout(patience).lazy()?;
            return if is_cluster {
                cluster::last(&store, &client).await
            } else {
                single::last(&store, &client).await
            };
        }
        let store = Store::builder(&client.url).lazy()?;
        let seed = client.random.u64(..);
        let client = Arc::new(client);
        for task in 0..TASKS {
            let random = fastrand::Rng::with_seed(seed ^ task);
            let (store, client) = (store.clone(), client.clone());
            if is_cluster {
                tokio::spawn(cluster::act(store, client, random, task));
            } else {
                tokio::spawn(single::act(store, client, random, task));
            }
        }
        client.over().await;
        Ok(())
    })
}

/// Some words, each once.
fn some_words(random: &mut fastrand::Rng, most: usize) -> Vec<u64> {
    let mut words = random.choose_multiple(0..WORDS, most);
    words.truncate(random.usize(1..=most));
    words
}

fn joined(numbers: impl IntoIterator<Item = u64>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|it| it.to_string()).collect();
    if numbers.is_empty() { "-".to_owned() } else { numbers.join(",") }
}

/// What clients do, by the schema for a server and by that for a cluster.
macro_rules! clients {
    ($module:ident, $schema:ident) => {
        mod $module {
            use super::$schema::keys;
            use super::*;

            pub(super) async fn act(
                store: Store,
                client: Arc<Client>,
                mut random: fastrand::Rng,
                task: u64,
            ) {
                for call in 0.. {
                    if random.bool() {
                        change(&store, &client, &mut random, &format!("{task}.{call}")).await;
                    } else {
                        search(&store, &client, &mut random).await;
                    }
                }
            }

            fn words_of(words: &[u64]) -> Vec<keys::Words> {
                words.iter().map(|word| keys::Words { word: *word }).collect()
            }

            async fn change(
                store: &Store,
                client: &Client,
                random: &mut fastrand::Rng,
                call: &str,
            ) {
                let id = random.u64(..ARTICLES);
                let article = keys::Article { id };
                let words = some_words(random, 4);
                let (word, other) = (words[0], words.get(1).copied());
                let log = |gains: String, loses: String| {
                    client.log(format_args!("begin {call} {id} {gains} {loses} {}", now()));
                };
                let one = joined([word]);
                let handle = store.at(keys::Words { word });
                let done = match (random.u8(0..8), other) {
                    (0 | 1, _) => {
                        log(one, "-".to_owned());
                        handle.put(&article).await
                    }
                    (2, _) => {
                        log("-".to_owned(), one);
                        handle.remove(&article).await
                    }
                    (3 | 4, Some(other)) => {
                        log(joined([other]), one);
                        handle.move_to(&article, &keys::Words { word: other }).await
                    }
                    _ => {
                        let others = (0..WORDS).filter(|it| !words.contains(it));
                        log(joined(words.iter().copied()), joined(others));
                        store.index::<keys::Words>().assign(&article, words_of(&words)).await
                    }
                };
                answered(client, call, done).await;
            }

            async fn search(store: &Store, client: &Client, random: &mut fastrand::Rng) {
                let words = some_words(random, 2);
                let (index, all) = (store.index::<keys::Words>(), random.bool());
                let begin = now();
                let found = if all {
                    index.all_of(words_of(&words)).await
                } else {
                    index.any_of(words_of(&words)).await
                };
                let Ok(found) = found else {
                    client.log("error");
                    return tokio::time::sleep(Duration::from_millis(2)).await;
                };
                let (what, words) = (if all { "all" } else { "any" }, joined(words));
                let found = joined(found.into_iter().map(|article| article.id));
                client.log(format_args!("found {what} {words} {begin} {} {found}", now()));
            }

            /// Notes all sets and reverses, before a rebuild and after it.
            pub(super) async fn last(store: &Store, client: &Client) -> Result<()> {
                read(store, client, "left").await?;
                let index = store.index::<keys::Words>();
                let rebuild = index.rebuild().await?;
                let mut truth = Vec::new();
                for id in 0..ARTICLES {
                    let words = store.at(keys::WordsOf { article_id: id }).get().await?;
                    let words: Vec<u64> = words.into_iter().flatten().collect();
                    truth.push((keys::Article { id }, words_of(&words)));
                }
                let rebuilt = rebuild.from(truth).await?;
                client.log(format_args!("rebuilt {} {}", rebuilt.removed, rebuilt.skipped));
                read(store, client, "after").await
            }

            async fn read(store: &Store, client: &Client, when: &str) -> Result<()> {
                for word in 0..WORDS {
                    let articles = store.at(keys::Words { word }).get().await?;
                    let articles = joined(articles.into_iter().map(|it| it.id));
                    client.log(format_args!("{when} set {word} {articles}"));
                }
                for id in 0..ARTICLES {
                    let words = store.at(keys::WordsOf { article_id: id }).get().await?;
                    let words = joined(words.into_iter().flatten());
                    client.log(format_args!("{when} reverse {id} {words}"));
                }
                Ok(())
            }
        }
    };
}

/// Notes how a change ended.
async fn answered(client: &Client, call: &str, done: Result<(), Error>) {
    if done.is_ok() {
        return client.log(format_args!("done {call} {}", now()));
    }
    client.log(format_args!("failed {call}"));
    tokio::time::sleep(Duration::from_millis(2)).await;
}

clients!(single, indexing);
clients!(cluster, indexing_cluster);
