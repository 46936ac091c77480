//! What relations between keys say, and whether they agree.

mod file;

use super::agreements::{Agreements, Saying, Shown, Side};
use crate::checks::Step;
use crate::hash::{Rarity, Salt};
use crate::mask::Masked;
use crate::rare::RAREST;
use keyward_schema::model::Law;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The most statements of two relations that are compared; of more, a sample of the keys that they lead from.
const MOST_SAID: usize = 16_384;
/// The most steps that a closure is computed of: it cannot be computed of a sample.
pub(crate) const MOST_STEPS: usize = 65_536;
/// The most keys that a closure is computed to lead to; of more, from a sample of keys.
const MOST_REACHED: usize = 262_144;
/// How many examples are kept.
const SHOWN: usize = 3;

/// What two relations say that must agree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "file::Stored", into = "file::Stored")]
pub(crate) struct Relations {
    /// Which key leads to which by either; of a closure, by the closure alone
    said: Agreements<Link, MOST_SAID>,
    steps: Steps,
}

/// That a relation leads from one key to another, both with the prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) db: u64,
    pub(crate) from: String,
    pub(crate) to: String,
}

/// The steps of the relation that another is the closure of.
#[derive(Debug, Clone, Default, PartialEq)]
struct Steps {
    /// Whether there are too many to follow
    too_many: bool,
    all: BTreeSet<(u64, u64)>,
    nodes: BTreeMap<u64, Node>,
}

/// A key that steps lead from or to.
#[derive(Debug, Clone, Default, PartialEq)]
struct Node {
    /// How rare it is, where the closure goes from it
    root: Option<Rarity>,
    /// Never leaves the process
    name: Option<(u64, String)>,
    shown: Option<Masked>,
}

/// How far two relations agree.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// How many statements only one of them makes, and of how many
    pub(crate) wrong: u64,
    pub(crate) of: u64,
    pub(crate) sampled: bool,
    /// The first of them that can be shown
    pub(crate) examples: Vec<(Side, Shown)>,
}

impl Relations {
    /// Notes that one side leads from a key to another; `known` says the order of the key that says so, and their names.
    pub(crate) fn add(
        &mut self,
        salt: Salt,
        side: Side,
        link: &Step,
        known: impl FnOnce() -> Option<(u64, Link)>,
    ) {
        if let Some(saying) = self.said.wants(salt, side, &link.from, &link.to)
            && let Some((order, names)) = known()
        {
            self.said.add(saying, order, || Some(names));
        }
    }

    /// Notes a step of the relation that this is the closure of.
    pub(crate) fn step(
        &mut self,
        salt: Salt,
        db: u64,
        link: &Step,
        is_root: impl FnOnce() -> bool,
    ) {
        let steps = &mut self.steps;
        let Some(names) = link.names(db).filter(|_| !steps.too_many) else { return };
        let (from, to) = (salt.hash(&link.from), salt.hash(&link.to));
        let node = |root, name| Node { root, name: Some((db, name)), shown: None };
        if steps.nodes.get(&from).is_none_or(|known| known.root.is_none()) {
            let root = is_root().then(|| salt.rarity(&link.from));
            steps.nodes.insert(from, node(root, names.from));
        }
        steps.nodes.entry(to).or_insert_with(|| node(None, names.to));
        steps.all.insert((from, to));
        steps.bound();
    }

    pub(super) fn merge(&mut self, other: Relations) {
        self.said.merge(other.said);
        self.steps.merge(other.steps);
    }

    /// Whether the steps were too many to compute a closure.
    pub(crate) fn too_many(&self) -> bool {
        self.steps.too_many
    }

    /// Whether all that is wrong was read once more.
    pub(crate) fn rechecked(&self) -> bool {
        self.said.rechecked
    }

    pub(crate) fn set_rechecked(&mut self) {
        self.said.rechecked = true;
    }

    /// Statements that only one side makes, how many were compared, and whether they are a sample.
    pub(crate) fn disagreements(&self, law: Law, is_symmetric: bool) -> (Vec<Saying>, u64, bool) {
        if law == Law::Closure {
            return self.outside_closure();
        }
        let (mut wrong, of, sampled) = self.said.disagreements(false);
        if is_symmetric {
            // Every statement is heard twice, once for each direction.
            let heard = wrong.len();
            wrong.retain(|saying| saying.side == Side::Set);
            let twice = (heard - wrong.len()) as u64;
            return (wrong, of - twice, sampled);
        }
        (wrong, of, sampled)
    }

    /// What a closure has too many, and what it lacks.
    fn outside_closure(&self) -> (Vec<Saying>, u64, bool) {
        if self.steps.too_many {
            return (Vec::new(), 0, false);
        }
        let mut least = self.said.least();
        let reached = loop {
            match self.steps.reached(least) {
                None if least < RAREST => least += 1,
                reached => break reached.unwrap_or_default(),
            }
        };
        let said = self.said.of(Side::Set).filter(|saying| saying.rarity >= least);
        let said: BTreeSet<Saying> = said.copied().collect();
        let too_many = said.iter().filter(|it| !reached.contains(it)).copied();
        let lacking = reached.iter().filter(|it| !said.contains(it));
        let lacking = lacking.map(|saying| Saying { side: Side::Member, ..*saying });
        let wrong: Vec<Saying> = too_many.chain(lacking).collect();
        let of = said.union(&reached).count() as u64;
        (wrong, of, least > 0)
    }

    /// The keys that a statement is about, while they are known.
    pub(crate) fn link(&self, saying: &Saying) -> Option<Link> {
        let by_steps = || {
            let name = |hash: u64| self.steps.nodes.get(&hash)?.name.clone();
            let ((db, from), (_, to)) = (name(saying.member)?, name(saying.set)?);
            Some(Link { db, from, to })
        };
        self.said.pair(saying).cloned().or_else(by_steps)
    }

    /// How many keys steps lead to from a key.
    pub(crate) fn reached_from(&self, root: u64) -> usize {
        self.steps.reached_from(root, usize::MAX).map_or(0, |reached| reached.len())
    }

    /// Takes back what turned out not to be so: the other side says it, too, or this one does not.
    pub(crate) fn take_back(&mut self, law: Law, saying: &Saying) {
        if law == Law::Closure && saying.side == Side::Member {
            return self.said.concede(Saying { side: Side::Set, ..*saying });
        }
        self.said.take_back(saying);
    }

    /// Forgets all keys, and masks those of statements that may yet be wrong: of a source that is `whole`, those that are.
    pub(crate) fn hide(
        &mut self,
        law: Law,
        whole: bool,
        node: impl Fn(u64, &str) -> Masked,
        mask: impl Fn(Side, &Link) -> Shown,
    ) {
        if law != Law::Closure {
            return self.said.hide(false, mask);
        }
        let (wrong, ..) = self.outside_closure();
        let wrong: BTreeSet<Saying> = wrong.into_iter().collect();
        self.said.hide_but(|saying| !whole || wrong.contains(saying), mask);
        let lacking = wrong.iter().filter(|saying| saying.side == Side::Member);
        let open: BTreeSet<u64> = lacking.flat_map(|it| [it.member, it.set]).collect();
        for (hash, it) in &mut self.steps.nodes {
            if let Some((db, name)) = it.name.take()
                && (!whole || open.contains(hash))
            {
                it.shown = Some(node(db, &name));
            }
        }
    }

    /// How far they agree.
    pub(crate) fn verdict(&self, law: Law, is_symmetric: bool) -> Verdict {
        let (wrong, of, sampled) = self.disagreements(law, is_symmetric);
        let order = |saying: &Saying| self.said.order(saying).unwrap_or(saying.set);
        let mut first: Vec<(u64, &Saying)> = wrong.iter().map(|it| (order(it), it)).collect();
        first.sort_unstable_by_key(|(order, _)| *order);
        let shown = |saying: &Saying| {
            let by_steps = || {
                let shown = |hash: u64| self.steps.nodes.get(&hash)?.shown.clone();
                Some((shown(saying.member)?, shown(saying.set)?))
            };
            let said = self.said.shown(saying).map(|(_, shown)| shown.clone());
            said.or_else(by_steps)
        };
        let example = |(_, saying): (u64, &Saying)| Some((saying.side, shown(saying)?));
        let examples = first.into_iter().filter_map(example).take(SHOWN).collect();
        Verdict { wrong: wrong.len() as u64, of, sampled, examples }
    }
}

impl Steps {
    fn bound(&mut self) {
        if self.all.len() > MOST_STEPS {
            self.too_many = true;
            self.all.clear();
            self.nodes.clear();
        }
    }

    fn merge(&mut self, other: Steps) {
        self.too_many |= other.too_many;
        if self.too_many {
            self.all.clear();
            self.nodes.clear();
            return;
        }
        self.all.extend(other.all);
        for (hash, node) in other.nodes {
            let known =
                self.nodes.entry(hash).or_insert_with(|| Node { shown: None, ..node.clone() });
            known.root = known.root.or(node.root);
            known.shown = known.shown.take().or(node.shown);
        }
        self.bound();
    }

    /// All that is reached from roots of this rarity, as statements of the closure; `None` if that is too much.
    fn reached(&self, least: Rarity) -> Option<BTreeSet<Saying>> {
        let mut all = BTreeSet::new();
        let roots = self.nodes.iter().filter_map(|(hash, node)| Some((*hash, node.root?)));
        for (root, rarity) in roots.filter(|(_, rarity)| *rarity >= least) {
            let seen = self.reached_from(root, MOST_REACHED - all.len())?;
            let side = Side::Set;
            all.extend(seen.into_iter().map(|to| Saying { rarity, member: root, set: to, side }));
        }
        Some(all)
    }

    /// All that is reached from a key in one or more steps; `None` if that is more than `most`.
    fn reached_from(&self, root: u64, most: usize) -> Option<BTreeSet<u64>> {
        let (mut open, mut seen) = (vec![root], BTreeSet::new());
        while let Some(from) = open.pop() {
            let to = self.all.range((from, 0)..=(from, u64::MAX)).map(|(_, to)| *to);
            open.extend(to.filter(|to| seen.insert(*to)));
            if seen.len() > most {
                return None;
            }
        }
        Some(seen)
    }
}
