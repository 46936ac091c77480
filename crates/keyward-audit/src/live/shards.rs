//! Reads the shards, many at once, and begins again with those that changed.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use keyward_fact::address::Address;

use super::ended::{Kept, whole};
use super::error::{Error, Fault};
use super::options::{Options, Resume, ResumeShard};
use super::partition;
use super::seen::{Ended, Shard};
use super::task::{Broken, ShardRead};
use super::topology::{self, Partition};
use crate::clock::now;
use crate::observe::Observer;

/// How long a failover may take.
const FAILOVER: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(200);

/// How many shards are read at once; each takes up to four threads and three connections.
const AT_ONCE: usize = 64;

pub(super) fn observe<O: Observer>(
    url: &str,
    options: &Options,
    make: &(impl Fn(&Shard) -> O + Sync),
) -> Result<Ended<O>, Error> {
    let address = Address::parse(url)?;
    check(options)?;
    let clock = options.resume.as_ref().map_or_else(now, |resume| resume.clock);
    let mut partitions = topology::find(&address, options)?;
    if let Some(resume) = &options.resume {
        expect_same(resume, &partitions)?;
    }
    let mut kept = Kept::new();
    let mut restarted: Option<Instant> = None;
    loop {
        let is_failing_over = || restarted.is_some_and(|since| since.elapsed() < FAILOVER);
        let todo: Vec<Partition> =
            partitions.iter().filter(|partition| !kept.has(partition)).cloned().collect();
        let resume = options.resume.as_ref().filter(|_| restarted.is_none());
        let (mut changed, mut failed) = (None, None);
        let mut waiting = false;
        for (partition, result) in read_all(&todo, options, resume, clock, make) {
            let (fault, seen) = match result {
                Ok(mut reading) => {
                    reading.shard.again = restarted.is_some();
                    kept.read(partition, reading);
                    continue;
                }
                Err(Broken { fault, seen }) => (fault, seen.map(|seen| *seen)),
            };
            kept.lost(&partition, &fault, seen);
            match fault {
                fault @ Fault::Lost(_) if is_alone(&address, &partition) => {
                    failed = Some(fault.into_error(&partition.name, kept.keys()));
                }
                Fault::Lost(why) | Fault::Changed(why) => changed = Some((partition.name, why)),
                // Until it has happened, the old primary is still named.
                Fault::Fatal(Error::Unreachable { .. }) if is_failing_over() => waiting = true,
                Fault::Fatal(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return kept.failed(error, options, clock);
        }
        if kept.is_stopped() {
            return Ok(kept.stopped(None, clock));
        }
        let in_trouble = changed.is_some() || restarted.is_some();
        partitions = match find_again(&address, &partitions, options, in_trouble) {
            Ok(partitions) => partitions,
            Err(error) => return kept.failed(error, options, clock),
        };
        kept.retain(&partitions);
        if kept.read.len() == partitions.len() {
            return Ok(Ended::Whole(whole(url, options, clock, kept.read)));
        }
        if waiting && changed.is_none() {
            thread::sleep(PAUSE);
            continue;
        }
        if restarted.is_some() {
            let (address, why) = changed.unwrap_or_else(|| {
                (Address::shown(url), "its shards were not the same before and after".to_owned())
            });
            return kept.failed(Error::Incomplete { address, why }, options, clock);
        }
        restarted = Some(Instant::now());
    }
}

fn check(options: &Options) -> Result<(), Error> {
    if let Some(percent) = options.sample
        && !(percent > 0.0 && percent <= 100.0)
    {
        let why = format!("a sample of {percent} % cannot be taken: it is over 0 and at most 100");
        return Err(Error::Options { why });
    }
    Ok(())
}

/// Fails where a shard that was read has other slots: keys that moved meanwhile would be counted twice, or
/// not at all.
fn expect_same(resume: &Resume, partitions: &[Partition]) -> Result<(), Error> {
    for shard in &resume.shards {
        if partitions.iter().any(|partition| is_of(shard, partition)) {
            continue;
        }
        let slots = |slots: Option<&String>| slots.map_or("none".to_owned(), String::clone);
        let why = match partitions.iter().find(|partition| partition.name == shard.name) {
            None => "it is not a primary there any more".to_owned(),
            Some(partition) => {
                let is = partition.node.as_ref().map(|(_, slots)| slots);
                format!("its slots were {}, and are {}", slots(shard.slots.as_ref()), slots(is))
            }
        };
        return Err(Error::NotResumable { address: shard.name.clone(), why });
    }
    Ok(())
}

/// Whether a stopped shard is this partition: its slots are no other's, whoever serves them by now.
fn is_of(shard: &ResumeShard, partition: &Partition) -> bool {
    partition.node.as_ref().map(|(_, slots)| slots) == shard.slots.as_ref()
}

/// Whether nobody else can take over when the server dies.
fn is_alone(address: &Address, partition: &Partition) -> bool {
    matches!(address, Address::Single(_)) && partition.node.is_none()
}

type Read<O> = (Partition, Result<ShardRead<O>, Broken<O>>);

/// Reads partitions, some of them at once.
fn read_all<O: Observer>(
    partitions: &[Partition],
    options: &Options,
    resume: Option<&Resume>,
    clock: u64,
    make: &(impl Fn(&Shard) -> O + Sync),
) -> Vec<Read<O>> {
    let cancel = &AtomicBool::new(false);
    let read = |partition: &Partition| {
        let resume =
            resume.and_then(|resume| resume.shards.iter().find(|shard| is_of(shard, partition)));
        let order = partition::Order { partition, options, resume, clock, cancel };
        let result = partition::read(order, make);
        if matches!(result, Err(Broken { fault: Fault::Fatal(_), .. })) {
            cancel.store(true, Ordering::Relaxed);
        }
        result
    };
    let next = &AtomicUsize::new(0);
    // Takes one partition after the other, until there are no more or one failed for good.
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let partition = partitions.get(number).filter(|_| !cancel.load(Ordering::Relaxed));
            let Some(partition) = partition else { return done };
            done.push((number, read(partition)));
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..partitions.len().min(AT_ONCE)).map(|_| scope.spawn(work)).collect();
        let done = threads.into_iter().flat_map(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let mut done: Vec<_> = done.collect();
        done.sort_by_key(|(number, _)| *number);
        done.into_iter().map(|(number, result)| (partitions[number].clone(), result)).collect()
    })
}

/// Finds the servers again. While a failover may be under way, it is waited for.
fn find_again(
    address: &Address,
    before: &[Partition],
    options: &Options,
    in_trouble: bool,
) -> Result<Vec<Partition>, Error> {
    let start = Instant::now();
    loop {
        let mut found = topology::find(address, options);
        if found.is_err() && before.iter().any(|partition| partition.node.is_some()) {
            // The node that the URL names may be the one that died.
            let known = before.iter().flat_map(|partition| partition.candidates.clone());
            found = topology::find(&Address::Cluster(known.collect()), options);
        }
        match found {
            Err(Error::Unreachable { .. } | Error::ClusterDown { .. } | Error::Loading { .. })
                if in_trouble
                    && start.elapsed() < FAILOVER
                    && !options.stop.load(Ordering::Relaxed) => {}
            found => return found,
        }
        thread::sleep(PAUSE);
    }
}
