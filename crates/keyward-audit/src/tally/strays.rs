//! Keys that are no definition's own.

use super::joins::entity;
use super::{Counts, misfit};
use crate::observe::Observed;
use crate::plan::{Audit, Class, Side};
use crate::report::Severity;
use keyward_rdb::Key;

impl Counts {
    pub(super) fn end_expired(&mut self, audit: &Audit) {
        if !audit.selective || matches!(self.current.class, Class::Defined(_)) {
            self.expired += 1;
        }
    }

    pub(super) fn end_old(
        &mut self,
        audit: &Audit,
        space: usize,
        rename: usize,
        key: &Key<'_>,
        bytes: u64,
    ) {
        let old = &audit.spaces[space].renames[rename];
        if old.definition.is_some_and(|number| !audit.definitions[number].selected) {
            return;
        }
        let order = audit.mask.salt.order(key.db, key.name);
        self.old[space][rename]
            .add(bytes, order, None, || audit.mask.defined(key.name, &self.places, &old.params));
        if let (Some(join), Some(number)) = (old.join, old.definition) {
            let values = audit.definitions[number].params.iter().map(|param| {
                let at = old.names.iter().position(|name| *name == param.name);
                at.and_then(|at| self.places.get(at))
                    .map_or(&[][..], |place| &key.name[place.clone()])
            });
            self.note(audit, join, Side::Right, &entity(values));
        }
        self.defined.add(bytes);
        self.judge(old.severity != Some(Severity::Error));
    }

    pub(super) fn end_unknown(&mut self, audit: &Audit, key: &Key<'_>, observed: &Observed) {
        let bytes = observed.bytes.unwrap_or(0);
        let order = audit.mask.salt.order(key.db, key.name);
        let misfit = misfit::find(audit, key.name);
        let here = self.groups.of(key.name);
        if misfit.is_some() {
            here.misfits.add(bytes);
        }
        here.gathered.add(key, observed, self.current.remaining);
        if here.gathered.may_rank(bytes, audit.top, || order) {
            here.gathered.rank((bytes, order), audit.top, observed.length, key.db, || {
                audit.mask.unknown(key.name)
            });
        }
        if here.wants(order) {
            here.exemplify(order, audit.mask.unknown(key.name), key.name);
        }
        self.unknown.add(bytes);
        if !audit.has_schema() {
            return;
        }
        if let Some((number, slot)) = misfit {
            let planned = &audit.definitions[number];
            if planned.slots[slot].severity.is_some() {
                self.current.broken.push(slot);
                self.seen(audit, number)
                    .break_slot(slot, bytes, order, None, || audit.mask.unknown(key.name));
            }
        }
        self.judge(false);
    }
}
