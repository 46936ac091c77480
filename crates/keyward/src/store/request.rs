//! One thing to do at a server: awaited by itself, or sent with others in a pipeline.

use super::core::Core;
use super::error::Error;
use super::lua::Lua;
use super::measure;
use super::queue::gather::{self, Enlisted, MakeLine};
use crate::Definition;
use redis::{Cmd, Value};
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Instant;

/// A command, and the script that it runs, if it runs one.
pub(crate) struct Call {
    pub(crate) cmd: Cmd,
    pub(crate) lua: Option<&'static Lua>,
    /// Whether it may be sent again when its answer was lost: it only reads, or doing it twice is
    /// doing it once
    pub(crate) repeatable: bool,
}

impl Call {
    /// A command that only reads.
    pub(crate) fn reading(cmd: Cmd) -> Self {
        Call { cmd, lua: None, repeatable: true }
    }

    /// A command that changes something.
    pub(crate) fn changing(cmd: Cmd) -> Self {
        Call { cmd, lua: None, repeatable: false }
    }

    /// The same call, which may be made twice.
    pub(crate) fn repeatable(self) -> Self {
        Call { repeatable: true, ..self }
    }
}

/// What is asked in one go, all of it about one key. Most ask one thing, and need no list for that.
pub(crate) struct Group {
    pub(crate) first: Call,
    pub(crate) rest: Vec<Call>,
}

/// The answers to a group.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) first: Value,
    pub(crate) rest: Vec<Value>,
}

/// What is sent for one request, in this order.
pub(crate) struct Calls {
    /// Must have succeeded before the rest is sent: a cluster's index, which lives on another node
    pub(crate) before: Vec<Call>,
    /// How many of these answer with the version of another slot, which the main part must exceed
    pub(crate) floors: usize,
    /// What is asked
    pub(crate) main: Group,
    /// The same about other names of the key, each asked if those before have nothing
    pub(crate) otherwise: Vec<Group>,
    /// Sent one after the other if the main part has done something: other names on another node
    pub(crate) after: Vec<Vec<Follow>>,
    /// The name of a key that this changes: what the process keeps of it is not good any more
    pub(crate) changes: Option<String>,
    /// The old names that this uses, which are counted
    pub(crate) uses: Option<Box<Uses>>,
}

/// Old names that a request uses, by their migrations.
pub(crate) struct Uses {
    pub(crate) definition: &'static str,
    /// Those of the names that are asked, in their order; empty for the schema's own
    pub(crate) asked: Vec<&'static str>,
    /// Those of the old names that are written
    pub(crate) written: Vec<&'static str>,
}

impl Uses {
    /// Counts what a request has used, if it found or wrote something. `at` is the number of the name that answered.
    pub(crate) fn count(&self, at: usize, answers: &Answers) {
        let note = |migration: &'static str, how| {
            let labels = [("definition", self.definition), ("migration", migration), ("use", how)];
            measure::count("keyward_old_names_total", 1, &labels);
        };
        if let Some(migration) = self.asked.get(at)
            && !migration.is_empty()
            && !is_nothing(&answers.first)
        {
            note(migration, "read");
        }
        let written =
            matches!(&answers.first, Value::Array(it) if it.first() == Some(&Value::Int(1)));
        for migration in self.written.iter().filter(|_| written) {
            note(migration, "write");
        }
    }
}

impl Calls {
    pub(crate) fn one(call: Call) -> Self {
        Calls::group(call, Vec::new())
    }

    pub(crate) fn group(first: Call, rest: Vec<Call>) -> Self {
        let main = Group { first, rest };
        let (before, otherwise, after) = (Vec::new(), Vec::new(), Vec::new());
        Calls { before, floors: 0, main, otherwise, after, changes: None, uses: None }
    }
}

impl Group {
    /// Adds the newest version that other slots have, as these answers say.
    pub(crate) fn exceed(&mut self, versions: &[Value]) {
        let version = |answer: &Value| match answer {
            Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
            _ => None,
        };
        if !versions.is_empty() {
            self.first.cmd.arg(versions.iter().filter_map(version).max().unwrap_or(0u64));
        }
    }
}

/// A call that follows the main part, and depends on its answers.
pub(crate) struct Follow {
    call: Call,
    when: When,
}

/// When a call follows, and what it takes over from the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// If a script has changed the name that counts: the version, the end and the value, which are the last in its answer
    Stamped,
    /// If a read has started the TTL again: when it ends, which is the last answer
    Renewed,
}

impl Follow {
    pub(crate) fn always(call: Call) -> Self {
        Follow { call, when: When::Always }
    }

    pub(crate) fn stamped(call: Call) -> Self {
        Follow { call, when: When::Stamped }
    }

    pub(crate) fn renewed(call: Call) -> Self {
        Follow { call, when: When::Renewed }
    }

    /// The call, if it is to be made after these answers.
    pub(crate) fn after(mut self, answers: &Answers) -> Option<Call> {
        match (self.when, &answers.first, answers.rest.last()) {
            (When::Always, ..) => {}
            (When::Stamped, Value::Array(parts), _) => {
                let [.., Value::Array(stamp)] = parts.as_slice() else { return None };
                let [Value::BulkString(version), Value::Int(ends), value] = stamp.as_slice() else {
                    return None;
                };
                let value = if let Value::BulkString(value) = value { value } else { &Vec::new() };
                self.call.cmd.arg(version).arg(ends).arg(value);
            }
            (When::Renewed, _, Some(Value::Int(ends @ 1..))) => _ = self.call.cmd.arg(ends),
            _ => return None,
        }
        Some(self.call)
    }
}

/// Makes sense of the answers to the main part.
pub(crate) type Read<'s, R> = Box<dyn FnOnce(Answers) -> Result<R, Error> + Send + 's>;

/// What a request sends and what it makes of the answers, or the answer where that is known.
pub(crate) type Split<'s, R> = Result<(Calls, Read<'s, R>), Result<R, Error>>;

/// Something to do at a server. `.await` does it; [`Pipeline::add`](crate::Pipeline::add) does it
/// together with others.
#[must_use = "nothing is sent until it is awaited or its pipeline is run"]
pub struct Request<'s, R> {
    core: &'s Core,
    definition: &'static str,
    work: Work<'s, R>,
}

enum Work<'s, R> {
    Known(Result<R, Error>),
    Ask(Calls, Read<'s, R>),
    /// A push that travels with others
    Together(Box<(Enlisted, MakeLine<'s>)>, Read<'s, R>),
}

impl<'s, R: Send + 's> Request<'s, R> {
    pub(crate) fn new(
        core: &'s Core,
        definition: &'static Definition,
        calls: Calls,
        read: impl FnOnce(Answers) -> Result<R, Error> + Send + 's,
    ) -> Self {
        let work = match core.suits(definition) {
            Ok(()) => Work::Ask(calls, Box::new(read)),
            Err(error) => Work::Known(Err(error)),
        };
        Request { core, definition: definition.name, work }
    }

    /// A push that travels with others of the same moment, or alone in a pipeline.
    pub(crate) fn together(
        core: &'s Core,
        definition: &'static Definition,
        job: Enlisted,
        line: MakeLine<'s>,
        read: impl FnOnce(Answers) -> Result<R, Error> + Send + 's,
    ) -> Self {
        let work = match core.suits(definition) {
            Ok(()) => Work::Together(Box::new((job, line)), Box::new(read)),
            Err(error) => Work::Known(Err(error)),
        };
        Request { core, definition: definition.name, work }
    }

    /// A request whose answer is known without asking.
    pub(crate) fn known(
        core: &'s Core,
        definition: &'static str,
        answer: Result<R, Error>,
    ) -> Self {
        Request { core, definition, work: Work::Known(answer) }
    }

    /// The same request with something made of its answer.
    pub(crate) fn map<S: Send + 's>(
        self,
        then: impl FnOnce(R) -> Result<S, Error> + Send + 's,
    ) -> Request<'s, S> {
        let Request { core, definition, work } = self;
        let work = match work {
            Work::Known(answer) => Work::Known(answer.and_then(then)),
            Work::Ask(calls, read) => {
                Work::Ask(calls, Box::new(move |answers| then(read(answers)?)))
            }
            Work::Together(job, read) => {
                Work::Together(job, Box::new(move |answers| then(read(answers)?)))
            }
        };
        Request { core, definition, work }
    }

    /// The same request, after which these calls follow.
    pub(crate) fn then(mut self, follows: Vec<Follow>) -> Self {
        if let Work::Ask(calls, _) = &mut self.work
            && !follows.is_empty()
        {
            calls.after.push(follows);
        }
        self
    }

    /// What it sends and what it makes of the answers, for a pipeline.
    pub(crate) fn split(self) -> (&'static str, Split<'s, R>) {
        let work = match self.work {
            Work::Known(answer) => Err(answer),
            Work::Ask(calls, read) => Ok((calls, read)),
            Work::Together(together, read) => {
                let (job, line) = *together;
                match line() {
                    Ok(line) => Ok((Calls::one(gather::call(&line, &[job])), read)),
                    Err(error) => Err(Err(error)),
                }
            }
        };
        (self.definition, work)
    }
}

impl<'s, R: Send + 's> IntoFuture for Request<'s, R> {
    type Output = Result<R, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<R, Error>> + Send + 's>>;

    fn into_future(self) -> Self::IntoFuture {
        let Request { core, definition, work } = self;
        Box::pin(async move {
            let answer = match work {
                Work::Known(answer) => answer,
                Work::Ask(calls, read) => core.do_calls(calls, definition).await.and_then(read),
                Work::Together(together, read) => {
                    let (job, line) = *together;
                    let began = Instant::now();
                    let answers = core.push_together(job, line).await;
                    measure::time("keyward_request_seconds", began.elapsed(), definition);
                    answers.and_then(read)
                }
            };
            answer.inspect_err(|error| core.failures.note(definition, error))
        })
    }
}

impl<R> fmt::Debug for Request<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("definition", &self.definition).finish_non_exhaustive()
    }
}

/// Whether an answer says that there is nothing under this name.
pub(crate) fn is_nothing(answer: &Value) -> bool {
    match answer {
        Value::Nil | Value::Int(0 | -2) => true,
        Value::Array(items) | Value::Set(items) => items.iter().all(|item| *item == Value::Nil),
        Value::Map(pairs) => pairs.is_empty(),
        _ => false,
    }
}
