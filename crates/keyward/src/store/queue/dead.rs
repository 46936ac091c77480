//! Dead letters: how a failed job is spelled, read and pushed again.

use super::lease::Leased;
use super::line::{Line, is_given};
use super::push::Push;
use crate::kind::{Declared, Queue};
use crate::store::error::Error;
use crate::store::handle::{Handle, understand};
use crate::store::write::about;
use crate::{Codec, Key};

/// A failed job, as it is about to be put among the dead letters.
#[derive(Debug, Default)]
pub(super) struct Letter {
    pub(super) text: Vec<u8>,
    /// Whether the script adds the time and the end of the object
    pub(super) open: bool,
}

/// A failed job among the dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dead<V> {
    /// The value that was pushed, or why it cannot be read
    pub value: Result<V, String>,
    /// The id that was given at push
    pub id: Option<String>,
    /// Why the job failed; not known where the dead letters hold values only
    pub error: Option<String>,
    /// How often it was tried
    pub attempts: Option<u64>,
    /// When it failed, as RFC 3339 writes it
    pub failed_at: Option<String>,
    /// What was pushed
    payload: Option<Vec<u8>>,
    /// The entry itself
    entry: Vec<u8>,
}

/// A failed job as the dead letters spell it: the value alone where they hold the same type as the queue, otherwise an
/// object: `{"job": …, "id": …, "error": …, "attempts": …, "queue": …, "failed_at": …}`.
pub(super) fn letter(line: &Line, job: &Leased, error: &str) -> Letter {
    if line.definition.behaviour.dead_as_is {
        return Letter { text: job.payload.clone(), open: false };
    }
    let mut text = b"{".to_vec();
    match std::str::from_utf8(&job.payload) {
        Ok(json) if is_json(json) => {
            text.extend(b"\"job\":");
            text.extend(json.trim().as_bytes());
        }
        Ok(other) => pair(&mut text, "text", other),
        Err(_) => {
            let mut hex = String::with_capacity(job.payload.len() * 2);
            job.payload.iter().for_each(|byte| hex.push_str(&format!("{byte:02x}")));
            pair(&mut text, "hex", &hex);
        }
    }
    if is_given(&job.id) {
        text.push(b',');
        pair(&mut text, "id", &job.id);
    }
    text.push(b',');
    pair(&mut text, "error", error);
    text.extend(format!(",\"attempts\":{},", job.attempts + 1).into_bytes());
    pair(&mut text, "queue", line.list());
    Letter { text, open: true }
}

/// `"name":"value"`.
fn pair(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend(format!("\"{name}\":\"").into_bytes());
    for char in value.chars() {
        match char {
            '"' => out.extend(b"\\\""),
            '\\' => out.extend(b"\\\\"),
            char if (char as u32) < 0x20 => {
                out.extend(format!("\\u{:04x}", char as u32).into_bytes());
            }
            char => out.extend(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(feature = "json")]
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(not(feature = "json"))]
fn is_json(_text: &str) -> bool {
    false
}

/// What a dead letter that is an object says.
#[derive(Debug, Default)]
#[cfg_attr(feature = "json", derive(serde::Deserialize))]
#[cfg_attr(feature = "json", serde(default))]
struct Said {
    #[cfg(feature = "json")]
    job: Option<Box<serde_json::value::RawValue>>,
    text: Option<String>,
    hex: Option<String>,
    id: Option<String>,
    error: Option<String>,
    attempts: Option<u64>,
    failed_at: Option<String>,
}

impl Said {
    #[cfg(feature = "json")]
    fn read(entry: &[u8]) -> Option<Self> {
        serde_json::from_slice(entry).ok()
    }

    #[cfg(not(feature = "json"))]
    fn read(_entry: &[u8]) -> Option<Self> {
        None
    }

    fn payload(&self) -> Option<Vec<u8>> {
        #[cfg(feature = "json")]
        if let Some(job) = &self.job {
            return Some(job.get().as_bytes().to_vec());
        }
        if let Some(text) = &self.text {
            return Some(text.clone().into_bytes());
        }
        let hex = self.hex.as_deref()?.as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        hex.chunks(2).map(byte).collect()
    }
}

impl<K: Key, V, C: Codec<V>> Handle<'_, K, Queue<V, C>, Declared> {
    /// The dead letters from one place to another, both included, the oldest first; negative places count from the end.
    ///
    /// # Errors
    /// If the queue has no dead letters, or the server cannot be asked.
    pub async fn dead(&self, first: i64, last: i64) -> Result<Vec<Dead<V>>, Error> {
        let line = self.line()?;
        self.core.suits(K::DEFINITION)?;
        let Some(dead) = &line.dead else {
            return Err(Error::Settings(format!("`{}` has no `dead_letter`", K::NAME)));
        };
        let mut cmd = about("LRANGE", &dead.names.name);
        cmd.arg(first).arg(last);
        let answer =
            self.core.ask(&cmd).await.map_err(|error| error.about(dead.definition.name))?;
        let entries: Vec<Vec<u8>> = understand::<_, K>(answer)?;
        Ok(entries.into_iter().map(Self::opened).collect())
    }

    fn opened(entry: Vec<u8>) -> Dead<V> {
        let as_is = K::DEFINITION.behaviour.dead_as_is;
        let said = if as_is { None } else { Said::read(&entry) };
        let payload =
            if as_is { Some(entry.clone()) } else { said.as_ref().and_then(Said::payload) };
        let said = said.unwrap_or_default();
        let value = match &payload {
            Some(payload) => C::decode(payload),
            None => Err("the entry holds no job".to_owned()),
        };
        let Said { id, error, attempts, failed_at, .. } = said;
        Dead { value, id, error, attempts, failed_at, payload, entry }
    }

    /// Pushes a dead letter again, with its id if it had one, and removes it from the dead letters, in one step; whether it
    /// was still there.
    ///
    /// # Errors
    /// If the entry holds no job, the queue is full, or the server cannot be asked.
    pub async fn requeue(&self, dead: &Dead<V>) -> Result<bool, Error> {
        let Some(payload) = &dead.payload else {
            return Err(Error::Settings("the dead letter holds no job".to_owned()));
        };
        let mut push = Push::new();
        push.id = dead.id.clone().unwrap_or_default();
        push.letter.clone_from(&dead.entry);
        Ok(self.push_payload(payload, &push).await?.pushed)
    }

    /// Pushes all dead letters again that are there now, the oldest first; how many. What holds no job stays.
    ///
    /// # Errors
    /// See [`requeue`](Handle::requeue).
    pub async fn requeue_all(&self) -> Result<u64, Error> {
        let mut left = self.stats().await?.dead;
        let (mut pushed, mut kept) = (0, 0);
        while left > 0 {
            let batch = self.dead(kept, kept + 99).await?;
            if batch.is_empty() {
                break;
            }
            for dead in batch.iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
                left -= 1;
                if dead.payload.is_none() || !self.requeue(dead).await? {
                    kept += 1;
                } else {
                    pushed += 1;
                }
            }
        }
        Ok(pushed)
    }
}
