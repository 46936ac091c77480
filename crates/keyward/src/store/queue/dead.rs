//! Dead letters: how a failed job is spelled, read and pushed again.

use super::LETTERS;
use super::lease::Leased;
use super::line::{Line, is_given};
use super::push::Push;
use crate::kind::{Declared, Queue};
use crate::shared::Said;
use crate::store::error::Error;
use crate::store::handle::{Handle, understand};
use crate::{Codec, Key, entry};

/// A failed job, as it is about to be put among the dead letters.
#[derive(Debug, Default)]
pub(super) struct Letter {
    /// What is said of it: an object whose end the script adds
    pub(super) said: Vec<u8>,
    /// The value, where the dead letters are values and the object is a note about one
    pub(super) value: Vec<u8>,
}

/// A failed job among the dead letters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dead<V> {
    /// The value that was pushed, or why it cannot be read
    pub value: Result<V, String>,
    /// The id that was given at push
    pub id: Option<String>,
    /// Why the job failed; not known of what another program put there
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

/// A failed job as the dead letters spell it: `{"job": …, "id": …, "error": …, "attempts": …, "queue": …, "failed_at": …}`.
/// Where they hold the same type as the queue, they hold the value, and the object without the job is a note about it.
pub(super) fn letter(line: &Line, job: &Leased, error: &str) -> Letter {
    let mut said = b"{".to_vec();
    if line.notes.is_none() {
        spell_job(&mut said, &job.payload, line.is_stream());
        said.push(b',');
    }
    if is_given(&job.id) {
        pair(&mut said, "id", &job.id);
        said.push(b',');
    }
    pair(&mut said, "error", error);
    said.extend(format!(",\"attempts\":{},", job.attempts + 1).into_bytes());
    pair(&mut said, "queue", line.name());
    let value = if line.notes.is_some() { job.payload.clone() } else { Vec::new() };
    Letter { said, value }
}

/// The value as JSON: as it is, or an object of texts where it is an entry of a stream; otherwise as text, or as bytes.
fn spell_job(said: &mut Vec<u8>, payload: &[u8], is_stream: bool) {
    if is_stream && let Some(fields) = entry::texts(payload) {
        said.extend(b"\"job\":{");
        for (at, (name, value)) in fields.into_iter().enumerate() {
            said.extend(if at > 0 { &b","[..] } else { b"" });
            pair(said, name, value);
        }
        said.push(b'}');
        return;
    }
    match std::str::from_utf8(payload) {
        Ok(json) if !is_stream && is_json(json) => {
            said.extend(b"\"job\":");
            said.extend(json.trim().as_bytes());
        }
        Ok(text) => pair(said, "text", text),
        Err(_) => {
            let mut hex = String::with_capacity(payload.len() * 2);
            for byte in payload {
                hex.push_str(&format!("{byte:02x}"));
            }
            pair(said, "hex", &hex);
        }
    }
}

/// `"name":"value"`.
fn pair(out: &mut Vec<u8>, name: &str, value: &str) {
    quoted(out, name);
    out.push(b':');
    quoted(out, value);
}

fn quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for char in text.chars() {
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
        let keys: Vec<&str> =
            [Some(dead.names.name.as_str()), line.notes.as_deref()].into_iter().flatten().collect();
        let call = LETTERS.call(&keys, |cmd| _ = cmd.arg(first).arg(last)).repeatable();
        let answer =
            self.core.send(&call).await.map_err(|error| error.about(dead.definition.name))?;
        let letters: Vec<(Vec<u8>, Option<Vec<u8>>)> = understand::<_, K>(answer)?;
        let is_stream = line.is_stream();
        Ok(letters.into_iter().map(|(entry, note)| Self::opened(entry, note, is_stream)).collect())
    }

    fn opened(entry: Vec<u8>, note: Option<Vec<u8>>, is_stream: bool) -> Dead<V> {
        let as_is = K::DEFINITION.behaviour.dead_as_is;
        let said = if as_is { note.and_then(|note| Said::read(&note)) } else { Said::read(&entry) };
        let said = said.unwrap_or_default();
        let payload = if as_is { Some(entry.clone()) } else { said.payload(is_stream) };
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
        push.letter = Some(dead.entry.clone());
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
