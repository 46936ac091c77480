//! Many requests in one round trip.

use super::core::Core;
use super::error::Error;
use super::request::{Call, Calls, Request, has_written, is_nothing};
use redis::Value;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests that are sent together. On a cluster, those for one node travel together.
///
/// It is not a transaction: what others do may come in between, and a request that fails does not
/// stop those behind it.
#[must_use = "nothing is sent until it is run"]
pub struct Pipeline<'s> {
    core: &'s Core,
    entries: Vec<Entry<'s>>,
}

struct Entry<'s> {
    calls: Calls,
    definition: &'static str,
    answer: Box<dyn FnOnce(Result<Vec<Value>, Error>) + Send + 's>,
}

/// The answer to a request in a pipeline, once that was run.
#[must_use]
pub struct Promise<R>(Arc<Mutex<Option<Result<R, Error>>>>);

impl<R> Promise<R> {
    /// The answer.
    ///
    /// # Errors
    /// Of this very request; or if the pipeline was dropped before it was run.
    pub fn take(self) -> Result<R, Error> {
        let answer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or_else(|| Err(Error::Unavailable("the pipeline was not run".to_owned())))
    }
}

impl<'s> Pipeline<'s> {
    pub(crate) fn new(core: &'s Core) -> Self {
        Pipeline { core, entries: Vec::new() }
    }

    /// Adds a request; its answer is in the promise after [`run`](Pipeline::run).
    pub fn add<R: Send + 's>(&mut self, request: Request<'s, R>) -> Promise<R> {
        let promise = Arc::new(Mutex::new(None));
        let kept = promise.clone();
        let keep = move |answer| {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        };
        match request.split() {
            Err(known) => keep(known),
            Ok((calls, read, definition)) => {
                let answer = move |answers: Result<Vec<Value>, Error>| keep(answers.and_then(read));
                self.entries.push(Entry { calls, definition, answer: Box::new(answer) });
            }
        }
        Promise(promise)
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sends all requests.
    ///
    /// # Errors
    /// If the server cannot be asked. Errors of single requests are in their promises.
    pub async fn run(self) -> Result<(), Error> {
        let core = self.core;
        core.settle().await?;
        let mut running: Vec<Running<'s>> = self.entries.into_iter().map(Running::new).collect();
        round(core, &mut running, |it| it.gather(|calls| std::mem::take(&mut calls.before)))
            .await?;
        round(core, &mut running, |it| it.gather(|calls| std::mem::take(&mut calls.main))).await?;
        while running.iter().any(Running::looks_further) {
            let next = |it: &mut Running<'s>| {
                if it.looks_further() {
                    it.gather(|calls| calls.otherwise.remove(0))
                } else {
                    Vec::new()
                }
            };
            round(core, &mut running, next).await?;
        }
        let written = |it: &mut Running<'s>| {
            let written =
                matches!(&it.answers, Ok(answers) if answers.first().is_some_and(has_written));
            let after = std::mem::take(&mut it.entry.calls.after);
            if written { after } else { Vec::new() }
        };
        let answers: Vec<_> = running.iter_mut().map(written).collect();
        let flat: Vec<Call> = answers.into_iter().flatten().collect();
        core.send_each(&flat).await?;
        for it in running {
            (it.entry.answer)(it.answers.map_err(|error| error.about(it.entry.definition)));
        }
        Ok(())
    }
}

/// A request on its way.
struct Running<'s> {
    entry: Entry<'s>,
    answers: Result<Vec<Value>, Error>,
}

impl<'s> Running<'s> {
    fn new(entry: Entry<'s>) -> Self {
        Running { entry, answers: Ok(Vec::new()) }
    }

    fn gather(&mut self, which: impl FnOnce(&mut Calls) -> Vec<Call>) -> Vec<Call> {
        if self.answers.is_err() { Vec::new() } else { which(&mut self.entry.calls) }
    }

    fn looks_further(&self) -> bool {
        let nothing = |answers: &Vec<Value>| answers.first().is_some_and(is_nothing);
        !self.entry.calls.otherwise.is_empty() && self.answers.as_ref().is_ok_and(nothing)
    }
}

/// Sends what each has to send now, and gives each its answers.
async fn round<'s>(
    core: &Core,
    running: &mut [Running<'s>],
    mut which: impl FnMut(&mut Running<'s>) -> Vec<Call>,
) -> Result<(), Error> {
    let mut calls = Vec::new();
    let mut counts = Vec::with_capacity(running.len());
    for it in running.iter_mut() {
        let own = which(it);
        counts.push(own.len());
        calls.extend(own);
    }
    let mut answers = core.send_each(&calls).await?.into_iter();
    for (it, count) in running.iter_mut().zip(counts) {
        if count > 0 {
            it.answers = answers.by_ref().take(count).collect();
        }
    }
    Ok(())
}

impl fmt::Debug for Pipeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipeline({} requests)", self.entries.len())
    }
}

impl<R> fmt::Debug for Promise<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}
