//! A live server as a source.

use crate::checks::{Audit, Planned};
use crate::clock::rfc3339;
use crate::counts::{Counted, Counts, ServerCounts};
use crate::drafted::Underway;
use crate::live::{self, Bytes, Ended, Seen, Via};
use crate::report::{self, BytesKind, Report, Server, SourceKind, Unread, WhyUnread};
use crate::resume::{Outcome, Stopped};
use crate::settings::ServerFacts;
use crate::tally::{Listener, Tally};
use keyward_fact::{Show, thousands};
use std::sync::Arc;

impl Audit {
    /// Reads all keys of the servers that a URL means, and reports. What changes while it is read, or
    /// cannot be read to its end, is an error: nothing partial is ever reported. `listener` makes one
    /// for each shard, which receives every key. `now` is when the report is written, in milliseconds
    /// since 1970.
    pub fn observe(
        self: &Arc<Self>,
        url: &str,
        options: &live::Options,
        listener: impl Fn() -> Option<Listener> + Sync,
        now: u64,
    ) -> Result<Report, live::Error> {
        match self.observe_on(url, options, None, listener, now)? {
            Outcome::Whole(report) => Ok(*report),
            Outcome::Stopped(_) => Err(live::Error::Stopped),
            Outcome::Lost(error, _) => Err(error),
        }
    }

    /// The same for a scan that may be stopped, by [`live::Options::stop`], and go on later, from what an
    /// earlier one left; [`Audit::can_go_on`] says whether it can. A listener receives the rest only. Where
    /// a server fails for good, what was counted is given back with the error, to go on later.
    pub fn observe_on(
        self: &Arc<Self>,
        url: &str,
        options: &live::Options,
        earlier: Option<&Stopped>,
        listener: impl Fn() -> Option<Listener> + Sync,
        now: u64,
    ) -> Result<Outcome, live::Error> {
        let mut options = options.clone();
        options.resume = earlier.map(|earlier| earlier.resume.clone());
        options.salt = self.mask.salt;
        options.settings = self.declared_settings();
        let ended = live::observe(url, &options, |shard| {
            let tally = Tally::new(self.clone(), shard.clock);
            match listener() {
                Some(listener) => tally.listening(listener),
                None => tally,
            }
        })?;
        // A shard that started again meanwhile has been counted from its beginning.
        let counted = |shard: &live::Shard| {
            let earlier = earlier.filter(|_| shard.resumed)?;
            earlier.counted_in(&shard.name)
        };
        Ok(match ended {
            Ended::Whole(seen) => {
                let earlier: Vec<Counts> =
                    seen.shards.iter().filter_map(|(shard, _)| counted(shard).cloned()).collect();
                let server = facts(&seen);
                let mut source = source(&seen, &earlier, &options);
                let is_unseen = |it: &Planned| it.is_hash() && it.show != it.show.with_field_ttls();
                let mut shards = seen.shards.iter().map(|(shard, _)| shard);
                if options.via == Via::Scan
                    && shards.any(has_field_ttls)
                    && self.definitions.iter().any(|it| it.show != Show::NOTHING && is_unseen(it))
                {
                    source.note(FIELD_TTLS);
                }
                if let Some(glob) = &options.matching {
                    let masked = |piece: &str| self.mask.unknown(piece.as_bytes()).to_string();
                    let glob = glob.split('*').map(masked).collect::<Vec<_>>().join("*");
                    let narrowed = format!("only keys that match `{glob}` were read");
                    source.note(narrowed.clone());
                    source.narrowed = Some(narrowed);
                }
                // A snapshot is of one moment; those of several shards are not.
                let is_moment = options.via == Via::Snapshot && seen.shards.len() == 1;
                let tallies = seen.shards.into_iter().map(|(_, tally)| tally).collect();
                let mut counts = self.counts(source, tallies, earlier, &server);
                if !is_moment {
                    self.recheck(&mut counts, url, &options)?;
                }
                counts.underway = Underway::default();
                self.hide(&mut counts);
                let counted = Counted { outline: self.outline.clone(), counts };
                Outcome::Whole(Box::new(Report::new(counted, rfc3339(now))))
            }
            Ended::Stopped { error, resume, bytes, shards } => {
                let partial = |(shard, tally): (live::Shard, Tally)| {
                    let earlier: Vec<Counts> = counted(&shard).cloned().into_iter().collect();
                    let source = partial(&shard, &tally, bytes, &earlier);
                    let mut counts =
                        self.counts(source, vec![tally], earlier, &ServerFacts::default());
                    self.hide(&mut counts);
                    // The server is asked again.
                    counts.server = ServerCounts::default();
                    counts
                };
                let counted = shards.into_iter().map(partial).collect();
                let stopped = Stopped { resume, outline: self.outline.clone(), counted };
                let stopped = Box::new(stopped);
                match error {
                    None => Outcome::Stopped(stopped),
                    Some(error) => Outcome::Lost(error, stopped),
                }
            }
        })
    }
}

const FIELD_TTLS: &str = "TTLs of hash fields were read only where the definition declares one: \
                          `--via snapshot` reads all of them";

/// Whether a hash's fields can have TTLs on a server.
fn has_field_ttls(shard: &live::Shard) -> bool {
    let mut numbers = shard.version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= if shard.family == "valkey" { (9, 0) } else { (7, 4) }
}

fn source(seen: &Seen<Tally>, earlier: &[Counts], options: &live::Options) -> report::Source {
    let (bytes, checked) = kind(seen.bytes, earlier);
    let first = seen.shards.first().map(|(shard, _)| shard);
    let sample = seen
        .sample
        .as_ref()
        .map(|sample| report::Sample { percent: sample.percent, error: error_of(sample.chosen) });
    let mut notes = seen.notes.clone();
    if let Bytes::MemoryUsage { samples } = seen.bytes
        && samples > 0
    {
        notes.push(format!(
            "MEMORY USAGE looked at {} elements of a collection: larger ones are extrapolated",
            thousands(u64::from(samples))
        ));
    }
    let keys_unread = seen.shards.iter().any(|(shard, _)| !shard.missing.is_empty());
    let unread = seen.shards.iter().filter_map(|(shard, _)| unread(shard, options.values));
    let before = earlier.iter().flat_map(|it| &it.sources).filter_map(|it| it.values_unread);
    report::Source {
        kind: if options.via == Via::Snapshot { SourceKind::Snapshot } else { SourceKind::Scan },
        name: seen.name.clone(),
        server: first.map(server).unwrap_or_default(),
        bytes,
        checked,
        clock: rfc3339(seen.clock),
        complete: !keys_unread,
        keys_unread,
        narrowed: narrowed(seen, options),
        values_unread: unread.chain(before).reduce(Unread::and),
        sample,
        shards: seen.shards.iter().map(|(it, tally)| shard(it, tally, earlier)).collect(),
        notes,
    }
}

/// Which databases were asked for, if not all.
fn narrowed(seen: &Seen<Tally>, options: &live::Options) -> Option<String> {
    let has_others = seen.shards.iter().any(|(shard, _)| shard.has_other_databases);
    has_others.then(|| match options.db {
        Some(db) => format!("only database {db} of several was read"),
        None => "only one of several databases was read".to_owned(),
    })
}

/// Why values of a shard may not have been read; how many keys that concerns is counted by its tally.
fn unread(shard: &live::Shard, wanted: bool) -> Option<Unread> {
    let why = if !wanted {
        WhyUnread::LeftOut
    } else if shard.values_unread {
        WhyUnread::Eviction
    } else if !shard.refused.is_empty() || shard.sizes_unknown {
        WhyUnread::Denied
    } else {
        return None;
    };
    Some(Unread { keys: 0, why })
}

/// The source of what was counted before a stop.
fn partial(
    stopped: &live::Shard,
    tally: &Tally,
    bytes: Bytes,
    earlier: &[Counts],
) -> report::Source {
    let (bytes, checked) = kind(bytes, earlier);
    report::Source {
        kind: SourceKind::Scan,
        name: stopped.name.clone(),
        server: server(stopped),
        bytes,
        checked,
        clock: rfc3339(stopped.clock),
        complete: false,
        keys_unread: false,
        narrowed: None,
        values_unread: unread(stopped, true),
        sample: None,
        shards: vec![shard(stopped, tally, earlier)],
        notes: Vec::new(),
    }
}

/// What a number of bytes means; where it did not mean the same before a stop, nothing.
fn kind(bytes: Bytes, earlier: &[Counts]) -> (BytesKind, bool) {
    let (kind, checked) = match bytes {
        Bytes::MemoryUsage { .. } => (BytesKind::MemoryUsage, true),
        Bytes::Estimated { checked } => (BytesKind::Estimated, checked),
        Bytes::Unknown => (BytesKind::Unknown, false),
    };
    let same = earlier.iter().flat_map(|it| &it.sources).all(|source| source.bytes == kind);
    if same { (kind, checked) } else { (BytesKind::Unknown, false) }
}

fn server(shard: &live::Shard) -> Server {
    let known = |text: &String| (!text.is_empty()).then(|| text.clone());
    Server { family: known(&shard.family), version: known(&shard.version) }
}

fn shard(shard: &live::Shard, tally: &Tally, earlier: &[Counts]) -> report::Shard {
    let before = earlier.iter().flat_map(|it| &it.sources).flat_map(|source| &source.shards);
    let before: Vec<_> = before.filter(|it| it.name == shard.name).collect();
    // Who was lost does not say how many keys there are.
    let dbsize = shard.dbsize_after.or(shard.dbsize_before);
    let dbsize = dbsize.or_else(|| before.iter().find_map(|it| it.dbsize));
    let seen = before.iter().map(|it| it.keys_seen);
    report::Shard {
        name: shard.name.clone(),
        keys_seen: seen.fold(tally.keys_seen(), u64::saturating_add),
        dbsize,
        run_id: (!shard.run_id.is_empty()).then(|| shard.run_id.clone()),
        alone: shard.alone,
        again: shard.again,
    }
}

/// By how many percentage points a share may be off, with 95 % confidence, where it is most off: a half.
fn error_of(chosen: u64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a bound needs no 53 bits")]
    let chosen = chosen.max(1) as f64;
    1.96 * 50.0 / chosen.sqrt()
}

/// Settings of the first shard, and the memory of the one that uses most.
fn facts(seen: &Seen<Tally>) -> ServerFacts {
    let used = |shard: &live::Shard| shard.settings.get("used_memory")?.parse().ok();
    let first = seen.shards.first().map(|(shard, _)| shard);
    ServerFacts {
        settings: first.map(|shard| shard.settings.clone()).unwrap_or_default(),
        unseen: first.map(|shard| shard.unseen.clone()).unwrap_or_default(),
        used_memory: seen.shards.iter().filter_map(|(shard, _)| used(shard)).max(),
    }
}
