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
    /// It saves the new name, which the old one does not have, and removes it
    SaveNew,
    RemoveNew,
    /// It saves the old name, and removes it
    SaveOld,
    RemoveOld,
    Done,
}

/// A plan that is applied. Who applies it again after a crash knows none of this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::store::names) struct Planning {
    pub(in crate::store::names) stage: Stage,
    /// What it has read of the old name
    pub(in crate::store::names) source: Cell,
    /// What it has read of the name that it replaces or removes
    pub(in crate::store::names) guard: Option<Changes>,
}

impl Planning {
    pub(super) const DONE: Planning = Planning { stage: Stage::Done, ..Planning::NEW };
    const NEW: Planning = Planning {
        stage: Stage::Begin,
        source: Cell { value: None, by: 0, base: 0, version: 0, lease: 0 },
        guard: None,
    };

    /// Whether the next step must wait for a lease that somebody else has.
    pub(super) fn waits(&self, server: &Server, phase: Knows) -> bool {
        let [_, new] = server.0;
        let is_removed = new.lease == REMOVED && phase == Knows::ReadFallback;
        self.stage == Stage::Lease && new.lease != 0 && !is_removed
    }

    /// The next step. `keeps` leaves what is under the new name only, where the old one counts.
    pub(in crate::store::names) fn step(
        &mut self,
        server: &mut Server,
        phase: Knows,
        split: bool,
        keeps: bool,
    ) {
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
                _ if split => Stage::Lease,
                _ => {
                    copy(&source, target);
                    Stage::Begin
                }
            },
            Stage::Lease if target.lease == REMOVED => Stage::SaveOld,
            Stage::Lease => {
                target.lease = PLANS;
                Stage::Source
            }
            Stage::Source => {
                self.source = source;
                leave_or(target, source.value.is_none(), Stage::Target)
            }
            Stage::Target => {
                self.guard = target.value;
                let is_done = target.value == self.source.value
                    || phase == Knows::ReadFallback && target.value.is_some();
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
                Stage::RemoveNew
            }
            Stage::RemoveNew => {
                if remove(target, self.guard) {
                    *target = Cell { by: source.by, base: source.base, ..Cell::default() };
                }
                Stage::Begin
            }
            Stage::SaveOld => {
                self.guard = source.value;
                Stage::RemoveOld
            }
            Stage::RemoveOld => {
                let by = (target.by, target.base);
                let cell = server.cell(old);
                if remove(cell, self.guard) {
                    *cell = Cell { by: by.0, base: by.1, ..Cell::default() };
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
