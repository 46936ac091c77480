//! Events: exact keys first, then what only a search can find.

use super::core::Core;
use super::error::Error;
use super::scan::unlink_matching;
use crate::{Event, Keyspace, Prefix as _};
use keyward_pattern::{Glob, derived};

/// What an event has removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invalidated {
    /// How many keys were there and are gone
    pub removed: u64,
    /// How many keys were known in full
    pub exact: usize,
    /// How many searches were needed for the others
    pub searched: usize,
}

pub(super) async fn emit<E: Event>(
    core: &Core,
    event: &E,
    prefix: &<E::Keyspace as Keyspace>::Prefix,
) -> Result<Invalidated, Error> {
    let mut start = String::new();
    prefix.write(&mut start);
    let names: Vec<String> = event
        .keys()
        .iter()
        .map(|key| {
            let mut name = String::new();
            key.write_behind(prefix, &mut name);
            name
        })
        .collect();
    let globs = event.globs_behind(prefix);
    let removed = remove(core, event, &start, &names, &globs).await;
    // Whatever became of the keys: what was being loaded meanwhile may be old.
    let patterns: Vec<Glob> = globs.iter().map(|glob| Glob::new(glob)).collect();
    core.flights.forget(|key| {
        names.iter().any(|name| name == key)
            || patterns.iter().any(|glob| glob.matches(key.as_bytes()))
    });
    let removed = removed?;
    metrics::counter!("keyward_invalidations_total", "event" => E::NAME).increment(1);
    Ok(Invalidated { removed, exact: names.len(), searched: globs.len() })
}

async fn remove<E: Event>(
    core: &Core,
    _: &E,
    prefix: &str,
    names: &[String],
    globs: &[String],
) -> Result<u64, Error> {
    let commands: Vec<redis::Cmd> = names.iter().map(|name| unlink(prefix, name)).collect();
    let mut removed = 0;
    for answer in core.ask_each(&commands).await? {
        removed += first_of(answer?)?;
    }
    for glob in globs {
        removed += unlink_matching::<E::Keyspace>(core, prefix, glob).await?;
    }
    Ok(removed)
}

/// Removes a key and the lease of whoever is about to fill it, in one step: a fill that began before
/// finds no lease. The answer counts the key alone.
pub(super) fn unlink(prefix: &str, name: &str) -> redis::Cmd {
    const TEXT: &str = "redis.call('DEL', unpack(KEYS, 2)) return redis.call('UNLINK', KEYS[1])";
    let lease = derived(prefix, name, "lease");
    let mut cmd = redis::cmd(if lease.is_some() { "EVAL" } else { "UNLINK" });
    match lease {
        Some(lease) => cmd.arg(TEXT).arg(2).arg(name).arg(lease),
        None => cmd.arg(name),
    };
    cmd
}

pub(super) fn first_of(answer: redis::Value) -> Result<u64, Error> {
    redis::from_redis_value(answer).map_err(|error| Error::Unavailable(error.to_string()))
}
