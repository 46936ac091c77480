//! What the guide to locks shows, run.

use super::warehouse::keys;
use super::{patient, until};
use keyward::{Error, Store};
use keyward_testkit::{Flavor, Server, wait_until};
use std::process::Command;
use std::time::Duration;

type Done = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn what_the_guide_to_locks_shows_is_so() -> Done {
    for flavor in [Flavor::Redis, Flavor::Valkey] {
        let server = flavor.start();
        let replica = flavor.server().replica_of(&server).start();
        wait_until("the replica follows", || replica.is_in_sync());
        let store = patient(&server).await;
        run(&store).await?;
        guards(&store).await?;
        several(&store).await?;
        assert!(store.at(keys::PayoutLock).acquire().await?.release().await?);
        operators(&store, &server).await?;
    }
    Ok(())
}

async fn run(store: &Store) -> Done {
    let import = async |_fence: u64| 12;
    // ANCHOR: run
    let lock = store.at(keys::ImportLock { shop: 7 });
    let pieces = lock.run(async |fence| import(fence).await).await?;
    // ANCHOR_END: run
    assert_eq!(pieces, 12);
    assert_eq!(lock.holders().await?, []);
    Ok(())
}

async fn guards(store: &Store) -> Done {
    let steps = || 0..3;
    let work = async |_step: i32, _fence: u64| {};
    // ANCHOR: guard
    let lock = store.at(keys::ImportLock { shop: 7 });
    let Some(guard) = lock.try_acquire_as("job-1234").await? else {
        return Ok(()); // somebody else imports already
    };
    for step in steps() {
        if !guard.is_held() {
            return Err(Error::Lost { definition: "import_lock" }.into());
        }
        work(step, guard.fence()).await;
    }
    let was_held = guard.release().await?;
    // ANCHOR_END: guard
    assert!(was_held);
    Ok(())
}

async fn several(store: &Store) -> Done {
    // ANCHOR: several
    let slots = store.at(keys::RenderSlots);
    let waited = slots.acquire_within(Duration::from_secs(10)).await?;
    let slot = waited.ok_or("four others render")?;
    // ANCHOR_END: several
    assert!(slot.release().await?);
    Ok(())
}

async fn operators(store: &Store, server: &Server) -> Done {
    let guard = store.at(keys::ImportLock { shop: 7 }).acquire_as("job-1234").await?;
    // ANCHOR: operators
    let lock = store.at(keys::ImportLock { shop: 7 });
    for holder in lock.holders().await? {
        println!("{} holds it for another {:?}", holder.name, holder.remaining);
    }
    lock.force_release().await?;
    // ANCHOR_END: operators
    assert_eq!(server.command(&["EXISTS", "wh:lock:import:7"]).integer(), 0);
    assert!(!guard.release().await?);
    Ok(())
}

/// Writes to a table of stock with one fence after another, and says how many rows each has changed.
const RUN: &str = "
import sqlite3, sys
database = sqlite3.connect(':memory:')
create, insert, update = open(sys.argv[1]).read().split(';')[:3]
database.execute(create)
database.execute(insert)
for pieces, fence in enumerate(sys.argv[2:], 1):
    changed = database.execute(update, {'shop': 7, 'pieces': pieces, 'fence': int(fence)})
    print(changed.rowcount)
print(database.execute('SELECT pieces FROM stock').fetchone()[0])
";

/// A database that keeps the highest fence refuses whoever has lost the lock and does not know it yet.
#[tokio::test]
async fn a_database_refuses_a_stale_fence() -> Done {
    let server = Flavor::Redis.start();
    let store = patient(&server).await;
    let lock = store.at(keys::ImportLock { shop: 7 });
    let stale = lock.acquire().await?;
    lock.force_release().await?;
    let next = lock.acquire().await?;
    assert!(stale.is_held(), "it has not heard of it yet");

    let (stale_fence, fence) = (stale.fence().to_string(), next.fence().to_string());
    let sql = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/fence.sql");
    let mut ran = Command::new("python3");
    ran.args(["-c", RUN, sql]);
    let ran = ran.args([&stale_fence, &fence, &stale_fence, &fence]).output()?;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // In time, the next holder, the stale one too late, and the next holder again.
    assert_eq!(String::from_utf8(ran.stdout)?, "1\n1\n0\n1\n4\n");
    until("the first holder has heard of it", async || !stale.is_held()).await;
    Ok(())
}
