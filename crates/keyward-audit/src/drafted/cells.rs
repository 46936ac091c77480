//! Counts of keys by what their segments look like, so finely that a draft, which is made when all keys were seen, finds
//! the keys of each of its patterns in cells of their own.
//!
//! The cells are the leaves of a tree of [`Look`]s. A place of it keeps the children with the smallest hashes apart, values
//! before words, and puts all others together, with all that follows them: `user:alice:cart`, `user:bob:cart` and a
//! thousand more become some cells for a few names, and one for the carts of the others. A child that is kept has been
//! kept from its first key on, so that the cells depend on the keys alone: not on their order, nor on how they were
//! distributed to trees that were merged.
//!
//! Where there would be too many cells, fewer children are kept. How many there would be is measured by a number that
//! never falls when keys are added, [`Node::size`], so that this does not depend on the order either.

use crate::counts::{Examples, KeyCounts};
use keyward_infer::Look;
use std::collections::BTreeMap;

/// About the most cells.
const MOST: u64 = 16_384;

/// The cells.
#[derive(Debug, Clone, Default)]
pub(super) struct Cells {
    root: Node,
    bounds: Bounds,
}

/// How many children are kept at the root and below it, and how many segments are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    root: usize,
    below: usize,
    depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { root: 256, below: 64, depth: 24 }
    }
}

/// A place in the tree.
#[derive(Debug, Clone, Default)]
struct Node {
    children: BTreeMap<Look, Node>,
    /// All children that are not kept, as one; then as many are kept as may be
    others: Option<Box<Node>>,
    cell: Option<Box<Cell>>,
    size: u64,
}

/// Some keys that look alike.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) keys: KeyCounts,
    pub(super) examples: Examples,
    /// The key that comes first in the salted order, as it is: it does not leave the process
    pub(super) first: Option<(u64, Box<[u8]>)>,
    /// Its number among all cells, once [`Cells::number`] has counted them
    number: usize,
}

impl Cell {
    pub(super) fn merge(&mut self, other: Cell) {
        self.keys.merge(other.keys);
        self.examples.merge(other.examples);
        let both = self.first.take().into_iter().chain(other.first);
        self.first = both.min_by_key(|(order, _)| *order);
    }
}

impl Cells {
    /// The cell of a key with these looks.
    pub(super) fn cell(&mut self, looks: &[Look]) -> &mut Cell {
        if self.root.find(looks, 0, self.bounds).is_none() {
            self.root.enter(looks, 0, self.bounds);
            self.tighten();
        }
        self.root.get(looks, 0, self.bounds)
    }

    /// Adds the keys of other cells.
    pub(super) fn merge(&mut self, mut other: Cells) {
        let bounds = self.bounds.coarser(other.bounds);
        for cells in [&mut *self, &mut other] {
            if cells.bounds != bounds {
                cells.bounds = bounds;
                cells.root.tighten(0, bounds);
            }
        }
        self.root.merge(other.root, 0, bounds);
        self.tighten();
    }

    /// Numbers all cells, and says how many there are.
    pub(super) fn number(&mut self) -> usize {
        let mut count = 0;
        self.root.each_mut(&mut |cell| {
            cell.number = count;
            count += 1;
        });
        count
    }

    /// The number of the cell of a key with these looks.
    pub(super) fn numbered(&self, looks: &[Look]) -> Option<usize> {
        Some(self.root.find(looks, 0, self.bounds)?.number)
    }

    /// All cells, in the order of their numbers.
    pub(super) fn all(&self) -> Vec<&Cell> {
        let mut all = Vec::new();
        self.root.each(&mut all);
        all
    }

    /// Makes room.
    fn tighten(&mut self) {
        while self.root.size > MOST
            && let Some(bounds) = self.bounds.next()
        {
            self.bounds = bounds;
            self.root.tighten(0, bounds);
        }
    }
}

impl Bounds {
    fn most(self, depth: usize) -> usize {
        if depth == 0 { self.root } else { self.below }
    }

    /// The next coarser bounds: fewer children, then fewer segments. All bounds that there are follow one another.
    fn next(self) -> Option<Bounds> {
        match self {
            Bounds { below: 5.., .. } => Some(Bounds { below: self.below / 2, ..self }),
            Bounds { root: 17.., .. } => Some(Bounds { root: self.root / 2, ..self }),
            Bounds { depth: 3.., .. } => Some(Bounds { depth: self.depth / 2, ..self }),
            _ => None,
        }
    }

    fn coarser(self, other: Bounds) -> Bounds {
        Bounds {
            root: self.root.min(other.root),
            below: self.below.min(other.below),
            depth: self.depth.min(other.depth),
        }
    }
}

impl Node {
    /// The cell, if the tree need not be changed for it.
    fn find(&self, looks: &[Look], depth: usize, bounds: Bounds) -> Option<&Cell> {
        match looks.split_first().filter(|_| depth < bounds.depth) {
            None => self.cell.as_deref(),
            Some((look, rest)) => {
                let next = match self.children.get(look) {
                    Some(child) => child,
                    None if self.is_beyond(look) => self.others.as_deref()?,
                    None => return None,
                };
                next.find(rest, depth + 1, bounds)
            }
        }
    }

    /// Whether a look that is not there would be among the others.
    fn is_beyond(&self, look: &Look) -> bool {
        self.others.is_some() && self.children.last_key_value().is_none_or(|(last, _)| last < look)
    }

    /// Makes a place for keys with these looks.
    fn enter(&mut self, looks: &[Look], depth: usize, bounds: Bounds) {
        match looks.split_first().filter(|_| depth < bounds.depth) {
            None => drop(self.cell.get_or_insert_default()),
            Some((look, rest)) => {
                if !self.children.contains_key(look) && !self.is_beyond(look) {
                    self.children.insert(*look, Node::default());
                    self.trim(depth, bounds);
                }
                self.next(look).enter(rest, depth + 1, bounds);
            }
        }
        self.measure(bounds.most(depth));
    }

    fn get(&mut self, looks: &[Look], depth: usize, bounds: Bounds) -> &mut Cell {
        match looks.split_first().filter(|_| depth < bounds.depth) {
            None => self.cell.get_or_insert_default(),
            Some((look, rest)) => self.next(look).get(rest, depth + 1, bounds),
        }
    }

    /// The child for a look, or the others.
    fn next(&mut self, look: &Look) -> &mut Node {
        match self.children.get_mut(look) {
            Some(child) => child,
            None => self.others.get_or_insert_default(),
        }
    }

    /// Puts the children with the greatest hashes to the others, where they are too many.
    fn trim(&mut self, depth: usize, bounds: Bounds) {
        while self.children.len() > bounds.most(depth)
            && let Some((_, child)) = self.children.pop_last()
        {
            self.others.get_or_insert_default().merge(child, depth + 1, bounds);
        }
    }

    fn merge(&mut self, other: Node, depth: usize, bounds: Bounds) {
        if let Some(cell) = other.cell {
            self.cell.get_or_insert_default().merge(*cell);
        }
        for (look, child) in other.children {
            self.children.entry(look).or_default().merge(child, depth + 1, bounds);
        }
        if let Some(others) = other.others {
            self.others.get_or_insert_default().merge(*others, depth + 1, bounds);
        }
        self.trim(depth, bounds);
        self.measure(bounds.most(depth));
    }

    fn tighten(&mut self, depth: usize, bounds: Bounds) {
        self.trim(depth, bounds);
        let below = self.children.values_mut().chain(self.others.as_deref_mut());
        below.for_each(|node| node.tighten(depth + 1, bounds));
        if depth == bounds.depth {
            let children = std::mem::take(&mut self.children).into_values();
            for node in children.chain(self.others.take().map(|others| *others)) {
                node.into_each(&mut |cell| self.cell.get_or_insert_default().merge(cell));
            }
        }
        self.measure(bounds.most(depth));
    }

    /// Notes how many cells there are at most: where some children are not kept, each that is may yet be replaced by one
    /// with as many cells as any. More keys never make it less.
    fn measure(&mut self, most: usize) {
        let below = self.children.values().map(|child| child.size);
        let size = match &self.others {
            None => below.fold(0, u64::saturating_add),
            Some(others) => below.fold(others.size, u64::max).saturating_mul(most as u64 + 1),
        };
        self.size = size.saturating_add(u64::from(self.cell.is_some()));
    }

    fn each<'n>(&'n self, all: &mut Vec<&'n Cell>) {
        all.extend(self.cell.as_deref());
        let below = self.children.values().chain(self.others.as_deref());
        below.for_each(|node| node.each(all));
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&mut Cell)) {
        self.cell.iter_mut().for_each(|cell| visit(cell));
        let below = self.children.values_mut().chain(self.others.as_deref_mut());
        below.for_each(|node| node.each_mut(visit));
    }

    fn into_each(self, visit: &mut dyn FnMut(Cell)) {
        self.cell.into_iter().for_each(|cell| visit(*cell));
        let below = self.children.into_values().chain(self.others.map(|others| *others));
        below.for_each(|node| node.into_each(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of words; some places have few of them, some many.
    fn paths() -> Vec<Vec<Look>> {
        let word =
            |number: u64| Look { is_word: true, hash: number.wrapping_mul(0x9E37_79B9_7F4A_7C15) };
        let value = Look { is_word: false, hash: 7 };
        let mut paths = Vec::new();
        for number in 0..30_000 {
            paths.push(vec![word(1), word(number % 9000), word(number % 23)]);
            paths.push(vec![word(2 + number % 5), value, word(number % 3)]);
            paths.push(vec![
                word(10 + number % 900),
                word(number % 31),
                word(number % 40),
                word(number % 2),
            ]);
        }
        paths
    }

    fn cells<'p>(paths: impl IntoIterator<Item = &'p Vec<Look>>) -> Cells {
        let mut cells = Cells::default();
        for path in paths {
            cells.cell(path).keys.amount.keys += 1;
        }
        cells
    }

    /// What is counted where.
    type Counted = Vec<(Vec<Option<Look>>, u64)>;

    fn told(cells: &Cells) -> (Bounds, Counted) {
        fn tell(
            node: &Node,
            path: &mut Vec<Option<Look>>,
            all: &mut Vec<(Vec<Option<Look>>, u64)>,
        ) {
            all.extend(node.cell.as_ref().map(|cell| (path.clone(), cell.keys.amount.keys)));
            let children = node.children.iter().map(|(look, child)| (Some(*look), child));
            let others = node.others.iter().map(|others| (None, &**others));
            for (look, child) in children.chain(others) {
                path.push(look);
                tell(child, path, all);
                path.pop();
            }
        }
        let mut all = Vec::new();
        tell(&cells.root, &mut Vec::new(), &mut all);
        (cells.bounds, all)
    }

    #[test]
    fn neither_the_order_of_keys_nor_their_distribution_matters() {
        let paths = paths();
        let (bounds, all) = told(&cells(&paths));
        assert_ne!(bounds, Bounds::default(), "there are too many words to keep them all");
        assert!(all.len() as u64 <= MOST, "{}", all.len());
        assert_eq!(all.iter().map(|(_, keys)| keys).sum::<u64>(), paths.len() as u64);
        assert!(told(&cells(paths.iter().rev())) == (bounds, all.clone()), "backwards");
        let mut sorted = paths.clone();
        sorted.sort();
        assert!(told(&cells(&sorted)) == (bounds, all.clone()), "sorted");
        for parts in [3, 40] {
            for order in [false, true] {
                let part = |at: usize| cells(paths.iter().skip(at).step_by(parts));
                let numbers: Vec<usize> =
                    if order { (0..parts).collect() } else { (0..parts).rev().collect() };
                let mut merged = Cells::default();
                for at in numbers {
                    merged.merge(part(at));
                }
                assert!(told(&merged) == (bounds, all.clone()), "{parts} parts");
            }
        }
    }

    #[test]
    fn what_is_kept_apart_is_complete() {
        let paths = paths();
        let cells = cells(&paths);
        let mut counts: BTreeMap<&[Look], u64> = BTreeMap::new();
        for path in &paths {
            *counts.entry(path).or_default() += 1;
        }
        for (path, keys) in told(&cells).1 {
            let whole: Option<Vec<Look>> = path.into_iter().collect();
            if let Some(path) = whole {
                assert_eq!(counts.get(path.as_slice()), Some(&keys));
            }
        }
    }
}
