//! Keys that are no definition's own.

use super::Pass;
use super::joins::entity;
use super::misfit::{self, Misfit};
use crate::counts::Example;
use crate::observe::Observed;
use crate::plan::{Audit, Class, Side};
use crate::report::Severity;
use keyward_rdb::Key;

impl Pass {
    pub(super) fn end_expired(&mut self, audit: &Audit) {
        if !audit.selective || matches!(self.current.class, Class::Defined(_)) {
            self.counts.expired += 1;
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
        let severity = audit.outline.schemas[space].old_names[rename].severity;
        self.counts.old_names[space][rename].add(bytes, order, || Example {
            order,
            key: audit.mask.defined(key.name, &self.places, &old.params),
            detail: None,
        });
        if let (Some(join), Some(number)) = (old.join, old.definition) {
            let values = audit.definitions[number].params.iter().map(|param| {
                let at = old.names.iter().position(|name| *name == param.name);
                at.and_then(|at| self.places.get(at))
                    .map_or(&[][..], |place| &key.name[place.clone()])
            });
            self.note(audit, join, Side::Right, &entity(values));
        }
        self.counts.defined.add(bytes);
        self.judge(severity != Some(Severity::Error));
    }

    pub(super) fn end_unknown(&mut self, audit: &Audit, key: &Key<'_>, observed: &Observed) {
        let bytes = observed.bytes.unwrap_or(0);
        let order = audit.mask.salt.order(key.db, key.name);
        let misfit = misfit::find(audit, key.name);
        let leaf = self.counts.leaves.add(key.name, &audit.mask, audit.top);
        if misfit.is_some() {
            leaf.misfits.add(bytes);
        }
        leaf.keys.add(key, observed, self.current.remaining);
        if leaf.keys.biggest.may_rank(bytes, || order) {
            leaf.keys
                .biggest
                .rank((bytes, order), observed.length, key.db, || audit.mask.unknown(key.name));
        }
        leaf.exemplify(key.name, order, &audit.mask);
        if !audit.outline.has_schema() {
            return;
        }
        if let Some(Misfit { definition, slot, places }) = misfit
            && audit.outline.definitions[definition].slots[slot].severity.is_some()
        {
            self.current.broken.push(slot);
            let params = &audit.definitions[definition].masked;
            self.definition(audit, definition).break_slot(slot, bytes, order, || Example {
                order,
                key: audit.mask.misfit(key.name, &places, params),
                detail: None,
            });
        }
        self.judge(false);
    }
}
