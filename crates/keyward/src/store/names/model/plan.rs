//! What a plan does with one key, step by step: `near.rs` and `far.rs` of `keyward-plan`.
//!
//! In one slot a script looks and copies. Across slots, and where a value is converted, a lease beside the new name comes
//! first: whoever writes or removes the key ends it. A plan makes pass after pass until one finds nothing to do.

use super::server::{Cell, Changes, Server};
use super::{Knows, NEW, NEW_SPLIT, OLD, OLD_SPLIT, PLANS, REMOVED};

/// How far a plan is with the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::store::names) enum Stage {
    /// At the beginning of a pass
    #[default]
    Begin,
    /// It takes the lease
    Lease,
    /// It reads the versions beside both names
    Versions,
    /// It reads the old value
    Source,
    /// It reads what it would replace
    Target,
    /// It puts the value there
    Place,
    /// It looks whether the old value is still the same
    Confirm,
    /// It removes what it has put there, since the old value is gone
    Unmake,
    /// It saves the new name, looks whether the old one is still gone, and removes the new one
    SaveNew,
    AskOld,
    RemoveNew,
    /// It saves the old name, looks whether the new one is still deleted, unless that does not matter any more, and
    /// removes the old one
    SaveOld,
    AskNew,
    RemoveOld,
    Done,
}

/// How a plan goes about it.
#[derive(Debug, Clone, Copy)]
pub(in crate::store::names) struct How {
    /// Whether the names are in different slots
    pub(in crate::store::names) split: bool,
    /// Whether the value under the new name is another one, which no script can make
    pub(in crate::store::names) converts: bool,
    /// Whether what is under the new name only stays, where the old one counts
    pub(in crate::store::names) keeps: bool,
}

/// A plan that is applied. Who applies it again after a crash knows none of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::store::names) struct Planning {
    pub(in crate::store::names) stage: Stage,
    /// What it has read of the old name; where it removes one of them, what it has seen of the other
    pub(in crate::store::names) source: Cell,
    /// What it has read of the name that it replaces or removes
    pub(in crate::store::names) guard: Option<Changes>,
    /// Whether the version beside the new name is newer than the one beside the old name
    newer: bool,
}

impl Planning {
    pub(super) const DONE: Planning = Planning { stage: Stage::Done, ..Planning::NEW };
    const NEW: Planning = Planning {
        stage: Stage::Begin,
        source: Cell { value: None, by: 0, base: 0, version: 0, lease: 0 },
        guard: None,
        newer: false,
    };

    /// Whether the next step must wait for a lease that somebody else has.
    pub(super) fn waits(&self, server: &Server, phase: Knows) -> bool {
        let [_, new] = server.0;
        let is_removed = new.lease == REMOVED && phase == Knows::ReadFallback;
        self.stage == Stage::Lease && new.lease != 0 && !is_removed
    }

    /// The next step.
    pub(in crate::store::names) fn step(&mut self, server: &mut Server, phase: Knows, how: How) {
        let How { split, converts, keeps } = how;
        let [old, new] = if split { [OLD_SPLIT, NEW_SPLIT] } else { [OLD, NEW] };
        let source = *server.cell(old);
        let target = server.cell(new);
        self.stage = match self.stage {
            Stage::Begin => match (phase, source.value, target.value) {
                (Knows::Cleanup, Some(_), _) => Stage::SaveOld,
                (Knows::DualWrite, None, Some(_)) if !keeps => Stage::SaveNew,
                (_, None, _) => Stage::Done,
                (_, old, new) if old == new => Stage::Done,
                (Knows::ReadFallback, _, Some(_)) => Stage::Done,
                (Knows::ReadFallback, ..) if is_deleted(&source, target) => Stage::SaveOld,
                _ if split || converts => Stage::Lease,
                _ => {
                    copy(&source, target);
                    Stage::Begin
                }
            },
            Stage::Lease if target.lease == REMOVED => Stage::SaveOld,
            Stage::Lease => {
                target.lease = PLANS;
                Stage::Versions
            }
            Stage::Versions => {
                self.newer = target.version > source.version;
                Stage::Source
            }
            Stage::Source => {
                self.source = source;
                leave_or(target, source.value.is_none(), Stage::Target)
            }
            Stage::Target => {
                self.guard = target.value;
                let is_done = target.value == self.source.value
                    || phase == Knows::ReadFallback && (target.value.is_some() || self.newer);
                leave_or(target, is_done, Stage::Place)
            }
            Stage::Place if place(target, &self.source, self.guard) => Stage::Confirm,
            Stage::Confirm if source.value.is_none() => Stage::Unmake,
            Stage::Place | Stage::Confirm => Stage::Begin,
            Stage::Unmake => {
                remove(target, self.source.value);
                Stage::Begin
            }
            Stage::SaveNew => {
                self.guard = target.value;
                Stage::AskOld
            }
            Stage::AskOld => {
                self.source = source;
                if source.value.is_none() { Stage::RemoveNew } else { Stage::Begin }
            }
            Stage::RemoveNew => {
                if remove(target, self.guard) {
                    (target.by, target.base) = (self.source.by, self.source.base);
                    target.lease = 0;
                }
                Stage::Begin
            }
            Stage::SaveOld => {
                self.guard = source.value;
                Stage::AskNew
            }
            Stage::AskNew => {
                self.source = *target;
                if phase == Knows::Cleanup || is_deleted(&source, target) {
                    Stage::RemoveOld
                } else {
                    Stage::Begin
                }
            }
            Stage::RemoveOld => {
                let cell = server.cell(old);
                if remove(cell, self.guard) {
                    (cell.by, cell.base) = (self.source.by, self.source.base);
                    if phase == Knows::Cleanup {
                        (cell.version, cell.lease) = (0, 0);
                    }
                }
                Stage::Begin
            }
            Stage::Done => Stage::Done,
        };
        if matches!(self.stage, Stage::Begin | Stage::Done) {
            *self = Planning { stage: self.stage, ..Planning::NEW };
        }
    }
}

/// Whether a store has deleted the key, and not under its old name yet: a change of the new name is newer than the old
/// one, and has left nothing.
fn is_deleted(old: &Cell, new: &Cell) -> bool {
    new.value.is_none() && new.version > old.version
}

/// Gives the lease back if there is nothing to do.
fn leave_or(target: &mut Cell, leaves: bool, next: Stage) -> Stage {
    if !leaves {
        return next;
    }
    unlease(target);
    Stage::Begin
}

fn copy(source: &Cell, target: &mut Cell) {
    (target.value, target.by, target.base) = (source.value, source.by, source.base);
}

/// `place.lua`: whether the value was put there.
pub(in crate::store::names) fn place(
    target: &mut Cell,
    source: &Cell,
    guard: Option<Changes>,
) -> bool {
    if target.lease != PLANS {
        return false;
    }
    target.lease = 0;
    let fits = target.value == guard;
    if fits {
        copy(source, target);
    }
    fits
}

/// `unmake.lua` and `remove.lua`: whether the key was there as it was saved, and is gone.
pub(in crate::store::names) fn remove(cell: &mut Cell, saved: Option<Changes>) -> bool {
    let is_saved = cell.value.is_some() && cell.value == saved;
    if is_saved {
        cell.value = None;
    }
    is_saved
}

/// `unlease.lua` of a plan.
pub(in crate::store::names) fn unlease(cell: &mut Cell) {
    if cell.lease == PLANS {
        cell.lease = 0;
    }
}

/// `relocate.lua` in one slot, in the phases in which it copies.
pub(in crate::store::names) fn relocate(server: &mut Server, phase: Knows) {
    let [old, new] = &mut server.0;
    if old.value.is_some() && (phase == Knows::DualWrite || new.value.is_none()) {
        copy(old, new);
    }
}
