//! Streams.

use super::handle::{Handle, malformed, understand};
use super::list::trimmed_to;
use super::request::Request;
use super::write::{Command, Mode, about};
use crate::kind::{Declared, Stream};
use crate::{Error, Fields, Key};
use redis::Value;
use std::fmt;
use std::str::FromStr;

/// The identifier of a stream's entry: the server's time in milliseconds, and a number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EntryId {
    /// Milliseconds since 1970
    pub ms: u64,
    /// The number within the millisecond
    pub seq: u64,
}

impl EntryId {
    /// Before every entry.
    pub const MIN: EntryId = EntryId { ms: 0, seq: 0 };
    /// Prefixed every entry.
    pub const MAX: EntryId = EntryId { ms: u64::MAX, seq: u64::MAX };
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// The text is not the identifier of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryIdError;

impl fmt::Display for EntryIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no identifier of a stream's entry, as in `1700000000000-0`")
    }
}

impl std::error::Error for EntryIdError {}

impl FromStr for EntryId {
    type Err = EntryIdError;

    fn from_str(text: &str) -> Result<Self, EntryIdError> {
        let (ms, seq) = text.split_once('-').ok_or(EntryIdError)?;
        let number = |text: &str| text.parse().map_err(|_| EntryIdError);
        Ok(EntryId { ms: number(ms)?, seq: number(seq)? })
    }
}

impl<'s, K: Key, F: Fields + Send + 's, L> Handle<'s, K, Stream<F>, L> {
    /// The entries from one to another, both included, at most so many.
    pub fn range(&self, from: EntryId, to: EntryId, count: u32) -> Request<'s, Vec<(EntryId, F)>> {
        let ask = |name: &str| {
            let mut cmd = about("XRANGE", name);
            cmd.arg(from.to_string()).arg(to.to_string()).arg("COUNT").arg(count);
            cmd
        };
        self.read_renewing(ask, entries::<K, F>)
    }

    /// The entries behind one, at most so many: what has come since. It does not wait for more.
    pub fn read_after(&self, last: EntryId, count: u32) -> Request<'s, Vec<(EntryId, F)>> {
        let ask = |name: &str| {
            let mut cmd = about("XRANGE", name);
            cmd.arg(format!("({last}")).arg("+").arg("COUNT").arg(count);
            cmd
        };
        self.read_renewing(ask, entries::<K, F>)
    }

    /// How many entries there are.
    pub fn len(&self) -> Request<'s, u64> {
        self.read("XLEN", |_| {})
    }
}

impl<'s, K: Key, F: Fields + Send + 's> Handle<'s, K, Stream<F>, Declared> {
    /// Adds an entry at the end; its identifier. Where the schema bounds the stream, the oldest go,
    /// or the write is refused.
    pub fn append(&self, entry: &F) -> Request<'s, EntryId> {
        let mut command = Command::new("XADD");
        if let Some(max) = trimmed_to(K::DEFINITION) {
            command = command.arg("MAXLEN").arg(max);
        }
        command = command.arg("*");
        let pairs = match entry.to_pairs() {
            Ok(pairs) => pairs,
            Err(error) => return Request::known(self.core, K::NAME, Err(error.into())),
        };
        for (name, value) in pairs {
            command = command.arg(name).arg(value);
        }
        self.write(Mode::Part, vec![command]).map(|answers| {
            let id = answers.and_then(|answers| answers.into_iter().next());
            let id: String = understand::<_, K>(id.unwrap_or(Value::Nil))?;
            id.parse().map_err(|error: EntryIdError| malformed::<K>(error.to_string()))
        })
    }
}

fn entries<K: Key, F: Fields>(answer: Value) -> Result<Vec<(EntryId, F)>, Error> {
    type Raw = Vec<(String, Vec<(Vec<u8>, Vec<u8>)>)>;
    let raw: Raw = understand::<_, K>(answer)?;
    let entry = |(id, pairs): (String, _)| {
        let id = id.parse().map_err(|error: EntryIdError| malformed::<K>(error.to_string()))?;
        Ok((id, F::from_owned_pairs(pairs)?))
    };
    raw.into_iter().map(entry).collect()
}
