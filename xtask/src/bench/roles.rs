//! What a role decides in one round trip, against the very commands that the store sends, sent again by the client
//! that it is built on: what the store takes for itself. Without a bound, against the script that one would write by
//! hand for the same.

use super::store::{KEYS, connect, duel};
use super::{Table, at_most};
use anyhow::{Context, Result, ensure};
use futures_util::StreamExt as _;
use keyward::Store;
use keyward_testkit::Server;
use redis::aio::MultiplexedConnection;
use roles::{fields, keys, values};
use std::hint::black_box;
use std::time::Duration;

keyward::keyspace!("src/bench/roles.toml");

const TURN: usize = 300;
/// The id of the key whose commands are recorded.
const MARK: u64 = 987_654_321;

/// Sets what is free, and counts a fence.
const TAKE: &str =
    "if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return redis.call('INCR', KEYS[2])";
const RELEASE: &str = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])";
const WINDOW: &str = "local used = redis.call('INCRBY', KEYS[1], ARGV[3])
if used == tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if used > tonumber(ARGV[1]) then return {0, 0, redis.call('PTTL', KEYS[1])} end
return {1, tonumber(ARGV[1]) - used, redis.call('PTTL', KEYS[1])}";
const GCRA: &str = "local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[2]) * 1000
local free = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local after = free + window / ARGV[1] * ARGV[3]
if after - window > now then return {0, 0, math.ceil((after - window - now) / 1000)} end
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
return {1, math.floor((window - after + now) / window * ARGV[1]), 0}";
const QUOTA: &str = "local used = redis.call('INCRBY', KEYS[1], ARGV[1])
if used > tonumber(ARGV[2]) then
  redis.call('DECRBY', KEYS[1], ARGV[1])
  return {0, used - ARGV[1]}
end
if used == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {1, used}";
const SESSION: &str = "if redis.call('EXISTS', KEYS[2]) == 1 then return false end
local fields = redis.call('HGETALL', KEYS[1])
if #fields == 0 then return false end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return fields";
const INDEX: &str = "redis.call('SADD', KEYS[1], ARGV[1])
return redis.call('SADD', KEYS[2], ARGV[2])";
const ONCE: &str = "local value = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
return value";

pub(super) fn run(table: &mut Table) -> Result<()> {
    let server = Server::redis();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Store::connect(server.url()).await?;
        let ring = Ring { table, store: &store, server: &server, raw: connect(&server).await? };
        ring.fight().await
    })
}

struct Ring<'r> {
    table: &'r mut Table,
    store: &'r Store,
    server: &'r Server,
    raw: MultiplexedConnection,
}

impl Ring<'_> {
    async fn fight(mut self) -> Result<()> {
        let store = self.store;
        let lock = async |id| {
            let guard = store.at(keys::Lock { id }).try_acquire().await?.context("it is free")?;
            black_box(guard.fence());
            guard.release().await?;
            Ok(())
        };
        let by_hand = [
            (TAKE, &["lock", "fence"][..], &["holder", "60000"][..]),
            (RELEASE, &["lock"], &["holder"]),
        ];
        self.compare("a lock taken and released", lock, &by_hand).await?;
        let window = async |id| {
            black_box(store.at(keys::Window { id }).check().await?);
            Ok(())
        };
        let by_hand = [(WINDOW, &["window"][..], &["1000000", "60000", "1"][..])];
        self.compare("a limit asked, fixed window", window, &by_hand).await?;
        let rate = async |id| {
            black_box(store.at(keys::Rate { id }).check().await?);
            Ok(())
        };
        let by_hand = [(GCRA, &["rate"][..], &["1000000", "60000", "1"][..])];
        self.compare("a limit asked, GCRA", rate, &by_hand).await?;
        let quota = async |id| {
            black_box(store.at(keys::Quota { id }).take(1).await?);
            Ok(())
        };
        let by_hand = [(QUOTA, &["quota"][..], &["1", "1000000000", "86400000"][..])];
        self.compare("a quota taken from", quota, &by_hand).await?;
        let word = values::Word::new("word")?;
        let put = async |id| {
            let index = store.at(keys::Words { word: word.clone() });
            index.put(&keys::Article { id }).await?;
            Ok(())
        };
        let by_hand = [(INDEX, &["word", "words_of"][..], &["article", "word"][..])];
        self.compare("a member put into an index, with its reverse", put, &by_hand).await?;
        let take = async |id| {
            black_box(store.at(keys::Token { session_id: session_id(id)? }).take().await?);
            Ok(())
        };
        self.compare("a token taken, which is gone then", take, &[(ONCE, &["token"], &[])]).await?;
        for id in (0..KEYS).chain([MARK, MARK + 1]) {
            let value = fields::Login { user: id, name: format!("user {id}"), cart: None };
            store.at(keys::Login { session_id: session_id(id)? }).create(&value).await?;
            let mut cmd = redis::cmd("HSET");
            cmd.arg(format!("bare:login:{id}")).arg("user").arg(id).arg("name").arg("user");
            cmd.query_async::<()>(&mut self.raw).await?;
        }
        let session = async |id| {
            let handle = store.at(keys::Login { session_id: session_id(id)? });
            black_box(handle.get().await?.context("it is live")?);
            Ok(())
        };
        let by_hand = [(SESSION, &["login", "revoked"][..], &["3600000"][..])];
        self.compare("a session read", session, &by_hand).await
    }

    async fn compare(
        &mut self,
        what: &str,
        mut ours: impl AsyncFnMut(u64) -> Result<()>,
        by_hand: &[(&str, &[&str], &[&str])],
    ) -> Result<()> {
        // Once, so that the server knows the scripts.
        ours(MARK + 1).await?;
        let commands = self.recorded(ours(MARK)).await?;
        ensure!(commands.len() == by_hand.len(), "{what} takes {} round trips", commands.len());
        let raw = &self.raw;
        let again = duel(&mut ours, async |id| replay(raw, &commands, id).await, TURN).await?;
        let mut loaded = Vec::new();
        for (script, keys, args) in by_hand {
            let mut cmd = redis::cmd("SCRIPT");
            let sha: String = cmd.arg("LOAD").arg(script).query_async(&mut self.raw).await?;
            loaded.push((sha, keys, args));
        }
        let raw = &self.raw;
        let hand = async |id| {
            for (sha, keys, args) in &loaded {
                let mut cmd = redis::cmd("EVALSHA");
                cmd.arg(sha).arg(keys.len());
                keys.iter().for_each(|key| _ = cmd.arg(format!("bare:{key}:{id}")));
                let answer: redis::Value = cmd.arg(**args).query_async(&mut raw.clone()).await?;
                black_box(answer);
            }
            Ok(())
        };
        let hand = duel(&mut ours, hand, TURN).await?;
        let us = |nanos: f64| format!("{:.1} µs", nanos / 1000.0);
        let against = format!("{} the same EVALSHA, bare", us(again[1]));
        self.table.row(what, us(again[0]), against, at_most(again[0] / again[1], 1.15));
        let (against, ratio) = (format!("{} by hand", us(hand[1])), hand[0] / hand[1]);
        self.table.row("", us(hand[0]), against, format!("{ratio:.2}×"));
        Ok(())
    }

    /// The commands that reach the server meanwhile.
    async fn recorded(&self, work: impl Future<Output = Result<()>>) -> Result<Vec<Vec<String>>> {
        let mut monitor = redis::Client::open(self.server.url())?.get_async_monitor().await?;
        work.await?;
        let mut seen = monitor.on_message::<String>();
        let mut commands = Vec::new();
        while let Ok(Some(line)) =
            tokio::time::timeout(Duration::from_millis(300), seen.next()).await
        {
            let words = words(&line);
            // What scripts call, and what the store does besides, is no round trip of this decision.
            if !line.contains(" lua] ") && words.first().is_some_and(|it| it == "EVALSHA") {
                commands.push(words);
            }
        }
        Ok(commands)
    }
}

/// Sends what was recorded again, about another key. What was random is random again.
async fn replay(raw: &MultiplexedConnection, commands: &[Vec<String>], id: u64) -> Result<()> {
    let (mark, id, fresh) =
        (MARK.to_string(), id.to_string(), format!("{:032x}", fastrand::u128(..)));
    for words in commands {
        let mut cmd = redis::Cmd::new();
        for (at, word) in words.iter().enumerate() {
            let is_random = at > 1 && word.len() == 32 && !word.contains(&mark);
            cmd.arg(if is_random { fresh.clone() } else { word.replace(&mark, &id) });
        }
        let answer: redis::Value = cmd.query_async(&mut raw.clone()).await?;
        black_box(answer);
    }
    Ok(())
}

/// The words of a line of MONITOR, which are quoted.
fn words(line: &str) -> Vec<String> {
    let parts: Vec<&str> = line.split('"').collect();
    parts.iter().skip(1).step_by(2).map(|word| (*word).to_owned()).collect()
}

fn session_id(id: u64) -> Result<values::SessionId> {
    Ok(values::SessionId::new(id.to_string())?)
}
