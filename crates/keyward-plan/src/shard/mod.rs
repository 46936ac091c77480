//! The keys of one server: found, shown to the work, and settled.

mod answers;
mod conditions;
mod end;
mod erase;
mod far;
mod find;
mod letters;
mod near;
mod prune;
mod save;
mod shorten;
mod stale;
mod trim;

use crate::change::{Change, How, Outcome};
use crate::error::Error;
use crate::lag::Lag;
use crate::pass::{Pass, Seen, Tally};
use crate::router::Router;
use answers::{Value, settled};
use find::Finder;
use keyward_audit::live::{Primary, Reply, Throttle};
use keyward_pattern::slot;
use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// How often a key is tried whose value changes while it is saved.
const TRIES: usize = 5;

/// How many threads settle keys of one server, where nothing slows them down.
const WORKERS: usize = 2;
/// How many pages of keys may wait to be settled.
const PAGES: usize = 2;
/// How many keys the first SCAN asks for.
const COUNT: usize = 500;

/// The keys of one server.
pub(crate) struct Shard<'a> {
    pass: &'a Pass<'a>,
    /// All servers, for keys that go to another one
    all: &'a [Primary],
    primary: Primary,
    /// The database of the keyspace
    home: u64,
    /// Made for the first key that goes elsewhere
    router: Option<Router>,
    throttle: Throttle,
    lag: Lag,
    tallies: Vec<Tally>,
    /// For how many seconds the keys that are being looked at were not used; `None` where the server does not say
    idle: HashMap<Vec<u8>, Option<u64>>,
}

/// A key that is to be changed.
struct Task {
    key: Vec<u8>,
    row: usize,
    change: Change,
}

impl<'a> Shard<'a> {
    /// Looks at all keys of one of the servers, or changes them.
    pub(crate) fn read(
        pass: &'a Pass<'a>,
        all: &'a [Primary],
        at: usize,
        rows: usize,
    ) -> Result<Seen, Error> {
        let home = all[at].db();
        let mut seen = Seen::of_rows(rows);
        for db in pass.work.databases(home) {
            seen.merge(Shard::walk(pass, all, at, db, rows)?);
        }
        Ok(seen)
    }

    /// One thread finds keys, others settle them: the server does not wait for either.
    fn walk(
        pass: &'a Pass<'a>,
        all: &'a [Primary],
        at: usize,
        db: u64,
        rows: usize,
    ) -> Result<Seen, Error> {
        // Whoever is slowed down is one.
        let workers = if pass.bound.is_some() { 1 } else { WORKERS };
        let (give, take) = mpsc::sync_channel(PAGES);
        let take = Arc::new(Mutex::new(take));
        let count = &AtomicUsize::new(COUNT);
        thread::scope(|scope| {
            let work = move |take: Arc<Mutex<Receiver<Vec<Task>>>>| {
                let mut shard = Shard::new(pass, all, at, db, rows)?;
                loop {
                    let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    // Everything was found, or finding has failed.
                    let Ok(tasks) = next else { return Ok(shard.tallies) };
                    shard.work(tasks, count)?;
                }
            };
            let workers: Vec<_> = (0..workers)
                .map(|_| Arc::clone(&take))
                .map(|take| scope.spawn(move || work(take)))
                .collect();
            // When all workers have failed, nobody takes what is found.
            drop(take);
            let finder = Finder::new(pass, &all[at], db, rows);
            let found = finder.and_then(|finder| finder.run(&give, count));
            drop(give);
            let mut failed = None;
            let mut seen = Seen::of_rows(rows);
            for worker in workers {
                match worker.join().unwrap_or_else(|panic| resume_unwind(panic)) {
                    Ok(tallies) => seen.merge(Seen { rows: tallies, ..Seen::default() }),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            seen.merge(found?);
            Ok(seen)
        })
    }

    fn new(
        pass: &'a Pass<'a>,
        all: &'a [Primary],
        at: usize,
        db: u64,
        rows: usize,
    ) -> Result<Self, Error> {
        let home = all[at].db();
        let mut primary = all[at].again()?;
        primary.select(db)?;
        pass.scripts.load(&mut primary)?;
        // Where a server does not know this, keys look used.
        primary.command(&[b"CLIENT", b"NO-TOUCH", b"ON"])?;
        Ok(Shard {
            pass,
            all,
            home,
            throttle: Throttle::begin(&primary, pass.bound)?,
            lag: Lag::new(&primary)?,
            primary,
            router: None,
            tallies: vec![Tally::default(); rows],
            idle: HashMap::new(),
        })
    }

    /// Settles keys, as many at once as others bear.
    fn work(&mut self, mut tasks: Vec<Task>, count: &AtomicUsize) -> Result<(), Error> {
        while !tasks.is_empty() {
            self.pass.control.wait()?;
            self.lag.wait(self.pass.control)?;
            let is_small =
                self.pass.bound.is_none() && tasks.iter().all(|task| self.is_small(task));
            let window = if is_small { tasks.len() } else { self.throttle.window() };
            let window = window.max(1).min(tasks.len());
            let rest = tasks.split_off(window);
            let (began, many) = (Instant::now(), tasks.len());
            self.settle(std::mem::replace(&mut tasks, rest))?;
            self.throttle.rest(many, many as u64, began)?;
            count.store(self.throttle.count(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Looks at some keys, or changes them.
    fn settle(&mut self, tasks: Vec<Task>) -> Result<(), Error> {
        self.ask_idle(&tasks)?;
        let (mut near, mut far, mut saved, mut discarded) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut shortened, mut trimmed, mut pruned, mut forgotten) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut orphans, mut queues) = (Vec::new(), Vec::new());
        for mut task in self.conditions(tasks)? {
            let is_far = |to: &str| self.is_far(&task.key, to);
            match &mut task.change {
                Change::Stay(why) => {
                    let why = *why;
                    self.note(&task, why);
                }
                Change::Relocate(it) if it.convert.is_some() || is_far(&it.to) => far.push(task),
                Change::Relocate(_) => near.push(task),
                Change::Remove { unless_lone: Some(name), .. } if is_far(name) => {
                    let elsewhere = name.clone();
                    if self.exists(&elsewhere)? {
                        saved.push(task);
                    } else {
                        self.note(&task, Outcome::Lone);
                    }
                }
                Change::Remove { .. } => saved.push(task),
                Change::Orphan { .. } => orphans.push(task),
                Change::End(_) => queues.push(task),
                // Decided above, and never one within another.
                Change::If(_) => self.note(&task, Outcome::Unsettled),
                Change::Shorten { .. } => shortened.push(task),
                Change::Trim(_) => trimmed.push(task),
                Change::Prune => pruned.push(task),
                Change::Discard { .. } => discarded.push(task),
                Change::Forget(_) => forgotten.push(task),
                Change::Unbury(grave) => {
                    let grave = Arc::clone(grave);
                    self.unbury(&task, &grave)?;
                }
            }
        }
        let elsewhere = far.iter().filter(|task| self.primary.is_clustered() && is_moved(task));
        for row in elsewhere.map(|task| task.row).collect::<Vec<_>>() {
            self.tallies[row].far += 1;
        }
        self.remove_orphans(orphans)?;
        self.send_far(far)?;
        self.relocate(near)?;
        self.remove(saved)?;
        self.end_queues(queues)?;
        self.shorten(shortened)?;
        self.trim(trimmed)?;
        self.prune(pruned)?;
        self.discard(&discarded)?;
        self.forget(&forgotten)
    }

    /// Whether nothing of its value leaves the server, however large it is.
    fn is_small(&self, task: &Task) -> bool {
        match &task.change {
            Change::Relocate(it) => {
                it.how == How::Rename && it.convert.is_none() && !self.is_far(&task.key, &it.to)
            }
            Change::Discard { .. } => true,
            _ => false,
        }
    }

    /// Whether two names cannot be changed in one step.
    fn is_far(&self, key: &[u8], to: &str) -> bool {
        self.primary.db() != self.home
            || self.primary.is_clustered() && slot(key) != slot(to.as_bytes())
    }

    fn exists(&mut self, key: &str) -> Result<bool, Error> {
        let request = (key.as_bytes(), vec![&b"EXISTS"[..], key.as_bytes()]);
        let replies = self.router()?.ask(&[request])?;
        Ok(replies.first() == Some(&Reply::Integer(1)))
    }

    fn router(&mut self) -> Result<&mut Router, Error> {
        let router = match self.router.take() {
            Some(router) => router,
            None => Router::beside(self.all, self.home, self.pass.scripts)?,
        };
        Ok(self.router.insert(router))
    }

    fn note(&mut self, task: &Task, outcome: Outcome) {
        if outcome == Outcome::Beside {
            return;
        }
        let mask = self.pass.mask;
        self.tallies[task.row].add(outcome, || mask.unknown(&task.key).to_string());
        if outcome == Outcome::Done {
            self.changed(1);
        }
        // What stores write and workers take from says nothing about others.
        if !matches!(outcome, Outcome::Same | Outcome::Served | Outcome::Drained)
            && let Some(idle) = self.idle.get(&task.key)
        {
            let tally = &mut self.tallies[task.row];
            match idle {
                Some(idle) => tally.idle = Some(tally.idle.map_or(*idle, |least| least.min(*idle))),
                None => tally.unseen_use += 1,
            }
        }
    }

    /// So many were changed, unless they were only looked at.
    fn changed(&self, count: u64) {
        if self.pass.journal.is_some() {
            self.pass.control.changed(count);
        }
    }

    fn note_all(&mut self, tasks: &[Task], outcome: Outcome) {
        for task in tasks {
            self.note(task, outcome);
        }
    }
}

/// Whether a key goes to another slot.
fn is_moved(task: &Task) -> bool {
    matches!(&task.change, Change::Relocate(it) if slot(it.to.as_bytes()) != slot(&task.key))
}

fn flag(on: bool) -> &'static [u8] {
    if on { b"1" } else { b"0" }
}
