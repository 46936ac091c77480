//! Finding keys by looking at all of them: the last resort, gently.

use super::core::Core;
use super::emit::{first_of, unlink};
use super::error::Error;
use super::link::Primary;
use crate::Keyspace;

/// How many keys a step of a scan looks at.
const COUNT: usize = 1000;

/// Removes the keys that a glob finds and that are keys of this keyspace; how many there were.
pub(super) async fn unlink_matching<S: Keyspace>(
    core: &Core,
    prefix: &str,
    glob: &str,
) -> Result<u64, Error> {
    let mut removed = 0;
    for primary in core.primaries().await? {
        let mut cursor = 0;
        loop {
            let (next, keys) = step(core, &primary, cursor, glob).await?;
            // A glob's `*` crosses separators: it may find keys of other definitions.
            let ours = keys.into_iter().filter(|key| S::tables().find(key).is_some());
            let names: Vec<String> = ours.filter_map(|key| String::from_utf8(key).ok()).collect();
            let commands: Vec<redis::Cmd> = names.iter().map(|name| unlink(prefix, name)).collect();
            for answer in core.ask_each(&commands).await? {
                removed += first_of(answer?)?;
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(removed)
}

async fn step(
    core: &Core,
    primary: &Primary,
    cursor: u64,
    glob: &str,
) -> Result<(u64, Vec<Vec<u8>>), Error> {
    let mut cmd = redis::cmd("SCAN");
    cmd.arg(cursor).arg("MATCH").arg(glob).arg("COUNT").arg(COUNT);
    let answer = core.ask_primary(primary, &cmd).await?;
    redis::from_redis_value(answer).map_err(|error| Error::Unavailable(error.to_string()))
}
