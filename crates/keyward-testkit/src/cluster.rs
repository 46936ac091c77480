use std::ops::RangeInclusive;

use crate::flavor::Flavor;
use crate::options::{Mode, ServerOptions};
use crate::resp::Reply;
use crate::server::Server;
use crate::wait::wait_until;

const PRIMARIES: usize = 3;
const SLOTS: usize = 16_384;

/// A cluster of three primaries with one replica each.
///
/// ```no_run
/// use keyward_testkit::{Cluster, Flavor};
///
/// let cluster = Cluster::start(Flavor::Valkey);
/// cluster.command(&["SET", "cart:{42}", "…"]);
/// cluster.primary_of("cart:{42}").kill();
/// cluster.wait_until_ok();
/// ```
#[derive(Debug)]
pub struct Cluster {
    nodes: Vec<Server>,
}

impl Cluster {
    /// Starts six servers and joins them.
    #[track_caller]
    pub fn start(flavor: Flavor) -> Self {
        Self::with(&flavor.server())
    }

    /// Starts six servers with these options and joins them.
    ///
    /// # Panics
    ///
    /// When a server does not start or the cluster does not come together within a minute.
    #[track_caller]
    pub fn with(options: &ServerOptions) -> Self {
        let options = options.clone().mode(Mode::ClusterNode);
        let options = match options.password.clone() {
            Some(password) => options.config("masterauth", &password),
            None => options,
        };
        let cluster = Self { nodes: (0..2 * PRIMARIES).map(|_| options.clone().start()).collect() };
        cluster.assign_slots();
        cluster.introduce_everybody();
        cluster.attach_replicas();
        cluster.wait_until_ok();
        cluster
    }

    fn assign_slots(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            // Equal epochs would be told apart by a vote, which takes seconds.
            node.command(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()]);
        }
        for (index, node) in self.nodes[..PRIMARIES].iter().enumerate() {
            let first = index * SLOTS / PRIMARIES;
            let last = (index + 1) * SLOTS / PRIMARIES - 1;
            node.command(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &last.to_string()]);
        }
    }

    fn introduce_everybody(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            for other in &self.nodes[..index] {
                let (port, bus) = (other.port().to_string(), other.bus_port().to_string());
                node.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
            }
        }
        wait_until("every node knows every other", || {
            self.nodes.iter().all(|node| {
                let known = node.command(&["CLUSTER", "NODES"]).text();
                known.lines().count() == self.nodes.len() && !known.contains("handshake")
            })
        });
    }

    fn attach_replicas(&self) {
        let (primaries, replicas) = self.nodes.split_at(PRIMARIES);
        for (primary, replica) in primaries.iter().zip(replicas) {
            replica.command(&["CLUSTER", "REPLICATE", &id(primary)]);
        }
        wait_until("every replica is in sync and known to all", || {
            self.nodes.iter().all(|node| {
                let slots = node.command(&["CLUSTER", "SLOTS"]).array();
                // First slot, last slot, the primary, its replica.
                slots.len() == PRIMARIES && slots.into_iter().all(|range| range.array().len() == 4)
            }) && replicas.iter().all(Server::is_in_sync)
        });
    }

    /// Waits until every running node reports that all slots are served.
    ///
    /// # Panics
    ///
    /// When that takes more than a minute.
    #[track_caller]
    pub fn wait_until_ok(&self) {
        wait_until("the cluster is ok", || {
            self.running().all(|node| {
                let info = node.command(&["CLUSTER", "INFO"]).text();
                info.contains("cluster_state:ok")
            })
        });
    }

    /// Waits until every running replica has all that was written to its primary until now.
    ///
    /// # Panics
    ///
    /// When that takes more than a minute.
    #[track_caller]
    pub fn wait_until_replicated(&self) {
        for replica in self.running().filter(|node| !node.is_primary()) {
            // slave, host, port, state, offset
            let port = replica.command(&["ROLE"]).array().get(2).cloned().map(Reply::integer);
            let is_its_own = |node: &&Server| port == Some(i64::from(node.port()));
            if let Some(primary) = self.running().find(is_its_own) {
                primary.wait_until_replicated(replica);
            }
        }
    }

    /// All six servers: first those that started as primaries, then their replicas, in the same
    /// order.
    pub fn nodes(&self) -> &[Server] {
        &self.nodes
    }

    /// The servers that are primaries now.
    pub fn primaries(&self) -> Vec<&Server> {
        self.running().filter(|node| node.is_primary()).collect()
    }

    /// The server that holds a key now.
    ///
    /// # Panics
    ///
    /// When no running node knows it.
    #[track_caller]
    pub fn primary_of<K: AsRef<[u8]>>(&self, key: K) -> &Server {
        let node = self.running().next().expect("a node is running");
        let keyslot: [&[u8]; 3] = [b"CLUSTER", b"KEYSLOT", key.as_ref()];
        let slot = node.command(&keyslot).integer();
        let ranges = node.command(&["CLUSTER", "SLOTS"]).array();
        let port = ranges.into_iter().map(Range::from).find(|range| range.slots.contains(&slot));
        let port = port.map(|range| range.primary_port);
        self.nodes
            .iter()
            .find(|node| Some(i64::from(node.port())) == port)
            .unwrap_or_else(|| panic!("nobody serves slot {slot}"))
    }

    /// Sends one command whose first argument is a key to the node that serves it.
    ///
    /// # Panics
    ///
    /// When the node cannot be reached or the command fails.
    #[track_caller]
    pub fn command<A: AsRef<[u8]>>(&self, args: &[A]) -> Reply {
        self.primary_of(args.get(1).expect("the command has a key")).command(args)
    }

    /// Begins to move a slot from one of the [`nodes`](Cluster::nodes) to another.
    #[track_caller]
    pub fn migrate(&self, slot: u16, from: usize, to: usize) -> Migration<'_> {
        let (from, to) = (&self.nodes[from], &self.nodes[to]);
        let migration = Migration { from, to, slot: slot.to_string() };
        to.command(&["CLUSTER", "SETSLOT", &migration.slot, "IMPORTING", &id(from)]);
        from.command(&["CLUSTER", "SETSLOT", &migration.slot, "MIGRATING", &id(to)]);
        migration
    }

    /// Makes one of the replicas a primary that has no slots yet, as a node that has just joined.
    ///
    /// # Panics
    ///
    /// When that takes more than a minute.
    #[track_caller]
    pub fn promote_without_slots(&self, replica: usize) {
        let (node, first) = (&self.nodes[replica], &self.nodes[0]);
        let id = id(node);
        node.command(&["CLUSTER", "RESET"]);
        let (port, bus) = (first.port().to_string(), first.bus_port().to_string());
        node.command(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
        wait_until("every node knows it as a primary", || {
            self.nodes.iter().all(|node| {
                let known = node.command(&["CLUSTER", "NODES"]).text();
                let mut lines = known.lines();
                let is_primary = |line: &str| line.starts_with(&id) && line.contains("master");
                lines.clone().count() == self.nodes.len()
                    && lines.any(is_primary)
                    && !known.contains("handshake")
            })
        });
        self.wait_until_ok();
    }

    /// The nodes that can answer.
    fn running(&self) -> impl Iterator<Item = &Server> {
        self.nodes.iter().filter(|node| node.is_running())
    }
}

fn id(node: &Server) -> String {
    node.command(&["CLUSTER", "MYID"]).text()
}

/// A slot on its way: the old node answers ASK for keys that it does not have any more.
#[derive(Debug)]
pub struct Migration<'c> {
    from: &'c Server,
    to: &'c Server,
    slot: String,
}

impl Migration<'_> {
    /// Moves the keys that the slot has.
    #[track_caller]
    pub fn carry(&self) {
        let (slot, port) = (&*self.slot, self.to.port().to_string());
        loop {
            let keys = self.from.command(&["CLUSTER", "GETKEYSINSLOT", slot, "100"]).array();
            if keys.is_empty() {
                return;
            }
            for key in keys {
                self.from.command(&["MIGRATE", "127.0.0.1", &port, &key.text(), "0", "5000"]);
            }
        }
    }

    /// Gives the slot to its new node. The old one answers MOVED from now on.
    #[track_caller]
    pub fn end(self) {
        self.carry();
        for node in [self.to, self.from] {
            node.command(&["CLUSTER", "SETSLOT", &self.slot, "NODE", &id(self.to)]);
        }
    }
}

/// One entry of CLUSTER SLOTS.
struct Range {
    slots: RangeInclusive<i64>,
    primary_port: i64,
}

impl From<Reply> for Range {
    fn from(entry: Reply) -> Self {
        let mut entry = entry.array().into_iter();
        let mut next = || entry.next().expect("an entry has two ends and a primary");
        let slots = next().integer()..=next().integer();
        let [_host, port, ..] = &next().array()[..] else { panic!("a node has a host and a port") };
        Self { slots, primary_port: port.clone().integer() }
    }
}
