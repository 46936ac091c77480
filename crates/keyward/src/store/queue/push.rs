//! Pushing jobs.

use super::PUSH;
use super::gather::Enlisted;
use super::line::{Line, Projection, is_given};
use crate::kind::{Declared, Queue};
use crate::store::error::Error;
use crate::store::handle::{Handle, malformed, understand};
use crate::store::request::{Answers, Call, Calls, Request};
use crate::store::write::about;
use crate::{Codec, Definition, Key, entry};
use redis::Value;
use std::fmt;
use std::time::Duration;

/// The most values that one command pushes.
const CHUNK: usize = 1000;

/// What a push says besides the value.
#[derive(Debug, Clone, Default)]
pub struct Push {
    pub(super) id: String,
    /// Whether the id that was given is none
    no_id: bool,
    delay: Duration,
    priority: i16,
    group: String,
    replace: bool,
    /// The dead letter that the job was, and the tick of a repeating job
    pub(super) letter: Option<Vec<u8>>,
    pub(super) tick: Option<(String, u64)>,
}

impl Push {
    /// Nothing besides the value.
    pub fn new() -> Self {
        Push::default()
    }

    /// The job's id: needed to ask about it, to cancel it, and for its documented status. A job whose id waits, runs or is
    /// retained already is not pushed, so that a push with an id may be repeated.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        let id = id.into();
        Push { no_id: id.is_empty(), id, ..self }
    }

    /// Not before this time has passed, by the server's clock.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Push { delay, ..self }
    }

    /// Before jobs of a lower priority: from -999 to 999, and 0 unless given.
    #[must_use]
    pub fn priority(self, priority: i16) -> Self {
        Push { priority, ..self }
    }

    /// In this group: groups take turns, and the schema's `per_group` bounds how many jobs of one run at once.
    #[must_use]
    pub fn group(self, group: impl Into<String>) -> Self {
        Push { group: group.into(), ..self }
    }

    /// Not if a job with an equal value, pushed as unique too, waits or runs. Has no effect with an id, which
    /// is unique by itself.
    #[must_use]
    pub fn unique(self) -> Self {
        if self.id.is_empty() { Push { id: "=".to_owned(), ..self } } else { self }
    }

    /// In place of the job with the same id, if that waits or has ended. One that runs already is not replaced, and nothing is
    /// pushed.
    #[must_use]
    pub fn replace(self) -> Self {
        Push { replace: true, ..self }
    }

    /// Whether it is the value alone.
    fn is_plain(&self) -> bool {
        self.id.is_empty() && self.is_bare()
    }

    /// Whether nothing is said besides the value and its id.
    fn is_bare(&self) -> bool {
        self.delay.is_zero()
            && self.priority == 0
            && self.group.is_empty()
            && self.letter.is_none()
            && self.tick.is_none()
            && !self.replace
    }

    /// Whether it is a value with an id, of which the application knows, and nothing else.
    fn is_id_alone(&self) -> bool {
        is_given(&self.id) && self.is_bare()
    }

    fn check(&self) -> Result<(), String> {
        let control = |text: &str| text.chars().any(char::is_control);
        if self.no_id {
            Err("an id cannot be empty".to_owned())
        } else if self.id.starts_with('=') && self.id != "=" {
            Err("an id cannot begin with `=`".to_owned())
        } else if self.id.len() > 512 || self.group.len() > 512 {
            Err("an id or a group has at most 512 bytes".to_owned())
        } else if control(&self.id) || control(&self.group) {
            Err("an id or a group cannot hold a control character".to_owned())
        } else if !(-999..=999).contains(&self.priority) {
            Err(format!("a priority is from -999 to 999, and {} was given", self.priority))
        } else if self.replace && self.id.is_empty() {
            Err("`replace` needs the `id` of the job that is replaced".to_owned())
        } else {
            Ok(())
        }
    }
}

/// What became of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pushed {
    /// Whether the job was pushed; otherwise one with its id was there
    pub pushed: bool,
    /// The job's ticket; a value that was pushed alone gets one when it is taken
    pub ticket: Option<Ticket>,
}

/// The number that the server gave to a job. Later jobs have greater ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016}", self.0)
    }
}

impl<'s, K: Key, V, C: Codec<V>> Handle<'s, K, Queue<V, C>, Declared> {
    /// Pushes a job. Any client can do the same with RPUSH, or XADD where the queue is a stream.
    ///
    /// # Errors
    /// While the server is away, or is full: nothing is kept for later. If the answer was lost, the error is
    /// [`Unknown`](Error::Unknown): a job that must not be pushed twice needs an [id](Push::id).
    pub fn push(&self, value: &V) -> Request<'s, Pushed> {
        self.push_with(value, Push::new())
    }

    /// Pushes a job with an id, a delay, a priority or a group.
    ///
    /// # Errors
    /// See `push`.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "`Push::new().id(…)` reads better without a `&`"
    )]
    pub fn push_with(&self, value: &V, push: Push) -> Request<'s, Pushed> {
        match Self::spell(value) {
            Ok(payload) => self.push_payload(&payload, &push),
            Err(error) => Request::known(self.core, K::NAME, Err(error)),
        }
    }

    /// Pushes jobs in their order, a thousand at a time; how many. They need no more round trips than one for each
    /// thousand.
    ///
    /// # Errors
    /// See `push`. What was pushed before an error stays.
    pub async fn push_many<'v>(&self, values: impl IntoIterator<Item = &'v V>) -> Result<u64, Error>
    where
        V: 'v,
    {
        let payloads: Vec<Vec<u8>> =
            values.into_iter().map(Self::spell).collect::<Result<_, _>>()?;
        for (number, chunk) in payloads.chunks(CHUNK).enumerate() {
            let pushed = self.push_payloads(chunk, &Push::new()).await;
            pushed.map_err(|error| if number > 0 { error.after_a_change() } else { error })?;
        }
        Ok(payloads.len() as u64)
    }

    /// The bytes of a value, if they are not too many.
    fn spell(value: &V) -> Result<Vec<u8>, Error> {
        let payload = C::encode(value).map_err(malformed::<K>)?;
        match K::DEFINITION.behaviour.max_bytes {
            Some(max) if payload.len() as u64 > max => Err(malformed::<K>(format!(
                "the job has {} bytes, and {max} are the most",
                payload.len()
            ))),
            _ => Ok(payload),
        }
    }

    pub(super) fn push_payload(&self, payload: &[u8], push: &Push) -> Request<'s, Pushed> {
        self.push_payloads(&[payload], push)
    }

    fn push_payloads(&self, payloads: &[impl AsRef<[u8]>], push: &Push) -> Request<'s, Pushed> {
        let is_stream = K::DEFINITION.key_type == Some("stream");
        let is_bounded = K::DEFINITION.behaviour.max_len.is_some();
        let unfit = |payload: &_| entry::unfit(AsRef::<[u8]>::as_ref(payload));
        let unfit = if is_stream { payloads.iter().find_map(unfit) } else { None };
        if let Err(why) = unfit.map_or(push.check(), Err) {
            let error = Error::Settings(format!("`{}`: {why}", K::NAME));
            return Request::known(self.core, K::NAME, Err(error));
        }
        if push.is_plain() && !is_bounded && !is_stream {
            let mut cmd = about("RPUSH", &self.names.name);
            for payload in payloads {
                cmd.arg(payload.as_ref());
            }
            let read = |_| Ok(Pushed { pushed: true, ticket: None });
            let calls = Calls::one(Call::changing(cmd));
            return Request::new(self.core, K::DEFINITION, calls, read);
        }
        let request = match payloads {
            [payload] if push.is_id_alone() && !is_bounded => {
                self.enlisted(payload.as_ref(), &push.id)
            }
            _ => self
                .line()
                .and_then(|line| alone(&line, payloads, push))
                .map(|call| Request::new(self.core, K::DEFINITION, Calls::one(call), pushed::<K>)),
        };
        request.unwrap_or_else(|error| Request::known(self.core, K::NAME, Err(error)))
    }

    /// A push that travels with others of the same moment.
    fn enlisted(&self, payload: &[u8], id: &str) -> Result<Request<'s, Pushed>, Error> {
        let job = Enlisted {
            definition: K::DEFINITION,
            queue: self.names.pushed().to_owned(),
            id: id.to_owned(),
            payload: payload.to_vec(),
            status: self.status_key(self.names.pushed(), id)?,
        };
        let (core, key, prefix) = (self.core, self.key.clone(), self.prefix.clone());
        let line = move || Handle::<K, Queue<(), ()>, ()>::new(core, key, &prefix).line();
        Ok(Request::together(self.core, K::DEFINITION, job, Box::new(line), pushed::<K>))
    }
}

/// The call that pushes one job with all that was said about it, or values alone.
fn alone(line: &Line, payloads: &[impl AsRef<[u8]>], push: &Push) -> Result<Call, Error> {
    let status = line.status_of(&push.id)?;
    let dead = line.dead_keys().filter(|_| push.letter.is_some());
    let more: Vec<&str> = status.key.iter().map(String::as_str).chain(dead).collect();
    let pairs = payloads.iter().map(|payload| (push.id.as_str(), payload.as_ref()));
    let call = script(line, pairs, push, &more);
    // Its id, its dead letter or its tick keeps it from being pushed twice.
    let once = !push.id.is_empty() || push.letter.is_some() || push.tick.is_some();
    Ok(if once { call.repeatable() } else { call })
}

/// The call that pushes jobs: their ids and payloads. Behind the keys of the queue stand those of their statuses, and of the dead
/// letters.
pub(super) fn script<'p>(
    line: &Line,
    jobs: impl Iterator<Item = (&'p str, &'p [u8])>,
    push: &Push,
    more: &[&str],
) -> Call {
    let mut jobs = jobs.peekable();
    let has_status = jobs.peek().is_some_and(|(id, _)| is_given(id));
    let status = line.status.as_ref().filter(|_| has_status);
    let delay = u64::try_from(push.delay.as_millis()).unwrap_or(u64::MAX);
    let (name, tick) = push.tick.as_ref().map_or(("", 0), |(name, tick)| (name.as_str(), *tick));
    line.call(line.suited(&PUSH), more, |cmd| {
        // A century is for ever, and a score stays exact.
        cmd.arg(delay.min(3_155_760_000_000))
            .arg(push.priority)
            .arg(&push.group)
            .arg(if push.replace { "1" } else { "" })
            .arg(bound(line.definition))
            .arg(status.map_or("", |status| &status.spec))
            .arg(status.map_or(0, Projection::ttl))
            .arg(push.letter.as_deref().unwrap_or_default())
            .arg(push.letter.as_ref().map_or("", |_| if line.notes.is_some() { "1" } else { "0" }))
            .arg(name)
            .arg(tick);
        for (id, payload) in jobs {
            cmd.arg(id).arg(payload);
        }
    })
}

/// The most jobs that wait; negative if older ones go, and 0 if there is no bound.
fn bound(definition: &Definition) -> i64 {
    let max = definition.behaviour.max_len.and_then(|max| i64::try_from(max).ok()).unwrap_or(0);
    if definition.behaviour.refuse_when_full { max } else { -max }
}

fn pushed<K: Key>(answers: Answers) -> Result<Pushed, Error> {
    let (outcome, ticket): (i64, String) = understand::<_, K>(answers.first)?;
    if outcome == -2 {
        let status = Handle::<K, (), ()>::link("status").map_or(K::NAME, |status| status.name);
        return Err(Error::from_script(&ticket).about(status));
    }
    if outcome < 0 {
        let max_len = K::DEFINITION.behaviour.max_len.unwrap_or(0);
        return Err(Error::Full { definition: K::NAME, max_len });
    }
    Ok(Pushed { pushed: outcome == 1, ticket: ticket.parse().ok().map(Ticket) })
}

/// A text that a script may have answered, or nothing.
pub(super) fn text(answer: &Value) -> Option<String> {
    match answer {
        Value::BulkString(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}
