//! What a reading of several shards gives back, however it ended.

use keyward_fact::address::Address;

use super::error::{Error, Fault};
use super::options::{Options, Resume, Via};
use super::seen::{Bytes, Counts, Ended, Sample, Seen, Shard};
use super::task::ShardRead;
use super::topology::Partition;

/// The shards that were read.
pub(super) struct Kept<O> {
    /// To their end, or until they were stopped
    pub(super) read: Vec<(Partition, ShardRead<O>)>,
    /// Until they were lost
    lost: Vec<(Partition, ShardRead<O>)>,
}

impl<O> Kept<O> {
    pub(super) fn new() -> Self {
        Kept { read: Vec::new(), lost: Vec::new() }
    }

    pub(super) fn has(&self, partition: &Partition) -> bool {
        self.read.iter().any(|(read, _)| read.is(partition))
    }

    /// A shard was read to its end, or until it was stopped.
    pub(super) fn read(&mut self, partition: Partition, reading: ShardRead<O>) {
        self.lost.retain(|(lost, _)| !lost.is(&partition));
        self.read.push((partition, reading));
    }

    /// A shard could not be read to its end. What was seen of a server that changed is worth nothing; of
    /// one that was lost twice, the better half counts.
    pub(super) fn lost(
        &mut self,
        partition: &Partition,
        fault: &Fault,
        seen: Option<ShardRead<O>>,
    ) {
        if let Fault::Changed(_) = fault {
            self.lost.retain(|(lost, _)| !lost.is(partition));
        }
        let Some(reading) = seen.filter(|_| !matches!(fault, Fault::Changed(_))) else { return };
        let (run_id, scanned) = (&reading.shard.run_id, reading.shard.counts.scanned);
        let is_better = |(lost, other): &(Partition, ShardRead<O>)| {
            lost.is(partition)
                && other.shard.run_id == *run_id
                && other.shard.counts.scanned >= scanned
        };
        if !self.lost.iter().any(is_better) {
            self.lost.retain(|(lost, _)| !lost.is(partition));
            self.lost.push((partition.clone(), reading));
        }
    }

    /// Forgets shards that have gone.
    pub(super) fn retain(&mut self, partitions: &[Partition]) {
        let is_there = |(kept, _): &(Partition, ShardRead<O>)| {
            partitions.iter().any(|partition| partition.is(kept))
        };
        self.read.retain(is_there);
        self.lost.retain(is_there);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.read.iter().any(|(_, reading)| reading.stopped.is_some())
    }

    /// How many keys were seen.
    pub(super) fn keys(&self) -> u64 {
        let each = self.read.iter().chain(&self.lost);
        each.map(|(_, reading)| reading.shard.counts.scanned).fold(0, u64::saturating_add)
    }

    /// What there is to go on from.
    pub(super) fn stopped(self, error: Option<Error>, clock: u64) -> Ended<O> {
        let mut kept = self.read;
        kept.extend(self.lost);
        let bytes = bytes(&kept);
        let mut resume = Resume { clock, shards: Vec::new() };
        let mut shards = Vec::new();
        for (_, reading) in kept {
            resume.shards.push(reading.resume());
            shards.push((reading.shard, reading.observer));
        }
        Ended::Stopped { error, resume, bytes, shards }
    }

    /// A server failed for good. What was seen is given back with the error, if it is more than before.
    pub(super) fn failed(
        self,
        error: Error,
        options: &Options,
        clock: u64,
    ) -> Result<Ended<O>, Error> {
        let before = |name: &str| {
            let resume = options.resume.as_ref()?;
            resume.shards.iter().find(|shard| shard.name == name)
        };
        let is_further = |(_, reading): &(Partition, ShardRead<O>)| {
            let earlier = before(&reading.shard.name).filter(|_| reading.shard.resumed);
            reading.is_further_than(earlier)
        };
        let is_worth_it = self.read.iter().chain(&self.lost).any(is_further);
        let can_go_on = options.via == Via::Scan && !matches!(error, Error::NotResumable { .. });
        if !is_worth_it || !can_go_on {
            return Err(error);
        }
        Ok(self.stopped(Some(error).filter(|error| *error != Error::Stopped), clock))
    }
}

/// Everything was seen.
pub(super) fn whole<O>(
    url: &str,
    options: &Options,
    clock: u64,
    kept: Vec<(Partition, ShardRead<O>)>,
) -> Seen<O> {
    let bytes = bytes(&kept);
    let each = kept.into_iter().map(|(_, reading)| (reading.shard, reading.observer));
    let mut shards: Vec<(Shard, O)> = each.collect();
    shards.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let sample = options.sample.filter(|_| options.via == Via::Scan).map(|percent| Sample {
        percent,
        scanned: sum(shards.iter().map(|(shard, _)| shard.counts.scanned)),
        chosen: sum(shards.iter().map(|(shard, _)| {
            let Counts { keys, gone, denied, .. } = shard.counts;
            sum([keys, gone, denied])
        })),
    });
    let mut notes = Vec::new();
    if options.via == Via::Scan {
        notes.push("the lookups of this audit count as keyspace hits".to_owned());
    }
    let several = shards.len() > 1;
    for (shard, _) in &shards {
        for note in shard.missing.iter().chain(&shard.notes) {
            let note = if several { format!("{}: {note}", shard.name) } else { note.clone() };
            // A shard that was stopped says again what it said before.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Seen { name: Address::shown(url), clock, bytes, sample, shards, notes }
}

fn sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

/// The least that is true of all.
fn bytes<O>(kept: &[(Partition, ShardRead<O>)]) -> Bytes {
    let each = kept.iter().filter_map(|(_, reading)| reading.bytes);
    let least = |one, other| match (one, other) {
        (Bytes::Estimated { checked }, Bytes::Estimated { checked: other }) => {
            Bytes::Estimated { checked: checked && other }
        }
        (one, other) if one == other => one,
        _ => Bytes::Unknown,
    };
    each.reduce(least).unwrap_or(Bytes::Unknown)
}
