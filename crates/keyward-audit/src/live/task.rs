//! What reading one server needs and gives, whichever way it is read.

use std::sync::atomic::{AtomicBool, Ordering};

use keyward_fact::address::Endpoint;

use super::error::{Error, Fault};
use super::options::{Options, ResumeShard};
use super::seen::{Bytes, Shard};
use super::server::Info;
use super::topology::Partition;

/// A server to read.
pub(super) struct Task<'a> {
    pub(super) options: &'a Options,
    pub(super) partition: &'a Partition,
    pub(super) target: &'a Endpoint,
    /// What it said before
    pub(super) info: &'a Info,
    /// The moment from which TTLs are counted
    pub(super) clock: u64,
    pub(super) resume: Option<&'a ResumeShard>,
    /// Set when another shard failed for good
    pub(super) cancel: &'a AtomicBool,
}

impl Task<'_> {
    pub(super) fn must_stop(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed)
    }

    /// Fails if the server was restarted, or is another one by now, or has another role.
    pub(super) fn expect_same(&self, now: &Info) -> Result<(), Fault> {
        let changed = |why: &str| Err(Fault::Changed(why.to_owned()));
        if !self.info.is_known() || !now.is_known() {
            return changed(
                "whether it is the same server cannot be known, because it denies INFO",
            );
        }
        if self.info.get("run_id") != now.get("run_id") {
            return changed("the server was restarted meanwhile");
        }
        if self.info.get("role") != now.get("role") {
            return changed("the server was failed over meanwhile");
        }
        Ok(())
    }
}

/// A server that was read.
pub(super) struct ShardRead<O> {
    pub(super) shard: Shard,
    pub(super) observer: O,
    /// `None` where nothing was read
    pub(super) bytes: Option<Bytes>,
    /// The database and cursor where it was stopped
    pub(super) stopped: Option<(u64, u64)>,
    /// Keys behind that cursor that the observer was told of, by their hashes
    pub(super) told: Vec<u64>,
}

impl<O> ShardRead<O> {
    /// What was seen before a stop, of a server that could not be read on.
    pub(super) fn of(resume: &ResumeShard, clock: u64, make: impl FnOnce(&Shard) -> O) -> Self {
        let shard = Shard {
            name: resume.name.clone(),
            server: resume.server.clone(),
            run_id: resume.run_id.clone(),
            role: resume.role.clone(),
            slots: resume.slots.clone(),
            clock,
            resumed: true,
            counts: resume.counts,
            notes: resume.notes.clone(),
            missing: resume.missing.clone(),
            refused: resume.refused.clone(),
            ..Shard::default()
        };
        let (stopped, told) = (resume.at, resume.told.clone());
        ShardRead { observer: make(&shard), shard, bytes: None, stopped, told }
    }

    /// Where to go on.
    pub(super) fn resume(&self) -> ResumeShard {
        let Shard { name, run_id, server, role, slots, counts, notes, missing, refused, .. } =
            self.shard.clone();
        let (at, told) = (self.stopped, self.told.clone());
        ResumeShard { name, run_id, server, role, slots, at, told, counts, notes, missing, refused }
    }

    /// Whether more was seen than before it was resumed.
    pub(super) fn is_further_than(&self, resume: Option<&ResumeShard>) -> bool {
        let before = resume.map_or(0, |resume| resume.counts.scanned);
        self.shard.counts.scanned > before
    }
}

/// A server that could not be read to its end.
pub(super) struct Broken<O> {
    pub(super) fault: Fault,
    /// What was seen of it until then
    pub(super) seen: Option<Box<ShardRead<O>>>,
}

impl<O> Broken<O> {
    pub(super) fn new(fault: Fault, seen: ShardRead<O>) -> Self {
        Broken { fault, seen: Some(Box::new(seen)) }
    }
}

impl<O> From<Fault> for Broken<O> {
    fn from(fault: Fault) -> Self {
        Broken { fault, seen: None }
    }
}

impl<O> From<Error> for Broken<O> {
    fn from(error: Error) -> Self {
        Fault::from(error).into()
    }
}
