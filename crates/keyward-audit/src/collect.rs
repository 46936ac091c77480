//! Collects a sample of a keyspace, from which `keyward-infer` drafts a schema.

use crate::live::{self, Shard};
use crate::observe::Observer;
use keyward_fact::{Element, Fact, Show};
use keyward_infer::{Content, MOST_BYTES, Observed, Sketch};
use keyward_rdb::{Error, Extra, Key, Reader, Value, Visitor};
use std::num::NonZero;
use std::ops::ControlFlow;

/// A sample of a source, and what could not be seen of it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// The sample
    pub sketch: Sketch,
    /// Whether values were not read, because that would change what the server evicts
    pub values_unread: bool,
    /// In sentences without a full stop
    pub notes: Vec<String>,
}

impl Collected {
    /// Reads a snapshot to its end. TTLs are counted from when it was taken, or else from `now`, in milliseconds since
    /// 1970. `progress` receives how many bytes were read, and may stop the reading.
    pub fn from_rdb(
        reader: Reader<'_>,
        threads: NonZero<usize>,
        now: u64,
        progress: &(dyn Fn(u64) -> ControlFlow<()> + Sync),
    ) -> Result<Self, Error> {
        let taken = reader.created_at().map(|seconds| seconds.saturating_mul(1000));
        let visit = || {
            let collector = Collector::new(taken.unwrap_or(now));
            Visit { collector, follow: taken.is_none(), progress }
        };
        let (summary, visits) = reader.read_parallel(threads, visit)?;
        summary.expect_end()?;
        let mut collected = Collected::default();
        for visit in visits {
            collected.sketch.merge(visit.collector.sketch);
        }
        if summary.created_at.is_none() {
            collected.notes.push(
                "the file does not say when it was written: TTLs are counted from today".to_owned(),
            );
        }
        Ok(collected)
    }

    /// Reads all keys of the servers that a URL means, once. What cannot be read to its end is an error.
    pub fn from_server(url: &str, options: &live::Options) -> Result<Self, live::Error> {
        let make = |shard: &Shard| Collector::new(shard.clock);
        let seen = live::observe(url, options, make)?.whole()?;
        let mut collected = Collected { notes: seen.notes, ..Collected::default() };
        for (shard, collector) in seen.shards {
            collected.values_unread |= shard.values_unread;
            collected.sketch.merge(collector.sketch);
        }
        Ok(collected)
    }

    /// Adds what was seen of another source.
    pub fn merge(&mut self, other: Collected) {
        self.sketch.merge(other.sketch);
        self.values_unread |= other.values_unread;
        self.notes.extend(other.notes);
    }
}

/// An observer that keeps a sample.
#[derive(Debug, Clone)]
pub(crate) struct Collector {
    sketch: Sketch,
    clock: u64,
    /// What was seen of the current key's value, if the key is to be kept
    content: Option<Content>,
}

impl Collector {
    pub(crate) fn new(clock: u64) -> Self {
        Collector { sketch: Sketch::default(), clock, content: None }
    }

    pub(crate) fn set_clock(&mut self, clock: u64) {
        self.clock = clock;
    }

    pub(crate) fn merge(&mut self, other: Collector) {
        self.sketch.merge(other.sketch);
    }

    pub(crate) fn sketch(&self) -> &Sketch {
        &self.sketch
    }

    fn is_expired(&self, fact: &Fact<'_>) -> bool {
        fact.expires_at.is_some_and(|at| at <= self.clock)
    }
}

impl Observer for Collector {
    fn wants(&self, fact: &Fact<'_>) -> Show {
        let wanted = !self.is_expired(fact) && self.sketch.wants(fact.db, fact.key);
        if wanted { Show::up_to(MOST_BYTES) } else { Show::NOTHING }
    }

    fn begin(&mut self, fact: &Fact<'_>) -> Show {
        let show = self.wants(fact);
        self.content = (show != Show::NOTHING).then(Content::default);
        show
    }

    fn element(&mut self, element: &Element<'_>) {
        if let Some(content) = &mut self.content {
            content.see(element);
        }
    }

    fn end(&mut self, fact: &Fact<'_>) {
        if self.is_expired(fact) {
            return;
        }
        let Some(content) = self.content.take() else {
            self.sketch.pass_over(fact.key);
            return;
        };
        let mut observed = Observed::new(fact.db, fact.key, fact.key_type.name());
        observed.ttl = fact.expires_at.map(|at| at.saturating_sub(self.clock));
        observed.idle = fact.idle;
        observed.length = fact.length;
        observed.age = content.created().map(|at| self.clock.saturating_sub(at) / 1000);
        observed.content = Some(content.finish());
        self.sketch.observe(observed);
    }
}

struct Visit<'p> {
    collector: Collector,
    /// Whether the file is to say from when TTLs are counted
    follow: bool,
    progress: &'p (dyn Fn(u64) -> ControlFlow<()> + Sync),
}

impl Visitor for Visit<'_> {
    fn key(&mut self, key: &Key<'_>) -> Show {
        self.collector.begin(&key.fact(None))
    }

    fn element(&mut self, element: &Element<'_>) {
        self.collector.element(element);
    }

    fn value(&mut self, key: &Key<'_>, value: &Value) {
        self.collector.end(&key.fact(Some(value)));
    }

    fn extra(&mut self, extra: &Extra<'_>) {
        if let Extra::Aux { name, value } = extra
            && self.follow
            && name.bytes == b"ctime"
        {
            let seconds = str::from_utf8(value.bytes).ok().and_then(|it| it.parse::<u64>().ok());
            if let Some(seconds) = seconds {
                self.collector.clock = seconds.saturating_mul(1000);
            }
        }
    }

    fn progress(&mut self, offset: u64) -> ControlFlow<()> {
        (self.progress)(offset)
    }
}
