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
static END: Lua = lua!("end.lua");
static FORGET: Lua = lua!("stamp.lua", "forget.lua");

/// A change: these steps, the script that changes all names in the slot of the one that counts, then those steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    pub(crate) before: &'static [Step],
    pub(crate) after: &'static [Step],
}

/// A step, which is made for each name in another slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Ends the leases of whoever is about to fill the name, or to move a key there. Before a change, the version that
    /// is there is what the change must be newer than
    EndLease,
    /// Makes the name hold what the script has decided, unless it holds something newer
    Copy,
}

/// A value that is written whole, or a key that is removed. Leases end before, since what somebody loads to fill another
/// slot is older than this change; and the change is newer than what was there, whatever the clocks of the servers say.
pub(crate) const CHANGE: Course = Course { before: &[Step::EndLease], after: &[Step::Copy] };

impl Course {
    /// What is sent for a change. `more` are words of keys that are derived from this kind of key only.
    pub(crate) fn calls(&self, names: &Names, more: &[&str], cluster: bool, change: Call) -> Calls {
        let mut calls = Calls::one(change);
        let (_, far) = names.by_slot(cluster);
        if far.is_empty() {
            return calls;
        }
        for step in self.before {
            calls.before.extend(far.iter().filter_map(|name| match step {
                Step::EndLease => end_lease(names, name),
                // There is nothing to copy yet.
                Step::Copy => None,
            }));
        }
        calls.floors = calls.before.len();
        for step in self.after {
            let follow = |name: &&str| match step {
                Step::EndLease => end_lease(names, name).map(Follow::always),
                Step::Copy => copy(names, name, more),
            };
            calls.after.push(far.iter().filter_map(follow).collect());
        }
        calls
    }
}

fn end_lease(names: &Names, name: &str) -> Option<Call> {
    let [lease, version] = ["lease", "version"].map(|word| names.derived_of(name, word));
    Some(END.call(&[&lease?, &version?], |_| {}).repeatable())
}

/// Doing it twice is doing it once: it holds what it is to hold.
fn copy(names: &Names, name: &str, more: &[&str]) -> Option<Follow> {
    let beside = |word: &&str| names.derived_of(name, word);
    let version = beside(&"version")?;
    let ending: Vec<String> = ENDING.iter().filter_map(beside).collect();
    let rest = BESIDE.iter().filter(|word| !ENDING.contains(word)).chain(more);
    let rest: Vec<String> = rest.filter_map(beside).collect();
    let mut keys = vec![name, &version];
    keys.extend(ending.iter().chain(&rest).map(String::as_str));
    Some(Follow::stamped(COPY.call(&keys, |cmd| _ = cmd.arg(ending.len())).repeatable()))
}

/// What ends with every write of a name: the leases of those who load, that there is none, that it is due.
pub(crate) const ENDING: [&str; 3] = ["lease", "none", "refresh"];

/// What removes a key under all its names, with all that was derived from them, and the leases of whoever is about to
/// fill it: a fill that began before finds no lease.
pub(crate) fn forget(names: &Names, more: &[&str], indexes: &[String], cluster: bool) -> Calls {
    // On a cluster an index is on another node. It keeps the name until its time is over, since a
    // write that is under way may be about to make the key again.
    let indexes = if cluster { &[][..] } else { indexes };
    let there = |name| Call::reading(about("EXISTS", name));
    let there = names.far_fallbacks(cluster).into_iter().map(there).collect();
    let names = &names.to_remove();
    let together = names.together(cluster);
    let is_split = names.is_split(cluster);
    if is_split && names.is_lonely() {
        let (_, far) = names.by_slot(cluster);
        let far = far.into_iter().map(|name| forgetting(names, &[name], more, &[], false));
        let change = forgetting(names, &together, more, indexes, false);
        return Calls::group(change, far.collect());
    }
    let change = forgetting(names, &together, more, indexes, is_split);
    let mut calls = CHANGE.calls(names, more, cluster, change);
    calls.main.rest = there;
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
    let last = ["lease", "version"].map(|word| names.derived(word).filter(|_| stamped));
    let mut keys = together.to_vec();
    keys.extend(beside.iter().chain(indexes).chain(last.iter().flatten()).map(String::as_str));
    FORGET.call(&keys, |cmd| {
        cmd.arg(together.len()).arg(indexes.len()).arg(names.own());
        cmd.arg(if stamped { names.clock() } else { "" });
    })
}
