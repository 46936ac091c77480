//! What the scripts do to the names of a key, and to what stands beside them.

use super::{OLD, OLD_SPLIT, REMOVED};
use crate::store::names::Names;
use crate::store::names::course::Step;

/// What a name holds: the changes that made it.
pub(in crate::store::names) type Changes = u16;

/// One name with what stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::store::names) struct Cell {
    pub(in crate::store::names) value: Option<Changes>,
    /// The change that has last written or removed it; not on any server
    pub(in crate::store::names) by: u8,
    /// The last change that replaced the whole value, or removed it; not on any server
    pub(in crate::store::names) base: u8,
    /// 0 if there is none
    pub(in crate::store::names) version: u64,
    /// Whose it is; 0 if there is none
    pub(in crate::store::names) lease: u8,
}

/// What the slot that decides hands to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::store::names) struct Stamp {
    pub(in crate::store::names) version: u64,
    pub(in crate::store::names) value: Option<Changes>,
    pub(super) by: u8,
    base: u8,
}

impl Stamp {
    pub(in crate::store::names) fn new(version: u64, value: Option<Changes>) -> Self {
        Stamp { version, value, by: 0, base: 0 }
    }
}

/// The old name and the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(in crate::store::names) struct Server(pub(in crate::store::names) [Cell; 2]);

/// What the script of a change does to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::store::names) enum Change {
    /// `write.lua` in its mode `whole`
    Set,
    /// The same with the lease of whoever loads, taken while there was no value
    Fill,
    /// `write.lua` in its mode `part`
    Part,
    /// `count.lua`
    Count,
    /// `forget.lua`
    Delete,
    /// `take.lua`
    Take,
}

impl Change {
    /// Whether it adds to what is there. Across slots the store refuses that.
    pub(super) fn adds(self) -> bool {
        matches!(self, Change::Part | Change::Count)
    }

    /// Whether the store refuses it across slots.
    pub(in crate::store::names) fn needs_one_slot(self) -> bool {
        self.adds() || self == Change::Take
    }
}

impl Server {
    /// What a client sees of it.
    pub(in crate::store::names) fn seen(mut self) -> Self {
        self.0.iter_mut().for_each(|cell| (cell.by, cell.base) = (0, 0));
        self
    }

    pub(super) fn cell(&mut self, name: &str) -> &mut Cell {
        &mut self.0[usize::from(name != OLD && name != OLD_SPLIT)]
    }

    /// The script that changes all names in the slot of the one that counts; `None` if it changes nothing.
    pub(in crate::store::names) fn change(
        &mut self,
        change: Change,
        by: u8,
        names: &Names,
        cluster: bool,
        floor: u64,
    ) -> Option<Stamp> {
        let deciding = *self.cell(&names.name);
        let mut base = by;
        let value = match change {
            Change::Fill if deciding.lease != by => return None,
            Change::Fill if deciding.value.is_some() => {
                self.cell(&names.name).lease = 0;
                return None;
            }
            Change::Set | Change::Fill => Some(1 << by),
            Change::Part | Change::Count => {
                let asked = std::iter::once(&names.name).chain(names.fallbacks());
                let mut cells = asked.map(|name| *self.cell(name));
                let found = cells.find(|cell| cell.value.is_some()).unwrap_or(deciding);
                base = found.base;
                Some(found.value.unwrap_or_default() | 1 << by)
            }
            Change::Delete | Change::Take => None,
        };
        // Clocks are not relied on: versions only count.
        let is_old = u64::from(names.clock() == "1");
        let version = (deciding.version.max(floor) / 2 + 1) * 2 + is_old;
        for name in names.together(cluster) {
            let cell = self.cell(name);
            (cell.value, cell.by, cell.base) = (value, by, base);
            // A counter is not loaded.
            if change != Change::Count {
                cell.lease = 0;
            }
        }
        if names.is_split(cluster) {
            let cell = self.cell(&names.name);
            cell.version = version;
            if change == Change::Delete {
                cell.lease = REMOVED;
            }
        }
        Some(Stamp { version, value, by, base })
    }

    /// `lease.lua`: whether somebody may load, and then fill with the lease.
    pub(in crate::store::names) fn lease(&mut self, name: &str, by: u8) -> bool {
        let cell = self.cell(name);
        let is_free = cell.value.is_none() && (cell.lease == 0 || cell.lease == REMOVED);
        if is_free {
            cell.lease = by;
        }
        is_free
    }

    /// A step of a course, to one name; the version there.
    pub(in crate::store::names) fn step(
        &mut self,
        step: Step,
        name: &str,
        stamp: Option<Stamp>,
    ) -> u64 {
        let cell = self.cell(name);
        cell.lease = 0;
        if let (Step::Copy, Some(stamp)) = (step, stamp)
            && cell.version <= stamp.version
        {
            (cell.value, cell.by, cell.base) = (stamp.value, stamp.by, stamp.base);
            cell.version = stamp.version;
        }
        cell.version
    }
}
