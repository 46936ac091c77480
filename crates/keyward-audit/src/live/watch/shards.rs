//! The servers that are watched: those that are lost are looked for again, and those that take over are found.

use super::look::Looker;
use super::names::{Names, Way};
use super::queue::Queue;
use super::{Event, Watch};
use crate::live::error::{Error, Fault};
use crate::live::options::Options;
use crate::live::primary::Primary;
use crate::live::topology::{self, Partition, slot_ranges};
use keyward_fact::address::{Address, Endpoint};
use keyward_pattern::slot;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How long to wait before a lost server is looked for again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How often a cluster or a sentinel is asked which servers there are.
const ROUND: Duration = Duration::from_secs(2);
/// How often it is looked whether a server was lost, or all have ended.
const TICK: Duration = Duration::from_millis(20);

/// The servers of one watch.
pub(super) struct Shards<'s, 'e> {
    watch: &'e Watch<'e>,
    scope: &'s Scope<'s, 'e>,
    address: Address,
    /// Servers of a cluster that can be asked for the others when those of the URL are away
    known: Vec<Endpoint>,
    watched: Vec<Shard<'s>>,
}

/// A server that is being watched.
struct Shard<'s> {
    name: String,
    via: Way,
    notes: Vec<String>,
    queue: Arc<Queue>,
    /// Set to end it at once
    ends: Arc<AtomicBool>,
    /// Whether another server has taken over
    retired: bool,
    thread: ScopedJoinHandle<'s, Result<(), Fault>>,
}

impl<'s, 'e> Shards<'s, 'e> {
    /// Watches all servers that a URL means; fails where one cannot be watched.
    pub(super) fn begin(
        watch: &'e Watch<'e>,
        url: &str,
        scope: &'s Scope<'s, 'e>,
    ) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let mut all = Shards { watch, scope, address, known: Vec::new(), watched: Vec::new() };
        for partition in all.find()? {
            match all.open(partition) {
                Ok(shard) => all.watched.push(shard),
                Err(error) => {
                    all.watched.iter().for_each(Shard::end);
                    return Err(error);
                }
            }
        }
        // Whoever waits for the first waits for all.
        all.watched.iter().for_each(|shard| all.tell_of(shard));
        Ok(all)
    }

    /// Watches until it is over and all that was received was looked up.
    pub(super) fn until_finished(mut self) -> Result<(), Error> {
        let (mut pause, mut next) = (PAUSES.0, None::<Instant>);
        let mut asked = Instant::now();
        while !self.watched.is_empty() || !self.watch.is_over() {
            thread::sleep(TICK);
            if self.take_ended() {
                (pause, next) = (PAUSES.0, Some(Instant::now() + PAUSES.0));
            }
            if self.watch.is_over() {
                if self.watch.options.stop.load(Ordering::Acquire) {
                    self.watched.iter().for_each(Shard::end);
                }
                continue;
            }
            if next.is_some_and(|next| next <= Instant::now()) {
                let back = self.refresh(true);
                pause = (pause * 2).min(PAUSES.1);
                next = back.is_err().then(|| Instant::now() + pause);
            } else if next.is_none() && asked.elapsed() > ROUND && self.may_have_moved() {
                // Who does not answer is told of by the connections that break.
                let _ = self.refresh(false);
                asked = Instant::now();
            }
        }
        let stop = &self.watch.options.stop;
        if stop.load(Ordering::Acquire) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Whether other servers may have taken over while all connections stay.
    fn may_have_moved(&self) -> bool {
        let displaced = self.watch.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        !self.known.is_empty()
            || !displaced.is_empty()
            || matches!(self.address, Address::Sentinel { .. })
    }

    /// Takes out the servers that are not watched any more; whether one of them was lost.
    fn take_ended(&mut self) -> bool {
        let mut is_lost = false;
        for shard in self.watched.extract_if(.., |shard| shard.thread.is_finished()) {
            let Shard { name, thread, queue, retired, .. } = shard;
            let why = why(thread.join().unwrap_or_else(|_| Err(panicked())));
            if retired {
                // Another server has what was not looked up.
                let waiting = queue.lock().take(usize::MAX);
                for name in waiting {
                    self.watch.displace(name);
                }
            } else if let Some(why) = why {
                (self.watch.tell)(Event::Lost { server: &name, why: &why });
                self.watch.lock().lost();
                is_lost = true;
            }
        }
        is_lost
    }

    /// Asks which servers there are, watches those that are not watched, and leaves those that are not primaries any
    /// more. An error if one of them is away.
    fn refresh(&mut self, after_loss: bool) -> Result<(), Error> {
        let partitions = self.find()?;
        let (mut away, mut new) = (None, 0);
        for partition in &partitions {
            if self.watched.iter().any(|it| !it.retired && it.name == partition.name) {
                continue;
            }
            match self.open(partition.clone()) {
                Ok(mut shard) => {
                    if !after_loss {
                        new += 1;
                        let note =
                            "what was written to it before was not seen: it has just taken over";
                        shard.notes.push(note.to_owned());
                    }
                    self.tell_of(&shard);
                    self.watched.push(shard);
                }
                Err(error) => away = Some(error),
            }
        }
        let left = self.retire(&partitions);
        // Where one took over from another, that is one gap.
        (0..new.max(left)).for_each(|_| self.watch.lock().lost());
        self.deliver(&partitions);
        away.map_or(Ok(()), Err)
    }

    /// Leaves the servers that are not primaries any more; how many.
    fn retire(&mut self, partitions: &[Partition]) -> usize {
        let is_gone = |shard: &&mut Shard<'_>| {
            !shard.retired && !partitions.iter().any(|it| it.name == shard.name)
        };
        let mut left = 0;
        for shard in self.watched.iter_mut().filter(is_gone) {
            let why = "another server has taken over";
            (self.watch.tell)(Event::Lost { server: &shard.name, why });
            shard.retired = true;
            shard.end();
            left += 1;
        }
        left
    }

    /// Gives names that were moved to the servers that have their slots now.
    fn deliver(&self, partitions: &[Partition]) {
        let mut displaced = self.watch.displaced.lock().unwrap_or_else(PoisonError::into_inner);
        let names = std::mem::take(&mut *displaced);
        drop(displaced);
        if names.is_empty() {
            return;
        }
        // Outside a cluster, one server has everything.
        let all = || vec![0..=u16::MAX];
        let slots = |it: &Partition| it.node.as_ref().map_or_else(all, |(_, it)| slot_ranges(it));
        let owners: Vec<_> = partitions.iter().map(|it| (&it.name, slots(it))).collect();
        for name in names {
            let slot = slot(&name.key);
            let is_there = |(_, slots): &&(_, Vec<RangeInclusive<u16>>)| {
                slots.iter().any(|range| range.contains(&slot))
            };
            let owner = owners.iter().find(is_there).map(|(owner, _)| *owner);
            let is_owner = |it: &&Shard<'_>| !it.retired && owner == Some(&it.name);
            match self.watched.iter().find(is_owner) {
                Some(shard) => shard.queue.lock().put_back(self.watch.audit, name),
                None => self.watch.displace(name),
            }
        }
    }

    /// The servers that the URL means now.
    fn find(&mut self) -> Result<Vec<Partition>, Error> {
        let options = self.watch.options;
        let found = topology::find(&self.address, options).or_else(|error| {
            let others = Address::Cluster(self.known.clone());
            if self.known.is_empty() { Err(error) } else { topology::find(&others, options) }
        })?;
        let clustered = found.iter().filter(|it| it.node.is_some());
        self.known = clustered.flat_map(|it| it.candidates.clone()).collect();
        Ok(found)
    }

    fn open(&self, partition: Partition) -> Result<Shard<'s>, Error> {
        let watch = self.watch;
        // A thread may wait for the rest of a message when the other one ends.
        let ends = Arc::new(AtomicBool::new(false));
        let options = Options { stop: ends.clone(), ..watch.options.clone() };
        let primary = Primary::of(partition, &options)?;
        let names = Names::open(&primary, watch.audit, watch.watching.via)?;
        let looker = Looker::open(watch, &primary, names.subscriber)?;
        let queue = watch.queue(&primary.name);
        let (via, notes) = (names.way, names.notes.clone());
        let (fed, ended_by) = (queue.clone(), ends.clone());
        let thread = self.scope.spawn(move || {
            thread::scope(|scope| {
                let received =
                    scope.spawn(|| ended(names.receive(watch, &fed, &ended_by), &ended_by));
                let looked_up = ended(looker.run(&fed, &ended_by), &ended_by);
                match received.join().unwrap_or_else(|_| Err(panicked())) {
                    Err(Fault::Fatal(Error::Stopped)) => looked_up,
                    received => received.and(looked_up),
                }
            })
        });
        Ok(Shard { name: primary.name.clone(), via, notes, queue, ends, retired: false, thread })
    }

    fn tell_of(&self, shard: &Shard<'_>) {
        let Shard { name, via, notes, .. } = shard;
        (self.watch.tell)(Event::Watching { server: name, via: *via, notes });
    }
}

impl Shard<'_> {
    fn end(&self) {
        self.ends.store(true, Ordering::Release);
    }
}

/// Where one of two threads fails, the other ends too.
fn ended(result: Result<(), Fault>, ends: &AtomicBool) -> Result<(), Fault> {
    if result.is_err() {
        ends.store(true, Ordering::Release);
    }
    result
}

fn panicked() -> Fault {
    Fault::Lost("watching it failed".to_owned())
}

/// Why a server was lost, if it was.
fn why(result: Result<(), Fault>) -> Option<String> {
    match result {
        Ok(()) | Err(Fault::Fatal(Error::Stopped)) => None,
        Err(Fault::Lost(why) | Fault::Changed(why)) => Some(why),
        Err(Fault::Fatal(error)) => Some(error.to_string()),
    }
}
