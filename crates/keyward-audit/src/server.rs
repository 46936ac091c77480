//! A live server as a source.

use crate::clock::rfc3339;
use crate::live::{self, Bytes, Seen, Via};
use crate::plan::Audit;
use crate::report::{self, BytesKind, Report, Server, SourceKind};
use crate::settings::ServerFacts;
use crate::tally::{Listener, Tally};
use keyward_fact::thousands;
use std::sync::Arc;

impl Audit {
    /// Reads all keys of the servers that a URL means, and reports. What changes while it is read, or
    /// cannot be read to its end, is an error: nothing partial is ever reported. `listener` makes one
    /// for each shard that is told of every key. `now` is when the report is written, in milliseconds
    /// since 1970.
    pub fn observe(
        self: &Arc<Self>,
        url: &str,
        options: &live::Options,
        listener: impl Fn() -> Option<Listener> + Sync,
        now: u64,
    ) -> Result<Report, live::Error> {
        let seen = live::observe(url, options, |shard| {
            let tally = Tally::new(self.clone(), shard.clock);
            match listener() {
                Some(listener) => tally.listening(listener),
                None => tally,
            }
        })?;
        let seen = seen.whole()?;
        let server = facts(&seen);
        let source = source(&seen, options.via);
        let tallies = seen.shards.into_iter().map(|(_, tally)| tally).collect();
        Ok(self.report(source, tallies, &server, now))
    }
}

fn source(seen: &Seen<Tally>, via: Via) -> report::Source {
    let (bytes, checked) = match seen.bytes {
        Bytes::MemoryUsage { .. } => (BytesKind::MemoryUsage, true),
        Bytes::Estimated { checked } => (BytesKind::Estimated, checked),
        Bytes::Unknown => (BytesKind::Serialized, false),
    };
    let first = seen.shards.first().map(|(shard, _)| shard);
    let known = |text: &String| (!text.is_empty()).then(|| text.clone());
    let shards = seen.shards.iter().map(|(shard, tally)| report::Shard {
        name: shard.name.clone(),
        keys_seen: tally.keys_seen(),
        dbsize: shard.dbsize_after,
        run_id: known(&shard.run_id),
    });
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
    if seen.bytes == Bytes::Unknown {
        notes.push("the server denies MEMORY USAGE: bytes are not known".to_owned());
    }
    for (shard, _) in &seen.shards {
        let named = |note: &String| {
            if seen.shards.len() == 1 { note.clone() } else { format!("{}: {note}", shard.name) }
        };
        notes.extend(shard.notes.iter().map(named));
    }
    report::Source {
        kind: if via == Via::Snapshot { SourceKind::Snapshot } else { SourceKind::Scan },
        name: seen.name.clone(),
        server: Server {
            family: first.and_then(|shard| known(&shard.family)),
            version: first.and_then(|shard| known(&shard.version)),
        },
        bytes,
        checked,
        clock: rfc3339(seen.clock),
        complete: true,
        sample,
        shards: shards.collect(),
        notes,
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
    let settings = seen.shards.first().map(|(shard, _)| shard.settings.clone());
    ServerFacts {
        settings: settings.unwrap_or_default(),
        used_memory: seen.shards.iter().filter_map(|(shard, _)| used(shard)).max(),
    }
}
