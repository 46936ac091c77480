//! Keys of an audit without a schema: by the definitions that `keyward infer` drafts of them.
//!
//! While keys are read, [`Drafting`] keeps what `infer` keeps, a bounded sample, and counts every key in a cell of those
//! that look like it. At the end a draft is made of the sample, and [`Drafting::finish`] adds the cells up to its
//! definitions. Sample and cells of several threads or shards are put together before that, so that the result depends on
//! the keys alone.
//!
//! Both hold keys as they are, so neither leaves the process. What does is [`Drafted`]: patterns with their counts, in which
//! words that few keys share are hidden. Two of them, of reports that are merged or of two halves of a scan, are merged by
//! pattern, so that each pattern is one that was drafted of some of the keys, and not always the one that would have been
//! drafted of all.

mod cells;
mod shown;

use crate::collect::Collector;
use crate::counts::{Amount, Counts, Example, Examples, KeyCounts};
use crate::mask::Mask;
use crate::observe::Observer;
use cells::{Cell, Cells};
use keyward_fact::{Element, Fact, Show};
use keyward_infer::draft::Draft;
use keyward_infer::{Look, Options, can_be_drafted, infer, looks};
use keyward_pattern::Glob;
use keyward_schema::model::Schema;
use serde::{Deserialize, Serialize};
use shown::Shown;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is shown for keys that no definition of a draft has.
const REST: &str = "(no pattern)";

/// A sample of the keys, and counts of all of them.
#[derive(Debug, Clone)]
pub(crate) struct Drafting {
    sample: Collector,
    cells: Cells,
    /// Keys that no pattern can have
    rest: Cell,
    /// Empty between calls
    looks: Vec<Look>,
}

/// What a scan has seen that was stopped, for as long as the process lives that may go on with it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Underway(Option<Arc<Seen>>);

#[derive(Debug, Clone)]
struct Seen {
    drafting: Drafting,
    /// What an earlier process has seen
    before: Drafted,
}

/// It is no part of what was counted: that stands beside it.
impl PartialEq for Underway {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Underway {
    /// What is drafted of keys that were read now, and of those that earlier counts are of; these lose theirs.
    pub(crate) fn gather(
        drafting: Option<Drafting>,
        earlier: &mut [Counts],
        reveal: bool,
    ) -> (Drafted, Underway) {
        let mut before = Drafted::default();
        let mut all = drafting;
        for counts in earlier {
            let drafted = std::mem::take(&mut counts.drafted);
            let Some(seen) = std::mem::take(&mut counts.underway).0 else {
                before.merge(drafted);
                continue;
            };
            let seen = Arc::unwrap_or_clone(seen);
            before.merge(seen.before);
            match &mut all {
                Some(all) => all.merge(seen.drafting),
                None => all = Some(seen.drafting),
            }
        }
        let mut drafted = before.clone();
        let seen = all.map(|mut drafting| {
            drafted.merge(drafting.finish(reveal));
            Arc::new(Seen { drafting, before })
        });
        (drafted, Underway(seen))
    }
}

/// The definitions of a draft, with their keys.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Drafted {
    /// By the pattern and what else tells definitions apart
    patterns: BTreeMap<String, DraftedPattern>,
    /// Keys in cells in which a pattern has only most of the keys
    #[serde(default)]
    mixed: u64,
}

/// A definition of a draft, with its keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DraftedPattern {
    #[serde(flatten)]
    pub(crate) shown: Shown,
    pub(crate) keys: KeyCounts,
    pub(crate) examples: Examples,
}

impl Drafting {
    /// Nothing yet. TTLs are counted from `clock`.
    pub(crate) fn new(clock: u64) -> Self {
        Drafting {
            sample: Collector::new(clock),
            cells: Cells::default(),
            rest: Cell::default(),
            looks: Vec::new(),
        }
    }

    pub(crate) fn set_clock(&mut self, clock: u64) {
        self.sample.set_clock(clock);
    }

    pub(crate) fn wants(&self, fact: &Fact<'_>) -> Show {
        self.sample.wants(fact)
    }

    pub(crate) fn begin(&mut self, fact: &Fact<'_>) -> Show {
        self.sample.begin(fact)
    }

    pub(crate) fn element(&mut self, element: &Element<'_>) {
        self.sample.element(element);
    }

    /// Counts a key; `remaining` is what is left of its TTL, and so many of the biggest keys are wanted.
    pub(crate) fn add(
        &mut self,
        fact: &Fact<'_>,
        remaining: Option<u64>,
        (mask, top): (&Mask, usize),
    ) {
        self.sample.end(fact);
        let order = mask.salt.order(fact.db, fact.key);
        let is_rest = !can_be_drafted(fact.key);
        let cell = if is_rest {
            &mut self.rest
        } else {
            self.looks.clear();
            self.looks.extend(looks(fact.key));
            self.cells.cell(&self.looks)
        };
        if cell.keys.amount.keys == 0 {
            cell.keys = KeyCounts::new(top);
        }
        cell.keys.add(fact, remaining);
        let bytes = fact.bytes.unwrap_or(0);
        if cell.keys.biggest.may_rank(bytes, || order) {
            let biggest = &mut cell.keys.biggest;
            biggest.rank((bytes, order), fact.length, fact.db, || mask.unknown(fact.key));
        }
        if cell.examples.want(order) {
            cell.examples.add(Example { order, key: mask.unknown(fact.key), detail: None });
            if !is_rest && cell.first.as_ref().is_none_or(|(known, _)| order < *known) {
                cell.first = Some((order, fact.key.into()));
            }
        }
    }

    /// Adds what was seen elsewhere.
    pub(crate) fn merge(&mut self, other: Drafting) {
        self.sample.merge(other.sample);
        self.cells.merge(other.cells);
        self.rest.merge(other.rest);
    }

    /// The definitions of a draft of all keys; words that few of them share are hidden, unless all is revealed.
    fn finish(&mut self, reveal: bool) -> Drafted {
        let sketch = self.sample.sketch();
        let draft = infer(sketch, &Options::default());
        let whose = Whose::new(&draft);
        let mut votes: Vec<BTreeMap<Option<usize>, f64>> = Vec::new();
        votes.resize_with(self.cells.number(), BTreeMap::new);
        for (observed, weight) in sketch.kept().filter(|(it, _)| can_be_drafted(&it.key)) {
            let path: Vec<Look> = looks(&observed.key).collect();
            if let Some(votes) = self.cells.numbered(&path).and_then(|it| votes.get_mut(it)) {
                *votes.entry(whose.find(&observed.key)).or_default() += weight;
            }
        }
        let mut found: BTreeMap<Option<usize>, Cell> = BTreeMap::new();
        let mut mixed = 0;
        for (cell, votes) in self.cells.all().into_iter().zip(votes) {
            if votes.len() > 1 {
                mixed += cell.keys.amount.keys;
            }
            let most = votes.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
            let owner = match (most, &cell.first) {
                (Some((owner, _)), _) => owner,
                (None, Some((_, key))) => whose.find(key),
                (None, None) => None,
            };
            found.entry(owner).or_default().merge(cell.clone());
        }
        if self.rest.keys.amount.keys > 0 {
            found.entry(None).or_default().merge(self.rest.clone());
        }
        let keys = |at: usize| found.get(&Some(at)).map_or(0, |cell| cell.keys.amount.keys);
        let shown = shown::all(&draft, keys, reveal);
        let mut drafted = Drafted { mixed, ..Drafted::default() };
        for (owner, cell) in found {
            let shown = owner.and_then(|at| shown.get(at).cloned()).unwrap_or_else(Shown::rest);
            let Cell { keys, examples, .. } = cell;
            drafted.add(DraftedPattern { shown, keys, examples });
        }
        drafted
    }
}

/// Finds the definition, or the other software, that has a key: the definitions of a draft are numbered first.
struct Whose {
    schema: Option<Schema>,
    /// By the number in the schema, the number in the draft
    definitions: Vec<Option<usize>>,
    foreign: Vec<Glob>,
}

impl Whose {
    fn new(draft: &Draft) -> Self {
        let schema = keyward_schema::read(&keyward_infer::write(draft, "keys")).schema.ok();
        let number = |id: &str| draft.definitions.iter().position(|it| it.id == id);
        let definitions = schema.iter().flat_map(|it| &it.keys).map(|it| number(&it.name.value));
        Whose {
            definitions: definitions.collect(),
            foreign: draft.foreign.iter().map(|it| Glob::new(&it.glob)).collect(),
            schema,
        }
    }

    /// `None` where the key is part of the draft's rest.
    fn find(&self, key: &[u8]) -> Option<usize> {
        // As in a draft, what other software has is taken out first.
        if let Some(at) = self.foreign.iter().position(|glob| glob.matches(key)) {
            return Some(self.definitions.len() + at);
        }
        let id = self.schema.as_ref()?.compiled.classify(key)?;
        *self.definitions.get(id.index())?
    }
}

impl Drafted {
    fn add(&mut self, pattern: DraftedPattern) {
        match self.patterns.entry(pattern.shown.identity()) {
            std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(pattern)),
            std::collections::btree_map::Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.shown.merge(pattern.shown);
                known.keys.merge(pattern.keys);
                known.examples.merge(pattern.examples);
            }
        }
    }

    /// Adds what was drafted of other keys: what has the same pattern is the same.
    pub(crate) fn merge(&mut self, other: Drafted) {
        self.mixed = self.mixed.saturating_add(other.mixed);
        other.patterns.into_values().for_each(|pattern| self.add(pattern));
    }

    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// All patterns, in their order.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &DraftedPattern> {
        self.patterns.values()
    }

    /// All keys.
    pub(crate) fn amount(&self) -> Amount {
        Amount::sum(self.patterns().map(|pattern| pattern.keys.amount))
    }

    /// Keys that were counted with a pattern because most of those that look like them have it.
    pub(crate) fn mixed(&self) -> u64 {
        self.mixed
    }

    /// Every number that is added when they are merged.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.patterns().flat_map(|pattern| pattern.keys.numbers()).chain([self.mixed])
    }
}
