//! Pushes that are under way at the same time travel together: one script for all jobs of a queue, each with its own answer.
//!
//! Only jobs with an id and nothing else are gathered. Their push may be repeated, so that a lost answer says the same about
//! each as it would alone. No push waits for others: whoever comes first opens a batch, and it is sent as soon as the runtime has
//! polled what was ready. A task of its own sends it, so that a caller who stops waiting takes no other's job along.

use super::line::Line;
use super::push::{self, Push};
use crate::Definition;
use crate::store::core::Core;
use crate::store::error::Error;
use crate::store::request::{Answers, Call, Calls};
use futures_util::future::join_all;
use redis::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// What one script pushes at most. A larger job is pushed alone.
const JOBS: usize = 128;
const BYTES: usize = 1 << 20;

/// A job that may be pushed with others.
#[derive(Debug)]
pub(crate) struct Enlisted {
    pub(crate) definition: &'static Definition,
    /// The key of the list or the stream
    pub(crate) queue: String,
    pub(crate) id: String,
    pub(crate) payload: Vec<u8>,
    /// The key of its status, if it has one
    pub(crate) status: Option<String>,
}

/// Makes the queue of a job, where no batch has it yet.
pub(crate) type MakeLine<'s> = Box<dyn FnOnce() -> Result<Line, Error> + Send + 's>;

/// A job and who waits for its answer.
struct Member {
    job: Enlisted,
    answer: oneshot::Sender<Result<Answers, Error>>,
}

/// The definition and the key of a queue. Two schemas may declare the same key.
type Place = (usize, String);

/// The batches that are not sent yet.
#[derive(Default)]
pub(crate) struct Gather {
    open: Mutex<HashMap<Place, Vec<Member>>>,
}

impl Gather {
    fn lock(&self) -> MutexGuard<'_, HashMap<Place, Vec<Member>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    /// Pushes a job with those that are pushed at the same time.
    pub(crate) async fn push_together(
        &self,
        job: Enlisted,
        line: MakeLine<'_>,
    ) -> Result<Answers, Error> {
        let (answer, answered) = oneshot::channel();
        let place = (std::ptr::from_ref(job.definition).addr(), job.queue.clone());
        let opened = {
            let mut open = self.gather.lock();
            if let Some(batch) = open.get_mut(&place) {
                batch.push(Member { job, answer });
                None
            } else {
                let line = line()?;
                open.insert(place.clone(), vec![Member { job, answer }]);
                Some(Opened { line, place, is_open: true })
            }
        };
        if let Some(opened) = opened {
            tokio::spawn(opened.send());
        }
        // The runtime that sends has ended.
        let lost = |_| Err(Error::Unavailable("nobody is left to send it".into()));
        answered.await.unwrap_or_else(lost)
    }
}

/// A batch that others may join. When it is dropped, nobody can any more.
struct Opened {
    line: Line,
    place: Place,
    /// Whether it is still this one that stands at its place
    is_open: bool,
}

impl Opened {
    async fn send(mut self) {
        tokio::task::yield_now().await;
        let batches = batches(self.close());
        let line = &self.line;
        join_all(batches.into_iter().map(|batch| send(line, batch))).await;
    }

    /// Those who have joined, and still wait.
    fn close(&mut self) -> Vec<Member> {
        if !std::mem::take(&mut self.is_open) {
            return Vec::new();
        }
        let mut members = self.line.core.gather.lock().remove(&self.place).unwrap_or_default();
        members.retain(|member| !member.answer.is_closed());
        members
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // It is still open if the runtime has ended before it was sent.
        drop(self.close());
    }
}

/// Splits what was gathered, in its order.
fn batches(members: Vec<Member>) -> Vec<Vec<Member>> {
    let mut batches: Vec<Vec<Member>> = Vec::new();
    let mut bytes = 0;
    for member in members {
        let size = member.job.payload.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < JOBS && bytes + size <= BYTES => {
                bytes += size;
                batch.push(member);
            }
            _ => {
                bytes = size;
                batches.push(vec![member]);
            }
        }
    }
    batches
}

async fn send(line: &Line, batch: Vec<Member>) {
    let (jobs, waiting): (Vec<Enlisted>, Vec<_>) =
        batch.into_iter().map(|member| (member.job, member.answer)).unzip();
    let call = call(line, &jobs);
    let answers = line.core.do_in_order(Calls::one(call), line.definition.name).await;
    // Who has stopped waiting needs no answer.
    match answers.map(|answers| answers.first) {
        Ok(Value::Array(parts)) if parts.len() == 2 * waiting.len() => {
            for (answer, parts) in waiting.into_iter().zip(parts.chunks_exact(2)) {
                let first = Value::Array(parts.to_vec());
                _ = answer.send(Ok(Answers { first, rest: Vec::new() }));
            }
        }
        Ok(other) => {
            for answer in waiting {
                _ = answer.send(Ok(Answers { first: other.clone(), rest: Vec::new() }));
            }
        }
        Err(error) => {
            for answer in waiting {
                _ = answer.send(Err(error.clone()));
            }
        }
    }
}

/// The call that pushes these jobs.
pub(crate) fn call(line: &Line, jobs: &[Enlisted]) -> Call {
    let statuses: Vec<&str> = jobs.iter().filter_map(|job| job.status.as_deref()).collect();
    let pairs = jobs.iter().map(|job| (job.id.as_str(), job.payload.as_slice()));
    push::script(line, pairs, &Push::new(), &statuses).repeatable()
}

impl fmt::Debug for Gather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gather").finish_non_exhaustive()
    }
}
