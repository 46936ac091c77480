//! Asks servers about single keys, and finds keys by a glob.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use keyward_fact::address::Address;
use keyward_pattern::slot;

use super::connection::{Connection, Reply};
use super::error::{Error, Fault};
use super::options::Options;
use super::server::{self, Can};
use super::topology::{self, Chosen, slot_ranges};

/// Keys that one SCAN visits, and the pause after it: a tenth of the server's time, about.
const COUNT: &str = "500";
const PAUSE: Duration = Duration::from_millis(1);

/// What reading a queue needs.
const NEEDS: &str = "SCAN, LLEN, LRANGE, ZCARD, ZMSCORE, HEXISTS, HMGET and HSCAN";

/// Connections to all servers that a URL names.
pub(crate) struct Client {
    shards: Vec<Shard>,
}

struct Shard {
    name: String,
    /// In a cluster: the slots that it has
    slots: Option<Vec<RangeInclusive<u16>>>,
    connection: Connection,
    /// Whether keys are watched since the last [`Client::is_unchanged`]
    watching: bool,
}

impl Client {
    pub(crate) fn open(url: &str, options: &Options) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let mut shards = Vec::new();
        for partition in topology::find(&address, options)? {
            let Chosen { mut connection, target, .. } = topology::choose(&partition, options)?;
            let early = |fault: Fault| fault.early(&partition.name);
            // Otherwise a replica sends whoever asks for a key to its primary.
            if partition.node.is_some() {
                connection.command(&["READONLY"]).map_err(early)?;
            }
            // Where a server does not know this, its keys look used.
            connection.command(&["CLIENT", "NO-TOUCH", "ON"]).map_err(early)?;
            if let Some(db) = options.db.or(target.db.map(u64::from)).filter(|db| *db > 0) {
                let answer = connection.command(&["SELECT", &db.to_string()]).map_err(early)?;
                understand(&partition.name, "SELECT", answer)?;
            }
            let slots = partition.node.as_ref().map(|(_, slots)| slot_ranges(slots));
            shards.push(Shard { name: partition.name, slots, connection, watching: false });
        }
        Ok(Client { shards })
    }

    /// Asks the server that has a key.
    pub(crate) fn ask(&mut self, key: &str, args: &[&str]) -> Result<Reply, Error> {
        self.asked(key, args).and_then(|(shard, answer)| {
            understand(shard, args.first().copied().unwrap_or_default(), answer)
        })
    }

    /// The same where the answer may be an error.
    pub(crate) fn ask_any(&mut self, key: &str, args: &[&str]) -> Result<Reply, Error> {
        self.asked(key, args).map(|(_, answer)| answer)
    }

    /// Watches a key until [`Self::is_unchanged`] asks; false where the server does not let it.
    pub(crate) fn watch(&mut self, key: &str) -> Result<bool, Error> {
        let shard = self.shard_of(key)?;
        let answer = shard.connection.command(&["WATCH", key]);
        let answer = answer.map_err(|fault| fault.into_error(&shard.name, 0))?;
        let is_watched = matches!(answer, Reply::Status(_));
        shard.watching |= is_watched;
        Ok(is_watched)
    }

    /// Whether no watched key has changed since it was watched. All were watched before the first server is asked here, so that
    /// what was read of them between, even from several servers, was true at one moment.
    pub(crate) fn is_unchanged(&mut self) -> Result<bool, Error> {
        let mut all = true;
        for Shard { name, connection, watching, .. } in &mut self.shards {
            if std::mem::take(watching) {
                connection.command(&["MULTI"]).map_err(|fault| fault.into_error(name, 0))?;
                let answer = connection.command(&["EXEC"]);
                // Nil where a watched key has changed; an error where the user may only watch.
                all &= !matches!(answer.map_err(|fault| fault.into_error(name, 0))?, Reply::Nil);
            }
        }
        Ok(all)
    }

    fn asked(&mut self, key: &str, args: &[&str]) -> Result<(&str, Reply), Error> {
        let shard = self.shard_of(key)?;
        let answer = shard.connection.command(args);
        let answer = answer.map_err(|fault| fault.into_error(&shard.name, 0))?;
        Ok((&shard.name, answer))
    }

    /// The server that has a key.
    fn shard_of(&mut self, key: &str) -> Result<&mut Shard, Error> {
        let slot = slot(key.as_bytes());
        let is_there = |shard: &&mut Shard| {
            let has = |slots: &Vec<RangeInclusive<u16>>| slots.iter().any(|it| it.contains(&slot));
            shard.slots.as_ref().is_none_or(has)
        };
        let why = "no server has the slot of a key".to_owned();
        let shard = self.shards.iter_mut().find(is_there);
        shard.ok_or_else(|| Error::ClusterDown { address: "the cluster".to_owned(), why })
    }

    /// Finds keys that match a glob, on all servers.
    pub(crate) fn find(&mut self, glob: &str, mut found: impl FnMut(&str)) -> Result<(), Error> {
        for Shard { name, connection, .. } in &mut self.shards {
            let mut cursor = "0".to_owned();
            loop {
                let answer = connection.command(&["SCAN", &cursor, "MATCH", glob, "COUNT", COUNT]);
                let answer = answer.map_err(|fault| fault.into_error(name, 0))?;
                let (next, keys) = page(understand(name, "SCAN", answer)?)
                    .ok_or_else(|| connection.odd("SCAN", "something else").early(name))?;
                keys.iter().filter_map(|key| str::from_utf8(key).ok()).for_each(&mut found);
                if next == "0" {
                    break;
                }
                cursor = next;
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }
}

/// The cursor and the elements of one answer to SCAN or HSCAN.
pub(crate) fn page(reply: Reply) -> Option<(String, Vec<Vec<u8>>)> {
    let Reply::Array(parts) = reply else { return None };
    let Ok([Reply::Bytes(cursor), Reply::Array(items)]) = <[Reply; 2]>::try_from(parts) else {
        return None;
    };
    let items = items.into_iter().map(|item| match item {
        Reply::Bytes(bytes) => Some(bytes),
        _ => None,
    });
    Some((String::from_utf8(cursor).ok()?, items.collect::<Option<_>>()?))
}

/// An answer that is not an error.
fn understand(address: &str, command: &str, answer: Reply) -> Result<Reply, Error> {
    let Reply::Error(reply) = answer else { return Ok(answer) };
    let (address, command) = (address.to_owned(), known(command));
    Err(match server::ability(&reply) {
        Can::Denied => Error::Denied { address, command, needs: NEEDS },
        Can::Missing => Error::Missing { address, command },
        Can::Yes => Error::Reply { address, command, reply },
    })
}

/// The name of a command, for messages.
fn known(command: &str) -> &'static str {
    const KNOWN: [&str; 10] = [
        "SCAN", "SELECT", "LLEN", "LRANGE", "ZCARD", "ZMSCORE", "HEXISTS", "HMGET", "HSCAN", "TYPE",
    ];
    KNOWN.into_iter().find(|it| *it == command).unwrap_or("a command")
}
