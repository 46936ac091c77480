//! A definition's own key, judged when all of it was observed.

use super::current::Wrong;
use super::{Pass, definition};
use crate::checks::{Audit, Planned, slots};
use crate::counts::{Example, stored_type};
use crate::hash::fixed;
use crate::outline::Slot;
use crate::report::Severity;
use keyward_fact::Fact;
use keyward_rules::judge;
use std::ops::Range;

impl Pass {
    #[inline]
    pub(super) fn end_defined(&mut self, audit: &Audit, number: usize, fact: &Fact<'_>) {
        let planned = &audit.definitions[number];
        if !planned.selected {
            // What was asked for may refer to it.
            if planned.joins && !self.current.expired {
                let places = std::mem::take(&mut self.places);
                self.note_joins(audit, planned, fact, &places);
                self.places = places;
            }
            return;
        }
        let bytes = fact.bytes.unwrap_or(0);
        if self.current.expired {
            self.definition(audit, number).keys.expired += 1;
            return self.end_expired(audit);
        }
        self.check_lifetime(planned, fact);
        self.check_size(planned, fact);
        // Each entry of a stream is shown as a whole, though not all of them may be.
        let is_seen = if planned.is_hash() { fact.whole } else { self.current.elements > 0 };
        if self.current.looking && is_seen {
            self.check_missing(planned);
        }
        let is_unread = self.current.looking && !fact.whole && self.current.elements == 0
            || planned.lacks_size(&audit.outline.definitions[number].slots, fact);
        let is_ttl_unread = self.current.looking && fact.whole && self.current.ttl_unseen;
        let elements = if self.current.looking { self.current.elements } else { 0 };
        let is_in_part = elements > 0 && !fact.whole;
        let remaining = self.current.remaining;
        let places = std::mem::take(&mut self.places);
        let counts = self.definition(audit, number);
        counts.keys.add(fact, remaining);
        counts.unread += u64::from(is_unread);
        counts.ttls_unread += u64::from(is_ttl_unread);
        counts.elements += elements;
        if is_in_part {
            counts.in_part += 1;
            counts.most_in_part = counts.most_in_part.max(elements);
        }
        for (sketch, place) in counts.params.iter_mut().zip(&places) {
            sketch.add(fixed(&fact.key[place.clone()]));
        }
        let least_order = || audit.mask.salt.least_order(fact.key);
        if counts.keys.biggest.may_rank(bytes, least_order) {
            let order = audit.mask.salt.order(fact.db, fact.key);
            counts.keys.biggest.rank((bytes, order), fact.length, fact.db, || {
                audit.mask.defined(fact.key, &places, &planned.masked)
            });
        }
        if planned.joins {
            self.note_joins(audit, planned, fact, &places);
        }
        let clean = self.current.broken.is_empty()
            || self.note_broken(audit, number, planned, fact, &places);
        self.places = places;
        if planned.joins {
            self.refer_by_params(audit, planned, fact);
        }
        self.counts.defined.add(bytes);
        self.note_any(fact);
        self.judge(clean);
    }

    #[inline]
    fn check_lifetime(&mut self, planned: &Planned, fact: &Fact<'_>) {
        let places = &self.places;
        let value = |param: usize| places.get(param).map_or(&[][..], |it| &fact.key[it.clone()]);
        if let Some(rule) = planned.limit.broken(self.current.remaining, value) {
            self.current.breaks(slots::lifetime(rule));
        }
    }

    #[inline]
    fn check_size(&mut self, planned: &Planned, fact: &Fact<'_>) {
        if planned.max_len.is_none() && planned.max_bytes.is_none() {
            return;
        }
        let is_string = stored_type(fact.key_type) == Some(0);
        if !is_string && judge::oversized_collection(planned.max_len, fact.length) {
            self.current.breaks(slots::OVERSIZED_COLLECTION);
        }
        let size = if is_string { fact.length } else { fact.bytes };
        if judge::oversized_value(planned.max_bytes, size) {
            self.current.breaks(slots::OVERSIZED_VALUE);
        }
    }

    /// Counts what is wrong with a key; whether nothing of it is an error.
    fn note_broken(
        &mut self,
        audit: &Audit,
        number: usize,
        planned: &Planned,
        fact: &Fact<'_>,
        places: &[Range<usize>],
    ) -> bool {
        let judged = &audit.outline.definitions[number].slots;
        self.current.broken.retain(|wrong| judged[wrong.slot].severity.is_some());
        if self.current.broken.is_empty() {
            return true;
        }
        let broken = std::mem::take(&mut self.current.broken);
        let order = audit.mask.salt.order(fact.db, fact.key);
        let mut clean = true;
        for Wrong { slot, elements, .. } in &broken {
            clean &= judged[*slot].severity != Some(Severity::Error);
            let counts = definition(&mut self.counts, audit, number);
            counts.break_slot((*slot, *elements), fact.bytes.unwrap_or(0), order, || Example {
                order,
                key: audit.mask.defined(fact.key, places, &planned.masked),
                detail: self.current.detail(*slot, fact),
            });
            if *slot == slots::TTL_TOO_LONG {
                counts.keys.too_long += 1;
            }
        }
        self.current.broken = broken;
        clean
    }
}

impl Planned {
    /// Whether a size is declared that was not seen.
    #[inline]
    fn lacks_size(&self, slots: &[Slot], fact: &Fact<'_>) -> bool {
        if self.max_len.is_none() && self.max_bytes.is_none() {
            return false;
        }
        let on = |slot: usize| slots[slot].severity.is_some();
        let is_string = stored_type(fact.key_type) == Some(0);
        let size = if is_string { fact.length } else { fact.bytes };
        self.max_bytes.is_some() && on(slots::OVERSIZED_VALUE) && size.is_none()
            || self.max_len.is_some()
                && on(slots::OVERSIZED_COLLECTION)
                && !is_string
                && fact.length.is_none()
    }
}
