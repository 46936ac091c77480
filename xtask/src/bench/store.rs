//! The store against the client that it is built on, on the same server in the same run.

use super::{Table, at_most, each};
use anyhow::{Context, Result, ensure};
use bench::{fields, keys};
use keyward::{BreakerSettings, BreakerState, Store, Uuid};
use keyward_testkit::Server;
use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{AsyncCommands as _, AsyncConnectionConfig, IntoConnectionInfo as _};
use std::collections::HashMap;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

keyward::keyspace!("src/bench/store.toml");

pub(super) const KEYS: u64 = 1_000;
/// Commands that a contestant sends before the other's turn.
const TURN: usize = 500;
const TURNS: usize = 60;
/// Commands in a batch.
const BATCH: u64 = 100;

pub(super) fn run(table: &mut Table) -> Result<()> {
    let server = Server::redis();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Store::connect(server.url()).await?;
        let raw = connect(&server).await?;
        fill(&store).await?;
        one_by_one(table, &store, &raw).await?;
        in_batches(table, &store, &raw).await?;
        kept(table, &store).await?;
        round_trips(table, &store, &server).await
    })?;
    runtime.block_on(open_breaker(table, server))
}

/// The client as the store uses it: without the delay that its default has.
pub(super) async fn connect(server: &Server) -> Result<MultiplexedConnection> {
    let info = server.url().into_connection_info()?;
    let settings = info.redis_settings().clone().set_protocol(redis::ProtocolVersion::RESP3);
    let info = info.set_redis_settings(settings);
    let info = info.set_tcp_settings(TcpSettings::default().set_nodelay(true));
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(Some(Duration::from_millis(500)))
        .set_connection_timeout(Some(Duration::from_secs(1)));
    let client = redis::Client::open(info)?;
    Ok(client.get_multiplexed_async_connection_with_config(&config).await?)
}

fn meta(id: u64) -> fields::FileMeta {
    fields::FileMeta {
        name: format!("report {id}.pdf"),
        size: id * 1024,
        mime: "application/pdf".to_owned(),
        owner: Uuid::from_u128(u128::from(id)),
    }
}

async fn fill(store: &Store) -> Result<()> {
    for id in 0..KEYS {
        store.at(keys::Text { id }).set(&format!("a value of some length, {id}")).await?;
        store.at(keys::FileMeta { id }).set(&meta(id)).await?;
    }
    Ok(())
}

/// The medians of two contestants that take turns: a machine's hiccups hit one of them, not the median.
pub(super) async fn duel(
    mut ours: impl AsyncFnMut(u64) -> Result<()>,
    mut theirs: impl AsyncFnMut(u64) -> Result<()>,
    count: usize,
) -> Result<[f64; 2]> {
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
        for who in order {
            let start = Instant::now();
            for number in 0..count as u64 {
                if who == 0 { ours(number % KEYS).await? } else { theirs(number % KEYS).await? }
            }
            times[who].push(each(start.elapsed(), count));
        }
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }))
}

fn compare(table: &mut Table, what: &str, [ours, theirs]: [f64; 2]) {
    let us = |nanos: f64| format!("{:.1} µs", nanos / 1000.0);
    table.row(what, us(ours), format!("{} raw redis-rs", us(theirs)), at_most(ours / theirs, 1.05));
}

async fn one_by_one(table: &mut Table, store: &Store, raw: &MultiplexedConnection) -> Result<()> {
    let mut raw = raw.clone();
    let get = duel(
        async |id| {
            black_box(store.at(keys::Text { id }).get().await?.context("a value")?);
            Ok(())
        },
        {
            let mut raw = raw.clone();
            async move |id| {
                black_box(raw.get::<_, Option<String>>(format!("bench:text:{id}")).await?);
                Ok(())
            }
        },
        TURN,
    )
    .await?;
    compare(table, "GET through a handle", get);
    let all = duel(
        async |id| {
            black_box(store.at(keys::FileMeta { id }).get().await?.context("a hash")?);
            Ok(())
        },
        async |id| {
            let key = format!("bench:file:{id}:meta");
            black_box(raw.hgetall::<_, HashMap<String, String>>(key).await?);
            Ok(())
        },
        TURN,
    )
    .await?;
    compare(table, "HGETALL through a handle, as a struct", all);
    Ok(())
}

async fn in_batches(table: &mut Table, store: &Store, raw: &MultiplexedConnection) -> Result<()> {
    let mut raw = raw.clone();
    let batch = duel(
        async |first| {
            let mut batch = store.pipeline();
            let ids = (first..first + BATCH).map(|id| id % KEYS);
            let values: Vec<_> =
                ids.map(|id| batch.add(store.at(keys::Text { id }).get())).collect();
            let mut results = batch.run().await?;
            for value in values {
                black_box(results.take(value)?);
            }
            Ok(())
        },
        async |first| {
            let mut pipe = redis::pipe();
            for id in (first..first + BATCH).map(|id| id % KEYS) {
                pipe.get(format!("bench:text:{id}"));
            }
            let values: Vec<Option<String>> = pipe.query_async(&mut raw).await?;
            black_box(values);
            Ok(())
        },
        TURN / 20,
    )
    .await?;
    compare(table, "100 GETs in a pipeline", batch);
    Ok(())
}

async fn kept(table: &mut Table, store: &Store) -> Result<()> {
    let handle = store.at(keys::Kept { id: 1 });
    handle.set(&"a value of some length, 1".to_owned()).await?;
    let patience = Instant::now();
    while !handle.is_kept() {
        handle.get().await?;
        tokio::time::sleep(Duration::from_millis(10)).await;
        ensure!(patience.elapsed() < Duration::from_secs(30), "the value is not kept");
    }
    let load = || async { Ok::<_, Infallible>(String::new()) };
    let time =
        best(async || black_box(store.at(keys::Kept { id: 1 }).get_or_load(load).await).is_ok())
            .await?;
    table.row(
        "a value that is kept in the process",
        format!("{time:.0} ns"),
        String::new(),
        at_most_ns(time),
    );
    Ok(())
}

/// The best of several rounds, in nanoseconds a call.
async fn best(mut call: impl AsyncFnMut() -> bool) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        for _ in 0..10_000 {
            ensure!(call().await, "a call failed");
        }
        best = best.min(each(start.elapsed(), 10_000));
    }
    Ok(best)
}

fn at_most_ns(time: f64) -> String {
    let mark = if time <= 1000.0 { "" } else { "  MISSED" };
    format!("(at most 1,000 ns){mark}")
}

async fn open_breaker(table: &mut Table, server: Server) -> Result<()> {
    let breaker = BreakerSettings::default().cooldown(Duration::from_secs(600));
    let store = Store::builder(server.url()).breaker(breaker).connect().await?;
    drop(server);
    while store.breaker() != BreakerState::Open {
        black_box(store.at(keys::Text { id: 1 }).get().await.is_err());
    }
    let time = best(async || store.at(keys::Text { id: 1 }).get().await.is_err()).await?;
    table.row("an open breaker", format!("{time:.0} ns"), String::new(), at_most_ns(time));
    let load = || async { Ok::<_, Infallible>(String::new()) };
    let time =
        best(async || store.at(keys::Text { id: 1 }).get_or_load(load).await.is_ok()).await?;
    table.row(
        "an open breaker, and an empty loader",
        format!("{time:.0} ns"),
        String::new(),
        String::new(),
    );
    Ok(())
}

/// Round trips are counted, not timed: one command is one.
async fn round_trips(table: &mut Table, store: &Store, server: &Server) -> Result<()> {
    let load = || async { Ok::<_, Infallible>("a".to_owned()) };
    // Once, so that the server knows the scripts.
    store.at(keys::Text { id: KEYS }).get_or_load(load).await.ok();
    let id = KEYS + 1;
    server.command(&["CONFIG", "RESETSTAT"]);
    store.at(keys::Text { id }).get_or_load(load).await.ok();
    let miss = trips(server);
    server.command(&["CONFIG", "RESETSTAT"]);
    store.at(keys::Text { id }).get_or_load(load).await.ok();
    let hit = trips(server);
    let verdict = if (miss, hit) == (3, 1) { "" } else { "  MISSED" };
    table.row(
        "round trips of a guarded fill, of a hit",
        format!("{miss}, {hit}"),
        "2, 1 for GET and SET".to_owned(),
        format!("one more on a miss{verdict}"),
    );
    Ok(())
}

/// Commands that came from outside: the server counts what scripts call apart from them.
fn trips(server: &Server) -> u64 {
    let stats = server.command(&["INFO", "commandstats"]).text();
    let of = |name: &str| -> u64 {
        let line = stats.lines().find(|line| line.starts_with(&format!("cmdstat_{name}:")));
        let calls = line.and_then(|line| line.split_once("calls=")?.1.split(',').next());
        calls.and_then(|calls| calls.parse().ok()).unwrap_or(0)
    };
    let scripts = of("evalsha") + of("eval");
    // A lease asks EXISTS; a fill asks for the lease by GET, and writes by SET.
    let within = u64::from(scripts > 0);
    scripts + of("get") - within
}
