//! Several reports as one: the counts that they carry are merged, and a report is made of them.

use crate::bounds::can_be_added;
use crate::report::{Report, VERSION};

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
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are none
    #[error("there is no report to merge")]
    Nothing,
    /// One is of another version of the document
    #[error("a report has version {version}, this program knows {VERSION}")]
    Version {
        /// Its version
        version: u32,
    },
    /// They count bytes in different ways
    #[error("one report counts bytes as {one}, another as {other}")]
    Bytes {
        /// The one way
        one: &'static str,
        /// The other
        other: &'static str,
    },
    /// One is of a sample, and another of all keys or of another sample
    #[error("one report is of a sample of the keys, another of all or of a sample of another size")]
    Samples,
    /// They count more than there can be
    #[error("together the reports count more than there can be")]
    Numbers,
    /// They were checked against different schemas
    #[error("the reports were checked against different schemas, or against none")]
    Schemas,
}
