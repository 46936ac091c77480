//! What names other keys, what is named, and what has a former name too: all are sampled.

use super::Pass;
use crate::checks::{Audit, Class, Names, Planned, PlannedReference, Spelling};
use crate::counts::Referrer;
use crate::mask::Masked;
use keyward_fact::{Excerpt, Fact};
use keyward_pattern::Keyspace;
use std::borrow::Cow;
use std::ops::Range;

impl Pass {
    /// Notes a value that names another key; one that is cut off is passed over.
    #[inline]
    pub(super) fn refer(&mut self, audit: &Audit, reference: usize, value: Excerpt<'_>) {
        if !value.is_whole() {
            return;
        }
        let planned = &audit.references[reference];
        let Class::Defined(number) = self.current.class else { return };
        let (current, places) = (&self.current, &self.places);
        let bare = value.bytes;
        let name = planned.spelling.spelled(bare, &current.key, places);
        let references = &mut self.counts.references[reference];
        let scoped = match &planned.names {
            Names::Key => Cow::Borrowed(&*name),
            Names::Param { .. } => {
                audit.definitions[number].within_prefix(&current.key, places, &name)
            }
        };
        let Some(value) = references.wants(audit.mask.salt, &scoped) else { return };
        let order = audit.mask.salt.order(current.db, &current.key);
        references.add(value, order, || {
            let key = audit.masked(current.class, &current.key, places);
            let (pool, value) = planned.look_up(audit, current.db, &name);
            // Without the prefix, it may name a key of somebody else.
            if pool == audit.others && *name != *bare {
                let (other, value) = planned.look_up(audit, current.db, bare);
                let place = (audit.mask.salt.rarity(bare), audit.mask.salt.hash(bare));
                let bare = other.map(|other| (other, place));
                return Referrer { pool, bare, count: 1, order, key, value };
            }
            Referrer { pool, bare: None, count: 1, order, key, value }
        });
    }

    /// A definition's key: its name, the values of its parameters, and the keys that those name.
    pub(super) fn note_joins(
        &mut self,
        audit: &Audit,
        planned: &Planned,
        fact: &Fact<'_>,
        places: &[Range<usize>],
    ) {
        let mistyped = planned.has_wrong_type(fact);
        let salt = audit.mask.salt;
        let value_at = |place: &Range<usize>| &fact.key[place.clone()];
        for (param, place) in planned.params.iter().zip(places) {
            if let Some(pool) = param.pool {
                let scoped = planned.within_prefix(fact.key, places, value_at(place));
                self.counts.pools[pool].add(salt, &scoped, mistyped);
            }
        }
        if let Some(pool) = planned.pool {
            self.counts.pools[pool].add(salt, fact.key, mistyped);
        }
        for join in &planned.renamed {
            self.counts.joins[*join].0.add(salt, &entity(places.iter().map(value_at)));
        }
    }

    /// The parameters of a key that name others.
    pub(super) fn refer_by_params(&mut self, audit: &Audit, planned: &Planned, fact: &Fact<'_>) {
        for (at, param) in planned.params.iter().enumerate() {
            if let (Some(reference), Some(place)) = (param.refers, self.places.get(at)) {
                let value = &fact.key[place.clone()];
                self.current.identify(fact);
                self.refer(audit, reference, Excerpt::new(value, value.len() as u64));
            }
        }
    }

    /// A key that belongs to no definition, though something may name it.
    #[inline]
    pub(super) fn note_other(&mut self, audit: &Audit, key: &[u8]) {
        if let Some(pool) = audit.others {
            self.counts.pools[pool].add(audit.mask.salt, key, false);
        }
    }
}

impl Planned {
    /// A value of a parameter, with the values of the prefix in a key: the same value with another prefix
    /// is of another key.
    #[inline]
    pub(super) fn within_prefix<'v>(
        &self,
        key: &[u8],
        places: &[Range<usize>],
        value: &'v [u8],
    ) -> Cow<'v, [u8]> {
        if self.prefix_params == 0 {
            return value.into();
        }
        let prefix = places.iter().take(self.prefix_params).map(|place| &key[place.clone()]);
        entity(prefix.chain([value])).into()
    }
}

impl PlannedReference {
    /// The pool that a key of this name would be in, if there can be one; and the name, masked.
    fn look_up(&self, audit: &Audit, db: u64, name: &[u8]) -> (Option<usize>, Masked) {
        match &self.names {
            Names::Key => {
                let mut places = Vec::new();
                let class = audit.classify(db, name, &mut places);
                let pool = match class {
                    Class::Defined(number) => audit.definitions[number].pool,
                    _ => audit.others,
                };
                (pool, audit.masked(class, name, &places))
            }
            Names::Param { definition, param, pool } => {
                let fits = |alone: &Keyspace| alone.classify(name).is_some();
                if matches!(&self.spelling, Spelling::Param { alone: Some(it), .. } if !fits(it)) {
                    return (None, audit.mask.unknown(name));
                }
                let (whole, masked) = (0..name.len(), &audit.definitions[*definition].masked);
                let params = &masked[*param..=*param];
                (Some(*pool), audit.mask.defined(name, std::slice::from_ref(&whole), params))
            }
        }
    }
}

/// The values of an entity's parameters, in a row.
pub(super) fn entity<'v>(values: impl Iterator<Item = &'v [u8]>) -> Vec<u8> {
    let mut all = Vec::new();
    for value in values {
        all.extend((value.len() as u64).to_le_bytes());
        all.extend(value);
    }
    all
}
