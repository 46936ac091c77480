//! What stands between a source and the counts.

use keyward_fact::{Element, Fact, Show};

/// Receives what a source saw of each key.
///
/// For every key: [`begin`](Observer::begin), then [`element`](Observer::element) for what the answer
/// asked to see and the source could show, then [`end`](Observer::end). What one observer received of
/// one shard is later merged with what others received of theirs.
pub trait Observer: Send {
    /// How much of a key's value will be wanted: asked ahead, for a batch of keys at a time, by a source
    /// that must fetch values from afar. Answers what [`begin`](Observer::begin) will answer.
    fn wants(&self, fact: &Fact<'_>) -> Show {
        let _ = fact;
        Show::NOTHING
    }

    /// A key, before its value was read. The answer says how much of its value is wanted.
    fn begin(&mut self, fact: &Fact<'_>) -> Show;

    /// A part of the value that was asked for.
    fn element(&mut self, element: &Element<'_>);

    /// The same key, with all that the source could see of its value.
    fn end(&mut self, fact: &Fact<'_>);
}
