//! Measures a keyspace against its schema: source → facts → classify → aggregate → findings → report.
#![deny(missing_docs)]

pub mod live;
mod observe;

pub use observe::{Observed, Observer};
