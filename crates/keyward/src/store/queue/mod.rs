//! Queues: jobs that are handled at least once.
//!
//! The documented list or stream holds the declared values and nothing else, so that any client can push. All that the
//! algorithm needs besides is in derived keys of its slot, above all `~jobs`, which says what is true of every job; the
//! documented status is written after it. Time is the server's.
//!
//! A take moves entries into `~jobs` and leases them under a ticket, and a lease that is not renewed ends. Lua cannot block,
//! so idle workers wait on a connection of their own: at a list, BLMOVE moves an entry into `~taken`; at a stream,
//! XREADGROUP makes it pending. Every take adopts what is there. That is all in which lists and streams differ:
//! `list.lua` and `stream.lua` have the same functions, of which `push.lua` and `take.lua` use one or the other.

mod board;
mod dead;
pub(super) mod gather;
mod idle;
mod job;
mod lease;
mod line;
mod look;
mod push;
mod repeat;
mod worker;

pub use dead::Dead;
pub use job::{Failure, Job, Outcome};
pub use look::{Cancelled, JobInfo, JobState, Stats};
pub use push::{Push, Pushed, Ticket};
pub use repeat::{Missed, Schedule};
pub use worker::{Worker, terminated};

use super::lua::Lua;
use crate::{Definition, shared};

/// The words of the keys beside a definition's, if it is a queue.
pub(super) fn words(definition: &Definition) -> &'static [&'static str] {
    if definition.behaviour.lease_ms.is_some() { &shared::WORDS } else { &[] }
}

/// A script with what all scripts of a queue share. What ends, cancels or takes a job works on a full server too.
macro_rules! script {
    ($flags:literal, $($file:literal),+) => {
        Lua::new(concat!(
            "#!lua", $flags, "\n",
            include_str!("../lua/moment.lua"), include_str!("record.lua"), $(include_str!($file)),+
        ))
    };
}

/// Adding and taking, at a list and at a stream.
static PUSH: [Lua; 2] = [Lua::new(shared::PUSH[0]), Lua::new(shared::PUSH[1])];
pub(crate) static TAKE: [Lua; 2] = [
    script!(" flags=allow-oom", "list.lua", "take.lua"),
    script!(" flags=allow-oom", "stream.lua", "take.lua"),
];
static SETTLE: Lua = script!(" flags=allow-oom", "conclude.lua", "settle.lua");
pub(crate) static FINISH: Lua = script!(" flags=allow-oom", "conclude.lua", "finish.lua");
static MARK: Lua = script!(" flags=allow-oom", "mark.lua");
static RENEW: Lua = script!(" flags=allow-oom", "renew.lua");
static CANCEL: Lua = script!(" flags=allow-oom", "cancel.lua");
static PROGRESS: Lua = script!(" flags=allow-oom", "progress.lua");
static TICK: Lua = script!(" flags=no-writes", "tick.lua");
static LOOK: Lua = script!(" flags=no-writes", "look.lua");
static LETTERS: Lua = Lua::new(shared::LETTERS);
