//! What sets and their members say of each other: a sample, chosen by the members, see [`Rare`](crate::rare::Rare).

use crate::hash::{Rarity, Salt};
use crate::mask::Masked;
use crate::rare::RAREST;
use serde::{Deserialize, Serialize};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What the sets of an index and its members say: at most so many statements, each with what it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored", bound = "P: Clone")]
pub(crate) struct Agreements<P, const MOST: usize> {
    /// The least rarity that is kept
    least: Rarity,
    said: BTreeMap<Saying, Witness<P>>,
    /// Whether all that disagrees was read once more
    pub(crate) rechecked: bool,
}

/// That a member is in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Saying {
    pub(crate) rarity: Rarity,
    pub(crate) member: u64,
    pub(crate) set: u64,
    pub(crate) side: Side,
}

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Set,
    Member,
}

/// The key that says it.
#[derive(Debug, Clone, PartialEq)]
struct Witness<P> {
    /// The first of several is kept
    order: u64,
    /// Never leaves the process
    pair: Option<P>,
    shown: Option<Shown>,
}

/// The key that says it and the element that does.
pub(crate) type Shown = (Masked, Masked);

/// Both keys that an agreement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) db: u64,
    pub(crate) set: String,
    /// The member's own key, or its reverse
    pub(crate) own: String,
    /// What the set or the reverse holds
    pub(crate) element: String,
}

impl Saying {
    /// Whether it is that this member is in this set.
    pub(crate) fn is(&self, salt: Salt, member: &[u8], set: &[u8]) -> bool {
        self.member == salt.hash(member) && self.set == salt.hash(set)
    }
}

impl<P, const MOST: usize> Default for Agreements<P, MOST> {
    fn default() -> Self {
        Agreements { least: 0, said: BTreeMap::new(), rechecked: false }
    }
}

impl<P, const MOST: usize> Agreements<P, MOST> {
    /// The place of a statement, if it is kept.
    #[inline]
    pub(crate) fn wants(
        &self,
        salt: Salt,
        side: Side,
        member: &[u8],
        set: &[u8],
    ) -> Option<Saying> {
        let rarity = salt.rarity(member);
        let saying = || Saying { rarity, member: salt.hash(member), set: salt.hash(set), side };
        (rarity >= self.least).then(saying)
    }

    pub(crate) fn add(&mut self, saying: Saying, order: u64, pair: impl FnOnce() -> Option<P>) {
        if self.said.get(&saying).is_some_and(|known| known.order <= order) {
            return;
        }
        if let Some(pair) = pair() {
            self.said.insert(saying, Witness { order, pair: Some(pair), shown: None });
            self.bound();
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.least = self.least.max(other.least);
        self.rechecked &= other.rechecked;
        for (saying, witness) in other.said {
            match self.said.entry(saying) {
                Entry::Vacant(free) => drop(free.insert(witness)),
                Entry::Occupied(mut known) if witness.order < known.get().order => {
                    known.insert(witness);
                }
                Entry::Occupied(_) => {}
            }
        }
        self.bound();
    }

    /// Keeps only so many, the rarest.
    fn bound(&mut self) {
        loop {
            let first = Saying { rarity: self.least, member: 0, set: 0, side: Side::Set };
            if self.said.first_key_value().is_some_and(|(saying, _)| *saying < first) {
                self.said = self.said.split_off(&first);
            }
            if self.said.len() <= MOST || self.least >= RAREST {
                return;
            }
            self.least += 1;
        }
    }

    /// What one side says and the other does not, of members that the other side knows where it `must_know` them; how many
    /// statements were compared; and whether they are a sample.
    pub(crate) fn disagreements(&self, must_know: bool) -> (Vec<Saying>, u64, bool) {
        let other = |saying: &Saying| {
            let side = if saying.side == Side::Set { Side::Member } else { Side::Set };
            Saying { side, ..*saying }
        };
        let known: BTreeSet<u64> = self.of(Side::Member).map(|saying| saying.member).collect();
        let is_known = |saying: &&Saying| {
            !must_know || saying.side == Side::Set && known.contains(&saying.member)
        };
        let (mut wrong, mut compared) = (Vec::new(), 0);
        for saying in self.said.keys().filter(is_known) {
            let agrees = self.said.contains_key(&other(saying));
            // What both say is one statement.
            compared += u64::from(!agrees || saying.side == Side::Set);
            wrong.extend((!agrees).then_some(*saying));
        }
        (wrong, compared, self.least > 0)
    }

    /// Whether they are a sample, and the least rarity in it.
    pub(super) fn least(&self) -> Rarity {
        self.least
    }

    pub(super) fn of(&self, side: Side) -> impl Iterator<Item = &Saying> {
        self.said.keys().filter(move |saying| saying.side == side)
    }

    /// The keys that a statement is about, while they are known.
    pub(crate) fn pair(&self, saying: &Saying) -> Option<&P> {
        self.said.get(saying)?.pair.as_ref()
    }

    /// The order of the key that says it.
    pub(super) fn order(&self, saying: &Saying) -> Option<u64> {
        self.said.get(saying).map(|witness| witness.order)
    }

    /// The key that says it and the element that does, as they may be shown; and the order of the key.
    pub(crate) fn shown(&self, saying: &Saying) -> Option<(u64, &Shown)> {
        let witness = self.said.get(saying)?;
        Some((witness.order, witness.shown.as_ref()?))
    }

    /// Notes a statement that turned out to be made, by nobody that is known.
    pub(super) fn concede(&mut self, saying: Saying) {
        self.said.insert(saying, Witness { order: u64::MAX, pair: None, shown: None });
    }

    /// Takes back what turned out not to be so.
    pub(crate) fn take_back(&mut self, saying: &Saying) {
        self.said.remove(saying);
    }

    /// Forgets all keys, and masks those whose statements may yet be wrong.
    pub(crate) fn hide(&mut self, must_know: bool, mask: impl Fn(Side, &P) -> Shown) {
        let (wrong, ..) = self.disagreements(must_know);
        let open: BTreeSet<Saying> = wrong.into_iter().collect();
        // The other side may be known by somebody else.
        let is_open = |it: &Saying| open.contains(it) || must_know && it.side == Side::Set;
        self.hide_but(is_open, mask);
    }

    /// Forgets all keys, and masks those of some statements.
    pub(super) fn hide_but(
        &mut self,
        is_open: impl Fn(&Saying) -> bool,
        mask: impl Fn(Side, &P) -> Shown,
    ) {
        for (saying, witness) in &mut self.said {
            if let Some(pair) = witness.pair.take()
                && is_open(saying)
            {
                witness.shown = Some(mask(saying.side, &pair));
            }
            // Whoever can be shown comes first.
            if witness.shown.is_none() {
                witness.order = u64::MAX;
            }
        }
    }
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    least: Rarity,
    pub(super) said: Vec<(Saying, u64, Option<Shown>)>,
    rechecked: bool,
}

impl<P, const MOST: usize> From<Agreements<P, MOST>> for Stored {
    fn from(Agreements { least, said, rechecked }: Agreements<P, MOST>) -> Self {
        let said = said.into_iter().map(|(saying, it)| (saying, it.order, it.shown));
        Stored { least, said: said.collect(), rechecked }
    }
}

impl<P, const MOST: usize> From<Stored> for Agreements<P, MOST> {
    fn from(Stored { least, said, rechecked }: Stored) -> Self {
        let said = said.into_iter().map(|(saying, order, shown)| {
            let rarity = saying.rarity.min(RAREST);
            (Saying { rarity, ..saying }, Witness { order, pair: None, shown })
        });
        let mut read = Agreements { least: least.min(RAREST), said: said.collect(), rechecked };
        read.bound();
        read
    }
}
