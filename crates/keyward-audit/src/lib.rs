//! Measures a keyspace against its schema: source → facts → classify → aggregate → findings → report.
#![deny(missing_docs)]

mod observe;
pub mod render;
pub mod report;

pub use observe::{Observed, Observer};
pub use report::Report;
