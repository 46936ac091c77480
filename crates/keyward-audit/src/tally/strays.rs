//! Keys that are not a definition's own.

use super::Pass;
use super::joins::entity;
use crate::checks::{Audit, Class, slots};
use crate::counts::{Detail, Example};
use crate::report::Severity;
use keyward_fact::Fact;
use keyward_rules::judge::Misfit;

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
        self.note_any(fact);
        self.judge(severity != Some(Severity::Error));
    }

    pub(super) fn end_unknown(&mut self, audit: &Audit, fact: &Fact<'_>) {
        let bytes = fact.bytes.unwrap_or(0);
        let order = audit.mask.salt.order(fact.db, fact.key);
        let misfit = misfit(audit, fact.key);
        let leaf = self.counts.leaves.add(
            fact.key,
            &audit.prefix_values(fact.db, fact.key),
            &audit.mask,
            audit.top,
        );
        if misfit.is_some() {
            leaf.misfits.add(bytes);
        }
        leaf.keys.add(fact, self.current.remaining);
        if leaf.keys.biggest.may_rank(bytes, || order) {
            leaf.keys
                .biggest
                .rank((bytes, order), fact.length, fact.db, || audit.mask.unknown(fact.key));
        }
        leaf.exemplify(fact, order, &audit.mask);
        if let Some((definition, Misfit { param, raw_ipv6, places, .. })) = misfit {
            let fields = audit.definitions[definition].fields.len();
            let slot =
                if raw_ipv6 { slots::raw_ipv6(fields, param) } else { slots::param(fields, param) };
            if audit.outline.definitions[definition].slots[slot].severity.is_some() {
                self.current.breaks(slot);
                let params = &audit.definitions[definition].masked;
                // The first that does not fit is known, and those before it do.
                let fits = |at: usize| at < param || raw_ipv6 && at != param;
                self.definition(audit, definition).break_slot((slot, 0), bytes, order, || {
                    Example {
                        order,
                        key: audit.mask.misfit(fact.key, &places, params, fits),
                        detail: None,
                    }
                });
            }
        }
        self.judge(false);
    }
}

impl Pass {
    /// A key that was derived from a definition's.
    pub(super) fn end_derived(
        &mut self,
        audit: &Audit,
        (number, word): (usize, Option<usize>),
        fact: &Fact<'_>,
    ) {
        let bytes = fact.bytes.unwrap_or(0);
        self.definition(audit, number).derived.add(bytes);
        self.counts.defined.add(bytes);
        self.note_any(fact);
        let planned = &audit.definitions[number];
        let slot = match word {
            None => Some(planned.stray_derived()),
            Some(word) => planned.derived[word]
                .is_leaked(self.current.remaining)
                .then(|| planned.leaked_derived(word)),
        };
        let judged = &audit.outline.definitions[number].slots;
        let slot = slot.filter(|slot| judged[*slot].severity.is_some());
        if let Some(slot) = slot {
            self.current.breaks(slot);
            let order = audit.mask.salt.order(fact.db, fact.key);
            let detail = self.current.remaining.map(Detail::Ttl);
            self.definition(audit, number).break_slot((slot, 0), bytes, order, || Example {
                order,
                key: audit.mask.unknown(fact.key),
                detail,
            });
        }
        let is_error = |slot: usize| judged[slot].severity == Some(Severity::Error);
        self.judge(!slot.is_some_and(is_error));
    }
}

/// The definition that an unknown key would belong to, and what is wrong with it.
fn misfit(audit: &Audit, key: &[u8]) -> Option<(usize, Misfit)> {
    let mut spaces = audit.spaces.iter().filter(|space| space.may_begin(key));
    spaces
        .find_map(|it| Some((it, it.misfits.find(key)?)))
        .map(|(space, misfit)| (space.first + misfit.definition.index(), misfit))
}
