//! `cargo xtask torture --failovers N`: how many granted locks a failover loses, with and without `replicas`.
//!
//! The replica is some milliseconds behind. In the middle of many grants its link is cut, the primary is killed, and the
//! replica takes over. A grant whose key the new primary does not have is lost.

use anyhow::{Result, ensure};
use failing::keys;
use keyward::{Error, Guard, Store};
use keyward_testkit::{Flavor, Harm, Proxy, Server, wait_until};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

keyward::keyspace!("src/torture/lock-failing.toml");

/// How far the replica is behind.
const LAG: Duration = Duration::from_millis(20);
/// How long locks are taken before each failover.
const WORK: Duration = Duration::from_millis(300);
/// How many tasks take locks, one after another, each lock once.
const TASKS: u64 = 8;

type Grants = Arc<Mutex<Vec<(u64, Guard)>>>;

/// Fails over so many times with each kind of lock.
pub(super) fn run(failovers: u32) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for is_safe in [false, true] {
        let (mut granted, mut lost) = (0, 0);
        for _ in 0..failovers {
            let (some, gone) = runtime.block_on(fail_over(is_safe))?;
            granted += some;
            lost += gone;
        }
        let replicas = if is_safe { "with `replicas = 1`" } else { "without `replicas`" };
        println!("{failovers} failovers {replicas}: {granted} locks granted, {lost} lost");
        ensure!(!is_safe || lost == 0, "a grant that a replica confirmed was lost");
    }
    Ok(())
}

/// One failover; how many locks were granted, and how many of them lost.
async fn fail_over(is_safe: bool) -> Result<(usize, usize)> {
    let primary = Flavor::Valkey.start();
    let link = Proxy::new(&primary, Harm::Delay(LAG * 2));
    let following = format!("127.0.0.1 {}", link.port());
    let replica = Flavor::Valkey.server().config("replicaof", &following).start();
    wait_until("the replica follows", || replica.is_in_sync());
    let store = Store::connect(primary.url()).await?;
    let grants = Grants::default();
    let tasks = (0..TASKS).map(|task| {
        let (store, grants) = (store.clone(), grants.clone());
        tokio::spawn(async move {
            for number in 0.. {
                let id = number * TASKS + task;
                let Ok(guard) = take(&store, is_safe, id).await else { return };
                let mut grants = grants.lock().unwrap_or_else(PoisonError::into_inner);
                grants.extend(guard.map(|guard| (id, guard)));
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    tokio::time::sleep(WORK).await;
    link.cut();
    primary.kill();
    for task in tasks {
        task.await?;
    }
    replica.command(&["REPLICAOF", "NO", "ONE"]);
    let mut grants = grants.lock().unwrap_or_else(PoisonError::into_inner);
    let is_lost = |(id, _): &&(u64, Guard)| !has(&replica, is_safe, *id);
    let counted = (grants.len(), grants.iter().filter(is_lost).count());
    grants.clear();
    Ok(counted)
}

async fn take(store: &Store, is_safe: bool, id: u64) -> Result<Option<Guard>, Error> {
    if is_safe {
        store.at(keys::Safe { id }).try_acquire().await
    } else {
        store.at(keys::Plain { id }).try_acquire().await
    }
}

fn has(server: &Server, is_safe: bool, id: u64) -> bool {
    let lock = if is_safe { "safe" } else { "plain" };
    server.command(&["EXISTS", &format!("arena:{lock}:{id}")]).integer() == 1
}
