//! One primary's answers to INFO, CONFIG GET, SLOWLOG and LATENCY, as plain data.
//!
//! Whatever answers may be hostile: every list and every text is bounded, and what is not understood is left out.

use crate::info::{CommandStats, DatabaseInfo, LatencyEvent, NodeInfo, Persistence, Replica, Slow};
use keyward_audit::Audit;
use keyward_audit::live::{Error, Primary, Reply};
use keyward_fact::visible;
use std::collections::BTreeMap;

/// The most of each list that is kept.
const SLOW: &str = "128";
const DATABASES: usize = 256;
const REPLICAS: usize = 256;
const EVENTS: usize = 64;
const COMMANDS: usize = 20;
/// The longest text that is kept.
const TEXT: usize = 100;

/// Asks a primary everything.
pub(super) fn ask(primary: &mut Primary, audit: &Audit) -> Result<NodeInfo, Error> {
    let mut node = NodeInfo { name: primary.name.clone(), ..NodeInfo::default() };
    let mut denied = Vec::new();
    let mut asked = |name: &'static str, args: &[&str]| -> Result<Option<Reply>, Error> {
        let args: Vec<&[u8]> = args.iter().map(|arg| arg.as_bytes()).collect();
        match primary.command(&args)? {
            Reply::Error(_) => {
                denied.push(name.to_owned());
                Ok(None)
            }
            reply => Ok(Some(reply)),
        }
    };
    let info = asked("INFO", &["INFO"])?;
    let commands = asked("INFO COMMANDSTATS", &["INFO", "commandstats"])?;
    let save = asked("CONFIG GET", &["CONFIG", "GET", "save"])?;
    let slow = asked("SLOWLOG", &["SLOWLOG", "GET", SLOW])?;
    let latency = asked("LATENCY", &["LATENCY", "LATEST"])?;
    if let Some(Reply::Bytes(text)) = info {
        read_info(&String::from_utf8_lossy(&text), &mut node);
    }
    if let Some(Reply::Bytes(text)) = commands {
        node.commands = read_commands(&String::from_utf8_lossy(&text));
    }
    if let Some(Reply::Array(pair)) = save
        && let Some(Reply::Bytes(value)) = pair.get(1)
    {
        node.persistence.save = Some(text(&String::from_utf8_lossy(value)));
    }
    if let Some(Reply::Array(entries)) = slow {
        node.slow = entries.iter().filter_map(|entry| read_slow(entry, audit)).collect();
    }
    if let Some(Reply::Array(events)) = latency {
        node.latency = events.iter().take(EVENTS).filter_map(read_latency).collect();
    }
    node.denied = denied;
    Ok(node)
}

/// Fills in what changed since it was asked before.
pub(super) fn compare(node: &mut NodeInfo, before: Option<&NodeInfo>, seconds: f64) {
    let before = before.filter(|it| it.run_id == node.run_id && it.run_id.is_some());
    let since = |now: Option<u64>, then: fn(&NodeInfo) -> Option<u64>| {
        now?.checked_sub(before.and_then(then)?)
    };
    let rate = |now: Option<u64>, then: fn(&NodeInfo) -> Option<u64>| {
        since(now, then).filter(|_| seconds > 0.0).map(|count| float(count) / seconds)
    };
    node.evicted_rate = rate(node.evicted, |it| it.evicted);
    node.expired_rate = rate(node.expired, |it| it.expired);
    let share = |hits: Option<u64>, misses: Option<u64>| {
        let (hits, misses) = (hits?, misses?);
        let all = hits.saturating_add(misses);
        (all > 0).then(|| float(hits) / float(all))
    };
    let recent = share(since(node.hits, |it| it.hits), since(node.misses, |it| it.misses));
    node.hit_rate = recent.or_else(|| share(node.hits, node.misses));
}

fn read_info(info: &str, node: &mut NodeInfo) {
    let pairs = info.lines().filter_map(|line| line.trim_end().split_once(':'));
    let all: BTreeMap<&str, &str> = pairs.collect();
    let get = |name: &str| all.get(name).copied().filter(|value| !value.is_empty());
    let number = |name: &str| get(name)?.parse::<u64>().ok();
    let switch = |name: &str| number(name).map(|number| number != 0);
    let word = |name: &str| get(name).map(text);
    let is_ok = |name: &str| get(name).map(|value| value == "ok");
    node.run_id = word("run_id");
    let is_valkey = get("valkey_version").is_some() || get("server_name") == Some("valkey");
    node.family = get("redis_version").map(|_| if is_valkey { "valkey" } else { "redis" }.into());
    node.version = word("valkey_version").or_else(|| word("redis_version"));
    node.role = word("role");
    node.uptime = number("uptime_in_seconds");
    node.used_memory = number("used_memory");
    node.used_memory_peak = number("used_memory_peak");
    node.maxmemory = number("maxmemory");
    node.maxmemory_policy = word("maxmemory_policy");
    let ratio = get("mem_fragmentation_ratio").and_then(|it| it.parse::<f64>().ok());
    node.fragmentation = ratio.filter(|it| it.is_finite());
    node.clients = number("connected_clients");
    node.blocked = number("blocked_clients");
    node.maxclients = number("maxclients");
    node.ops = number("instantaneous_ops_per_sec");
    node.hits = number("keyspace_hits");
    node.misses = number("keyspace_misses");
    node.evicted = number("evicted_keys");
    node.expired = number("expired_keys");
    node.persistence = Persistence {
        last_save: number("rdb_last_save_time"),
        changes: number("rdb_changes_since_last_save"),
        last_ok: is_ok("rdb_last_bgsave_status"),
        save: None,
        aof: switch("aof_enabled"),
        aof_ok: is_ok("aof_last_write_status"),
        loading: switch("loading"),
    };
    let databases = all.iter().filter_map(|(name, value)| {
        let db = name.strip_prefix("db").filter(|db| db.parse::<u32>().is_ok())?;
        let keys = field(value, "keys")?.parse().ok()?;
        let expires = field(value, "expires").and_then(|it| it.parse().ok()).unwrap_or(0);
        Some((db.to_owned(), DatabaseInfo { keys, expires }))
    });
    node.databases = databases.take(DATABASES).collect();
    let offset = number("master_repl_offset");
    let replicas = all.iter().filter_map(|(name, value)| {
        name.strip_prefix("slave").filter(|it| it.parse::<u32>().is_ok())?;
        let own = field(value, "offset").and_then(|it| it.parse::<u64>().ok());
        Some(Replica {
            address: text(&format!("{}:{}", field(value, "ip")?, field(value, "port")?)),
            state: text(field(value, "state").unwrap_or_default()),
            lag: field(value, "lag").and_then(|it| it.parse().ok()),
            behind: offset.zip(own).map(|(offset, own)| offset.saturating_sub(own)),
        })
    });
    node.replicas = replicas.take(REPLICAS).collect();
}

/// A field of `keys=3,expires=1`.
fn field<'v>(value: &'v str, name: &str) -> Option<&'v str> {
    let mut pairs = value.split(',').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn read_commands(info: &str) -> Vec<CommandStats> {
    let lines = info.lines().filter_map(|line| {
        let (name, value) = line.trim_end().strip_prefix("cmdstat_")?.split_once(':')?;
        Some(CommandStats {
            command: text(name),
            calls: field(value, "calls")?.parse().ok()?,
            micros: field(value, "usec")?.parse().ok()?,
            average: field(value, "usec_per_call")?
                .parse()
                .ok()
                .filter(|it: &f64| it.is_finite())?,
            failed: field(value, "failed_calls").and_then(|it| it.parse().ok()),
        })
    });
    let mut commands: Vec<CommandStats> = lines.collect();
    commands.sort_by(|one, other| {
        other.micros.cmp(&one.micros).then_with(|| one.command.cmp(&other.command))
    });
    commands.truncate(COMMANDS);
    commands
}

/// A slow command: its name, and the first argument that a schema declares as a key. Other arguments may be values.
fn read_slow(entry: &Reply, audit: &Audit) -> Option<Slow> {
    let Reply::Array(parts) = entry else { return None };
    let [_, Reply::Integer(at), Reply::Integer(micros), Reply::Array(args), ..] = parts.as_slice()
    else {
        return None;
    };
    let mut args = args.iter().filter_map(|arg| match arg {
        Reply::Bytes(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    let command = args.next()?;
    let is_word = command.len() <= 32 && command.iter().all(u8::is_ascii_alphanumeric);
    let command =
        if is_word { String::from_utf8_lossy(command).to_lowercase() } else { "?".into() };
    let mut arguments = 0;
    let mut found = None;
    for arg in args {
        arguments += 1;
        if found.is_none() {
            found = audit.declared_key(arg);
        }
    }
    Some(Slow {
        at: u64::try_from(*at).ok()?,
        micros: u64::try_from(*micros).ok()?,
        command,
        arguments,
        schema: found.as_ref().map(|it| it.schema.to_owned()),
        definition: found.as_ref().map(|it| it.definition.to_owned()),
        key: found.map(|it| it.masked.to_string()),
    })
}

fn read_latency(event: &Reply) -> Option<LatencyEvent> {
    let Reply::Array(parts) = event else { return None };
    let [Reply::Bytes(name), Reply::Integer(at), Reply::Integer(millis), Reply::Integer(max), ..] =
        parts.as_slice()
    else {
        return None;
    };
    Some(LatencyEvent {
        event: text(&String::from_utf8_lossy(name)),
        at: u64::try_from(*at).ok()?,
        millis: u64::try_from(*millis).ok()?,
        max: u64::try_from(*max).ok()?,
    })
}

/// A text of the server, as it may be shown.
fn text(text: &str) -> String {
    visible(&text.chars().take(TEXT).collect::<String>()).into()
}

#[allow(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_info_says_is_taken_and_nonsense_is_left_out() {
        let info = "# Server\r\nredis_version:7.0.15\r\nrun_id:ab\u{1b}[31mcd\r\nused_memory:1024\r\n\
                    maxmemory:many\r\nmem_fragmentation_ratio:NaN\r\ndb0:keys=3,expires=1,avg_ttl=0\r\n\
                    dbx:keys=9\r\nmaster_repl_offset:500\r\n\
                    slave0:ip=10.0.0.2,port=6379,state=online,offset=400,lag=1\r\nslave1:ip=\r\nnonsense\r\n";
        let mut node = NodeInfo::default();
        read_info(info, &mut node);
        assert_eq!(node.version.as_deref(), Some("7.0.15"));
        assert_eq!(node.family.as_deref(), Some("redis"));
        assert!(!node.run_id.unwrap_or_default().contains('\u{1b}'));
        assert_eq!(
            (node.used_memory, node.maxmemory, node.fragmentation),
            (Some(1024), None, None)
        );
        let only = BTreeMap::from([("0".to_owned(), DatabaseInfo { keys: 3, expires: 1 })]);
        assert_eq!(node.databases, only);
        let replica = Replica {
            address: "10.0.0.2:6379".to_owned(),
            state: "online".to_owned(),
            lag: Some(1),
            behind: Some(100),
        };
        assert_eq!(node.replicas, [replica]);
    }

    #[test]
    fn rates_are_of_the_same_process_only() {
        let node = |run_id: &str, hits, misses, evicted| NodeInfo {
            run_id: Some(run_id.to_owned()),
            hits: Some(hits),
            misses: Some(misses),
            evicted: Some(evicted),
            ..NodeInfo::default()
        };
        let before = node("a", 100, 100, 10);
        let mut same = node("a", 190, 110, 30);
        compare(&mut same, Some(&before), 10.0);
        assert_eq!((same.hit_rate, same.evicted_rate), (Some(0.9), Some(2.0)));
        let mut other = node("b", 190, 110, 30);
        compare(&mut other, Some(&before), 10.0);
        assert_eq!((other.hit_rate, other.evicted_rate), (Some(190.0 / 300.0), None));
    }
}
