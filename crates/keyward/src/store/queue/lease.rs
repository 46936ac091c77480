//! Leases: taken, renewed and ended, each in one step.

use super::line::{Line, Projection};
use super::push::text;
use super::{FINISH, MARK, PROGRESS, RENEW, SETTLE, TAKE, dead};
use crate::codec::NOT_OF_ITS_TYPE;
use crate::store::error::Error;
use crate::store::ttl::pick;
use redis::{FromRedisValue, Value};
use std::sync::Arc;
use std::time::Duration;

/// A job that was leased.
#[derive(Debug, Clone)]
pub(crate) struct Leased {
    pub(crate) ticket: String,
    /// How often the job was taken, this time included: what an older take says is refused
    pub(crate) take: u64,
    /// How often it has failed
    pub(crate) attempts: u64,
    /// How often its lease has ended without a word
    pub(crate) crashes: u64,
    /// Milliseconds since 1970
    pub(crate) created: u64,
    /// When it was leased, in milliseconds since 1970
    pub(crate) taken: u64,
    pub(crate) group: String,
    pub(crate) id: String,
    pub(crate) payload: Vec<u8>,
}

/// What a take found.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) jobs: Vec<Leased>,
    /// The tickets and ids of jobs that went back to waiting
    pub(crate) back: Vec<(String, String)>,
    /// After which time something is due, if anything is
    pub(crate) next: Option<Duration>,
    pub(crate) paused: bool,
    /// Whether jobs wait for others of their group
    pub(crate) blocked: bool,
}

/// A job as a take answers it.
type Row = (String, u64, u64, u64, u64, String, String, Vec<u8>);

/// How a lease ends whose job is not done.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// It failed and is tried again after a while
    Retry(String, Duration),
    /// It was not done, and is the next one's
    Release,
    /// It failed for good; if it cannot be buried, it is tried again after a while
    Dead(String, Duration),
}

/// What became of a lease that was to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    AsAsked,
    /// It had ended before, or another worker has the job
    Lost,
    /// There is no room among the dead letters, so that the job waits again
    Full,
}

/// What a renewal learned about a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renewed {
    Held,
    /// Held, and somebody has asked to cancel the job
    Cancelled,
    Lost,
}

impl Line {
    /// Leases up to so many jobs.
    pub(crate) async fn take(&self, count: usize, lease: Duration) -> Result<Taken, Error> {
        let per_group = self.definition.behaviour.per_group.unwrap_or(0);
        let call = self.call(self.suited(&TAKE), &[], |cmd| {
            _ = cmd.arg(count).arg(millis(lease)).arg(per_group);
        });
        let answer = self.core.send(&call).await.map_err(|error| self.error(error))?;
        let (jobs, back, next, paused, blocked, now) =
            self.read::<(Vec<Row>, Vec<String>, i64, bool, bool, u64)>(answer)?;
        let leased = |(ticket, take, attempts, crashes, created, group, id, payload): Row| Leased {
            ticket,
            take,
            attempts,
            crashes,
            created,
            taken: now,
            group,
            id,
            payload,
        };
        let jobs: Vec<Leased> = jobs.into_iter().map(leased).collect();
        let back = back.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        let next = u64::try_from(next).ok().map(Duration::from_millis);
        Ok(Taken { jobs, back, next, paused, blocked })
    }

    /// Writes the documented status of jobs that were taken or went back, as far as it can be written: `~jobs` is what counts,
    /// and what it says when this arrives.
    pub(crate) async fn mark(&self, jobs: &[(String, String)]) {
        let Some(status) = &self.status else { return };
        let mut keys = Vec::new();
        let mut tickets = Vec::new();
        for (ticket, id) in jobs {
            if let Some(key) = self.status_if_any(id).key {
                keys.push(key);
                tickets.push(ticket);
            }
        }
        if keys.is_empty() {
            return;
        }
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let call = self.call(&MARK, &keys, |cmd| {
            cmd.arg(&status.spec).arg(status.ttl()).arg(tickets);
        });
        match self.core.send(&call.repeatable()).await {
            Ok(answer) => self.note_status(text(&answer).as_deref()),
            Err(error) => self.core.failures.note(status.definition.name, &error),
        }
    }

    /// Renews leases; what was learned about each.
    pub(crate) async fn renew(
        &self,
        held: &[(String, u64)],
        lease: Duration,
    ) -> Result<Vec<Renewed>, Error> {
        let call = self.call(&RENEW, &[], |cmd| {
            cmd.arg(millis(lease));
            for (ticket, take) in held {
                cmd.arg(ticket).arg(take);
            }
        });
        let answer = self.core.send(&call.repeatable()).await.map_err(|error| self.error(error))?;
        let answers: Vec<u64> = self.read(answer)?;
        let learned = |answer: u64| match answer {
            1 => Renewed::Held,
            2 => Renewed::Cancelled,
            _ => Renewed::Lost,
        };
        Ok(answers.into_iter().map(learned).collect())
    }

    /// Ends the leases of jobs that are done, with their results; whether each was held until now. It may be asked twice:
    /// the second time they have ended before.
    pub(crate) async fn finish(&self, jobs: &[(Arc<Leased>, Vec<u8>)]) -> Result<Vec<bool>, Error> {
        let statuses: Vec<Option<String>> =
            jobs.iter().map(|(job, _)| self.status_if_any(&job.id).key).collect();
        let keys: Vec<&str> = statuses.iter().flatten().map(String::as_str).collect();
        let status = self.status.as_ref();
        let call = self.call(&FINISH, &keys, |cmd| {
            cmd.arg(status.map_or("", |status| &status.spec))
                .arg(status.map_or(0, Projection::ttl))
                .arg(self.definition.behaviour.retain_ms.unwrap_or(0));
            for ((job, result), status) in jobs.iter().zip(&statuses) {
                cmd.arg(&job.ticket).arg(job.take).arg(job.taken).arg(result);
                cmd.arg(u8::from(status.is_some()));
            }
        });
        let answer = self.core.send(&call.repeatable()).await.map_err(|error| self.error(error))?;
        let (held, failed): (Vec<bool>, Value) = self.read(answer)?;
        self.note_status(text(&failed).as_deref());
        Ok(held)
    }

    /// Ends a lease otherwise. It may be asked twice: the second time it has ended before.
    pub(crate) async fn settle(&self, job: &Leased, end: &End) -> Result<Ended, Error> {
        let status = self.status_if_any(&job.id);
        let (how, delay, said) = match end {
            End::Retry(error, delay) => ("retry", *delay, error.as_str()),
            End::Release => ("release", Duration::ZERO, ""),
            End::Dead(error, delay) => ("dead", *delay, error.as_str()),
        };
        let dead = self.dead.as_ref().filter(|_| how == "dead");
        let letter = match (end, dead) {
            (End::Dead(error, _), Some(_)) => dead::letter(self, job, error),
            _ => dead::Letter::default(),
        };
        let more = status.key.iter().map(String::as_str);
        let more: Vec<&str> = more.chain(self.dead_keys().filter(|_| dead.is_some())).collect();
        let behaviour = dead.map(|dead| (dead.definition, &dead.definition.behaviour));
        let call = self.call(&SETTLE, &more, |cmd| {
            cmd.arg(&job.ticket)
                .arg(job.take)
                .arg(job.taken)
                .arg(how)
                .arg(millis(delay))
                .arg(said)
                .arg(status.spec)
                .arg(status.ttl)
                .arg(self.definition.behaviour.retain_ms.unwrap_or(0))
                .arg(&letter.said)
                .arg(&letter.value)
                .arg(u8::from(self.notes.is_some()))
                .arg(behaviour.and_then(|(_, it)| it.max_len).unwrap_or(0))
                .arg(u8::from(behaviour.is_some_and(|(_, it)| it.refuse_when_full)))
                .arg(behaviour.and_then(|(it, of)| pick(it.ttl, of.jitter)).unwrap_or(0))
                .arg(u8::from(behaviour.is_some_and(|(_, it)| it.keep_ttl)));
        });
        let answer = self.core.send(&call.repeatable()).await.map_err(|error| self.error(error))?;
        let (ended, failed): (i64, Value) = self.read(answer)?;
        self.note_status(text(&failed).as_deref());
        Ok(match ended {
            1 => Ended::AsAsked,
            -1 => Ended::Full,
            _ => Ended::Lost,
        })
    }

    /// Notes how far a job is; whether its lease is still held.
    pub(crate) async fn progress(&self, job: &Leased, text_of: &str) -> Result<bool, Error> {
        let status = self.status_if_any(&job.id);
        let more: Vec<&str> = status.key.iter().map(String::as_str).collect();
        let call = self.call(&PROGRESS, &more, |cmd| {
            cmd.arg(&job.ticket).arg(job.take).arg(text_of).arg(status.spec).arg(status.ttl);
        });
        let answer = self.core.send(&call.repeatable()).await.map_err(|error| self.error(error))?;
        let (held, failed): (i64, Value) = self.read(answer)?;
        self.note_status(text(&failed).as_deref());
        Ok(held == 1)
    }

    pub(crate) fn read<R: FromRedisValue>(&self, answer: Value) -> Result<R, Error> {
        R::from_redis_value(answer).map_err(|_| Error::Malformed {
            definition: self.definition.name,
            field: None,
            why: NOT_OF_ITS_TYPE.to_owned(),
        })
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
