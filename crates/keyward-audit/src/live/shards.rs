//! Reads every shard at once, and begins anew with those that changed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::address::Address;
use super::error::{Error, Fault};
use super::options::{Options, Resume, ResumeShard, Via};
use super::part;
use super::reading::Reading;
use super::seen::{Bytes, Ended, Sample, Seen, Shard};
use super::topology::{self, Part};
use crate::observe::Observer;

/// How long a failover may take.
const FAILOVER: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(200);

pub(super) fn observe<O: Observer>(
    url: &str,
    options: &Options,
    make: &(impl Fn(&Shard) -> O + Sync),
) -> Result<Ended<O>, Error> {
    let address = Address::parse(url)?;
    check(options)?;
    let clock = options.resume.as_ref().map_or_else(now, |resume| resume.clock);
    let mut parts = topology::find(&address, options)?;
    if let Some(resume) = &options.resume {
        expect_same(resume, &parts)?;
    }
    let mut kept: Vec<(Part, Reading<O>)> = Vec::new();
    let mut restarted: Option<Instant> = None;
    loop {
        let is_failing_over = || restarted.is_some_and(|since| since.elapsed() < FAILOVER);
        let todo = parts.iter().filter(|part| !kept.iter().any(|(done, _)| done.is(part)));
        let todo: Vec<Part> = todo.cloned().collect();
        let resume = options.resume.as_ref().filter(|_| restarted.is_none());
        let mut changed = None;
        let mut waiting = false;
        for (part, result) in read_all(&todo, options, resume, clock, make) {
            match result {
                Ok(mut reading) => {
                    reading.shard.again = restarted.is_some();
                    kept.push((part, reading));
                }
                Err(fault @ Fault::Lost(_)) if is_alone(&address, &part) => {
                    let keys = options.progress.keys.load(Ordering::Relaxed);
                    return Err(fault.into_error(&part.name, keys));
                }
                Err(Fault::Lost(why) | Fault::Changed(why)) => changed = Some((part.name, why)),
                // Until it has happened, the old primary is still named.
                Err(Fault::Fatal(Error::Unreachable { .. })) if is_failing_over() => waiting = true,
                Err(Fault::Fatal(error)) => return Err(error),
            }
        }
        if kept.iter().any(|(_, reading)| reading.stopped.is_some()) {
            return Ok(stopped(kept, clock));
        }
        parts = find_again(&address, &parts, options, changed.is_some() || restarted.is_some())?;
        kept.retain(|(done, _)| parts.iter().any(|part| part.is(done)));
        if kept.len() == parts.len() {
            return Ok(Ended::Whole(whole(url, options, clock, kept)));
        }
        if waiting && changed.is_none() {
            thread::sleep(PAUSE);
            continue;
        }
        if restarted.is_some() {
            let (address, why) = changed.unwrap_or_else(|| {
                (Address::shown(url), "its shards were not the same before and after".to_owned())
            });
            return Err(Error::Incomplete { address, why });
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

/// Fails where a shard that was read is no more, or has other slots: keys that moved meanwhile would be
/// counted twice, or not at all.
fn expect_same(resume: &Resume, parts: &[Part]) -> Result<(), Error> {
    for shard in &resume.shards {
        let changed = |why: String| Error::NotResumable { address: shard.name.clone(), why };
        let Some(part) = parts.iter().find(|part| part.name == shard.name) else {
            return Err(changed("it is no primary there any more".to_owned()));
        };
        let slots = part.node.as_ref().map(|(_, slots)| slots);
        if slots != shard.slots.as_ref() {
            let or_none = |slots: Option<&String>| slots.map_or("none".to_owned(), String::clone);
            let (was, is) = (or_none(shard.slots.as_ref()), or_none(slots));
            return Err(changed(format!("its slots were {was}, and are {is}")));
        }
    }
    Ok(())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whether nobody else can take over when the server dies.
fn is_alone(address: &Address, part: &Part) -> bool {
    matches!(address, Address::Single(_)) && part.node.is_none()
}

type Read<O> = (Part, Result<Reading<O>, Fault>);

/// Reads parts at once, each in a thread of its own.
fn read_all<O: Observer>(
    parts: &[Part],
    options: &Options,
    resume: Option<&Resume>,
    clock: u64,
    make: &(impl Fn(&Shard) -> O + Sync),
) -> Vec<Read<O>> {
    let cancel = &AtomicBool::new(false);
    let read = |part: &Part| {
        let resume =
            resume.and_then(|resume| resume.shards.iter().find(|shard| shard.name == part.name));
        let result = part::read(part, options, resume, clock, cancel, make);
        if matches!(result, Err(Fault::Fatal(_))) {
            cancel.store(true, Ordering::Relaxed);
        }
        result
    };
    thread::scope(|scope| {
        let threads: Vec<_> = parts.iter().map(|part| scope.spawn(|| read(part))).collect();
        let results: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        parts.iter().cloned().zip(results).collect()
    })
}

/// Finds the servers again. While a failover may be under way, it is waited for.
fn find_again(
    address: &Address,
    before: &[Part],
    options: &Options,
    in_trouble: bool,
) -> Result<Vec<Part>, Error> {
    let start = Instant::now();
    loop {
        let mut found = topology::find(address, options);
        if found.is_err() && before.iter().any(|part| part.node.is_some()) {
            // The node that the URL names may be the one that died.
            let known = before.iter().flat_map(|part| part.candidates.clone());
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

fn stopped<O>(kept: Vec<(Part, Reading<O>)>, clock: u64) -> Ended<O> {
    let mut resume = Resume { clock, shards: Vec::new() };
    let bytes = bytes(&kept);
    let mut shards = Vec::new();
    for (_, reading) in kept {
        let at = reading.stopped;
        let Shard { name, run_id, server, role, slots, counts, notes, .. } = reading.shard.clone();
        resume.shards.push(ResumeShard { name, run_id, server, role, slots, at, counts, notes });
        shards.push((reading.shard, reading.observer));
    }
    Ended::Stopped { resume, bytes, shards }
}

/// The least that is true of all.
fn bytes<O>(kept: &[(Part, Reading<O>)]) -> Bytes {
    let each = kept.iter().map(|(_, reading)| reading.bytes);
    let least = |one, other| match (one, other) {
        (Bytes::Estimated { checked }, Bytes::Estimated { checked: other }) => {
            Bytes::Estimated { checked: checked && other }
        }
        (one, other) if one == other => one,
        _ => Bytes::Unknown,
    };
    each.reduce(least).unwrap_or(Bytes::Unknown)
}

fn whole<O>(url: &str, options: &Options, clock: u64, kept: Vec<(Part, Reading<O>)>) -> Seen<O> {
    let bytes = bytes(&kept);
    let each = kept.into_iter().map(|(_, reading)| (reading.shard, reading.observer));
    let mut shards: Vec<(Shard, O)> = each.collect();
    shards.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
    let sample = options.sample.filter(|_| options.via == Via::Scan).map(|percent| Sample {
        percent,
        scanned: shards.iter().map(|(shard, _)| shard.counts.scanned).sum(),
        chosen: shards
            .iter()
            .map(|(shard, _)| shard.counts.keys + shard.counts.gone + shard.counts.denied)
            .sum(),
    });
    let mut notes = Vec::new();
    if options.via == Via::Scan {
        notes.push("the lookups of this audit count as keyspace hits".to_owned());
    }
    let several = shards.len() > 1;
    for (shard, _) in &shards {
        for note in &shard.notes {
            let note = if several { format!("{}: {note}", shard.name) } else { note.clone() };
            // A shard that was stopped says again what it said before.
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Seen { name: Address::shown(url), clock, bytes, sample, shards, notes }
}
