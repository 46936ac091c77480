//! Looking at a queue and its jobs, cancelling, pausing.

use super::line::Line;
use super::push::text;
use super::{CANCEL, LOOK};
use crate::kind::Queue;
use crate::store::error::Error;
use crate::store::handle::{Handle, malformed, understand};
use crate::store::request::{Answers, Call, Calls, Request};
use crate::store::write::about;
use crate::{Codec, Key};
use keyward_fact::queue::Record;
pub use keyward_fact::queue::State as JobState;
use redis::Value;

/// What is known of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobInfo {
    /// Where it is
    pub state: JobState,
    /// How often it has failed, or was done
    pub attempts: u64,
    /// How often its worker was lost
    pub crashes: u64,
    /// What its handler last said about its progress
    pub progress: Option<String>,
    /// What its handler returned, for as long as the schema's `retain` says
    pub result: Option<Vec<u8>>,
}

/// What became of a request to cancel a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancelled {
    /// There is no such job, or it has ended
    Unknown,
    /// It waited, and will not run
    Removed,
    /// It runs, and its worker will drop it at its next heartbeat
    Asked,
}

/// How many jobs a queue has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Entries of the list or the stream, those that an idle worker was just given included, and those that were cancelled
    pub listed: u64,
    /// Jobs that could run now and are not entries: prioritised, grouped, and tried again
    pub ready: u64,
    /// Jobs that wait for their time
    pub due: u64,
    /// Jobs that run
    pub leased: u64,
    /// Jobs that have ended and are retained
    pub retained: u64,
    /// Dead letters
    pub dead: u64,
    /// Whether nothing is taken
    pub paused: bool,
}

impl<'s, K: Key, V, C: Codec<V>, L> Handle<'s, K, Queue<V, C>, L> {
    /// What is known of the job with this id; `None` if it is not known, or not any more.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn status(&self, id: &str) -> Request<'s, Option<JobInfo>> {
        self.at_lines(
            |line| Ok(line.call(&LOOK, &[], |cmd| _ = cmd.arg(id)).repeatable()),
            |answers| {
                type Known = (Option<Vec<u8>>, Option<String>, Option<Vec<u8>>);
                let answer = answers.into_iter().find(|answer| *answer != Value::Nil);
                let answer = answer.unwrap_or(Value::Nil);
                let known: Option<Known> = understand::<_, K>(answer)?;
                let Some((Some(record), progress, result)) = known else { return Ok(None) };
                let record = Record::parse(&record).ok_or_else(|| {
                    malformed::<K>("a record of its derived key `~jobs` cannot be read")
                })?;
                Ok(Some(JobInfo {
                    state: record.state,
                    attempts: record.attempts,
                    crashes: record.crashes,
                    progress,
                    result,
                }))
            },
        )
    }

    /// Cancels the job with this id. Works on a full server.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn cancel(&self, id: &str) -> Request<'s, Cancelled> {
        let call = |line: &Line| {
            let status = line.status_of(id)?;
            let more: Vec<&str> = status.key.iter().map(String::as_str).collect();
            Ok(line.call(&CANCEL, &more, |cmd| _ = cmd.arg(id).arg(status.spec).arg(status.ttl)))
        };
        let definition = Self::link("status");
        let core = self.core;
        self.at_lines(call, move |answers| {
            let each = answers.into_iter().map(understand::<(i64, Value), K>);
            let each: Vec<(i64, Value)> = each.collect::<Result<_, _>>()?;
            let known = each.into_iter().max_by_key(|(outcome, _)| *outcome);
            let (outcome, failed) = known.unwrap_or((0, Value::Nil));
            if let (Some(why), Some(definition)) = (text(&failed), definition) {
                let error = Error::from_script(&why).about(definition.name);
                core.failures.note(definition.name, &error);
            }
            Ok(match outcome {
                1 => Cancelled::Removed,
                2 => Cancelled::Asked,
                _ => Cancelled::Unknown,
            })
        })
    }

    /// Lets no worker take a job until [`resume`](Handle::resume). Jobs that run go on, and pushes are accepted.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn pause(&self) -> Request<'s, ()> {
        let pause = |line: &Line| {
            let mut cmd = about("HSET", &line.keys()[0]);
            cmd.arg("paused").arg(1);
            Ok(Call::changing(cmd).repeatable())
        };
        self.at_lines(pause, |_| Ok(()))
    }

    /// Lets workers take jobs again, within a second.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn resume(&self) -> Request<'s, ()> {
        let resume = |line: &Line| {
            let mut cmd = about("HDEL", &line.keys()[0]);
            cmd.arg("paused");
            Ok(Call::changing(cmd).repeatable())
        };
        self.at_lines(resume, |_| Ok(()))
    }

    /// How many jobs there are. The numbers are read in one go, but not at one moment.
    ///
    /// # Errors
    /// If the server cannot be asked.
    pub fn stats(&self) -> Request<'s, Stats> {
        let lines = match self.lines() {
            Ok(lines) => lines,
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
        };
        let reading = |command: &str, key: &str| Call::reading(about(command, key));
        let mut calls = Vec::new();
        for line in &lines {
            let [jobs, queue, taken, leases, due, ready, done] = line.keys();
            let mut paused = about("HEXISTS", jobs);
            paused.arg("paused");
            calls.extend([
                reading(if line.is_stream() { "XLEN" } else { "LLEN" }, queue),
                reading("LLEN", taken),
                reading("ZCARD", ready),
                reading("ZCARD", due),
                reading("ZCARD", leases),
                reading("ZCARD", done),
                Call::reading(paused),
            ]);
        }
        // Dead letters are the same for all names.
        let dead = lines.iter().find_map(|line| line.dead.as_ref());
        calls.extend(dead.map(|dead| reading("LLEN", &dead.names.name)));
        let count = lines.len();
        let mut calls = calls.into_iter();
        let Some(first) = calls.next() else {
            return Request::known(self.core, K::NAME, Ok(Stats::default()));
        };
        let calls = Calls::group(first, calls.collect());
        Request::new(self.core, K::DEFINITION, calls, move |answers: Answers| {
            let mut numbers = vec![understand::<u64, K>(answers.first)?];
            for answer in answers.rest {
                numbers.push(understand::<u64, K>(answer)?);
            }
            let (each, dead) = numbers.split_at(count * 7);
            let sum = |place: usize| each.iter().skip(place).step_by(7).sum::<u64>();
            Ok(Stats {
                listed: sum(0) + sum(1),
                ready: sum(2),
                due: sum(3),
                leased: sum(4),
                retained: sum(5),
                paused: sum(6) > 0,
                dead: dead.first().copied().unwrap_or(0),
            })
        })
    }

    /// One call about the queue, under each of its names; the answers in the order of these.
    fn at_lines<R: Send + 's>(
        &self,
        call: impl Fn(&Line) -> Result<Call, Error>,
        read: impl FnOnce(Vec<Value>) -> Result<R, Error> + Send + 's,
    ) -> Request<'s, R> {
        let calls = self.lines().and_then(|lines| lines.iter().map(call).collect());
        let calls: Vec<Call> = match calls {
            Err(error) => return Request::known(self.core, K::NAME, Err(error)),
            Ok(calls) => calls,
        };
        let mut calls = calls.into_iter();
        let Some(first) = calls.next() else {
            return Request::known(self.core, K::NAME, read(Vec::new()));
        };
        let calls = Calls::group(first, calls.collect());
        let read = |answers: Answers| read([vec![answers.first], answers.rest].concat());
        Request::new(self.core, K::DEFINITION, calls, read)
    }
}
