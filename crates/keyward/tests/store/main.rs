//! The store, on real servers.

mod cache;
mod cluster;
mod codecs;
mod counts;
mod events;
mod guide;
mod kinds;
mod migration;
mod outage;

use keyward::{Store, Uuid};
use keyward_testkit::Server;
use serde::{Deserialize, Serialize};
use std::time::Duration;

keyward::keyspace!("../../examples/xeuz-cloud/keyward.toml", values = crate::model);
keyward::keyspace!("tests/store/everything.toml", values = crate::model);
keyward::keyspace!("tests/store/moving.toml");
keyward::keyspace!("tests/store/shop.toml");

mod model {
    use super::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct FolderListing {
        pub files: Vec<String>,
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
    let builder = Store::builder(server.url()).response_timeout(Duration::from_secs(30));
    builder.connect_timeout(Duration::from_secs(30)).connect().await.unwrap()
}

/// Runs a test on every server.
async fn on_all(test: impl AsyncFn(&Server, Store)) {
    for server in Server::all() {
        let store = patient(&server).await;
        test(&server, store).await;
    }
}

/// Waits until something is so.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..600 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what} did not come about");
}
