//! Measures a keyspace against its schema: source → facts → classify → aggregate → findings → report.
//!
//! An [`Audit`] knows what to look for. Sources drive [`Observer`]s, one a thread or a shard; a [`Tally`]
//! is the observer that counts, in memory that does not grow with the number of keys. What several have
//! counted makes one [`Report`], and reports are merged by [`merge`]: the result is the one of a single
//! pass, in whatever order and grouping.
#![deny(missing_docs)]

mod assemble;
mod baseline;
mod bounds;
mod clock;
mod facts;
mod hash;
mod histogram;
mod infer;
mod leaves;
pub mod live;
mod mask;
mod merge;
mod observe;
mod plan;
mod present;
mod rare;
mod rdb;
pub mod render;
pub mod report;
mod resume;
mod segment;
mod server;
mod settings;
mod sketch;
mod tally;
mod values;

pub use baseline::{DEFAULT_TOLERANCE, Difference, FindingChange, PartChange, compare, difference};
pub use clock::{parse_rfc3339, rfc3339};
pub use facts::TTL_BOUNDS;
pub use hash::Salt;
pub use merge::{MergeError, merge};
pub use observe::{Observed, Observer};
pub use plan::{Audit, Options, Subject};
pub use rdb::Reading;
pub use report::Report;
pub use resume::{Outcome, ResumeError, ResumeFile, Stopped, Terms, fingerprint};
pub use settings::ServerFacts;
pub use tally::{Listener, Row, Tally};
