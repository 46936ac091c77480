//! Many requests in one round trip.

use super::core::Core;
use super::error::Error;
use super::request::{Answers, Call, Calls, Group, Request, has_written, is_nothing};
use redis::Value;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Requests that are sent together. On a cluster, those for one node travel together.
///
/// It is not a transaction: what others do may come in between, and a request that fails does not
/// stop those behind it.
#[must_use = "nothing is sent until it is run"]
pub struct Pipeline<'s> {
    core: &'s Core,
    requests: Requests<'s>,
}

/// What waits to be sent.
enum Requests<'s> {
    /// All of it in one round trip, as nearly always
    Plain { calls: Vec<Call>, waiting: Vec<Waiting<'s>> },
    /// Some before or after others, or depending on an answer
    Any(Vec<Entry<'s>>),
}

/// Whoever gets the first answer, and so many behind it.
struct Waiting<'s> {
    rest: usize,
    definition: &'static str,
    answer: Answer<'s>,
}

struct Entry<'s> {
    calls: Calls,
    definition: &'static str,
    answer: Answer<'s>,
}

type Answer<'s> = Box<dyn FnOnce(Result<Answers, Error>) + Send + 's>;

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
        Pipeline { core, requests: Requests::Plain { calls: Vec::new(), waiting: Vec::new() } }
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
                let answer = move |answers: Result<Answers, Error>| keep(answers.and_then(read));
                self.requests.push(Entry { calls, definition, answer: Box::new(answer) });
            }
        }
        Promise(promise)
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        match &self.requests {
            Requests::Plain { waiting, .. } => waiting.len(),
            Requests::Any(entries) => entries.len(),
        }
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends all requests.
    ///
    /// # Errors
    /// If the server cannot be asked. Errors of single requests are in their promises.
    pub async fn run(self) -> Result<(), Error> {
        let core = self.core;
        if !core.missed.is_empty() {
            Box::pin(core.settle()).await?;
        }
        match self.requests {
            Requests::Plain { calls, waiting } => {
                let mut answers = core.send_each(calls).await?.into_iter();
                for Waiting { rest, definition, answer } in waiting {
                    let group = take(&mut answers, rest);
                    answer(group.map_err(|error| error.about(definition)));
                }
                Ok(())
            }
            Requests::Any(entries) => Box::pin(in_rounds(core, entries)).await,
        }
    }
}

impl<'s> Requests<'s> {
    fn push(&mut self, entry: Entry<'s>) {
        let Calls { before, otherwise, after, .. } = &entry.calls;
        let plain = before.is_empty() && otherwise.is_empty() && after.is_empty();
        match self {
            Requests::Plain { calls, waiting } if plain => {
                let Group { first, rest } = entry.calls.main;
                let (definition, answer) = (entry.definition, entry.answer);
                waiting.push(Waiting { rest: rest.len(), definition, answer });
                calls.push(first);
                calls.extend(rest);
            }
            Requests::Plain { calls, waiting } => {
                let mut calls = std::mem::take(calls).into_iter();
                let mut entries = Vec::with_capacity(waiting.len() + 1);
                for Waiting { rest, definition, answer } in std::mem::take(waiting) {
                    let Some(first) = calls.next() else { break };
                    let calls = Calls::group(first, calls.by_ref().take(rest).collect());
                    entries.push(Entry { calls, definition, answer });
                }
                entries.push(entry);
                *self = Requests::Any(entries);
            }
            Requests::Any(entries) => entries.push(entry),
        }
    }
}

/// The answers to one group: the first, and so many others.
fn take(
    answers: &mut impl Iterator<Item = Result<Value, Error>>,
    rest: usize,
) -> Result<Answers, Error> {
    let first = answers.next().unwrap_or(Ok(Value::Nil));
    let rest: Result<Vec<Value>, Error> =
        if rest == 0 { Ok(Vec::new()) } else { answers.take(rest).collect() };
    Ok(Answers { first: first?, rest: rest? })
}

/// Where some have to be sent before or after others, or depend on an answer.
async fn in_rounds(core: &Core, entries: Vec<Entry<'_>>) -> Result<(), Error> {
    let mut running: Vec<Running<'_>> = entries.into_iter().map(Running::new).collect();
    let before = running.iter_mut().map(|it| std::mem::take(&mut it.before)).collect();
    for (it, answers) in running.iter_mut().zip(send_lists(core, before).await?) {
        it.failed = answers.into_iter().find_map(Result::err);
    }
    loop {
        let next: Vec<Option<Group>> = running.iter_mut().map(Running::next).collect();
        if next.iter().all(Option::is_none) {
            break;
        }
        let sizes: Vec<Option<usize>> =
            next.iter().map(|group| group.as_ref().map(|group| group.rest.len())).collect();
        let calls = next
            .into_iter()
            .flatten()
            .flat_map(|Group { first, rest }| std::iter::once(first).chain(rest));
        let mut answers = core.send_each(calls.collect()).await?.into_iter();
        for (it, size) in running.iter_mut().zip(sizes) {
            if let Some(rest) = size {
                it.answers = Some(take(&mut answers, rest));
            }
        }
    }
    let after = running.iter_mut().map(Running::after).collect();
    send_lists(core, after).await?;
    for it in running {
        let answers = match (it.failed, it.answers) {
            (Some(error), _) => Err(error),
            (None, Some(answers)) => answers,
            (None, None) => Err(Error::Unavailable("it was not sent".to_owned())),
        };
        (it.answer)(answers.map_err(|error| error.about(it.definition)));
    }
    Ok(())
}

/// A request on its way.
struct Running<'s> {
    before: Vec<Call>,
    groups: VecDeque<Group>,
    after: Vec<Call>,
    answers: Option<Result<Answers, Error>>,
    failed: Option<Error>,
    definition: &'static str,
    answer: Answer<'s>,
}

impl<'s> Running<'s> {
    fn new(entry: Entry<'s>) -> Self {
        let Calls { before, main, otherwise, after } = entry.calls;
        let groups = std::iter::once(main).chain(otherwise).collect();
        let (definition, answer) = (entry.definition, entry.answer);
        Running { before, groups, after, answers: None, failed: None, definition, answer }
    }

    /// What it asks next, if it has no answer yet.
    fn next(&mut self) -> Option<Group> {
        let goes_on = match &self.answers {
            None => self.failed.is_none(),
            Some(answers) => answers.as_ref().is_ok_and(|answers| is_nothing(&answers.first)),
        };
        if goes_on { self.groups.pop_front() } else { None }
    }

    fn after(&mut self) -> Vec<Call> {
        let written = matches!(&self.answers, Some(Ok(answers)) if has_written(&answers.first));
        if written { std::mem::take(&mut self.after) } else { Vec::new() }
    }
}

/// Sends lists of calls in one round trip; the answers to each list.
async fn send_lists(
    core: &Core,
    lists: Vec<Vec<Call>>,
) -> Result<Vec<Vec<Result<Value, Error>>>, Error> {
    let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
    let mut answers = core.send_each(lists.into_iter().flatten().collect()).await?.into_iter();
    Ok(sizes.into_iter().map(|size| answers.by_ref().take(size).collect()).collect())
}

impl fmt::Debug for Pipeline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pipeline({} requests)", self.len())
    }
}

impl<R> fmt::Debug for Promise<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}
