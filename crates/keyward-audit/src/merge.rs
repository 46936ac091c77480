//! Several reports as one: the counts that they carry are merged, and a report is made of them.

use crate::bounds::can_be_added;
use crate::report::{Report, VERSION};
use std::fmt;

/// Merges reports of shards into the one report of all. Neither the order nor the grouping matters, where all
/// were audited with the same options.
pub fn merge(reports: Vec<Report>) -> Result<Report, MergeError> {
    if !can_be_added(reports.iter().map(|report| &report.counts.counts)) {
        return Err(MergeError::Numbers);
    }
    if let Some(other) = reports.iter().find(|report| report.version != VERSION) {
        return Err(MergeError::Version { version: other.version });
    }
    let mut reports = reports.into_iter();
    let first = reports.next().ok_or(MergeError::Nothing)?;
    let (mut counted, mut created_at) = (first.counts, first.created_at);
    for report in reports {
        counted.merge(report.counts)?;
        created_at = created_at.max(report.created_at);
    }
    Ok(Report::new(counted, created_at))
}

/// Why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none
    Nothing,
    /// One is of another version of the document
    Version {
        /// Its version
        version: u32,
    },
    /// They count bytes in different ways
    Bytes {
        /// The one way
        one: &'static str,
        /// The other
        other: &'static str,
    },
    /// One is of a sample, and another of all keys or of another sample
    Samples,
    /// They count more than there can be
    Numbers,
    /// They were checked against different schemas
    Schemas,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => f.write_str("there is no report to merge"),
            MergeError::Version { version } => {
                write!(f, "a report has version {version}, this program knows {VERSION}")
            }
            MergeError::Bytes { one, other } => {
                write!(f, "one report counts bytes as {one}, another as {other}")
            }
            MergeError::Samples => f.write_str(
                "one report is of a sample of the keys, another of all or of a sample of another size",
            ),
            MergeError::Numbers => {
                f.write_str("together the reports count more than there can be")
            }
            MergeError::Schemas => {
                f.write_str("the reports were checked against different schemas, or against none")
            }
        }
    }
}

impl std::error::Error for MergeError {}
