//! What is inside a key: fields, members, values.

use super::Pass;
use crate::checks::{Audit, Class, Planned, slots};
use keyward_fact::{Element, Excerpt, Expiry};
use keyward_rules::judge;

impl Pass {
    #[inline]
    pub(super) fn element(&mut self, audit: &Audit, element: &Element<'_>) {
        let Class::Defined(number) = self.current.class else { return };
        let planned = &audit.definitions[number];
        let (value, expected, slot) = match element {
            Element::Entry => return self.entry(planned),
            Element::Field { name, value, expiry } => {
                return self.field(audit, planned, (*name, *value), *expiry);
            }
            Element::Text(value) | Element::Item(value) => (*value, &planned.value, slots::VALUE),
            Element::Member(value) => (*value, &planned.member, slots::MEMBER),
            Element::Scored { member, score } => {
                if planned.score.is_some_and(|expected| !expected.takes(*score)) {
                    self.current.breaks(slots::SCORE);
                }
                (*member, &planned.member, slots::MEMBER)
            }
            _ => return,
        };
        self.current.elements += 1;
        if !expected.takes(value) {
            self.current.breaks(slot);
        }
        if let Some(join) = planned.refers {
            self.refer(audit, join, value);
        }
        self.hear(audit, &planned.said, value);
    }

    /// The next entry of a stream, which has fields of its own.
    fn entry(&mut self, planned: &Planned) {
        if self.current.elements > 0 {
            self.check_missing(planned);
        }
        self.current.elements += 1;
        self.current.number += 1;
        self.current.next_field = 0;
    }

    /// Whether all required fields were seen of a hash, or of a stream's last entry.
    pub(super) fn check_missing(&mut self, planned: &Planned) {
        for (at, field) in planned.fields.iter().enumerate() {
            if judge::missing_field(field.required, self.current.has_field(at)) {
                self.current.breaks(slots::missing(at));
            }
        }
    }

    fn field(
        &mut self,
        audit: &Audit,
        planned: &Planned,
        (name, value): (Excerpt<'_>, Excerpt<'_>),
        expiry: Expiry,
    ) {
        let left = match expiry {
            // Nobody can read it any more, though it is still stored.
            Expiry::At(at) if at <= self.clock => return,
            Expiry::At(at) => Some(at - self.clock),
            Expiry::Never | Expiry::Unseen => None,
        };
        let current = &mut self.current;
        current.elements += u64::from(planned.is_hash());
        let is = |at: usize| planned.fields.get(at).is_some_and(|field| *field.name == *name.bytes);
        let at = if is(current.next_field) {
            Some(current.next_field)
        } else {
            (0..planned.fields.len()).find(|at| is(*at))
        };
        let Some(at) = at else {
            if judge::unknown_field(planned.closed) {
                if current.stranger.is_none() {
                    current.stranger = Some(audit.mask.field(name.bytes));
                }
                current.breaks(slots::UNKNOWN_FIELD);
            } else if planned.is_hash() && !planned.value.takes(value) {
                current.breaks(slots::VALUE);
            }
            return;
        };
        current.next_field = at + 1;
        current.stamps[at] = current.number;
        let field = &planned.fields[at];
        if !field.value.takes(value) {
            current.breaks(slots::invalid(at));
        }
        if planned.is_hash()
            && expiry != Expiry::Unseen
            && let Some(rule) = field.limit.broken(left, |_| &[])
        {
            let slot = slots::field_lifetime(at, rule);
            current.breaks(slot);
            current.field_ttls.extend(left.map(|left| (slot, left)));
        }
        current.ttl_unseen |= expiry == Expiry::Unseen && field.limit.must_end();
        if let Some(join) = field.refers {
            self.refer(audit, join, value);
        }
        self.hear(audit, &field.said, value);
    }
}
