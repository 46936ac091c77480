//! What servers say about themselves, as of the last time they were asked.

use super::Seen;
use super::exposition::{Exposition, Kind, float};
use crate::info::NodeInfo;
use crate::state::Health;

/// A family with one number for each node.
type Number = (&'static str, Kind, &'static str, fn(&NodeInfo) -> Option<u64>);

const NUMBERS: [Number; 15] = [
    ("keyward_server_uptime_seconds", Kind::Gauge, "Seconds since the server was started", |it| {
        it.uptime
    }),
    ("keyward_server_memory_used_bytes", Kind::Gauge, "Bytes that the server uses", |it| {
        it.used_memory
    }),
    (
        "keyward_server_memory_peak_bytes",
        Kind::Gauge,
        "The most bytes that the server used",
        |it| it.used_memory_peak,
    ),
    (
        "keyward_server_memory_max_bytes",
        Kind::Gauge,
        "The bound of the server's memory; no series where it has none",
        |it| it.maxmemory.filter(|bytes| *bytes > 0),
    ),
    ("keyward_server_clients", Kind::Gauge, "Connected clients", |it| it.clients),
    ("keyward_server_blocked_clients", Kind::Gauge, "Clients in a blocking command", |it| {
        it.blocked
    }),
    ("keyward_server_max_clients", Kind::Gauge, "The most clients", |it| it.maxclients),
    ("keyward_server_commands_per_second", Kind::Gauge, "Commands a second", |it| it.ops),
    ("keyward_server_keyspace_hits", Kind::Counter, "Reads that found their key", |it| it.hits),
    ("keyward_server_keyspace_misses", Kind::Counter, "Reads that did not find their key", |it| {
        it.misses
    }),
    ("keyward_server_evicted_keys", Kind::Counter, "Keys that were evicted", |it| it.evicted),
    ("keyward_server_expired_keys", Kind::Counter, "Keys that expired", |it| it.expired),
    ("keyward_server_snapshot_changes", Kind::Gauge, "Writes since the last snapshot", |it| {
        it.persistence.changes
    }),
    ("keyward_server_snapshot_ok", Kind::Gauge, "Whether the last snapshot was written", |it| {
        it.persistence.last_ok.map(u64::from)
    }),
    (
        "keyward_server_slow_commands",
        Kind::Gauge,
        "Entries in the log of slow commands, at most 128",
        |it| Some(it.slow.len() as u64),
    ),
];

pub(super) fn write(out: &mut Exposition, servers: &[Seen], now: u64) {
    out.family("keyward_server_up", Kind::Gauge, "Whether the server answers");
    for (name, current) in servers {
        let up = match current.health {
            Health::Up { .. } => 1.0,
            Health::Away { .. } => 0.0,
            Health::Unknown => continue,
        };
        out.sample(&[("server", name)], up);
    }
    for (name, kind, help, number) in NUMBERS {
        out.family(name, kind, help);
        for_nodes(servers, |server, node| {
            out.known(&[("server", server), ("node", &node.name)], number(node));
        });
    }
    out.family(
        "keyward_server_memory_fragmentation_ratio",
        Kind::Gauge,
        "Memory of the process over memory in use",
    );
    for_nodes(servers, |server, node| {
        if let Some(ratio) = node.fragmentation {
            out.sample(&[("server", server), ("node", &node.name)], ratio);
        }
    });
    out.family(
        "keyward_server_snapshot_age_seconds",
        Kind::Gauge,
        "Seconds since the last snapshot was written",
    );
    for_nodes(servers, |server, node| {
        let age = node.persistence.last_save.map(|at| (now / 1000).saturating_sub(at));
        out.known(&[("server", server), ("node", &node.name)], age);
    });
    out.family(
        "keyward_server_snapshot_late_seconds",
        Kind::Gauge,
        "Seconds by which a snapshot is later than `save` asks for",
    );
    for_nodes(servers, |server, node| {
        if node.persistence.save.is_some() {
            let late = node.persistence.late(now / 1000).unwrap_or(0);
            out.sample(&[("server", server), ("node", &node.name)], float(late));
        }
    });
    out.family(
        "keyward_server_replica_lag_seconds",
        Kind::Gauge,
        "Seconds since a replica was heard of",
    );
    for_nodes(servers, |server, node| {
        for replica in &node.replicas {
            let labels = [("server", server), ("node", &node.name), ("replica", &replica.address)];
            out.known(&labels, replica.lag);
        }
    });
}

fn for_nodes(servers: &[Seen], mut each: impl FnMut(&str, &NodeInfo)) {
    for (server, current) in servers {
        for node in current.info.iter().flat_map(|info| &info.nodes) {
            each(server, node);
        }
    }
}
