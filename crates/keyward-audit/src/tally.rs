//! Counts what one source tells, key by key, in memory that does not grow with the number of keys.

mod misfit;
mod seen;

pub(crate) use seen::{Broken, Seen};

use crate::facts::stored_type;
use crate::hash::fixed;
use crate::infer::Groups;
use crate::observe::{Observed, Observer};
use crate::plan::{Audit, Class, Limit, Planned, PlannedJoin, Side, Stored, slots};
use crate::report::{Count, Severity};
use crate::sample::Sample;
use crate::values::same;
use keyward_fact::{Duration, thousands};
use keyward_rdb::{Element, Key, Piece, Show};
use std::ops::Range;
use std::sync::Arc;

/// How much longer than declared a key may live before it is reported: a file says when it was written
/// in whole seconds, and keys are still written while that is noted.
const FORGIVEN: u64 = 2_000;

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
    pub(crate) joins: Vec<(Sample, Sample)>,
    current: Current,
    places: Vec<Range<usize>>,
}

/// Is told of every key.
pub type Listener = Box<dyn FnMut(&Row<'_>) + Send>;

/// One key, as it stands in a list of all keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// The database
    pub db: u64,
    /// The name, masked
    pub key: &'a str,
    /// The keyspace's name
    pub schema: Option<&'a str>,
    /// The definition, or the foreign software
    pub definition: Option<&'a str>,
    /// `defined`, `derived`, `old`, `foreign`, `unknown`
    pub class: &'static str,
    /// The type, as TYPE answers
    pub key_type: &'a str,
    /// What is known of the value
    pub observed: &'a Observed,
    /// What is left of the TTL, in milliseconds
    pub ttl: Option<u64>,
    /// Whether it had expired
    pub expired: bool,
    /// The rules that it breaks
    pub findings: &'a [&'static str],
}

/// The key that is being told of.
#[derive(Debug)]
struct Current {
    class: Class,
    /// What is left of its TTL
    remaining: Option<u64>,
    expired: bool,
    /// Whether its elements are looked at
    looking: bool,
    /// What is wrong with it
    broken: Vec<usize>,
    /// By field, the number of the last key that had it
    stamps: Vec<u64>,
    number: u64,
    /// The field that comes next if fields stand in the order of the schema
    next_field: usize,
    /// The first field that is not declared, masked
    stranger: Option<String>,
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
    fn element(&mut self, audit: &Audit, element: &Element<'_>) {
        let Class::Defined(number) = self.current.class else { return };
        let planned = &audit.definitions[number];
        match element {
            Element::Field { name, value, .. } => self.field(audit, number, *name, *value),
            Element::Text(value) | Element::Item(value) => {
                if !planned.value.takes(*value) {
                    self.current.breaks(slots::VALUE);
                }
                if let Some(join) = planned.refers {
                    self.refer(audit, join, *value);
                }
            }
            Element::Member(value) | Element::Scored { member: value, .. } => {
                if let Element::Scored { score, .. } = element
                    && planned.score.is_some_and(|expected| !expected.takes(*score))
                {
                    self.current.breaks(slots::SCORE);
                }
                if !planned.member.takes(*value) {
                    self.current.breaks(slots::MEMBER);
                }
                if let Some(join) = planned.refers {
                    self.refer(audit, join, *value);
                }
            }
            _ => {}
        }
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

    fn field(&mut self, audit: &Audit, number: usize, name: Piece<'_>, value: Piece<'_>) {
        let planned = &audit.definitions[number];
        let current = &mut self.current;
        let is =
            |at: usize| planned.fields.get(at).is_some_and(|field| same(&field.name, name.bytes));
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

    /// Notes a reference to another key; what is cut off cannot be one.
    fn refer(&mut self, audit: &Audit, join: usize, value: Piece<'_>) {
        if value.is_whole() {
            let value = audit.joins[join].without_prefix(value.bytes);
            self.note(audit, join, Side::Left, value);
        }
    }

    #[inline]
    fn note(&mut self, audit: &Audit, join: usize, side: Side, value: &[u8]) {
        let (left, right) = &mut self.joins[join];
        let sample = match side {
            Side::Left => left,
            Side::Right => right,
        };
        sample.add(audit.mask.salt, value);
    }

    #[inline]
    fn end_defined(&mut self, audit: &Audit, number: usize, key: &Key<'_>, observed: &Observed) {
        let planned = &audit.definitions[number];
        if !planned.selected {
            return;
        }
        let bytes = observed.bytes.unwrap_or(0);
        if self.current.expired {
            self.seen(audit, number).gathered.expired += 1;
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
        let seen = self.seen(audit, number);
        seen.gathered.add(key, observed, remaining);
        for (sketch, place) in seen.sketches.iter_mut().zip(&places) {
            sketch.add(fixed(&key.name[place.clone()]));
        }
        let least_order = || audit.mask.salt.least_order(key.name);
        if seen.gathered.may_rank(bytes, audit.top, least_order) {
            let order = audit.mask.salt.order(key.db, key.name);
            seen.gathered.rank((bytes, order), audit.top, observed.length, key.db, || {
                audit.mask.defined(key.name, &places, &planned.masked)
            });
        }
        if planned.joins {
            self.note_joins(audit, planned, key.name, &places);
        }
        let clean = self.note_broken(audit, number, planned, key, observed, &places);
        self.places = places;
        self.defined.add(bytes);
        self.judge(clean);
    }

    fn check_lifetime(&mut self, planned: &Planned, key: &Key<'_>) {
        let bound = match (&planned.limit, self.current.remaining) {
            (Limit::Unsaid, _) | (Limit::Never, None) | (Limit::Sometime, Some(_)) => return,
            (Limit::Never, Some(_)) => return self.current.breaks(slots::TTL_UNEXPECTED),
            (_, None) => return self.current.breaks(slots::TTL_MISSING),
            (Limit::Within(bound), _) => *bound,
            (Limit::By { param, words, longest }, _) => {
                let word =
                    self.places.get(*param).map_or(&[][..], |place| &key.name[place.clone()]);
                let known = words.iter().find(|(known, _)| **known == *word);
                known.map_or(*longest, |(_, bound)| *bound)
            }
        };
        if self
            .current
            .remaining
            .is_some_and(|remaining| remaining > bound.saturating_add(FORGIVEN))
        {
            self.current.breaks(slots::TTL_TOO_LONG);
        }
    }

    fn check_size(&mut self, planned: &Planned, key: &Key<'_>, observed: &Observed) {
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

    fn note_joins(
        &mut self,
        audit: &Audit,
        planned: &Planned,
        key: &[u8],
        places: &[Range<usize>],
    ) {
        for (param, place) in planned.params.iter().zip(places) {
            for join in &param.sought {
                self.note(audit, *join, Side::Right, &key[place.clone()]);
            }
        }
        for join in &planned.sought {
            self.note(audit, *join, Side::Right, audit.joins[*join].without_prefix(key));
        }
        for join in &planned.renamed {
            let values = places.iter().map(|place| &key[place.clone()]);
            self.note(audit, *join, Side::Left, &entity(values));
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
        self.current.broken.retain(|slot| planned.slots[*slot].severity.is_some());
        if self.current.broken.is_empty() {
            return true;
        }
        let broken = std::mem::take(&mut self.current.broken);
        let order = audit.mask.salt.order(key.db, key.name);
        let mut clean = true;
        for slot in &broken {
            clean &= planned.slots[*slot].severity != Some(Severity::Error);
            let detail = || self.current.detail(*slot, key, observed);
            let detail = self.definitions[number]
                .as_ref()
                .is_some_and(|seen| seen.wants(*slot, order))
                .then(detail)
                .flatten();
            self.seen(audit, number).break_slot(
                *slot,
                observed.bytes.unwrap_or(0),
                order,
                detail,
                || audit.mask.defined(key.name, places, &planned.masked),
            );
            if *slot == slots::TTL_TOO_LONG {
                self.seen(audit, number).gathered.too_long += 1;
            }
        }
        self.current.broken = broken;
        clean
    }

    fn end_expired(&mut self, audit: &Audit) {
        if !audit.selective || matches!(self.current.class, Class::Defined(_)) {
            self.expired += 1;
        }
    }

    fn end_old(&mut self, audit: &Audit, space: usize, rename: usize, key: &Key<'_>, bytes: u64) {
        let old = &audit.spaces[space].renames[rename];
        if old.definition.is_some_and(|number| !audit.definitions[number].selected) {
            return;
        }
        let order = audit.mask.salt.order(key.db, key.name);
        self.old[space][rename]
            .add(bytes, order, None, || audit.mask.defined(key.name, &self.places, &old.params));
        if let (Some(join), Some(number)) = (old.join, old.definition) {
            let values = audit.definitions[number].params.iter().map(|param| {
                let at = old.names.iter().position(|name| *name == param.name);
                at.and_then(|at| self.places.get(at))
                    .map_or(&[][..], |place| &key.name[place.clone()])
            });
            self.note(audit, join, Side::Right, &entity(values));
        }
        self.defined.add(bytes);
        self.judge(old.severity != Some(Severity::Error));
    }

    fn end_unknown(&mut self, audit: &Audit, key: &Key<'_>, observed: &Observed) {
        let bytes = observed.bytes.unwrap_or(0);
        let order = audit.mask.salt.order(key.db, key.name);
        let misfit = misfit::find(audit, key.name);
        let here = self.groups.of(key.name);
        if misfit.is_some() {
            here.misfits.add(bytes);
        }
        here.gathered.add(key, observed, self.current.remaining);
        if here.gathered.may_rank(bytes, audit.top, || order) {
            here.gathered.rank((bytes, order), audit.top, observed.length, key.db, || {
                audit.mask.unknown(key.name)
            });
        }
        if here.wants(order) {
            here.exemplify(order, audit.mask.unknown(key.name), key.name);
        }
        self.unknown.add(bytes);
        if !audit.has_schema() {
            return;
        }
        if let Some((number, slot)) = misfit {
            let planned = &audit.definitions[number];
            if planned.slots[slot].severity.is_some() {
                self.current.broken.push(slot);
                self.seen(audit, number)
                    .break_slot(slot, bytes, order, None, || audit.mask.unknown(key.name));
            }
        }
        self.judge(false);
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

    /// Tells the listener of a key.
    fn tell(&self, audit: &Audit, key: &Key<'_>, observed: &Observed, listener: &mut Listener) {
        let named = |number: usize| {
            let (schema, definition) = audit.declared(&audit.definitions[number]);
            (Some(schema.keyspace.name.as_str()), Some(definition.name.as_str()))
        };
        let own = |space: usize| Some(audit.infos[space].name.as_str());
        let mut findings = Vec::new();
        let (class, (schema, definition), masked) = match self.current.class {
            Class::Defined(number) => {
                let planned = &audit.definitions[number];
                findings.extend(self.current.broken.iter().map(|slot| planned.slots[*slot].rule));
                let masked = audit.mask.defined(key.name, &self.places, &planned.masked);
                ("defined", named(number), masked)
            }
            Class::Derived(number) => ("derived", named(number), audit.mask.unknown(key.name)),
            Class::Old { space, rename } => {
                let old = &audit.spaces[space].renames[rename];
                findings.extend(old.severity.map(|_| "old-name"));
                let masked = audit.mask.defined(key.name, &self.places, &old.params);
                ("old", old.definition.map_or((own(space), None), named), masked)
            }
            Class::Foreign { space, foreign } => {
                let name = audit.spaces[space].foreign[foreign].name.as_str();
                ("foreign", (own(space), Some(name)), audit.mask.unknown(key.name))
            }
            Class::Unknown => {
                if audit.has_schema() && !self.current.expired {
                    let misfit = !self.current.broken.is_empty();
                    findings.push(if misfit { "invalid-param" } else { "unknown-key" });
                }
                ("unknown", (None, None), audit.mask.unknown(key.name))
            }
        };
        if self.current.expired {
            findings.clear();
        }
        findings.dedup();
        listener(&Row {
            db: key.db,
            key: &masked,
            schema,
            definition,
            class,
            key_type: key.key_type.name(),
            observed,
            ttl: self.current.remaining,
            expired: self.current.expired,
            findings: &findings,
        });
    }
}

impl Current {
    /// Notes what is wrong, once for each key.
    fn breaks(&mut self, slot: usize) {
        if !self.broken.contains(&slot) {
            self.broken.push(slot);
        }
    }

    /// What a key has that is wrong, where that can be said without showing a value.
    fn detail(&self, slot: usize, key: &Key<'_>, observed: &Observed) -> Option<String> {
        match slot {
            slots::WRONG_TYPE => Some(key.key_type.name().to_owned()),
            slots::TTL_TOO_LONG | slots::TTL_UNEXPECTED => {
                let left = Duration::from_millis(self.remaining? / 1000 * 1000);
                Some(format!("TTL {}", left.human()))
            }
            slots::UNKNOWN_FIELD => self.stranger.as_ref().map(|name| format!("field `{name}`")),
            slots::OVERSIZED_COLLECTION => Some(format!("{} entries", thousands(observed.length?))),
            slots::OVERSIZED_VALUE => {
                let is_string = stored_type(key.key_type) == Some(0);
                let size = if is_string { observed.length } else { observed.bytes };
                Some(keyward_fact::Size::from_bytes(size?).human())
            }
            _ => None,
        }
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

impl PlannedJoin {
    fn without_prefix<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        key.strip_prefix(self.prefix.as_slice()).unwrap_or(key)
    }
}

impl Count {
    pub(crate) fn add(&mut self, bytes: u64) {
        self.keys += 1;
        self.bytes += bytes;
    }
}

/// The values of an entity's parameters, in a row.
fn entity<'v>(values: impl Iterator<Item = &'v [u8]>) -> Vec<u8> {
    let mut all = Vec::new();
    for value in values {
        all.extend((value.len() as u64).to_le_bytes());
        all.extend(value);
    }
    all
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally").field("keys_seen", &self.counts.keys_seen).finish_non_exhaustive()
    }
}
