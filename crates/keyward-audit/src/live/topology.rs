//! Which servers hold the keys.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use keyward_fact::address::{Address, Endpoint, Socket};

use super::connection::{Connection, Reply};
use super::error::{Error, Fault};
use super::options::Options;
use super::server::{self, Info};

const SLOTS: u16 = 16_384;

/// More than a cluster can have: servers recommend at most 1,000 nodes.
const MOST_PRIMARIES: usize = 2_000;

/// The keys of one primary, and who can be asked for them.
#[derive(Debug, Clone)]
pub(super) struct Partition {
    /// The primary's address, as far as it is known
    pub(super) name: String,
    /// In a cluster: the primary's name there, and its slots
    pub(super) node: Option<(String, String)>,
    /// Whether it is one of a cluster's, and the others were not asked for
    pub(super) alone: bool,
    pub(super) primary: Endpoint,
    /// Servers to read, the best first
    pub(super) candidates: Vec<Endpoint>,
}

impl Partition {
    /// Whether both are the same keys of the same primary.
    pub(super) fn is(&self, other: &Partition) -> bool {
        self.name == other.name && self.node == other.node
    }
}

/// Finds the servers that a URL means.
pub(super) fn find(address: &Address, options: &Options) -> Result<Vec<Partition>, Error> {
    match address {
        Address::Single(target) => single(target, options),
        Address::Cluster(nodes) => {
            let mut first = None;
            for node in nodes {
                let found = server::open(node, options)
                    .and_then(|mut connection| cluster(&mut connection, node, options));
                match found {
                    Ok(partitions) => return Ok(partitions),
                    Err(error) => first = first.or(Some(error)),
                }
            }
            Err(first.unwrap_or(Error::Url { why: "it names no host" }))
        }
        Address::Sentinel { sentinels, service, server } => {
            let mut first = None;
            for sentinel in sentinels {
                match watched(sentinel, service, server, options) {
                    Ok(partition) => return Ok(vec![partition]),
                    Err(error) => first = first.or(Some(error)),
                }
            }
            Err(first.unwrap_or(Error::Url { why: "it names no host" }))
        }
    }
}

fn single(target: &Endpoint, options: &Options) -> Result<Vec<Partition>, Error> {
    let name = target.to_string();
    let mut connection = server::open(target, options)?;
    let info = Info::ask(&mut connection).map_err(|fault| fault.early(&name))?;
    // Where INFO is denied, only a cluster's node knows of nodes.
    let is_cluster = match info.get("cluster_enabled") {
        "" => Node::ask(&mut connection).is_ok_and(|nodes| !nodes.is_empty()),
        enabled => enabled == "1",
    };
    if is_cluster && !options.node_only {
        return cluster(&mut connection, target, options);
    }
    // Of a cluster that does not say, there may be more.
    let alone = is_cluster
        && cluster(&mut connection, target, options)
            .map_or(true, |partitions| partitions.len() > 1);
    let (primary, candidates) = (target.clone(), vec![target.clone()]);
    let mut partition = Partition { name, node: None, alone, primary, candidates };
    if info.get("role") == "slave" {
        let port = info.number("master_port").and_then(|port| u16::try_from(port).ok());
        if let Some(port) = port {
            partition.primary = target.at(info.get("master_host").to_owned(), port);
            partition.name = partition.primary.to_string();
        }
    } else if !options.primary {
        let replicas = info.replicas().into_iter().map(|(host, port)| target.at(host, port));
        partition.candidates.splice(0..0, replicas);
    }
    Ok(vec![partition])
}

/// Asks a sentinel for the primary of a service and its replicas.
fn watched(
    sentinel: &Endpoint,
    service: &str,
    server: &Endpoint,
    options: &Options,
) -> Result<Partition, Error> {
    let name = sentinel.to_string();
    let early = |fault: Fault| fault.early(&name);
    // The password of the options is the server's.
    let bare = Options { password: None, ..options.clone() };
    let mut connection = server::open(sentinel, &bare)?;
    let get = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", service];
    let primary = match connection.command(&get).map_err(early)? {
        Reply::Array(pair) => address_of(&pair),
        Reply::Nil => {
            let why = format!("the sentinel at {name} watches no service `{service}`");
            return Err(Error::Options { why });
        }
        Reply::Error(reply) => {
            return Err(match server::ability(&reply) {
                server::Can::Missing => Error::Kind { address: name, wanted: "a Sentinel" },
                _ => Error::Reply { address: name, command: "SENTINEL", reply },
            });
        }
        _ => None,
    };
    let Some((host, port)) = primary else {
        let got = "SENTINEL was answered with what is not an address".to_owned();
        return Err(Error::Garbage { address: name, got });
    };
    let primary = server.at(host, port);
    let mut candidates = vec![primary.clone()];
    if !options.primary
        && let Reply::Array(replicas) =
            connection.command(&["SENTINEL", "REPLICAS", service]).map_err(early)?
    {
        let healthy = replicas.iter().filter_map(healthy_replica);
        candidates.splice(0..0, healthy.map(|(host, port)| server.at(host, port)));
    }
    Ok(Partition { name: primary.to_string(), node: None, alone: false, primary, candidates })
}

/// An address out of a host and a port.
fn address_of(pair: &[Reply]) -> Option<(String, u16)> {
    let [Reply::Bytes(host), Reply::Bytes(port)] = pair else { return None };
    let port = std::str::from_utf8(port).ok()?.parse().ok()?;
    Some((String::from_utf8(host.clone()).ok()?, port))
}

fn healthy_replica(described: &Reply) -> Option<(String, u16)> {
    let Reply::Array(fields) = described else { return None };
    let field = |wanted: &str| {
        fields.chunks_exact(2).find_map(|pair| match pair {
            [Reply::Bytes(name), Reply::Bytes(value)] if name == wanted.as_bytes() => {
                std::str::from_utf8(value).ok()
            }
            _ => None,
        })
    };
    let healthy = field("flags") == Some("slave") && field("master-link-status") == Some("ok");
    healthy.then_some(())?;
    Some((field("ip")?.to_owned(), field("port")?.parse().ok()?))
}

/// Every primary of a cluster that has slots.
fn cluster(
    connection: &mut Connection,
    asked: &Endpoint,
    options: &Options,
) -> Result<Vec<Partition>, Error> {
    let address = asked.to_string();
    let nodes = Node::ask(connection).map_err(|fault| fault.early(&address))?;
    let down = |why: String| Error::ClusterDown { address: address.clone(), why };
    let odd = |why: String| Error::Topology { address: address.clone(), why };
    let (mut partitions, mut names) = (Vec::new(), HashSet::new());
    let mut served = vec![false; usize::from(SLOTS)];
    for node in nodes.iter().filter(|node| node.is("master") && !node.slots.is_empty()) {
        if node.is("fail") {
            return Err(down(format!("{} failed, and no replica took over", node.id)));
        }
        for slot in node.ranges().flatten().filter(|slot| *slot < SLOTS) {
            if std::mem::replace(&mut served[usize::from(slot)], true) {
                return Err(odd(format!("two primaries serve slot {slot}")));
            }
        }
        let primary = node.target(asked).ok_or_else(|| down("a primary has no address".into()))?;
        let name = primary.to_string();
        if !names.insert(name.clone()) {
            return Err(odd(format!("two primaries have the address {name}")));
        }
        if names.len() > MOST_PRIMARIES {
            return Err(odd(format!("there are more than {MOST_PRIMARIES} primaries with slots")));
        }
        let mut candidates = vec![primary.clone()];
        if !options.primary {
            let healthy = nodes.iter().filter(|replica| {
                let sick = ["fail", "fail?", "noaddr", "handshake"];
                replica.primary == node.id && !sick.iter().any(|flag| replica.is(flag))
            });
            candidates.splice(0..0, healthy.filter_map(|replica| replica.target(asked)));
        }
        let identity = (node.id.clone(), node.slots.join(","));
        partitions.push(Partition {
            name,
            node: Some(identity),
            alone: false,
            primary,
            candidates,
        });
    }
    match served.iter().filter(|served| !**served).count() {
        0 => {
            partitions.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(partitions)
        }
        missing => Err(down(format!("{missing} of {SLOTS} slots are not served"))),
    }
}

/// A line of CLUSTER NODES.
#[derive(Debug, Default)]
pub(super) struct Node {
    id: String,
    host: String,
    port: u16,
    flags: Vec<String>,
    /// The name of its primary
    primary: String,
    slots: Vec<String>,
    /// Slots that come or go
    moving: usize,
}

impl Node {
    pub(super) fn ask(connection: &mut Connection) -> Result<Vec<Node>, Fault> {
        let address = connection.address().to_owned();
        match connection.command(&["CLUSTER", "NODES"])? {
            Reply::Bytes(text) => {
                let text = String::from_utf8_lossy(&text);
                Ok(text.lines().filter_map(Node::parse).collect())
            }
            Reply::Error(reply) if reply.contains("cluster support disabled") => {
                Err(Error::Kind { address, wanted: "part of a cluster" }.into())
            }
            Reply::Error(reply) => Err(match server::ability(&reply) {
                server::Can::Denied => {
                    let needs = "CLUSTER NODES, SCAN, TYPE, PTTL and READONLY on a cluster";
                    Error::Denied { address, command: "CLUSTER NODES", needs }
                }
                server::Can::Missing => Error::Missing { address, command: "CLUSTER NODES" },
                server::Can::Yes => Error::Reply { address, command: "CLUSTER NODES", reply },
            }
            .into()),
            other => Err(connection.odd("CLUSTER NODES", &other.kind())),
        }
    }

    /// `id host:port@bus,hostname flags primary ping pong epoch link slots…`
    fn parse(line: &str) -> Option<Node> {
        let mut words = line.split_ascii_whitespace();
        let id = words.next()?.to_owned();
        let address = words.next()?.split(['@', ',']).next()?;
        let (host, port) = address.rsplit_once(':')?;
        let flags = words.next()?.split(',').map(str::to_owned).collect();
        let primary = words.next()?.to_owned();
        let (slots, moving): (Vec<&str>, Vec<&str>) =
            words.skip(4).partition(|word| !word.starts_with('['));
        let slots = slots.into_iter().map(str::to_owned).collect();
        let host = host.trim_matches(['[', ']']).to_owned();
        Some(Node {
            id,
            host,
            port: port.parse().ok()?,
            flags,
            primary,
            slots,
            moving: moving.len(),
        })
    }

    fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    /// Whether the server that was asked is moving slots to or from another.
    pub(super) fn is_moving(nodes: &[Node]) -> bool {
        nodes.iter().any(|node| node.is("myself") && node.moving > 0)
    }

    /// The slots of the server that was asked; `None` while it moves some.
    pub(super) fn own_slots(nodes: Vec<Node>) -> Option<Vec<String>> {
        let own = nodes.into_iter().find(|node| node.is("myself"))?;
        (own.moving == 0).then_some(own.slots)
    }

    fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u16>> {
        self.slots.iter().filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
    }

    /// Where it is. A node that has met no other does not know its own address.
    fn target(&self, asked: &Endpoint) -> Option<Endpoint> {
        match (&*self.host, &asked.socket) {
            ("", Socket::Tcp { host, .. }) => Some(asked.at(host.clone(), self.port)),
            ("", Socket::Unix(_)) => Some(asked.clone()),
            (host, _) if self.port > 0 => Some(asked.at(host.to_owned(), self.port)),
            _ => None,
        }
    }
}

/// A server that was chosen to be read.
pub(super) struct Chosen {
    pub(super) target: Endpoint,
    pub(super) connection: Connection,
    pub(super) info: Info,
    pub(super) notes: Vec<String>,
}

/// Connects to the best server of a partition that answers and is in sync.
pub(super) fn choose(partition: &Partition, options: &Options) -> Result<Chosen, Error> {
    // A replica that is slow to answer is not worth waiting for: there is the primary.
    let hasty = Options {
        timeout: options.timeout.min(Duration::from_secs(2)),
        patience: Duration::ZERO,
        ..options.clone()
    };
    let (last, replicas) =
        partition.candidates.split_last().ok_or(Error::Url { why: "no host" })?;
    for target in replicas {
        let Ok(mut connection) = server::open(target, &hasty) else { continue };
        let Ok(info) = Info::ask(&mut connection) else { continue };
        if info.get("role") == "slave" && info.get("master_link_status") == "up" {
            let note = format!("{target} was read, a replica of {}", partition.name);
            drop(connection);
            let connection = server::open(target, options)?;
            return Ok(Chosen { target: target.clone(), connection, info, notes: vec![note] });
        }
    }
    let mut connection = server::open(last, options)?;
    let info = Info::ask(&mut connection).map_err(|fault| fault.early(&last.to_string()))?;
    let note = match info.get("role") {
        "slave" => Some(format!("{last} was read, a replica of {}", partition.name)),
        _ if replicas.is_empty() => None,
        _ => Some(format!("{last} was read, a primary, because no replica of it answers in sync")),
    };
    Ok(Chosen { target: last.clone(), connection, info, notes: note.into_iter().collect() })
}

/// `0-5460 6000`
pub(super) fn slot_ranges(text: &str) -> Vec<RangeInclusive<u16>> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(first.parse().ok()?..=last.parse().ok()?)
    };
    text.split([' ', ',']).filter_map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_cluster_nodes_is_read() {
        let nodes: Vec<Node> = "07c3 127.0.0.1:30004@31004,host4 slave e7d1 0 142 4 connected\n\
             67ed :30002@31002 myself,master - 0 142 2 connected 5461-10922 11000 [93->-e7d1]"
            .lines()
            .filter_map(Node::parse)
            .collect();
        let [replica, primary] = &nodes[..] else { panic!("{nodes:?}") };
        assert!(replica.is("slave") && replica.primary == "e7d1" && replica.port == 30004);
        assert_eq!(primary.ranges().collect::<Vec<_>>(), [5461..=10922, 11000..=11000]);
        assert!(Node::is_moving(&nodes));
        let Ok(Address::Single(asked)) = Address::parse("redis://10.0.0.1:30001") else { panic!() };
        assert_eq!(primary.target(&asked).unwrap().to_string(), "10.0.0.1:30002");
    }
}
