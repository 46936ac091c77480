//! What a server says of itself, and what it lets this user do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use keyward_fact::address::Endpoint;

use super::connection::{Connection, Reply};
use super::error::{Error, Fault, NEEDED};
use super::options::Options;

/// Connects, authenticates, and waits while the server is loading its data.
pub(super) fn open(target: &Endpoint, options: &Options) -> Result<Connection, Error> {
    let mut connection = Connection::open(target, options)?;
    let address = target.to_string();
    let early = |fault: Fault| fault.early(&address);
    if let Some(password) = target.password.as_ref().or(options.password.as_ref()) {
        let user = target.user.as_deref().or(options.user.as_deref());
        let args: Vec<&str> = ["AUTH"].into_iter().chain(user).chain([password.expose()]).collect();
        if let Reply::Error(reply) = connection.command(&args).map_err(early)? {
            return Err(not_let_in(address, reply));
        }
    }
    wait_until_loaded(&mut connection, options).map_err(early)?;
    // So that an operator who lists clients knows this one; where it is denied, nothing is lost.
    connection.command(&["CLIENT", "SETNAME", options.client_name]).map_err(early)?;
    Ok(connection)
}

fn wait_until_loaded(connection: &mut Connection, options: &Options) -> Result<(), Fault> {
    const PAUSE: Duration = Duration::from_millis(100);
    let start = Instant::now();
    let address = connection.address().to_owned();
    loop {
        match connection.command(&["PING"])? {
            Reply::Error(reply) if reply.starts_with("LOADING") => {
                if options.stop.load(Ordering::Relaxed) {
                    return Err(Error::Stopped.into());
                }
                if start.elapsed() >= options.patience {
                    let waited = start.elapsed().as_secs();
                    return Err(Error::Loading { address, waited }.into());
                }
                thread::sleep(PAUSE);
            }
            Reply::Error(reply)
                if ["NOAUTH", "DENIED", FULL].iter().any(|start| reply.starts_with(start)) =>
            {
                return Err(not_let_in(address, reply).into());
            }
            _ => return Ok(()),
        }
    }
}

const FULL: &str = "ERR max number of clients";

/// Why a server refuses the first command.
fn not_let_in(address: String, reply: String) -> Error {
    if reply.starts_with(FULL) {
        Error::Full { address, reply }
    } else {
        Error::Refused { address, reply }
    }
}

/// What INFO answers, by name, as far as it is of use here; empty where it is denied.
#[derive(Debug, Clone, Default)]
pub(super) struct Info(BTreeMap<String, String>);

/// What one database holds, as far as the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub(super) keys: Option<u64>,
    /// Keys with a TTL, some of which may have expired and still be counted
    pub(super) expiring: Option<u64>,
}

impl Info {
    pub(super) fn ask(connection: &mut Connection) -> Result<Self, Fault> {
        /// A server with 16,000 databases tells 1 MiB.
        const LARGEST: u64 = 4 * 1024 * 1024;
        Ok(match connection.command_up_to(LARGEST, &["INFO"])? {
            Reply::Bytes(text) => Info::parse(&String::from_utf8_lossy(&text)),
            Reply::Error(reply) if reply.starts_with("LOADING") => {
                return Err(Fault::Changed("the server is loading its data again".to_owned()));
            }
            _ => Info::default(),
        })
    }

    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.trim_end().split_once(':'));
        let kept = pairs.filter(|(name, _)| is_of_use(name));
        Info(kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    pub(super) fn is_known(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name).parse().ok()
    }

    /// `valkey` and its version, or `redis` and its version.
    pub(super) fn family(&self) -> (&'static str, &str) {
        match self.get("valkey_version") {
            "" if self.get("server_name") == "valkey" => ("valkey", self.get("redis_version")),
            "" => ("redis", self.get("redis_version")),
            version => ("valkey", version),
        }
    }

    /// Databases that have keys, with how many.
    pub(super) fn databases(&self) -> BTreeMap<u64, Size> {
        let known = self.0.iter().filter_map(|(name, value)| {
            let db = numbered("db", name)?;
            let field = |name: &str| value.split(',').find_map(|pair| pair.strip_prefix(name));
            let number = |name: &str| field(name)?.parse().ok();
            Some((db, Size { keys: number("keys="), expiring: number("expires=") }))
        });
        known.collect()
    }

    /// Whether databases besides the only one that is read have keys, or may have.
    pub(super) fn has_other_databases(&self, only: Option<u64>) -> bool {
        only.is_some_and(|only| !self.is_known() || self.databases().keys().any(|db| *db != only))
    }

    /// The replicas that a primary lists as being online.
    pub(super) fn replicas(&self) -> Vec<(String, u16)> {
        let listed = self.0.iter().filter_map(|(name, value)| {
            numbered("slave", name)?;
            let field = |name: &str| value.split(',').find_map(|pair| pair.strip_prefix(name));
            let online = field("state=") == Some("online");
            online.then_some(())?;
            Some((field("ip=")?.to_owned(), field("port=")?.parse().ok()?))
        });
        listed.collect()
    }

    /// Whether it has loaded modules, which bring types of their own.
    pub(super) fn has_modules(&self) -> bool {
        self.0.contains_key("module")
    }

    /// Whether it is a cluster's node that links the keys of each slot, which takes memory for each.
    pub(super) fn links_slots(&self) -> bool {
        let (family, version) = self.family();
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let last = if family == "valkey" { (7, 2) } else { (7, 3) };
        self.get("cluster_enabled") == "1" && (4, 0) <= version && version <= last
    }

    /// Whether looking at a value changes what the server would evict.
    pub(super) fn evicts_by_use(&self) -> bool {
        let policy = self.get("maxmemory_policy");
        // `lrm` goes by the last change. A policy that is not known may be anything.
        !["noeviction", "-lrm", "-random", "-ttl"].iter().any(|known| policy.ends_with(known))
    }

    /// What is worth telling, by the names of the configuration where there are such.
    pub(super) fn settings(&self) -> BTreeMap<String, String> {
        let mut settings: BTreeMap<String, String> = TOLD
            .iter()
            .filter_map(|(info, name)| Some(((*name).to_owned(), self.0.get(*info)?.clone())))
            .collect();
        if let Some(aof) = self.number("aof_enabled") {
            let value = if aof == 0 { "no" } else { "yes" };
            settings.insert("appendonly".to_owned(), value.to_owned());
        }
        settings
    }
}

/// What a report shows of INFO, by the names of the configuration where there are such.
const TOLD: [(&str, &str); 34] = [
    ("maxmemory", "maxmemory"),
    ("maxmemory_policy", "maxmemory-policy"),
    ("used_memory", "used_memory"),
    ("used_memory_rss", "used_memory_rss"),
    ("used_memory_peak", "used_memory_peak"),
    ("used_memory_dataset", "used_memory_dataset"),
    ("used_memory_overhead", "used_memory_overhead"),
    ("mem_fragmentation_ratio", "mem_fragmentation_ratio"),
    ("mem_allocator", "mem_allocator"),
    ("total_system_memory", "total_system_memory"),
    ("aof_last_write_status", "aof_last_write_status"),
    ("rdb_last_save_time", "rdb_last_save_time"),
    ("rdb_last_bgsave_status", "rdb_last_bgsave_status"),
    ("rdb_changes_since_last_save", "rdb_changes_since_last_save"),
    ("role", "role"),
    ("connected_slaves", "connected_slaves"),
    ("master_link_status", "master_link_status"),
    ("redis_version", "redis_version"),
    ("valkey_version", "valkey_version"),
    ("redis_mode", "redis_mode"),
    ("server_mode", "server_mode"),
    ("os", "os"),
    ("arch_bits", "arch_bits"),
    ("uptime_in_seconds", "uptime_in_seconds"),
    ("connected_clients", "connected_clients"),
    ("blocked_clients", "blocked_clients"),
    ("instantaneous_ops_per_sec", "instantaneous_ops_per_sec"),
    ("expired_keys", "expired_keys"),
    ("evicted_keys", "evicted_keys"),
    ("keyspace_hits", "keyspace_hits"),
    ("keyspace_misses", "keyspace_misses"),
    ("cluster_enabled", "cluster_enabled"),
    ("io_threads_active", "io_threads_active"),
    ("hz", "hz"),
];

/// What else is read from INFO.
const USED: [&str; 7] =
    ["run_id", "server_name", "master_host", "master_port", "module", "aof_enabled", "loading"];

fn is_of_use(name: &str) -> bool {
    let is_told = TOLD.iter().any(|(info, _)| *info == name) || USED.contains(&name);
    is_told || numbered("db", name).is_some() || numbered("slave", name).is_some()
}

/// The number of `db12` or `slave0`.
fn numbered(word: &str, name: &str) -> Option<u64> {
    name.strip_prefix(word)?.parse().ok()
}

/// Adds what INFO does not tell, and what a schema declares, and says why something cannot be known.
pub(super) fn complete_settings(
    connection: &mut Connection,
    declared: &BTreeSet<String>,
    settings: &mut BTreeMap<String, String>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<String, &'static str>, Fault> {
    const ALWAYS: [&str; 4] = ["maxmemory", "maxmemory-policy", "appendonly", "save"];
    let declared = declared.iter().map(String::as_str).filter(|name| !ALWAYS.contains(name));
    let always = ALWAYS.into_iter().filter(|name| !settings.contains_key(*name));
    let names: Vec<&str> = always.chain(declared).collect();
    let (mut unseen, mut denied) = (BTreeMap::new(), Vec::new());
    for name in names {
        let why = match setting(connection, name)? {
            Setting::Is(value) => {
                settings.insert(name.to_owned(), value);
                continue;
            }
            Setting::Missing => "the server has no such setting",
            Setting::Denied => {
                denied.push(format!("`{name}`"));
                "the server denies CONFIG GET"
            }
        };
        unseen.insert(name.to_owned(), why);
    }
    if !denied.is_empty() {
        let denied = denied.join(", ");
        notes.push(format!("not known, because the server denies CONFIG GET: {denied}"));
    }
    Ok(unseen)
}

/// What a server says of one setting.
pub(super) enum Setting {
    Is(String),
    Missing,
    Denied,
}

pub(super) fn setting(connection: &mut Connection, name: &str) -> Result<Setting, Fault> {
    let reply = connection.command(&["CONFIG", "GET", name])?;
    let Reply::Array(pair) = reply else { return Ok(Setting::Denied) };
    Ok(match &pair[..] {
        [_, Reply::Bytes(value)] => Setting::Is(String::from_utf8_lossy(value).into_owned()),
        _ => Setting::Missing,
    })
}

/// Whether a command can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Can {
    Yes,
    Denied,
    Missing,
}

/// Tries a command that does nothing.
pub(super) fn can(connection: &mut Connection, args: &[&str]) -> Result<Can, Fault> {
    Ok(match connection.command(args)? {
        Reply::Error(reply) => ability(&reply),
        _ => Can::Yes,
    })
}

/// What an error says about a command. That a key is another node's, or one that this user may not
/// see, is said only by servers that would run it.
pub(super) fn ability(reply: &str) -> Can {
    if reply.starts_with("NOPERM") && !reply.contains("access") {
        Can::Denied
    } else if reply.starts_with("ERR unknown") || reply.starts_with("ERR Unknown") {
        Can::Missing
    } else {
        Can::Yes
    }
}

/// Tries a command that every audit needs.
pub(super) fn must(
    connection: &mut Connection,
    args: &[&str],
    command: &'static str,
) -> Result<(), Fault> {
    let address = connection.address().to_owned();
    match can(connection, args)? {
        Can::Yes => Ok(()),
        Can::Denied => Err(Error::Denied { address, command, needs: NEEDED }.into()),
        Can::Missing => Err(Error::Missing { address, command }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_denied_command_is_told_from_a_denied_key() {
        let replies = [
            ("NOPERM this user has no permissions to run the 'type' command", Can::Denied),
            ("NOPERM User x has no permissions to run the 'memory|usage' command", Can::Denied),
            ("NOPERM this user has no permissions to access one of the keys used", Can::Yes),
            ("NOPERM No permissions to access a key", Can::Yes),
            ("ERR unknown command 'TYPE', with args beginning with: 'x'", Can::Missing),
            ("ERR Unknown subcommand or wrong number of arguments for 'NO-TOUCH'", Can::Missing),
            ("MOVED 1234 127.0.0.1:7000", Can::Yes),
        ];
        for (reply, expected) in replies {
            assert_eq!(ability(reply), expected, "{reply}");
        }
    }

    #[test]
    fn only_policies_that_ignore_reads_let_values_be_read() {
        let evicts_by_use =
            |policy: &str| Info::parse(&format!("maxmemory_policy:{policy}\r\n")).evicts_by_use();
        for policy in
            ["noeviction", "allkeys-lrm", "volatile-lrm", "allkeys-random", "volatile-ttl"]
        {
            assert!(!evicts_by_use(policy), "{policy}");
        }
        for policy in
            ["allkeys-lru", "volatile-lru", "allkeys-lfu", "volatile-lfu", "", "allkeys-new"]
        {
            assert!(evicts_by_use(policy), "{policy}");
        }
    }

    #[test]
    fn replicas_and_databases_are_read_from_info() {
        let info = Info::parse(
            "# Replication\r\nslave0:ip=10.0.0.2,port=6380,state=online,offset=5,lag=0\r\n\
             slave1:ip=10.0.0.3,port=6380,state=wait_bgsave,offset=0,lag=0\r\n\
             slave_repl_offset:5\r\n# Keyspace\r\ndb0:keys=3,expires=1,avg_ttl=0\r\n\
             db12:keys=9,expires=0,avg_ttl=0\r\n",
        );
        assert_eq!(info.replicas(), [("10.0.0.2".to_owned(), 6380)]);
        let sizes = |keys, expiring| Size { keys: Some(keys), expiring: Some(expiring) };
        assert_eq!(info.databases(), BTreeMap::from([(0, sizes(3, 1)), (12, sizes(9, 0))]));
        let odd = Info::parse("db0:keys=many,expires=1\r\ndb1:nothing\r\nunused:value\r\n");
        let unknown = Size { keys: None, expiring: Some(1) };
        assert_eq!(odd.databases(), BTreeMap::from([(0, unknown), (1, Size::default())]));
        assert_eq!(odd.0.len(), 2);
    }
}
