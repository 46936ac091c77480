//! What is inside a key: fields, members, values.

use super::Pass;
use crate::plan::{Audit, Class, Planned, slots};
use keyward_fact::{Element, Piece};

impl Pass {
    #[inline]
    pub(super) fn element(&mut self, audit: &Audit, element: &Element<'_>) {
        let Class::Defined(number) = self.current.class else { return };
        let planned = &audit.definitions[number];
        let (value, expected, slot) = match element {
            Element::Field { name, value, .. } => {
                return self.field(audit, planned, *name, *value);
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
        if !expected.takes(value) {
            self.current.breaks(slot);
        }
        if let Some(join) = planned.refers {
            self.refer(audit, join, value);
        }
    }

    fn field(&mut self, audit: &Audit, planned: &Planned, name: Piece<'_>, value: Piece<'_>) {
        let current = &mut self.current;
        let is = |at: usize| planned.fields.get(at).is_some_and(|field| *field.name == *name.bytes);
        let at = if is(current.next_field) {
            Some(current.next_field)
        } else {
            (0..planned.fields.len()).find(|at| is(*at))
        };
        let Some(at) = at else {
            if planned.closed {
                if current.stranger.is_none() {
                    current.stranger = Some(audit.mask.field(name.bytes));
                }
                current.breaks(slots::UNKNOWN_FIELD);
            }
            return;
        };
        current.next_field = at + 1;
        current.stamps[at] = current.number;
        let field = &planned.fields[at];
        if !field.value.takes(value) {
            current.breaks(slots::invalid(at));
        }
        if let Some(join) = field.refers {
            self.refer(audit, join, value);
        }
    }
}
