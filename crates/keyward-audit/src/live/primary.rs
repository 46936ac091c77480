//! The servers that take writes, for those who change keys.

use std::ops::RangeInclusive;

use keyward_fact::address::{Address, Endpoint};

use super::connection::{Connection, Reply, write_command};
use super::error::{Error, Fault};
use super::lines;
use super::options::Options;
use super::server;
use super::topology::{self, Node, Partition, slot_ranges};

/// A connection to a server that takes writes: a single one, what a sentinel names, or one of a cluster's.
#[derive(Debug)]
pub struct Primary {
    /// Its address
    pub name: String,
    /// In a cluster: its name there
    pub node: Option<String>,
    slots: Option<Vec<RangeInclusive<u16>>>,
    endpoint: Endpoint,
    options: Options,
    connection: Connection,
    db: u64,
}

/// Commands to be sent together.
#[derive(Debug, Default, Clone)]
pub struct Requests {
    bytes: Vec<u8>,
    count: usize,
}

impl Requests {
    /// Adds a command.
    pub fn add(&mut self, args: &[&[u8]]) {
        write_command(&mut self.bytes, args);
        self.count += 1;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
    }
}

impl Primary {
    /// Connects to all primaries that a URL means.
    ///
    /// # Errors
    /// If one of them cannot be reached, or does not let this user in.
    pub fn all(url: &str, options: &Options) -> Result<Vec<Self>, Error> {
        Self::each(url, options)?.into_iter().collect()
    }

    /// The same where some of them may be away.
    ///
    /// # Errors
    /// If nobody can say which there are.
    pub fn each(url: &str, options: &Options) -> Result<Vec<Result<Self, Error>>, Error> {
        let partitions = topology::find(&Address::parse(url)?, options)?;
        Ok(partitions.into_iter().map(|partition| Self::of(partition, options)).collect())
    }

    /// Connects to the primary of a partition.
    pub(super) fn of(partition: Partition, options: &Options) -> Result<Self, Error> {
        let connection = server::open(&partition.primary, options)?;
        let (node, slots) = partition.node.unzip();
        let db = options.db.or(partition.primary.db.map(u64::from)).unwrap_or(0);
        let mut primary = Primary {
            name: partition.name,
            node,
            slots: slots.as_deref().map(slot_ranges),
            endpoint: partition.primary,
            options: options.clone(),
            connection,
            db: 0,
        };
        primary.select(db)?;
        Ok(primary)
    }

    /// Another connection to the same server, in the same database.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn again(&self) -> Result<Self, Error> {
        let connection = server::open(&self.endpoint, &self.options)?;
        let mut other = Primary {
            name: self.name.clone(),
            node: self.node.clone(),
            slots: self.slots.clone(),
            endpoint: self.endpoint.clone(),
            options: self.options.clone(),
            connection,
            db: 0,
        };
        other.select(self.db)?;
        Ok(other)
    }

    /// Whether it has the keys of a slot, as far as was known when it was found.
    pub fn has(&self, slot: u16) -> bool {
        self.slots.as_ref().is_none_or(|slots| slots.iter().any(|range| range.contains(&slot)))
    }

    /// The slots that it has now, as CLUSTER NODES spells them; `None` while some come or go.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn slots_now(&mut self) -> Result<Option<Vec<String>>, Error> {
        if !self.is_clustered() {
            return Ok(Some(Vec::new()));
        }
        let nodes = Node::ask(&mut self.connection).map_err(|fault| died(&self.name, fault))?;
        Ok(Node::own_slots(nodes))
    }

    /// Whether it is part of a cluster.
    pub fn is_clustered(&self) -> bool {
        self.slots.is_some()
    }

    /// The database that commands reach.
    pub fn db(&self) -> u64 {
        self.db
    }

    /// Chooses a database.
    ///
    /// # Errors
    /// If the server does not have it, or cannot be asked.
    pub fn select(&mut self, db: u64) -> Result<(), Error> {
        if db == self.db {
            return Ok(());
        }
        let number = db.to_string();
        if let Reply::Error(reply) = self.command(&[b"SELECT", number.as_bytes()])? {
            return Err(lines::not_selected(&self.name, db, reply));
        }
        self.db = db;
        Ok(())
    }

    /// Sends one command, and waits for its reply, which may be an error.
    ///
    /// # Errors
    /// If the connection breaks, or what comes is no reply.
    pub fn command(&mut self, args: &[&[u8]]) -> Result<Reply, Error> {
        let mut requests = Requests::default();
        requests.add(args);
        self.send(&requests)?;
        self.reply()
    }

    /// Sends commands. Each has a reply, in their order.
    ///
    /// # Errors
    /// If the connection breaks.
    pub fn send(&mut self, requests: &Requests) -> Result<(), Error> {
        let sent = self.connection.send(&requests.bytes);
        sent.map_err(|fault| died(&self.name, fault))
    }

    /// The next reply.
    ///
    /// # Errors
    /// If the connection breaks, or what comes is no reply.
    pub fn reply(&mut self) -> Result<Reply, Error> {
        self.connection.reply().map_err(|fault| died(&self.name, fault))
    }

    /// How it was reached, for connections that only this crate makes.
    pub(super) fn open(&self) -> Result<Connection, Error> {
        server::open(&self.endpoint, &self.options)
    }
}

fn died(address: &str, fault: Fault) -> Error {
    fault.into_error(address, 0)
}
