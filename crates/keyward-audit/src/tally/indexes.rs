//! What elements say of indexes, and of the next key of their definition.

use super::Pass;
use crate::checks::{Audit, Class, Located, Said, Statement};
use crate::counts::{Pair, Side};
use keyward_fact::Excerpt;

/// Longer names and elements are not compared.
const LONGEST: usize = 1024;

impl Pass {
    /// Notes what an element says; one that is cut off is passed over.
    #[inline]
    pub(super) fn hear(&mut self, audit: &Audit, all: &[Said], element: Excerpt<'_>) {
        if !matches!(self.current.class, Class::Defined(_)) {
            return;
        }
        if all.is_empty() || !element.is_whole() {
            return;
        }
        let is_short = element.bytes.len() <= LONGEST && self.current.key.len() <= LONGEST;
        for said in all {
            match said {
                Said::Related(number, side) => self.note_link(audit, *number, *side, element.bytes),
                Said::Step(number) => self.note_step(audit, *number, element.bytes),
                _ if !is_short => {}
                _ => self.note_said(audit, *said, element.bytes),
            }
        }
    }

    /// That a relation leads from one key to another.
    fn note_link(&mut self, audit: &Audit, number: usize, side: Side, element: &[u8]) {
        let (db, key, places) = (self.current.db, &self.current.key[..], &self.places[..]);
        let planned = &audit.relations[number];
        let Some(link) = planned.link(side, Located { db, key, places }, element) else { return };
        self.counts.relations[number].add(audit.mask.salt, side, &link, || {
            let names = planned.can_be(audit, db, &link).then(|| link.names(db)).flatten()?;
            Some((audit.mask.salt.order(db, key), names))
        });
    }

    /// A step of the relation that another is the closure of.
    fn note_step(&mut self, audit: &Audit, number: usize, element: &[u8]) {
        let (db, key, places) = (self.current.db, &self.current.key[..], &self.places[..]);
        let planned = &audit.relations[number];
        let Some(link) = planned.step(Located { db, key, places }, element) else { return };
        let is_root = || planned.own.starts_at(audit, db, &link.from);
        self.counts.relations[number].step(audit.mask.salt, db, &link, is_root);
    }

    fn note_said(&mut self, audit: &Audit, said: Said, element: &[u8]) {
        let current = &self.current;
        let (db, key, places) = (current.db, &current.key[..], &self.places[..]);
        let at = Located { db, key, places };
        let (salt, order) = (audit.mask.salt, || audit.mask.salt.order(db, key));
        let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(str::to_owned);
        match said {
            Said::InSet(number) => {
                let planned = &audit.agreements[number];
                let Some(statement) = planned.in_set(audit, at, element) else { return };
                let pair = |(subject, _): &Statement| {
                    let (set, own, element) = (text(key)?, text(subject)?, text(element)?);
                    Some(Pair { db, set, own, element })
                };
                let agreements = &mut self.counts.agreements[number];
                if let Some(saying) = agreements.wants(salt, Side::Set, &statement.0, &statement.1)
                {
                    agreements.add(saying, order(), || pair(&statement));
                }
                if let Some(own) = planned.by_key(audit, at, &statement)
                    && let Some(saying) = agreements.wants(salt, Side::Member, &own.0, &own.1)
                {
                    agreements.add(saying, order(), || pair(&own));
                }
            }
            Said::ByMember(number) => {
                let planned = &audit.agreements[number];
                let (subject, value) = planned.by_member(at, element);
                let agreements = &mut self.counts.agreements[number];
                let Some(saying) = agreements.wants(salt, Side::Member, &subject, &value) else {
                    return;
                };
                agreements.add(saying, order(), || {
                    let set = planned.set_of(audit, at, &value).unwrap_or_default();
                    let (set, own, element) = (text(&set)?, text(key)?, text(element)?);
                    Some(Pair { db, set, own, element })
                });
            }
            Said::Next(number) => {
                let next = audit.chains[number].next(audit, at, element);
                if let (Some(next), Ok(key)) = (next, str::from_utf8(key)) {
                    self.counts.chains[number].add(salt, (db, key), &next);
                }
            }
            Said::Related(..) | Said::Step(_) => {}
        }
    }
}
