//! The course of a change to a key that has several names: what is sent to which of them, one step after the other.
//!
//! The names in the slot of the one that counts are changed by one script. Where others are in other slots, nothing is
//! atomic: the script gives the change a version, and every other name takes it unless it has a newer one. The tables
//! here are what calls are made from, and what the model checks (`model.rs`).

use super::Names;
use crate::store::emit::BESIDE;
use crate::store::lua::{Lua, lua};
use crate::store::request::{Call, Calls, Follow};
use crate::store::write::about;

static COPY: Lua = lua!("copy.lua");
static FORGET: Lua = lua!("stamp.lua", "forget.lua");

/// A change: these steps, the script that changes all names in the slot of the one that counts, then those steps.
pub(crate) struct Course {
    pub(crate) before: &'static [Step],
    pub(crate) after: &'static [Step],
}

/// A step. It is left out where all names are in one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) does: Does,
    pub(crate) at: At,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// Ends the leases of whoever is about to fill the name, or to move a key there
    EndLease,
    /// Makes the name hold what the script has decided, unless it holds something newer
    Copy,
}

/// To which names a step does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At {
    /// Those in the slot of the name that counts
    Deciding,
    /// Those in other slots
    Far,
}

/// A value that is written whole. Leases end before, since what somebody loads to fill another slot is older than this
/// write.
pub(crate) const WRITE: Course = Course {
    before: &[Step { does: Does::EndLease, at: At::Far }],
    after: &[Step { does: Does::Copy, at: At::Far }],
};

/// A key that is removed. The name that counts is removed again at the end: meanwhile somebody may have moved there what
/// was still in another slot.
pub(crate) const DELETE: Course = Course {
    before: &[],
    after: &[Step { does: Does::Copy, at: At::Far }, Step { does: Does::Copy, at: At::Deciding }],
};

impl Course {
    /// What is sent for a change. `more` are words of keys that are derived from this kind of key only.
    pub(crate) fn calls(&self, names: &Names, more: &[&str], cluster: bool, change: Call) -> Calls {
        let mut calls = Calls::one(change);
        if !names.is_split(cluster) {
            return calls;
        }
        let (_, far) = names.by_slot(cluster);
        let at = |step: &Step| match step.at {
            At::Deciding => names.together(cluster),
            At::Far => far.clone(),
        };
        for step in self.before {
            calls.before.extend(at(step).into_iter().filter_map(|name| end_lease(names, name)));
        }
        for step in self.after {
            let beside = |name| match step.at {
                At::Deciding => names.derived("version"),
                At::Far => names.derived_of(name, "version"),
            };
            let copies = at(step).into_iter().filter_map(|name| match step.does {
                Does::EndLease => end_lease(names, name).map(Follow::always),
                Does::Copy => Some(copy(names, name, &beside(name)?, more)),
            });
            calls.after.push(copies.collect());
        }
        calls
    }
}

fn end_lease(names: &Names, name: &str) -> Option<Call> {
    let lease = names.derived_of(name, "lease")?;
    Some(Call::changing(about("UNLINK", &lease)).repeatable())
}

/// Doing it twice is doing it once: it holds what it is to hold.
fn copy(names: &Names, name: &str, version: &str, more: &[&str]) -> Follow {
    let beside = |word: &&str| names.derived_of(name, word);
    let ending: Vec<String> = ENDING.iter().filter_map(beside).collect();
    let rest = BESIDE.iter().filter(|word| !ENDING.contains(word)).chain(more);
    let rest: Vec<String> = rest.filter_map(beside).collect();
    let mut keys = vec![name, version];
    keys.extend(ending.iter().chain(&rest).map(String::as_str));
    Follow::stamped(COPY.call(&keys, |cmd| _ = cmd.arg(ending.len())).repeatable())
}

/// What ends with every write of a name: the leases of those who load, that there is none, that it is due.
pub(crate) const ENDING: [&str; 3] = ["lease", "none", "refresh"];

/// What removes a key under all its names, with all that was derived from them, and the leases of whoever is about to
/// fill it: a fill that began before finds no lease.
pub(crate) fn forget(names: &Names, more: &[&str], indexes: &[String], cluster: bool) -> Calls {
    // On a cluster an index is on another node. It keeps the name until its time is over, since a
    // write that is under way may be about to make the key again.
    let indexes = if cluster { &[][..] } else { indexes };
    let together = names.together(cluster);
    let is_split = names.is_split(cluster);
    if is_split && names.is_lonely() {
        let (_, far) = names.by_slot(cluster);
        let far = far.into_iter().map(|name| forgetting(names, &[name], more, &[], false));
        let change = forgetting(names, &together, more, indexes, false);
        return Calls::group(change, far.collect());
    }
    let change = forgetting(names, &together, more, indexes, is_split);
    let mut calls = DELETE.calls(names, more, cluster, change);
    let there = |name| Call::reading(about("EXISTS", name));
    calls.main.rest = names.far_fallbacks(cluster).into_iter().map(there).collect();
    calls
}

/// What removes names of one slot.
fn forgetting(
    names: &Names,
    together: &[&str],
    more: &[&str],
    indexes: &[String],
    stamped: bool,
) -> Call {
    let words = BESIDE.iter().chain(more);
    let beside = words.flat_map(|word| together.iter().map(|name| names.derived_of(name, word)));
    let beside: Vec<String> = beside.flatten().collect();
    let version = names.derived("version").filter(|_| stamped);
    let mut keys = together.to_vec();
    keys.extend(beside.iter().chain(indexes).chain(&version).map(String::as_str));
    FORGET.call(&keys, |cmd| {
        cmd.arg(together.len()).arg(indexes.len()).arg(names.own());
        cmd.arg(if stamped { names.clock() } else { "" });
    })
}
