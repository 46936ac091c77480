//! What stands between a source and the aggregates.

use keyward_fact::Encoding;
use keyward_rdb::{Element, Key, Show};

/// Is told by a source what it saw of each key.
///
/// For every key: [`begin`](Observer::begin), then [`element`](Observer::element) for what the answer
/// asked to see and the source could show, then [`end`](Observer::end). What one observer was told of
/// one shard is later merged with what others were told of theirs.
pub trait Observer: Send {
    /// How much of a key's value will be wanted: asked ahead, for a batch of keys at a time, by a source
    /// that must fetch values from afar. Answers what [`begin`](Observer::begin) will answer.
    fn wants(&self, key: &Key<'_>) -> Show {
        let _ = key;
        Show::NOTHING
    }

    /// A key. The answer says how much of its value is wanted.
    fn begin(&mut self, key: &Key<'_>) -> Show;

    /// A part of the value that was asked for.
    fn element(&mut self, element: &Element<'_>);

    /// All that the source could see of the key's value.
    fn end(&mut self, key: &Key<'_>, observed: &Observed);
}

/// A key's value, as far as a source could see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Observed {
    /// How the server keeps it
    pub encoding: Option<Encoding>,
    /// Bytes of a string, elements of a collection, entries of a stream
    pub length: Option<u64>,
    /// Bytes of key and value in the server's memory, or in the file
    pub bytes: Option<u64>,
    /// Whether all elements that were asked for were shown
    pub whole: bool,
}
