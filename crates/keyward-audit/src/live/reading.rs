//! What reading one server needs and gives, whichever way it is read.

use std::sync::atomic::{AtomicBool, Ordering};

use super::address::Target;
use super::connection::Connection;
use super::error::Fault;
use super::options::{Options, ResumeShard};
use super::seen::{Bytes, Shard};
use super::server::Info;
use super::topology::Part;

/// A server to read.
pub(super) struct Task<'a> {
    pub(super) options: &'a Options,
    pub(super) part: &'a Part,
    pub(super) target: &'a Target,
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

    /// Fails if the server was restarted, or is another one by now, or plays another part.
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
pub(super) struct Reading<O> {
    pub(super) shard: Shard,
    pub(super) observer: O,
    pub(super) bytes: Bytes,
    /// The database and cursor where it was stopped
    pub(super) stopped: Option<(u64, u64)>,
    pub(super) connection: Connection,
}
