//! The store, on real servers.

mod announcing;
mod binary_options;
mod cache;
mod cluster;
mod codecs;
mod conventions;
mod counts;
mod empty;
mod events;
mod failures;
mod flags;
mod guide;
mod guide_indexes;
mod guide_sessions;
mod index;
mod index_steps;
mod jumps;
mod kinds;
mod limits;
mod lock;
mod lock_guide;
mod lost;
mod many;
mod migration;
mod outage;
mod queue;
mod queue_faults;
mod queue_guide;
mod queue_push;
mod queue_records;
mod queue_renamed;
mod queue_stream;
mod rankings;
mod refresh;
mod replicas;
mod session;
mod split_names;
mod steps;
mod token;
mod token_steps;
mod tower;
mod tower_sessions;
mod writes;

use everything::keys;
use keyward::{Clock, Store, Uuid};
use keyward_testkit::{PATIENCE, Server};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::time::Duration;

keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml", values = crate::model);
keyward::keyspace!("../../examples/media-gateway/keyward.toml");
keyward::keyspace!("../../examples/reed-cms/keyward.toml");
keyward::keyspace!("tests/store/clustered.toml", values = crate::model);
keyward::keyspace!("tests/store/everything.toml", values = crate::model);
keyward::keyspace!("tests/store/indexed.toml");
keyward::keyspace!("tests/store/indexed_cluster.toml");
keyward::keyspace!("tests/store/locks.toml");
keyward::keyspace!("tests/store/moving.toml");
keyward::keyspace!("tests/store/moving_on.toml");
keyward::keyspace!("tests/store/queue.toml", values = crate::model);
keyward::keyspace!("tests/store/queue_cluster.toml", values = crate::model);
keyward::keyspace!("tests/store/queue_guide.toml", values = crate::model);
keyward::keyspace!("tests/store/shop.toml");
keyward::keyspace!("tests/store/signed.toml");
keyward::keyspace!("tests/store/signed_cluster.toml");

mod model {
    use super::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FolderListing {
        pub files: Vec<String>,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Feature {
        pub members: Vec<String>,
    }

    /// JSON has no map whose keys are pairs: writing one fails.
    #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
    pub struct Grid {
        pub cells: std::collections::BTreeMap<(u8, u8), u8>,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Task {
        pub name: String,
        pub size: u32,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FailedTask {
        pub job: Task,
        pub error: String,
        pub attempts: u64,
        pub queue: String,
        pub failed_at: String,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FailedMail {
        pub job: MailTo,
        pub error: String,
        pub attempts: u64,
        pub queue: String,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct MailTo {
        pub to: String,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Page {
        pub title: String,
        pub lines: Vec<String>,
    }
}

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A store that waits for its server: the machine that runs the tests may be busy.
async fn patient(server: &Server) -> Store {
    patient_by(Clock::system(), server).await
}

/// The same with a clock of the test's own.
async fn patient_by(clock: Clock, server: &Server) -> Store {
    let builder = Store::builder(server.url()).response_timeout(Duration::from_secs(30));
    builder.connect_timeout(Duration::from_secs(30)).clock(clock).connect().await.unwrap()
}

/// Runs a test on every server.
async fn on_all(test: impl AsyncFn(&Server, Store)) {
    for server in Server::all() {
        let store = patient(&server).await;
        test(&server, store).await;
    }
}

/// The text of a key, or else this one, which is then its text.
async fn load(store: &Store, id: u64, text: &str) -> String {
    let load = || async { Ok::<_, Infallible>(text.to_owned()) };
    store.at(keys::Text { id }).get_or_load(load).await.unwrap()
}

/// Has a text kept in the process.
async fn warm(store: &Store, id: u64, text: &str) {
    let handle = store.at(keys::Quick { id });
    handle.set(&text.to_owned()).await.unwrap();
    until("it is kept in the process", async || {
        handle.get().await.unwrap();
        // What the process holds is read without the server.
        handle.is_kept()
    })
    .await;
}

/// Waits until something is so, by looking again and again.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let looking = async {
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        while !is_so().await {
            looks.tick().await;
        }
    };
    let in_time = tokio::time::timeout(PATIENCE, looking).await;
    assert!(in_time.is_ok(), "waited {PATIENCE:?} in vain until {what}");
}
