//! Many requests in one round trip.
//!
//! What a request makes of its answer stays with its promise, and all answers stay together until they are
//! taken: nothing is shared, locked or allocated for each of them.

use super::core::Core;
use super::error::Error;
use super::failures::Failures;
use super::request::{Answers, Call, Calls, Follow, Group, Read, Request, Uses, is_nothing};
use redis::Value;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that are sent together. On a cluster, those for one node travel together.
///
/// It is not a transaction: what others do may come in between, and a request that fails does not
/// stop those behind it.
#[must_use = "nothing is sent until it is run"]
pub struct Pipeline<'s> {
    core: &'s Core,
    number: u64,
    requests: Requests,
    /// The names of keys that it changes and that the process may keep
    changes: Vec<String>,
    /// What its keys belong to
    definitions: Vec<&'static str>,
}

/// What waits to be sent.
enum Requests {
    /// All of it in one round trip, as nearly always; for each request, where its calls begin
    Plain { calls: Vec<Call>, begins: Vec<usize> },
    /// Some before or after others, or depending on an answer
    Any(Vec<Calls>),
}

/// The answer to a request in a pipeline: [`Results::take`] gives it.
#[must_use = "the answer is taken from the pipeline's results"]
pub struct Promise<'s, R>(Promised<'s, R>);

struct Promised<'s, R> {
    definition: &'static str,
    answer: Expected<'s, R>,
}

enum Expected<'s, R> {
    Known(Result<R, Error>),
    Asked { pipeline: u64, request: usize, read: Read<'s, R> },
}

/// The answers of a pipeline that was run.
#[must_use = "the answers, and the errors, of single requests are in it"]
pub struct Results {
    pipeline: u64,
    answers: Answered,
    failures: Arc<Failures>,
}

enum Answered {
    Plain { answers: Vec<Result<Value, Error>>, begins: Vec<usize> },
    Any(Vec<Result<Answers, Error>>),
}

impl Results {
    /// The answer to a request of this pipeline.
    ///
    /// # Errors
    /// Of this very request; or if it was added to another pipeline.
    pub fn take<R>(&mut self, promise: Promise<'_, R>) -> Result<R, Error> {
        let Promised { definition, answer } = promise.0;
        let answer = match answer {
            Expected::Known(answer) => answer,
            Expected::Asked { pipeline, request, read } if pipeline == self.pipeline => {
                let answers = self.answers_to(request);
                answers.map_err(|error| error.about(definition)).and_then(read)
            }
            Expected::Asked { .. } => Err(unanswered()),
        };
        answer.inspect_err(|error| self.failures.note(definition, error))
    }

    fn answers_to(&mut self, request: usize) -> Result<Answers, Error> {
        match &mut self.answers {
            Answered::Plain { answers, begins } => {
                let Some(begin) = begins.get(request) else { return Err(unanswered()) };
                let end = begins.get(request + 1).copied().unwrap_or(answers.len());
                take_group(answers.get_mut(*begin..end).unwrap_or_default())
            }
            Answered::Any(answers) => answers
                .get_mut(request)
                .map_or_else(|| Err(unanswered()), |it| std::mem::replace(it, Err(unanswered()))),
        }
    }
}

fn take_group(answers: &mut [Result<Value, Error>]) -> Result<Answers, Error> {
    let take = |answer: &mut Result<Value, Error>| std::mem::replace(answer, Ok(Value::Nil));
    match answers {
        [] => Err(unanswered()),
        [only] => Ok(Answers { first: take(only)?, rest: Vec::new() }),
        [first, rest @ ..] => Ok(Answers {
            first: take(first)?,
            rest: rest.iter_mut().map(take).collect::<Result<_, _>>()?,
        }),
    }
}

fn unanswered() -> Error {
    Error::Unavailable("this pipeline has no answer to the request".into())
}

impl<'s> Pipeline<'s> {
    pub(crate) fn new(core: &'s Core) -> Self {
        /// Tells pipelines apart, so that no promise is kept by another's answer.
        static PIPELINES: AtomicU64 = AtomicU64::new(0);
        let number = PIPELINES.fetch_add(1, Ordering::Relaxed);
        let requests = Requests::Plain { calls: Vec::new(), begins: Vec::new() };
        Pipeline { core, number, requests, changes: Vec::new(), definitions: Vec::new() }
    }

    /// Adds a request; [`run`](Pipeline::run) gives the results that its answer is taken from.
    pub fn add<R: Send + 's>(&mut self, request: Request<'s, R>) -> Promise<'s, R> {
        let (definition, work) = request.split();
        let answer = match work {
            Err(known) => Expected::Known(known),
            Ok((mut calls, read)) => {
                let request = self.len();
                self.changes.extend(calls.changes.take());
                if self.definitions.last() != Some(&definition) {
                    self.definitions.push(definition);
                }
                self.requests.push(calls);
                Expected::Asked { pipeline: self.number, request, read }
            }
        };
        Promise(Promised { definition, answer })
    }

    /// How many requests wait.
    pub fn len(&self) -> usize {
        match &self.requests {
            Requests::Plain { begins, .. } => begins.len(),
            Requests::Any(requests) => requests.len(),
        }
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends all requests.
    ///
    /// # Errors
    /// If the server cannot be asked. Errors of single requests are in the results.
    pub async fn run(self) -> Result<Results, Error> {
        let (core, definitions) = (self.core, self.definitions.clone());
        let ran = self.send().await;
        ran.inspect_err(|error| {
            for definition in &definitions {
                core.failures.note(definition, error);
            }
        })
    }

    async fn send(self) -> Result<Results, Error> {
        let core = self.core;
        if !core.missed.is_empty() {
            for definition in &self.definitions {
                Box::pin(core.settle_for(definition)).await?;
            }
        }
        let answers = match self.requests {
            Requests::Plain { calls, begins } => {
                let answers = core.send_each(calls).await;
                answers.map(|answers| Answered::Plain { answers, begins })
            }
            Requests::Any(requests) => Box::pin(in_rounds(core, requests)).await.map(Answered::Any),
        };
        for name in &self.changes {
            core.l1.remove(name);
        }
        Ok(Results { pipeline: self.number, answers: answers?, failures: core.failures.clone() })
    }
}

impl Requests {
    fn push(&mut self, request: Calls) {
        let Calls { before, otherwise, after, uses, .. } = &request;
        let plain = before.is_empty() && otherwise.is_empty() && after.is_empty() && uses.is_none();
        match self {
            Requests::Plain { calls, begins } if plain => {
                let Group { first, rest } = request.main;
                begins.push(calls.len());
                calls.push(first);
                calls.extend(rest);
            }
            Requests::Plain { calls, begins } => {
                let ends = begins.iter().skip(1).copied().chain([calls.len()]);
                let sizes: Vec<usize> =
                    begins.iter().zip(ends).map(|(begin, end)| end - begin).collect();
                let mut calls = std::mem::take(calls).into_iter();
                let mut requests = Vec::with_capacity(sizes.len() + 1);
                for size in sizes {
                    let Some(first) = calls.next() else { break };
                    requests.push(Calls::group(first, calls.by_ref().take(size - 1).collect()));
                }
                requests.push(request);
                *self = Requests::Any(requests);
            }
            Requests::Any(requests) => requests.push(request),
        }
    }
}

/// Where some have to be sent before or after others, or depend on an answer.
pub(crate) async fn in_rounds(
    core: &Core,
    requests: Vec<Calls>,
) -> Result<Vec<Result<Answers, Error>>, Error> {
    let mut running: Vec<Running> = requests.into_iter().map(Running::new).collect();
    let before = running.iter_mut().map(|it| std::mem::take(&mut it.before)).collect();
    for (it, answers) in running.iter_mut().zip(send_lists(core, before).await?) {
        match (answers.into_iter().collect::<Result<Vec<Value>, Error>>(), it.groups.front_mut()) {
            (Ok(answers), Some(main)) => main.exceed(&answers[..it.floors]),
            (Ok(_), None) => {}
            (Err(error), _) => it.failed = Some(error),
        }
    }
    loop {
        let next: Vec<Option<Group>> = running.iter_mut().map(Running::next).collect();
        if next.iter().all(Option::is_none) {
            break;
        }
        let size = |group: &Group| (1 + group.rest.len(), !group.first.repeatable);
        let sizes: Vec<Option<(usize, bool)>> =
            next.iter().map(|group| group.as_ref().map(size)).collect();
        let calls = next
            .into_iter()
            .flatten()
            .flat_map(|Group { first, rest }| std::iter::once(first).chain(rest));
        let mut answers = core.send_each(calls.collect()).await?;
        let mut left = answers.as_mut_slice();
        for (it, size) in running.iter_mut().zip(sizes) {
            if let Some((size, changing)) = size {
                let (group, behind) = left.split_at_mut(size.min(left.len()));
                let halfway = changing && group.iter().any(Result::is_ok);
                let answers = take_group(group);
                it.answers =
                    Some(if halfway { answers.map_err(Error::after_a_change) } else { answers });
                left = behind;
            }
        }
    }
    for it in &running {
        if let (Some(uses), Some(Ok(answers))) = (&it.uses, &it.answers) {
            uses.count(it.asked - 1, answers);
        }
    }
    while running.iter().any(|it| !it.after.is_empty()) {
        let after = running.iter_mut().map(Running::after).collect();
        let sent = send_lists(core, after).await.map_err(Error::after_a_change)?;
        for (it, answers) in running.iter_mut().zip(sent) {
            let failed = answers.into_iter().find_map(Result::err);
            it.failed = it.failed.take().or(failed.map(Error::after_a_change));
        }
    }
    let answers = running.into_iter().map(|it| match (it.failed, it.answers) {
        (Some(error), _) => Err(error),
        (None, answers) => answers.unwrap_or_else(|| Err(unanswered())),
    });
    Ok(answers.collect())
}

/// A request on its way.
struct Running {
    before: Vec<Call>,
    floors: usize,
    groups: VecDeque<Group>,
    after: VecDeque<Vec<Follow>>,
    answers: Option<Result<Answers, Error>>,
    failed: Option<Error>,
    uses: Option<Box<Uses>>,
    /// How many groups were asked
    asked: usize,
}

impl Running {
    fn new(calls: Calls) -> Self {
        let Calls { before, floors, main, otherwise, after, uses, .. } = calls;
        let groups = std::iter::once(main).chain(otherwise).collect();
        let (answers, failed, asked) = (None, None, 0);
        Running { before, floors, groups, after: after.into(), answers, failed, uses, asked }
    }

    /// What it asks next, if it has no answer yet.
    fn next(&mut self) -> Option<Group> {
        let goes_on = match &self.answers {
            None => self.failed.is_none(),
            Some(answers) => answers.as_ref().is_ok_and(|answers| is_nothing(&answers.first)),
        };
        let next = if goes_on { self.groups.pop_front() } else { None };
        self.asked += usize::from(next.is_some());
        next
    }

    /// What follows next, unless something has failed.
    fn after(&mut self) -> Vec<Call> {
        let round = self.after.pop_front().unwrap_or_default();
        match (&self.answers, &self.failed) {
            (Some(Ok(answers)), None) => {
                round.into_iter().filter_map(|follow| follow.after(answers)).collect()
            }
            _ => Vec::new(),
        }
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

impl<R> fmt::Debug for Promise<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Results")
    }
}
