//! Keys that are no definition's own.

use super::Pass;
use super::joins::entity;
use super::misfit::{self, Misfit};
use crate::counts::Example;
use crate::plan::{Audit, Class};
use crate::report::Severity;
use keyward_fact::Fact;

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
        fact: &Fact<'_>,
        bytes: u64,
    ) {
        let old = &audit.spaces[space].renames[rename];
        if old.definition.is_some_and(|number| !audit.definitions[number].selected) {
            return;
        }
        let order = audit.mask.salt.order(fact.db, fact.key);
        let severity = audit.outline.schemas[space].old_names[rename].severity;
        self.counts.old_names[space][rename].add(bytes, order, || Example {
            order,
            key: audit.mask.defined(fact.key, &self.places, &old.params),
            detail: None,
        });
        if let (Some(join), Some(number)) = (old.join, old.definition) {
            let values = audit.definitions[number].params.iter().map(|param| {
                let at = old.names.iter().position(|name| *name == param.name);
                at.and_then(|at| self.places.get(at))
                    .map_or(&[][..], |place| &fact.key[place.clone()])
            });
            self.counts.joins[join].1.add(audit.mask.salt, &entity(values));
        }
        self.counts.defined.add(bytes);
        self.judge(severity != Some(Severity::Error));
    }

    pub(super) fn end_unknown(&mut self, audit: &Audit, fact: &Fact<'_>) {
        let bytes = fact.bytes.unwrap_or(0);
        let order = audit.mask.salt.order(fact.db, fact.key);
        let misfit = misfit::find(audit, fact.key);
        let leaf = self.counts.leaves.add(fact.key, &audit.mask, audit.top);
        if misfit.is_some() {
            leaf.misfits.add(bytes);
        }
        leaf.keys.add(fact, self.current.remaining);
        if leaf.keys.biggest.may_rank(bytes, || order) {
            leaf.keys
                .biggest
                .rank((bytes, order), fact.length, fact.db, || audit.mask.unknown(fact.key));
        }
        leaf.exemplify(fact.key, order, &audit.mask);
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
                key: audit.mask.misfit(fact.key, &places, params),
                detail: None,
            });
        }
        self.judge(false);
    }
}
