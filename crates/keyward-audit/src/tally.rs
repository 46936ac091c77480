//! Counts what one source observes, key by key, in memory that does not grow with the number of keys.

mod current;
mod defined;
mod elements;
mod indexes;
mod joins;
mod row;
mod strays;

pub use row::{Listener, Row};

use crate::checks::{Audit, Class, Planned, slots};
use crate::counts::{Counts, DefinitionCounts};
use crate::drafted::Drafting;
use crate::observe::Observer;
use current::Current;
use keyward_fact::{Element, Fact, Show};
use keyward_rules::judge;
use std::ops::Range;
use std::sync::Arc;

/// Counts what one source, or one shard of it, observes.
pub struct Tally {
    audit: Arc<Audit>,
    pass: Pass,
    listener: Option<Listener>,
}

/// One pass over keys. Callers pass the audit on each call, so that threads share no counter of who uses it.
struct Pass {
    /// From when TTLs are counted, in milliseconds since 1970
    clock: u64,
    keys_seen: u64,
    /// The database of the last key
    db: Option<u64>,
    counts: Counts,
    /// Where there is no schema
    drafting: Option<Box<Drafting>>,
    current: Current,
    places: Vec<Range<usize>>,
}

impl Tally {
    /// Nothing was counted yet. TTLs are counted from `clock`, in milliseconds since 1970.
    pub fn new(audit: Arc<Audit>, clock: u64) -> Self {
        let most_fields = audit.definitions.iter().map(|planned| planned.fields.len()).max();
        let pass = Pass {
            clock,
            keys_seen: 0,
            db: None,
            counts: Counts::none(&audit.outline),
            drafting: (!audit.outline.has_schema()).then(|| Box::new(Drafting::new(clock))),
            current: Current {
                class: Class::Unknown,
                key: Vec::new(),
                db: 0,
                remaining: None,
                expired: false,
                looking: false,
                broken: Vec::new(),
                stamps: vec![0; most_fields.unwrap_or(0)],
                number: 0,
                next_field: 0,
                elements: 0,
                ttl_unseen: false,
                field_ttls: Vec::new(),
                stranger: None,
            },
            places: Vec::new(),
        };
        Tally { audit, pass, listener: None }
    }

    /// Also reports every key to a listener.
    #[must_use]
    pub fn listening(mut self, listener: impl FnMut(&Row<'_>) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Counts TTLs from another moment.
    pub fn set_clock(&mut self, clock: u64) {
        self.pass.clock = clock;
        if let Some(drafting) = &mut self.pass.drafting {
            drafting.set_clock(clock);
        }
    }

    /// From when TTLs are counted.
    pub(crate) fn clock(&self) -> u64 {
        self.pass.clock
    }

    /// What was counted; keys of an audit without a schema stand beside it.
    pub(crate) fn into_counts(self) -> (Counts, Option<Box<Drafting>>) {
        (self.pass.counts, self.pass.drafting)
    }

    /// How many keys were observed.
    pub fn keys_seen(&self) -> u64 {
        self.pass.keys_seen
    }
}

impl Observer for Tally {
    fn wants(&self, fact: &Fact<'_>) -> Show {
        if let Some(drafting) = &self.pass.drafting {
            return drafting.wants(fact);
        }
        let Class::Defined(number) = self.audit.classify(fact.db, fact.key, &mut Vec::new()) else {
            return Show::NOTHING;
        };
        let planned = &self.audit.definitions[number];
        let expired = fact.expires_at.is_some_and(|at| at <= self.pass.clock);
        if expired || !planned.selected || planned.has_wrong_type(fact) {
            return Show::NOTHING;
        }
        planned.show
    }

    #[inline]
    fn begin(&mut self, fact: &Fact<'_>) -> Show {
        self.pass.begin(&self.audit, fact)
    }

    #[inline]
    fn element(&mut self, element: &Element<'_>) {
        match &mut self.pass.drafting {
            Some(drafting) => drafting.element(element),
            None => self.pass.element(&self.audit, element),
        }
    }

    #[inline]
    fn end(&mut self, fact: &Fact<'_>) {
        if self.audit.leaves_out(self.pass.current.class, fact.key) {
            return;
        }
        self.pass.end(&self.audit, fact);
        if let Some(listener) = &mut self.listener {
            self.pass.tell(&self.audit, fact, listener);
        }
    }
}

impl Pass {
    #[inline]
    fn begin(&mut self, audit: &Audit, fact: &Fact<'_>) -> Show {
        let class = audit.classify(fact.db, fact.key, &mut self.places);
        let current = &mut self.current;
        current.class = class;
        current.broken.clear();
        current.expired = fact.expires_at.is_some_and(|at| at <= self.clock);
        current.remaining = fact.expires_at.map(|at| at.saturating_sub(self.clock));
        current.looking = false;
        if let Some(drafting) = &mut self.drafting {
            return drafting.begin(fact);
        }
        let Class::Defined(number) = class else { return Show::NOTHING };
        let planned = &audit.definitions[number];
        if current.expired || !planned.selected {
            return Show::NOTHING;
        }
        if planned.has_wrong_type(fact) {
            current.breaks(slots::WRONG_TYPE);
            return Show::NOTHING;
        }
        if planned.show == Show::NOTHING {
            return Show::NOTHING;
        }
        if planned.stores_references() {
            current.identify(fact);
        }
        current.looking = true;
        current.number += 1;
        current.next_field = 0;
        current.elements = 0;
        current.ttl_unseen = false;
        current.field_ttls.clear();
        current.stranger = None;
        planned.show
    }

    #[inline]
    fn end(&mut self, audit: &Audit, fact: &Fact<'_>) {
        self.keys_seen += 1;
        if self.db != Some(fact.db) {
            self.db = Some(fact.db);
            self.counts.see_database(fact.db);
        }
        let bytes = fact.bytes.unwrap_or(0);
        if !matches!(self.current.class, Class::Defined(_)) && !self.current.expired {
            self.note_other(audit, fact.key);
        }
        match self.current.class {
            Class::Defined(number) => self.end_defined(audit, number, fact),
            _ if self.current.expired => self.end_expired(audit),
            Class::Derived { definition, word } => {
                if audit.definitions[definition].selected {
                    self.end_derived(audit, (definition, word), fact);
                }
            }
            Class::Old { space, rename } => self.end_old(audit, space, rename, fact, bytes),
            Class::Marker => {
                if !audit.selective {
                    self.counts.defined.add(bytes);
                    self.note_any(fact);
                    self.judge(true);
                }
            }
            Class::Foreign { space, foreign } => {
                if !audit.selective {
                    self.counts.foreign[space][foreign].add(bytes);
                    self.note_any(fact);
                }
            }
            Class::Unknown => {
                if !audit.selective {
                    self.note_any(fact);
                    match &mut self.drafting {
                        Some(drafting) => {
                            let remaining = self.current.remaining;
                            drafting.add(fact, remaining, (&audit.mask, audit.top));
                        }
                        None => self.end_unknown(audit, fact),
                    }
                }
            }
        }
    }

    /// What is counted of each key, whatever it is.
    #[inline]
    fn note_any(&mut self, fact: &Fact<'_>) {
        self.counts.names.add(fact.key);
        self.counts.lifetimes.add(self.current.remaining);
    }

    fn judge(&mut self, compliant: bool) {
        self.counts.judged += 1;
        self.counts.compliant += u64::from(compliant);
    }

    #[inline]
    fn definition(&mut self, audit: &Audit, number: usize) -> &mut DefinitionCounts {
        definition(&mut self.counts, audit, number)
    }
}

/// What is counted of a definition.
#[inline]
fn definition<'c>(
    counts: &'c mut Counts,
    audit: &Audit,
    number: usize,
) -> &'c mut DefinitionCounts {
    counts.definitions[number].get_or_insert_with(|| {
        let params = audit.definitions[number].params.len();
        Box::new(DefinitionCounts::new(params, audit.top))
    })
}

impl Planned {
    #[inline]
    pub(crate) fn has_wrong_type(&self, fact: &Fact<'_>) -> bool {
        self.key_type.as_ref().is_some_and(|declared| judge::wrong_type(declared, fact.key_type))
    }
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("keys_seen", &self.pass.keys_seen).finish_non_exhaustive()
    }
}
