//! Reads the keys of live servers: one, a cluster, or what a sentinel names.
//!
//! ```no_run
//! use keyward_audit::live::{self, Options};
//! use keyward_audit::Observer;
//! use keyward_fact::{Element, Fact, Show};
//!
//! #[derive(Default)]
//! struct Memory(u64);
//!
//! impl Observer for Memory {
//!     fn begin(&mut self, _: &Fact<'_>) -> Show {
//!         Show::NOTHING
//!     }
//!     fn element(&mut self, _: &Element<'_>) {}
//!     fn end(&mut self, fact: &Fact<'_>) {
//!         self.0 += fact.bytes.unwrap_or(0);
//!     }
//! }
//!
//! let url = "redis://127.0.0.1:6379";
//! let seen = live::observe(url, &Options::default(), |_| Memory::default())?.whole()?;
//! for (shard, memory) in &seen.shards {
//!     println!("{}: {} keys, {} bytes", shard.name, shard.counts.keys, memory.0);
//! }
//! # Ok::<(), live::Error>(())
//! ```
//!
//! # What a server bears
//!
//! SCAN, TYPE, PTTL, MEMORY USAGE with a bounded number of samples, OBJECT, and INFO; CONFIG GET for
//! what INFO does not report; DBSIZE and SELECT; PING, to measure what others wait for; lengths and the first elements where that does not change what the server
//! evicts (CLIENT NO-TOUCH, a policy that does not look at use, or [`Options::touch`]). Never KEYS,
//! DEBUG, MONITOR, or anything that writes. A replica is read where there is one in sync. How much of
//! the server's time that takes is bounded by [`Bound`]. What seems to be wrong with an index is read once more, by
//! SISMEMBER, ZSCORE, SSCAN, GET and HGET: a few hundred keys at most.
//!
//! # What is promised
//!
//! - `Ok` with [`Ended::Whole`] means that every key that was there from the beginning to the end was
//!   seen at least once, on servers that were the same processes in the same roles with the same slots
//!   before and after, as far as this user is allowed to: what was denied is in [`Shard::missing`]. Where
//!   one changed, it is read again, once; then it is
//!   [`Error::Incomplete`].
//! - SCAN may return a key twice, when the server's table shrinks meanwhile. Keeping all names to find
//!   these would take memory without bound, so counts stand beside DBSIZE instead.
//! - A broken connection is made again, and the scan resumes from its cursor if the server is the same
//!   process still. Where it cannot be made again, what was seen is given back with the error, as
//!   [`Ended::Stopped`], to go on later.
//! - What was stopped resumes where it was if the server is the same process still: to another one, a
//!   cursor means nothing, so that shard is read again while the others resume.
//! - Nothing is waited for without end, and whatever is waited for, [`Options::stop`] ends it.
//! - No message holds a credential.

pub(crate) mod client;
pub(crate) mod connection;
mod ended;
mod error;
mod group;
mod lines;
mod lookup;
mod options;
mod pace;
mod partition;
mod primary;
mod probe;
mod sample;
mod scan;
mod seen;
mod server;
mod shape;
mod shards;
mod snapshot;
mod task;
mod throttle;
mod topology;
mod transport;
mod values;
mod wait;
mod walk;
pub mod watch;
mod wording;

pub use connection::Reply;
pub use error::Error;
pub use keyward_fact::address::Secret;
pub use options::{Bound, Options, Progress, Resume, ResumeShard, Tls, Via};
pub use primary::{Primary, Requests};
pub use sample::is_sampled;
pub use seen::{Bytes, Counts, Ended, Latency, Refused, Sample, Seen, Shard};
pub use throttle::Throttle;

use crate::observe::Observer;
use keyward_fact::address::Address;

/// A URL as it may be shown and kept: without credentials.
pub fn shown(url: &str) -> String {
    Address::shown(url)
}

/// Whether a text is meant as a server's URL, though it may be a wrong one.
pub fn is_url(text: &str) -> bool {
    Address::is_meant(text)
}

/// Reads all keys of the servers that a URL names, and shows them to observers: one for each shard,
/// made when its reading begins. Where a shard is read again, its observer is made again too.
///
/// With [`Options::resume`], `make` is asked for the observers that were given back with it.
pub fn observe<O: Observer>(
    url: &str,
    options: &Options,
    make: impl Fn(&Shard) -> O + Sync,
) -> Result<Ended<O>, Error> {
    shards::observe(url, options, &make)
}
