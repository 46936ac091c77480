//! Queues: jobs that are handled at least once.
//!
//! The documented list holds the declared values and nothing else, so that any client can push. All that the algorithm
//! needs besides is in derived keys of the list's slot, above all `~jobs`, which says what is true of every job; the
//! documented status is written after it. Time is the server's.
//!
//! A take leases jobs under a ticket, and a lease that is not renewed ends. Lua cannot block, so idle workers BLMOVE
//! an entry into `~taken` on a connection of their own, and every take adopts what is there.

mod board;
mod dead;
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
use crate::Definition;

/// The words of the keys beside a definition's, if it is a queue.
pub(super) fn words(definition: &Definition) -> &'static [&'static str] {
    if definition.behaviour.lease_ms.is_some() { &line::WORDS } else { &[] }
}

/// A script with what all scripts of a queue share. What ends, cancels or takes a job works on a full server too.
macro_rules! script {
    ($flags:literal, $($file:literal),+) => {
        Lua::new(concat!("#!lua", $flags, "\n", include_str!("record.lua"), $(include_str!($file)),+))
    };
}

static PUSH: Lua = script!("", "push.lua");
static TAKE: Lua = script!(" flags=allow-oom", "take.lua");
static SETTLE: Lua = script!(" flags=allow-oom", "conclude.lua", "settle.lua");
static FINISH: Lua = script!(" flags=allow-oom", "conclude.lua", "finish.lua");
static MARK: Lua = script!(" flags=allow-oom", "mark.lua");
static RENEW: Lua = script!(" flags=allow-oom", "renew.lua");
static CANCEL: Lua = script!(" flags=allow-oom", "cancel.lua");
static PROGRESS: Lua = script!(" flags=allow-oom", "progress.lua");
static TICK: Lua = script!(" flags=no-writes", "tick.lua");
static LOOK: Lua = script!(" flags=no-writes", "look.lua");
