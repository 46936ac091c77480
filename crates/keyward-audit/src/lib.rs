//! Measures a keyspace against its schema: source → facts → classify → aggregate → findings → report.
//!
//! An [`Audit`] knows what to look for. Sources drive [`Observer`]s, one a thread or a shard; a [`Tally`]
//! is the observer that counts, in memory that does not grow with the number of keys. What several have
//! counted is merged, and one [`Report`] is made of it. A report carries its [`Counts`], so that reports are
//! merged by [`merge`] into what a single pass would report, in whatever order and grouping.
#![deny(missing_docs)]

mod baseline;
mod bounds;
mod checks;
mod clock;
mod collect;
mod counts;
mod document;
mod drafted;
mod findings;
mod hash;
mod histogram;
mod leaves;
pub mod live;
pub mod lookup;
mod mask;
mod merge;
mod observe;
mod outline;
pub mod queues;
mod rare;
mod rdb;
mod recheck;
pub mod render;
pub mod report;
mod resume;
mod seal;
mod segment;
mod server;
mod settings;
mod share;
mod sketch;
mod tally;

pub use baseline::{
    DEFAULT_TOLERANCE, Difference, FindingChange, PartChange, appeared, compare, difference,
    disappeared,
};
pub use checks::{Audit, DeclaredKey, Options, Subject};
pub use clock::{now, parse_rfc3339, rfc3339};
pub use collect::Collected;
pub use counts::{Counted, Counts, TTL_BOUNDS};
pub use hash::Salt;
pub use mask::{Mask, Masked};
pub use merge::{MergeError, merge};
pub use observe::Observer;
pub use outline::Outline;
pub use rdb::ReadOptions;
pub use report::Report;
pub use resume::{Outcome, ResumeError, ResumeFile, Stopped, Terms, fingerprint};
pub use settings::ServerFacts;
pub use tally::{Listener, Row, Tally};
