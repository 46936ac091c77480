//! An event that looks for its keys among all keys, against `redis-cli --scan | xargs redis-cli unlink`.
//!
//! One key in a hundred is to go. Both find the server with the same keys, in turn.

use super::store::bench::{events, keys};
use super::{Table, at_least, key_count, mix};
use anyhow::{Context, Result, ensure};
use keyward::Store;
use keyward_testkit::Server;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
/// The keys that go belong to this group.
const GROUP: u64 = 7;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let all = key_count()?;
    let some = all / 100;
    let server = mix::serve(&crate::root()?, all)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let store = runtime.block_on(Store::connect(server.url()))?;
    let (mut ours, mut theirs, mut alone) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for round in 1..=ROUNDS {
        eprintln!("  round {round} of {ROUNDS} …");
        runtime.block_on(fill(&store, some))?;
        let start = Instant::now();
        let done = runtime.block_on(store.emit(events::GroupChanged { group: GROUP }))?;
        ours = ours.min(start.elapsed());
        ensure!(done.removed == some, "{} of {some} keys were removed", done.removed);
        runtime.block_on(fill(&store, some))?;
        alone = alone.min(super::plan::scan(&server)?);
        theirs = theirs.min(unlink(&server)?);
    }
    table.row(
        &format!("an event that scans {all} keys and removes {some}"),
        format!("{:.2} s", ours.as_secs_f64()),
        format!("redis-cli --scan, unlink {:.2} s", theirs.as_secs_f64()),
        at_least(theirs.as_secs_f64() / ours.as_secs_f64(), 5.0),
    );
    table.row(
        &format!("the SCAN of {all} keys alone, COUNT 2000"),
        format!("{:.2} s", alone.as_secs_f64()),
        format!("redis-cli --scan, unlink {:.2} s", theirs.as_secs_f64()),
        format!("{:.2}×", theirs.as_secs_f64() / alone.as_secs_f64()),
    );
    Ok(())
}

async fn fill(store: &Store, count: u64) -> Result<()> {
    for first in (0..count).step_by(1000) {
        let mut batch = store.pipeline();
        let written: Vec<_> = (first..count.min(first + 1000))
            .map(|id| {
                let page = "a page".to_owned();
                batch.add(store.at(keys::View { group: GROUP, id }).set(&page))
            })
            .collect();
        let mut results = batch.run().await?;
        written.into_iter().try_for_each(|page| results.take(page))?;
    }
    Ok(())
}

/// What people type.
fn unlink(server: &Server) -> Result<Duration> {
    let port = server.port();
    let line = format!(
        "redis-cli -p {port} --scan --pattern 'bench:view:{GROUP}:*' | xargs redis-cli -p {port} unlink"
    );
    let start = Instant::now();
    let status = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).status();
    ensure!(status.context("run `sh`")?.success(), "`{line}` failed");
    Ok(start.elapsed())
}
