//! Looks touched keys up, and judges them.

use super::Watch;
use super::queue::{Name, Queue};
use crate::checks::Class;
use crate::clock::now;
use crate::live::connection::{Connection, Reply};
use crate::live::error::{Error, Fault};
use crate::live::lookup::{Questions, Row, State};
use crate::live::primary::Primary;
use crate::live::server::{self, Can};
use crate::observe::Observer as _;
use crate::tally::Tally;
use keyward_fact::{Fact, KeyType};
use keyward_rules::Rule;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The keys that are looked up together, and the pause between: a key that is written all the time is looked up a
/// hundred times a second at most.
const WINDOW: usize = 1_000;
const PAUSE: Duration = Duration::from_millis(10);

/// SET and EXPIRE are two commands: a missing TTL counts if it is still missing after this.
const SECOND_LOOK: Duration = Duration::from_secs(1);
/// The most keys that wait for a second look.
const MOST_SECOND: usize = 100_000;

/// How often the server is asked what it keeps for this client, and what that may be: half of what it keeps at most
/// for a subscriber, unless it is set otherwise.
const BEAT: Duration = Duration::from_secs(1);
const MOST_KEPT: u64 = 16 * 1024 * 1024;

/// No key that exists needs to be touched to learn whether a command is allowed.
const NOBODY: &str = "keyward:watch:nobody";

/// Type and TTL.
const QUESTIONS: Questions =
    Questions { memory: None, encoding: false, usage: None, modules: true, moves: true };

/// Looks up the keys of one server.
pub(super) struct Looker<'w> {
    watch: &'w Watch<'w>,
    connection: Connection,
    db: u64,
    /// The number of the connection that is told names
    subscriber: Option<i64>,
    beat: Instant,
    tally: Tally,
    /// The rules that the key breaks which the tally saw last
    broken: Arc<Mutex<Vec<Rule>>>,
    /// Keys that have no TTL, with when they are looked up again
    again: VecDeque<(Instant, Name)>,
}

impl<'w> Looker<'w> {
    pub(super) fn open(
        watch: &'w Watch<'w>,
        primary: &Primary,
        subscriber: Option<i64>,
    ) -> Result<Self, Error> {
        let mut connection = primary.open()?;
        let early = |fault: Fault| fault.early(&primary.name);
        for (command, allow) in [("TYPE", "+type"), ("PTTL", "+pttl")] {
            let can = server::can(&mut connection, &[command, NOBODY]).map_err(early)?;
            if can != Can::Yes {
                let why = format!("{} cannot be watched: allow this user `{allow}`", primary.name);
                return Err(Error::Options { why });
            }
        }
        let broken = Arc::new(Mutex::new(Vec::new()));
        let heard = broken.clone();
        let tally = Tally::new(watch.audit.clone(), now()).listening(move |row| {
            let mut broken = heard.lock().unwrap_or_else(PoisonError::into_inner);
            broken.clear();
            broken.extend(row.findings);
        });
        Ok(Looker {
            watch,
            connection,
            db: 0,
            subscriber,
            beat: Instant::now(),
            tally,
            broken,
            again: VecDeque::new(),
        })
    }

    /// Looks up what comes, until no more will and all was looked up.
    pub(super) fn run(mut self, queue: &Queue, ends: &AtomicBool) -> Result<(), Fault> {
        let looked_up = self.look_up_all(queue, ends);
        // They are looked up when the server is back, or counted at the end.
        let unseen = self.again.drain(..).map(|(_, name)| name);
        unseen.for_each(|name| queue.lock().put_back(self.watch.audit, name));
        looked_up
    }

    fn look_up_all(&mut self, queue: &Queue, ends: &AtomicBool) -> Result<(), Fault> {
        // A hundredth of what is allowed a second.
        let share = self.watch.watching.looks.map(|most| (most as usize / 100).max(1));
        let mut closed = None::<Instant>;
        while !ends.load(Ordering::Acquire) {
            let names = {
                let mut waiting = queue.lock();
                if waiting.is_closed() {
                    let since = *closed.get_or_insert_with(Instant::now);
                    if share.is_some() && since.elapsed() > SECOND_LOOK {
                        waiting.pass_over();
                    }
                }
                waiting.take(share.unwrap_or(WINDOW).min(WINDOW))
            };
            let mut is_idle = names.is_empty();
            self.look_up(names, queue, true)?;
            let due = self.due(share.unwrap_or(WINDOW));
            is_idle &= due.is_empty();
            self.look_up(due, queue, false)?;
            if is_idle && closed.is_some() && self.again.is_empty() {
                return Ok(());
            }
            if closed.is_none() {
                self.beat()?;
            }
            if is_idle || share.is_some() {
                thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// The keys that are to be looked up again by now.
    fn due(&mut self, most: usize) -> Vec<Name> {
        let is_due = |(at, _): &(Instant, Name)| *at <= Instant::now();
        let count = self.again.iter().take(most).take_while(|it| is_due(it)).count();
        self.again.drain(..count).map(|(_, name)| name).collect()
    }

    fn look_up(&mut self, mut names: Vec<Name>, queue: &Queue, first: bool) -> Result<(), Fault> {
        names.sort_by_key(|name| name.db);
        while let Some(db) = names.last().map(|name| name.db) {
            let start = names.partition_point(|name| name.db < db);
            let alike = names.split_off(start);
            match self.ask(&alike) {
                Ok(rows) => {
                    self.tally.set_clock(now());
                    alike.iter().zip(rows).for_each(|(name, row)| self.judge(name, row, first));
                }
                Err(fault) => {
                    let unseen = names.into_iter().chain(alike);
                    unseen.for_each(|name| queue.lock().put_back(self.watch.audit, name));
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    /// Asks for keys of one database.
    fn ask(&mut self, names: &[Name]) -> Result<Vec<Row>, Fault> {
        self.select(names)?;
        let mut requests = Vec::new();
        QUESTIONS.write_for(names.iter().map(|name| &*name.key), &mut requests);
        self.connection.send(&requests)?;
        names.iter().map(|_| QUESTIONS.read(&mut self.connection)).collect()
    }

    fn select(&mut self, names: &[Name]) -> Result<(), Fault> {
        let Some(db) = names.first().map(|name| name.db).filter(|db| *db != self.db) else {
            return Ok(());
        };
        if let Reply::Error(reply) = self.connection.command(&["SELECT", &db.to_string()])? {
            let address = self.connection.address().to_owned();
            return Err(Error::Reply { address, command: "SELECT", reply }.into());
        }
        self.db = db;
        Ok(())
    }

    fn judge(&mut self, name: &Name, row: Row, first: bool) {
        let mut found = self.watch.lock();
        let (key_type, ttl) = match row.state {
            // The name of what was written can still be judged: neither type nor TTL are part of that.
            State::Gone | State::Denied if name.written && !self.is_declared(name) => {
                (KeyType::String, None)
            }
            State::Denied => return found.denied(),
            State::Gone => return found.gone(),
            State::Elsewhere => {
                drop(found);
                return self.watch.displace(name.clone());
            }
            State::There => {
                found.looked_up();
                let Some(key_type) = row.key_type else { return };
                (key_type, row.ttl)
            }
        };
        let expires_at = ttl.map(|left| self.tally.clock().saturating_add(left));
        let fact = Fact { expires_at, ..Fact::new(name.db, &name.key, &key_type) };
        self.tally.begin(&fact);
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.tally.end(&fact);
        let broken =
            std::mem::take(&mut *self.broken.lock().unwrap_or_else(PoisonError::into_inner));
        let may_come = |rule: &Rule| matches!(rule, Rule::TtlMissing | Rule::LeakedDerivedKey);
        if first && ttl.is_none() && broken.iter().any(may_come) {
            if self.again.len() < MOST_SECOND {
                self.again.push_back((Instant::now() + SECOND_LOOK, name.clone()));
            } else {
                found.passed_over();
            }
            return;
        }
        found.see(self.watch, &fact, &broken, self.tally.clock());
    }

    /// Whether a name is a definition's, whose type and TTL cannot be judged when it is gone.
    fn is_declared(&self, name: &Name) -> bool {
        let class = self.watch.audit.classify(name.db, &name.key, &mut Vec::new());
        matches!(class, Class::Defined(_) | Class::Derived { .. })
    }

    /// Leaves before the server keeps too much for the connection that is told names.
    fn beat(&mut self) -> Result<(), Fault> {
        let Some(subscriber) = self.subscriber.filter(|_| self.beat.elapsed() > BEAT) else {
            return Ok(());
        };
        self.beat = Instant::now();
        let reply = self.connection.command(&["CLIENT", "LIST", "ID", &subscriber.to_string()])?;
        // Where it is denied, the server's own limit for subscribers applies.
        let Reply::Bytes(line) = reply else { return Ok(()) };
        let line = String::from_utf8_lossy(&line).into_owned();
        let Some(kept) = line.split(' ').find_map(|field| field.strip_prefix("omem=")) else {
            return Err(Fault::Lost(
                "the server closed the connection that it tells names".to_owned(),
            ));
        };
        if kept.parse::<u64>().is_ok_and(|kept| kept > MOST_KEPT) {
            let why = "more is written than can be received: the server kept more than 16 MiB for this client";
            return Err(Fault::Lost(why.to_owned()));
        }
        Ok(())
    }
}
