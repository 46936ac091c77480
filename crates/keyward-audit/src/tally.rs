//! Counts what one source tells, key by key, in memory that does not grow with the number of keys.

mod current;
mod defined;
mod elements;
mod joins;
mod misfit;
mod row;
mod seen;
mod strays;

pub use row::{Listener, Row};
pub(crate) use seen::{Broken, Seen};

use crate::facts::stored_type;
use crate::infer::Groups;
use crate::observe::{Observed, Observer};
use crate::plan::{Audit, Class, Planned, Stored, slots};
use crate::rare::Rare;
use crate::report::Count;
use current::Current;
use keyward_rdb::{Element, Key, Show};
use std::ops::Range;
use std::sync::Arc;

/// Counts what one source, or one shard of it, tells.
pub struct Tally {
    pub(crate) audit: Arc<Audit>,
    pub(crate) counts: Counts,
    listener: Option<Listener>,
}

/// All that is counted. It is told with every call what to look for, since a shared counter of who
/// shares that would be fought over by all threads.
pub(crate) struct Counts {
    /// From when TTLs are counted, in milliseconds since 1970
    pub(crate) clock: u64,
    pub(crate) keys_seen: u64,
    pub(crate) expired: u64,
    pub(crate) judged: u64,
    pub(crate) compliant: u64,
    pub(crate) defined: Count,
    pub(crate) definitions: Vec<Option<Box<Seen>>>,
    /// For each schema, each former name
    pub(crate) old: Vec<Vec<Broken>>,
    pub(crate) foreign: Vec<Vec<Count>>,
    pub(crate) unknown: Count,
    pub(crate) groups: Groups,
    /// For each join, both samples
    pub(crate) joins: Vec<(Rare, Rare)>,
    current: Current,
    places: Vec<Range<usize>>,
}

impl Tally {
    /// Nothing was told yet. TTLs are counted from `clock`, in milliseconds since 1970.
    pub fn new(audit: Arc<Audit>, clock: u64) -> Self {
        let each_old =
            audit.spaces.iter().map(|space| vec![Broken::default(); space.renames.len()]);
        let each_foreign =
            audit.spaces.iter().map(|space| vec![Count::default(); space.foreign.len()]);
        let most_fields = audit.definitions.iter().map(|planned| planned.fields.len()).max();
        let counts = Counts {
            clock,
            keys_seen: 0,
            expired: 0,
            judged: 0,
            compliant: 0,
            defined: Count::default(),
            definitions: vec![None; audit.definitions.len()],
            old: each_old.collect(),
            foreign: each_foreign.collect(),
            unknown: Count::default(),
            groups: Groups::new(audit.vocabulary.clone()),
            joins: vec![Default::default(); audit.joins.len()],
            current: Current {
                class: Class::Unknown,
                remaining: None,
                expired: false,
                looking: false,
                broken: Vec::new(),
                stamps: vec![0; most_fields.unwrap_or(0)],
                number: 0,
                next_field: 0,
                stranger: None,
            },
            places: Vec::new(),
        };
        Tally { audit, counts, listener: None }
    }

    /// Also tells of every key.
    #[must_use]
    pub fn listening(mut self, listener: impl FnMut(&Row<'_>) + Send + 'static) -> Self {
        self.listener = Some(Box::new(listener));
        self
    }

    /// Counts TTLs from another moment.
    pub fn set_clock(&mut self, clock: u64) {
        self.counts.clock = clock;
    }

    /// How many keys were told of.
    pub fn keys_seen(&self) -> u64 {
        self.counts.keys_seen
    }
}

impl Observer for Tally {
    fn wants(&self, key: &Key<'_>) -> Show {
        let Class::Defined(number) = self.audit.classify(key.name, &mut Vec::new()) else {
            return Show::NOTHING;
        };
        let planned = &self.audit.definitions[number];
        let expired = key.expires_at.is_some_and(|at| at <= self.counts.clock);
        if expired || !planned.selected || planned.has_wrong_type(key) {
            return Show::NOTHING;
        }
        planned.show
    }

    #[inline]
    fn begin(&mut self, key: &Key<'_>) -> Show {
        self.counts.begin(&self.audit, key)
    }

    #[inline]
    fn element(&mut self, element: &Element<'_>) {
        self.counts.element(&self.audit, element);
    }

    #[inline]
    fn end(&mut self, key: &Key<'_>, observed: &Observed) {
        self.counts.end(&self.audit, key, observed);
        if let Some(listener) = &mut self.listener {
            self.counts.tell(&self.audit, key, observed, listener);
        }
    }
}

impl Counts {
    #[inline]
    fn begin(&mut self, audit: &Audit, key: &Key<'_>) -> Show {
        let class = audit.classify(key.name, &mut self.places);
        let current = &mut self.current;
        current.class = class;
        current.broken.clear();
        current.expired = key.expires_at.is_some_and(|at| at <= self.clock);
        current.remaining = key.expires_at.map(|at| at.saturating_sub(self.clock));
        current.looking = false;
        let Class::Defined(number) = class else { return Show::NOTHING };
        let planned = &audit.definitions[number];
        if current.expired || !planned.selected {
            return Show::NOTHING;
        }
        if planned.has_wrong_type(key) {
            current.broken.push(slots::WRONG_TYPE);
            return Show::NOTHING;
        }
        if planned.show == Show::NOTHING {
            return Show::NOTHING;
        }
        current.looking = true;
        current.number += 1;
        current.next_field = 0;
        current.stranger = None;
        planned.show
    }

    #[inline]
    fn end(&mut self, audit: &Audit, key: &Key<'_>, observed: &Observed) {
        self.keys_seen += 1;
        let bytes = observed.bytes.unwrap_or(0);
        match self.current.class {
            Class::Defined(number) => self.end_defined(audit, number, key, observed),
            _ if self.current.expired => self.end_expired(audit),
            Class::Derived(number) => {
                if audit.definitions[number].selected {
                    self.seen(audit, number).derived.add(bytes);
                    self.defined.add(bytes);
                    self.judge(true);
                }
            }
            Class::Old { space, rename } => self.end_old(audit, space, rename, key, bytes),
            Class::Foreign { space, foreign } => {
                if !audit.selective {
                    self.foreign[space][foreign].add(bytes);
                }
            }
            Class::Unknown => {
                if !audit.selective {
                    self.end_unknown(audit, key, observed);
                }
            }
        }
    }

    fn judge(&mut self, compliant: bool) {
        self.judged += 1;
        self.compliant += u64::from(compliant);
    }

    #[inline]
    fn seen(&mut self, audit: &Audit, number: usize) -> &mut Seen {
        let planned = &audit.definitions[number];
        self.definitions[number].get_or_insert_with(|| Box::new(Seen::new(planned)))
    }
}

impl Planned {
    #[inline]
    fn has_wrong_type(&self, key: &Key<'_>) -> bool {
        match &self.stored {
            None => false,
            Some(Stored::BuiltIn(number)) => stored_type(key.key_type) != Some(*number),
            Some(Stored::Module(name)) => key.key_type.name() != name,
        }
    }
}

impl Count {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.keys += 1;
        self.bytes += bytes;
    }
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("keys_seen", &self.counts.keys_seen).finish_non_exhaustive()
    }
}
