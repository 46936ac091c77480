//! A scan that was stopped: what was counted so far, kept to go on later.
//!
//! What was counted is kept for each shard, since counts are merged exactly. Beside them stand the cursors, and
//! what must be the same for the two halves to be one.

use crate::bounds::{can_be, can_be_added};
use crate::checks::Audit;
use crate::clock::rfc3339;
use crate::counts::Counts;
use crate::hash::Salt;
use crate::live;
use crate::outline::Outline;
use crate::report::{Report, Shard};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the document.
const VERSION: u32 = 3;

/// How an audit of servers ended that saw something.
#[derive(Debug)]
pub enum Outcome {
    /// Everything was seen
    Whole(Box<Report>),
    /// The caller stopped it
    Stopped(Box<Stopped>),
    /// A server failed for good after something was counted
    Lost(live::Error, Box<Stopped>),
}

/// What was seen before a stop. It is not a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Where to go on
    pub resume: live::Resume,
    /// What is counted
    pub(crate) outline: Outline,
    /// What was counted in each shard, in the order of `resume`
    pub(crate) counted: Vec<Counts>,
}

impl Stopped {
    /// How many keys were seen.
    pub fn keys(&self) -> u64 {
        let each = self.resume.shards.iter().map(|shard| shard.counts.scanned);
        each.fold(0, u64::saturating_add)
    }

    /// How many keys there are, as far as the servers said.
    pub fn expected(&self) -> u64 {
        let shards = self.counted.iter().flat_map(shards_of);
        shards.filter_map(|shard| shard.dbsize).fold(0, u64::saturating_add)
    }

    /// What was counted in a shard.
    pub(crate) fn counted_in(&self, name: &str) -> Option<&Counts> {
        let at = self.resume.shards.iter().position(|shard| shard.name == name)?;
        self.counted.get(at)
    }

    fn check(&self) -> Result<(), ResumeError> {
        let damaged = |why: &str| Err(ResumeError::Damaged { why: why.to_owned() });
        let live::Resume { clock, shards } = &self.resume;
        if shards.is_empty() || shards.len() != self.counted.len() {
            return damaged("its cursors and its counts are not of the same shards");
        }
        let one_each = shards.iter().zip(&self.counted).all(|(shard, counts)| {
            let mut counted = shards_of(counts);
            counted.next().is_some_and(|it| it.name == shard.name) && counted.next().is_none()
        });
        if !one_each {
            return damaged("its cursors and its counts are not of the same shards");
        }
        let is_shaped = |counts: &Counts| counts.check(&self.outline);
        if let Err(why) =
            self.outline.check().and_then(|()| self.counted.iter().try_for_each(is_shaped))
        {
            return damaged(why);
        }
        let counts = shards.iter().flat_map(|shard| {
            let live::Counts { scanned, keys, gone, denied, long_names, partly, unread, torn } =
                shard.counts;
            [scanned, keys, gone, denied, long_names, partly, unread, torn]
        });
        if !can_be(*clock) || !counts.into_iter().all(can_be) || !can_be_added(&self.counted) {
            return damaged("it counts more than there can be");
        }
        Ok(())
    }
}

fn shards_of(counts: &Counts) -> impl Iterator<Item = &Shard> {
    counts.sources.iter().flat_map(|source| &source.shards)
}

/// What must be the same for a scan to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The URL, without credentials
    pub source: String,
    /// [`fingerprint`] of the texts of all schemas
    pub schemas: String,
    /// Whatever else decides what is counted, by the names of the options
    pub options: BTreeMap<String, String>,
}

/// Tells texts apart without telling them; for accidents, not for attackers.
pub fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    format!("{:016x}", Salt::of("keyward").hash(&bytes))
}

/// A scan that was stopped, as it is kept in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResumeFile {
    /// The version of the document, which distinguishes it from a report
    resume: u32,
    /// The version of Keyward that wrote it: only the same one can resume
    keyward: String,
    /// When it was stopped: RFC 3339, UTC
    pub stopped_at: String,
    /// What must be the same
    pub terms: Terms,
    /// The day on which migrations are judged: `2026-11-15`
    pub today: String,
    /// The secret by which keys are masked, unless a person named one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// What was seen
    pub stopped: Stopped,
}

impl ResumeFile {
    /// `now` is in milliseconds since 1970.
    pub fn new(
        terms: Terms,
        today: String,
        secret: Option<String>,
        stopped: Stopped,
        now: u64,
    ) -> Self {
        let keyward = env!("CARGO_PKG_VERSION").to_owned();
        ResumeFile {
            resume: VERSION,
            keyward,
            stopped_at: rfc3339(now),
            terms,
            today,
            secret,
            stopped,
        }
    }

    /// Reads what [`text`](ResumeFile::text) wrote.
    pub fn parse(text: &[u8]) -> Result<Self, ResumeError> {
        /// What every version has.
        #[derive(Deserialize)]
        struct Head {
            resume: Option<u64>,
            keyward: Option<String>,
        }
        let damaged = |error: serde_json::Error| ResumeError::Damaged { why: error.to_string() };
        let head: Head = serde_json::from_slice(text).map_err(damaged)?;
        let Some(version) = head.resume else {
            let why = "it is something else".to_owned();
            return Err(ResumeError::Damaged { why });
        };
        let keyward = head.keyward.unwrap_or_default();
        if version != u64::from(VERSION) || keyward != env!("CARGO_PKG_VERSION") {
            return Err(ResumeError::Program { keyward });
        }
        let file: ResumeFile = serde_json::from_slice(text).map_err(damaged)?;
        file.stopped.check()?;
        Ok(file)
    }

    /// As it is in a file.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Fails where it is of another scan than the one that is asked for.
    pub fn check(&self, terms: &Terms) -> Result<(), ResumeError> {
        if self.terms.source != terms.source {
            return Err(ResumeError::Source { was: self.terms.source.clone() });
        }
        if self.terms.schemas != terms.schemas {
            return Err(ResumeError::Schemas);
        }
        let (was, is) = (&self.terms.options, &terms.options);
        let names = was.keys().chain(is.keys());
        match names.into_iter().find(|name| was.get(*name) != is.get(*name)) {
            None => Ok(()),
            Some(name) => Err(ResumeError::Option {
                name: name.clone(),
                was: was.get(name).cloned(),
                is: is.get(name).cloned(),
            }),
        }
    }
}

impl Audit {
    /// Fails where the two halves would not be one: other definitions, or keys that are masked otherwise.
    pub fn can_go_on(&self, stopped: &Stopped) -> Result<(), ResumeError> {
        if stopped.outline.salt != self.outline.salt {
            return Err(ResumeError::Salt);
        }
        if !stopped.outline.lists_the_same(&self.outline) {
            return Err(ResumeError::Schemas);
        }
        Ok(())
    }
}

/// Why a scan cannot go on from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// It was not written by an audit, or not all of it is there
    #[error("it holds no scan that was stopped: {why}")]
    Damaged {
        /// What is wrong
        why: String,
    },
    /// Another version of the program wrote it
    #[error("keyward `{keyward}` wrote it, in a form that {} does not read", env!("CARGO_PKG_VERSION"))]
    Program {
        /// Its version
        keyward: String,
    },
    /// It is of other servers
    #[error("it is of a scan of {was}")]
    Source {
        /// Which
        was: String,
    },
    /// The schemas have changed
    #[error("the schemas have changed since")]
    Schemas,
    /// An option was another
    #[error("{}", changed(name, was.as_deref(), is.as_deref()))]
    Option {
        /// Which
        name: String,
        /// What it was; `None` if it was not given
        was: Option<String>,
        /// What it is
        is: Option<String>,
    },
    /// Keys were masked with another secret
    #[error("its keys are masked with another salt")]
    Salt,
}

impl ResumeError {
    /// What to do next, except starting again.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            ResumeError::Damaged { .. } | ResumeError::Program { .. } => None,
            ResumeError::Source { .. } => Some("name the URL that was scanned"),
            ResumeError::Schemas => {
                Some("name the schemas that keys were checked against, unchanged")
            }
            ResumeError::Option { .. } => Some("give the same options"),
            ResumeError::Salt => Some("give the same `--salt`, or none if none was given"),
        }
    }
}

fn changed(name: &str, was: Option<&str>, is: Option<&str>) -> String {
    match (was, is) {
        (Some(was), Some(is)) => format!("`{name}` was `{was}`, and is `{is}`"),
        (Some(was), None) => format!("the stopped scan had `{name}`: `{was}`"),
        (None, _) => format!("the stopped scan had no `{name}`"),
    }
}
