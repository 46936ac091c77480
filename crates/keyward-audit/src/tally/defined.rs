//! A definition's own key, judged when all of it was told.

use super::{Pass, definition};
use crate::counts::{Example, stored_type};
use crate::hash::fixed;
use crate::observe::Observed;
use crate::plan::{Audit, Limit, Planned, slots};
use crate::report::Severity;
use keyward_rdb::Key;
use std::ops::Range;

/// How much longer than declared a key may live before it is reported: a file says when it was written
/// in whole seconds, and keys are still written while that is noted.
const FORGIVEN: u64 = 2_000;

impl Pass {
    #[inline]
    pub(super) fn end_defined(
        &mut self,
        audit: &Audit,
        number: usize,
        key: &Key<'_>,
        observed: &Observed,
    ) {
        let planned = &audit.definitions[number];
        if !planned.selected {
            // What was asked for may refer to it.
            if planned.joins && !self.current.expired {
                let places = std::mem::take(&mut self.places);
                self.note_joins(audit, planned, key.name, &places);
                self.places = places;
            }
            return;
        }
        let bytes = observed.bytes.unwrap_or(0);
        if self.current.expired {
            self.definition(audit, number).keys.expired += 1;
            return self.end_expired(audit);
        }
        self.check_lifetime(planned, key);
        self.check_size(planned, key, observed);
        if self.current.looking && observed.whole {
            for (at, field) in planned.fields.iter().enumerate() {
                if field.required && self.current.stamps[at] != self.current.number {
                    self.current.breaks(slots::missing(at));
                }
            }
        }
        let remaining = self.current.remaining;
        let places = std::mem::take(&mut self.places);
        let counts = self.definition(audit, number);
        counts.keys.add(key, observed, remaining);
        for (sketch, place) in counts.params.iter_mut().zip(&places) {
            sketch.add(fixed(&key.name[place.clone()]));
        }
        let least_order = || audit.mask.salt.least_order(key.name);
        if counts.keys.biggest.may_rank(bytes, least_order) {
            let order = audit.mask.salt.order(key.db, key.name);
            counts.keys.biggest.rank((bytes, order), observed.length, key.db, || {
                audit.mask.defined(key.name, &places, &planned.masked)
            });
        }
        if planned.joins {
            self.note_joins(audit, planned, key.name, &places);
        }
        let clean = self.current.broken.is_empty()
            || self.note_broken(audit, number, planned, key, observed, &places);
        self.places = places;
        self.counts.defined.add(bytes);
        self.judge(clean);
    }

    #[inline]
    fn check_lifetime(&mut self, planned: &Planned, key: &Key<'_>) {
        let Some(remaining) = self.current.remaining else {
            if !matches!(planned.limit, Limit::Unsaid | Limit::Never) {
                self.current.breaks(slots::TTL_MISSING);
            }
            return;
        };
        let bound = match &planned.limit {
            Limit::Within(bound) => *bound,
            Limit::Unsaid | Limit::Sometime => return,
            Limit::Never => return self.current.breaks(slots::TTL_UNEXPECTED),
            Limit::By { param, words, longest } => {
                let word =
                    self.places.get(*param).map_or(&[][..], |place| &key.name[place.clone()]);
                let known = words.iter().find(|(known, _)| **known == *word);
                known.map_or(*longest, |(_, bound)| *bound)
            }
        };
        if remaining > bound.saturating_add(FORGIVEN) {
            self.current.breaks(slots::TTL_TOO_LONG);
        }
    }

    #[inline]
    fn check_size(&mut self, planned: &Planned, key: &Key<'_>, observed: &Observed) {
        if planned.max_len.is_none() && planned.max_bytes.is_none() {
            return;
        }
        let is_string = stored_type(key.key_type) == Some(0);
        if let (Some(bound), Some(length)) = (planned.max_len, observed.length)
            && length > bound
            && !is_string
        {
            self.current.breaks(slots::OVERSIZED_COLLECTION);
        }
        let size = if is_string { observed.length } else { observed.bytes };
        if let (Some(bound), Some(size)) = (planned.max_bytes, size)
            && size > bound
        {
            self.current.breaks(slots::OVERSIZED_VALUE);
        }
    }

    /// Counts what is wrong with a key; whether nothing of it is an error.
    fn note_broken(
        &mut self,
        audit: &Audit,
        number: usize,
        planned: &Planned,
        key: &Key<'_>,
        observed: &Observed,
        places: &[Range<usize>],
    ) -> bool {
        let judged = &audit.outline.definitions[number].slots;
        self.current.broken.retain(|slot| judged[*slot].severity.is_some());
        if self.current.broken.is_empty() {
            return true;
        }
        let broken = std::mem::take(&mut self.current.broken);
        let order = audit.mask.salt.order(key.db, key.name);
        let mut clean = true;
        for slot in &broken {
            clean &= judged[*slot].severity != Some(Severity::Error);
            let counts = definition(&mut self.counts, audit, number);
            counts.break_slot(*slot, observed.bytes.unwrap_or(0), order, || Example {
                order,
                key: audit.mask.defined(key.name, places, &planned.masked),
                detail: self.current.detail(*slot, key, observed),
            });
            if *slot == slots::TTL_TOO_LONG {
                counts.keys.too_long += 1;
            }
        }
        self.current.broken = broken;
        clean
    }
}
