//! What one pass over keys adds up to: plain data that can be merged, in any order and grouping.
//!
//! A [`Tally`](crate::Tally) adds key after key. Counts of several threads, shards and files become one by
//! [`Counts::merge`]; a report is made of the result once, at the end. What the numbers are about is said by
//! the [`Outline`] beside them: a [`Counted`] is both, and is what a report file carries.

mod agreements;
mod chains;
mod definition;
mod keys;
mod lifetimes;
mod names;
mod ranked;
mod references;
mod relations;
mod server;

pub(crate) use agreements::{Agreements, Pair, Saying, Side};
pub(crate) use chains::{Chains, MOST as MOST_STEPS};
pub(crate) use definition::{Broken, DefinitionCounts};
pub use keys::TTL_BOUNDS;
pub(crate) use keys::{KeyCounts, stored_type};
pub(crate) use lifetimes::LifetimeCounts;
pub(crate) use names::NameCounts;
pub(crate) use ranked::{Biggest, Detail, Example, Examples, Ranked};
pub(crate) use references::{Pool, References, Referrer};
pub(crate) use relations::{Link, MOST_STEPS as MOST_RELATED, Relations, Verdict};
pub(crate) use server::{Got, Memory, ServerCounts};

use crate::drafted::{Drafted, Underway};
use crate::leaves::Leaves;
use crate::merge::MergeError;
use crate::outline::Outline;
use crate::rare::{KEPT, Rare};
use crate::report::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// More databases are not listed: a snapshot may name any number of them.
const MOST_DATABASES: usize = 64;

/// What one pass over keys adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Where the keys were read, in a fixed order; a tally has none, whoever drives it adds it
    pub(crate) sources: Vec<Source>,
    /// What servers showed of themselves
    pub(crate) server: ServerCounts,
    /// Keys that had expired and were not removed yet; in no other number
    pub(crate) expired: u64,
    /// Keys that were judged: all but foreign and expired ones
    pub(crate) judged: u64,
    /// Of those, keys that are as declared
    pub(crate) compliant: u64,
    /// How long the names of all keys are
    #[serde(default)]
    pub(crate) names: NameCounts,
    /// How long all keys will live
    #[serde(default)]
    pub(crate) lifetimes: LifetimeCounts,
    /// The databases that keys were in, up to [`MOST_DATABASES`]
    pub(crate) databases: BTreeSet<u64>,
    /// Keys that belong to a definition, derived keys and old names included
    pub(crate) defined: Amount,
    /// By definition; `None` without keys
    pub(crate) definitions: Vec<Option<Box<DefinitionCounts>>>,
    /// By schema and former name
    pub(crate) old_names: Vec<Vec<Broken>>,
    /// By schema and other software
    pub(crate) foreign: Vec<Vec<Amount>>,
    /// By former name that is compared, the entities under both names
    pub(crate) joins: Vec<(Rare, Rare)>,
    /// What references may name
    pub(crate) pools: Vec<Pool>,
    /// By reference, the values that were seen
    pub(crate) references: Vec<References>,
    /// By index that is compared, what its sets and its members say
    #[serde(default)]
    pub(crate) agreements: Vec<IndexAgreements>,
    /// By reference from a definition to itself, what follows what
    #[serde(default)]
    pub(crate) chains: Vec<Chains>,
    /// By pair of relations that must agree, what they say
    #[serde(default)]
    pub(crate) relations: Vec<Relations>,
    /// Keys that nobody declared
    pub(crate) leaves: Leaves,
    /// All keys, where there is no schema
    #[serde(default, skip_serializing_if = "Drafted::is_empty")]
    pub(crate) drafted: Drafted,
    /// The same as it is, which does not leave the process
    #[serde(skip)]
    pub(crate) underway: Underway,
}

/// What the sets of an index and its members say.
pub(crate) type IndexAgreements = Agreements<Pair, { 2 * KEPT }>;

/// How many keys, and how many bytes they take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Amount {
    pub(crate) keys: u64,
    /// The sum of what is known; whether that means anything is said by the source
    pub(crate) bytes: u64,
}

impl Amount {
    /// What the bytes may come to, 1 PiB: a server or a file may name any number, and sums of these still fit.
    const MOST: u64 = 1 << 50;

    #[inline]
    pub(crate) fn add(&mut self, bytes: u64) {
        self.keys += 1;
        self.bytes = self.bytes.saturating_add(bytes).min(Self::MOST);
    }

    pub(crate) fn merge(&mut self, other: Amount) {
        self.keys = self.keys.saturating_add(other.keys);
        self.bytes = self.bytes.saturating_add(other.bytes).min(Self::MOST);
    }

    pub(crate) fn sum(amounts: impl IntoIterator<Item = Amount>) -> Amount {
        amounts.into_iter().fold(Amount::default(), |mut all, amount| {
            all.merge(amount);
            all
        })
    }
}

impl Counts {
    /// No keys of what an outline lists.
    pub(crate) fn none(outline: &Outline) -> Self {
        let schemas = || outline.schemas.iter();
        Counts {
            definitions: vec![None; outline.definitions.len()],
            old_names: schemas().map(|it| vec![Broken::default(); it.old_names.len()]).collect(),
            foreign: schemas().map(|it| vec![Amount::default(); it.foreign.len()]).collect(),
            joins: vec![Default::default(); outline.joins.len()],
            pools: vec![Pool::default(); outline.pools],
            references: vec![References::default(); outline.references.len()],
            agreements: vec![IndexAgreements::default(); outline.agreements.len()],
            chains: vec![Chains::default(); outline.chains.len()],
            relations: vec![Relations::default(); outline.relations.len()],
            ..Counts::default()
        }
    }

    /// Adds what was counted elsewhere of the same outline. Neither order nor grouping matters.
    pub(crate) fn merge(&mut self, other: Counts) {
        self.sources.extend(other.sources);
        self.sources.sort_by_cached_key(Source::order);
        self.server.merge(other.server);
        self.expired += other.expired;
        self.judged += other.judged;
        self.compliant += other.compliant;
        self.defined.merge(other.defined);
        self.names.merge(other.names);
        self.lifetimes.merge(other.lifetimes);
        other.databases.into_iter().for_each(|db| self.see_database(db));
        for (ours, theirs) in self.definitions.iter_mut().zip(other.definitions) {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => ours.merge(*theirs),
                (ours, Some(theirs)) => *ours = Some(theirs),
                (_, None) => {}
            }
        }
        let old_names =
            self.old_names.iter_mut().flatten().zip(other.old_names.into_iter().flatten());
        old_names.for_each(|(ours, theirs)| ours.merge(theirs));
        let foreign = self.foreign.iter_mut().flatten().zip(other.foreign.into_iter().flatten());
        foreign.for_each(|(ours, theirs)| ours.merge(theirs));
        for ((left, right), (other_left, other_right)) in self.joins.iter_mut().zip(other.joins) {
            left.merge(&other_left);
            right.merge(&other_right);
        }
        self.pools.iter_mut().zip(&other.pools).for_each(|(ours, theirs)| ours.merge(theirs));
        let references = self.references.iter_mut().zip(other.references);
        references.for_each(|(ours, theirs)| ours.merge(theirs));
        let agreements = self.agreements.iter_mut().zip(other.agreements);
        agreements.for_each(|(ours, theirs)| ours.merge(theirs));
        let chains = self.chains.iter_mut().zip(other.chains);
        chains.for_each(|(ours, theirs)| ours.merge(theirs));
        let relations = self.relations.iter_mut().zip(other.relations);
        relations.for_each(|(ours, theirs)| ours.merge(theirs));
        self.leaves.merge(other.leaves);
        self.drafted.merge(other.drafted);
    }

    /// Notes that a database has keys.
    pub(crate) fn see_database(&mut self, db: u64) {
        if self.databases.len() < MOST_DATABASES {
            self.databases.insert(db);
        }
    }

    /// Looks references up among the keys that were seen.
    pub(crate) fn resolve(&mut self, outline: &Outline) {
        self.pools.iter_mut().for_each(Pool::tidy);
        for (references, outlined) in self.references.iter_mut().zip(&outline.references) {
            references.settle(&self.pools, &outlined.pools);
        }
    }

    /// Keys whose values were to be read and were not.
    pub(crate) fn unread(&self) -> u64 {
        let each = self.definitions.iter().flatten().map(|it| it.unread.max(it.ttls_unread));
        each.fold(0, u64::saturating_add)
    }

    /// Values that were read in part.
    pub(crate) fn in_part(&self) -> u64 {
        self.definitions.iter().flatten().map(|it| it.in_part).fold(0, u64::saturating_add)
    }

    /// Keys of other software.
    pub(crate) fn foreign(&self) -> Amount {
        Amount::sum(self.foreign.iter().flatten().copied())
    }

    /// Fails where it does not have the shape of an outline: counts may come from a file.
    pub(crate) fn check(&self, outline: &Outline) -> Result<(), &'static str> {
        let schemas = || outline.schemas.iter();
        let is_shaped = self.definitions.len() == outline.definitions.len()
            && self.joins.len() == outline.joins.len()
            && self.pools.len() == outline.pools
            && self.references.len() == outline.references.len()
            && self.references.iter().all(|it| it.fits(outline.pools))
            && self.agreements.len() == outline.agreements.len()
            && self.chains.len() == outline.chains.len()
            && self.relations.len() == outline.relations.len()
            && self.old_names.iter().map(Vec::len).eq(schemas().map(|it| it.old_names.len()))
            && self.foreign.iter().map(Vec::len).eq(schemas().map(|it| it.foreign.len()))
            && self.server.fits(&outline.schemas);
        let mut definitions = self.definitions.iter().zip(&outline.definitions);
        let fits = |(counts, outlined): (&Option<Box<DefinitionCounts>>, _)| {
            counts.as_ref().is_none_or(|counts| counts.fits(outlined))
        };
        if !is_shaped || !definitions.all(fits) {
            return Err("its counts are not of its definitions");
        }
        Ok(())
    }

    /// Every number that is added when counts are merged.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let amount = |amount: &Amount| [amount.keys, amount.bytes];
        let shards = self.sources.iter().flat_map(|source| &source.shards);
        let old_names = self.old_names.iter().flatten();
        [self.expired, self.judged, self.compliant]
            .into_iter()
            .chain(amount(&self.defined))
            .chain(self.names.numbers())
            .chain(self.lifetimes.numbers())
            .chain(shards.flat_map(|it| [it.keys_seen, it.dbsize.unwrap_or(0)]))
            .chain(self.definitions.iter().flatten().flat_map(|it| it.numbers()))
            .chain(old_names.flat_map(move |it| amount(&it.amount)))
            .chain(self.foreign.iter().flatten().flat_map(amount))
            .chain(self.references.iter().flat_map(References::numbers))
            .chain(self.chains.iter().map(Chains::seen))
            .chain(self.leaves.numbers())
            .chain(self.drafted.numbers())
    }
}

/// Counts, and what they are about: enough to make a report without the schemas.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Counted {
    /// What is counted
    pub(crate) outline: Outline,
    /// The numbers
    #[serde(rename = "numbers")]
    pub(crate) counts: Counts,
}

/// The same from a file, where anything may stand.
#[derive(Deserialize)]
struct Unchecked {
    outline: Outline,
    #[serde(rename = "numbers")]
    counts: Counts,
}

impl TryFrom<Unchecked> for Counted {
    type Error = &'static str;

    fn try_from(Unchecked { outline, counts }: Unchecked) -> Result<Self, Self::Error> {
        outline.check()?;
        counts.check(&outline)?;
        Ok(Counted { outline, counts })
    }
}

impl Counted {
    /// Merges counts of shards; fails where they are not of the same.
    pub(crate) fn merge(&mut self, mut other: Counted) -> Result<(), MergeError> {
        let first = |counted: &Counted| counted.counts.sources.first().cloned();
        if let (Some(one), Some(other)) = (first(self), first(&other)) {
            if one.bytes != other.bytes {
                return Err(MergeError::Bytes { one: one.bytes.name(), other: other.bytes.name() });
            }
            let percent = |source: Source| source.sample.map(|sample| sample.percent);
            if percent(one) != percent(other) {
                return Err(MergeError::Samples);
            }
        }
        if !self.outline.lists_the_same(&other.outline) {
            return Err(MergeError::Schemas);
        }
        if self.outline.salt != other.outline.salt {
            for counted in [&mut *self, &mut other] {
                counted.forget_salt();
            }
        }
        self.outline.merge(other.outline);
        self.counts.merge(other.counts);
        Ok(())
    }

    /// Forgets all that has a meaning only among hashes of one salt.
    fn forget_salt(&mut self) {
        self.outline.salt = None;
        self.counts.joins.iter_mut().for_each(|join| *join = Default::default());
        self.counts.pools.iter_mut().for_each(|pool| *pool = Pool::default());
        self.counts.references.iter_mut().for_each(|it| *it = References::default());
        self.counts.agreements.iter_mut().for_each(|it| *it = IndexAgreements::default());
        self.counts.chains.iter_mut().for_each(|it| *it = Chains::default());
        self.counts.relations.iter_mut().for_each(|it| *it = Relations::default());
        self.counts.leaves.forget_salt();
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn bytes_that_cannot_be_do_not_overflow() {
        let mut amount = Amount::default();
        amount.add(u64::MAX);
        amount.add(u64::MAX);
        amount.merge(amount);
        assert_eq!((amount.keys, amount.bytes), (4, Amount::MOST));
    }
}
