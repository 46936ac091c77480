//! A model of programs that change one key under its old and its new name, in the steps of `course.rs`, while others do
//! the same, die between two steps, lose answers, or are in another phase; and while a plan moves the key, is killed and
//! begins again.
//!
//! What the steps do to a server is `Server`, and what a plan does is `plan.rs`; property tests compare both with the
//! scripts on real servers. Sessions, refresh tokens and indexes are not here: the schema refuses to rename them until
//! `cleanup`. Locks, limits and queues have models of their own (`exclusion.rs`, `limits.rs`, `lines.rs`).

pub(super) mod plan;
mod server;
mod world;
mod worlds;

pub(super) use server::{Cell, Change, Server, Stamp};

use super::{Names, tests};

const OLD: &str = "{k}old";
const NEW: &str = "{k}new";
const OLD_SPLIT: &str = "old";
const NEW_SPLIT: &str = "new";

/// How far a program's schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::store::names) enum Knows {
    /// The program knows the old name only
    OldOnly,
    DualWrite,
    ReadFallback,
    Cleanup,
}

impl Knows {
    pub(in crate::store::names) fn names(self, split: bool) -> Names {
        let both = if split { [OLD_SPLIT, NEW_SPLIT] } else { [OLD, NEW] };
        match self {
            Knows::OldOnly => Names::one(both[0].to_owned(), 0),
            Knows::DualWrite => tests::names(true, both),
            Knows::ReadFallback => tests::names(false, both),
            Knows::Cleanup => {
                Names { left: vec![both[0].to_owned()], ..Names::one(both[1].to_owned(), 0) }
            }
        }
    }
}

/// The phases that programs may be in at the same time.
pub(super) const ADJACENT: [[Knows; 2]; 6] = [
    [Knows::OldOnly, Knows::DualWrite],
    [Knows::DualWrite, Knows::DualWrite],
    [Knows::DualWrite, Knows::ReadFallback],
    [Knows::ReadFallback, Knows::ReadFallback],
    [Knows::ReadFallback, Knows::Cleanup],
    [Knows::Cleanup, Knows::Cleanup],
];

/// The step that a plan makes while such programs run.
pub(super) fn plan_of(one: Knows, other: Knows) -> Option<Knows> {
    match (one, other) {
        (_, Knows::DualWrite) | (Knows::OldOnly, Knows::OldOnly) => Some(Knows::DualWrite),
        (Knows::ReadFallback, Knows::ReadFallback) => Some(Knows::ReadFallback),
        (Knows::Cleanup, _) => Some(Knows::Cleanup),
        _ => None,
    }
}

/// Whose lease a plan's is, and the one that a delete leaves until the other slot knows of it.
pub(super) const PLANS: u8 = 15;
pub(super) const REMOVED: u8 = 14;
