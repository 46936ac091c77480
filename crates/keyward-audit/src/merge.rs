//! Several reports as one: the counts that they carry are merged, and a report is made of them.

use crate::bounds::can_be_added;
use crate::report::{Report, VERSION};
use std::collections::HashSet;

/// Merges reports of shards into the one report of all. Neither the order nor the grouping matters, where all
/// were audited with the same options.
pub fn merge(reports: Vec<Report>) -> Result<Report, MergeError> {
    if !can_be_added(reports.iter().map(|report| &report.counts.counts)) {
        return Err(MergeError::Numbers);
    }
    if let Some(other) = reports.iter().find(|report| report.version != VERSION) {
        return Err(MergeError::Version { version: other.version });
    }
    if let Some(name) = read_twice(&reports) {
        return Err(MergeError::SameServer { name });
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

/// The server that two reports are of, whose keys would be counted twice. Reports of different parts of it, by
/// `--db` or `--match`, are not of the same keys.
fn read_twice(reports: &[Report]) -> Option<String> {
    let mut seen = HashSet::new();
    for report in reports {
        let sources = || report.counts.counts.sources.iter();
        let shards = sources().flat_map(|it| it.shards.iter().map(|shard| (&it.narrowed, shard)));
        let known = shards.filter_map(|(part, it)| Some((part, &it.name, it.run_id.as_ref()?)));
        // Within one report, whoever made it has seen to that.
        let own: HashSet<_> = known.collect();
        if let Some((_, name, _)) = own.iter().find(|it| seen.contains(*it)) {
            return Some((*name).clone());
        }
        seen.extend(own);
    }
    None
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
    /// Two are of the same server
    #[error("two reports are of the same server, `{name}`: its keys would be counted twice")]
    SameServer {
        /// The server
        name: String,
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
