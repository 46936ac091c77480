//! Keys that a schema does not declare, grouped by what they look like. Without a schema, see [`crate::drafted`].
//!
//! A tree of segments. Where a place has more words than [`MOST_WORDS`], they are values rather than words, and
//! become one: `user:alice:cart`, `user:bob:cart` and so on become `user:<word>:cart`. Which places these are
//! depends on the set of keys alone, not on their order: whatever was joined early would have been joined late.
//! Only where there are more leaves than fit does the order matter, and the report says so.
//!
//! Nothing outside knows of the tree: keys go in by [`Leaves::add`], trees of shards become one by
//! [`Leaves::merge`], and what is shown comes out of [`Leaves::groups`]. Before a tree leaves the process,
//! [`Leaves::hide`] takes the words out that must not be shown. A hidden word is known by its salted hash, so
//! that it is the same word in every shard, and gets its name back from a shard that may show it.

mod file;
mod groups;
mod near;

pub(crate) use groups::Group;
pub(crate) use near::{Near, Stranger};

use crate::counts::{Amount, Example, Examples, KeyCounts};
use crate::hash::Salt;
use crate::mask::Mask;
use crate::segment::{self, REST, any_word, is_word, look, segments};
use keyward_fact::{Fact, KeyType};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// More words than these at one place are values.
const MOST_WORDS: usize = 24;
/// The most leaves that are kept apart.
const MOST_LEAVES: usize = 4096;
/// The most segments that are looked at; what follows is taken as one.
const DEEPEST: usize = 16;
/// The longest key that is looked at to its end.
const LONGEST: usize = 1024;

/// The tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Leaves {
    root: Node,
    /// How many leaves there are
    size: usize,
    bounds: Bounds,
    /// Empty between calls: memory for names
    scratch: String,
}

/// How finely keys are grouped; coarser where there are too many leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Bounds {
    words: usize,
    depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { words: MOST_WORDS, depth: DEEPEST }
    }
}

/// A place in the tree.
#[derive(Debug, Clone, Default, PartialEq)]
struct Node {
    kind: NodeKind,
    /// By what they look like, with the separator; a hidden word by its hash
    children: HashMap<Box<str>, Node>,
    /// How many children are words
    words: usize,
    /// Whether words are values here
    any: bool,
    leaf: Option<Box<Leaf>>,
}

/// What stands at a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum NodeKind {
    /// A value of some kind, or whatever stands for many words
    #[default]
    Value,
    /// A word that a schema has, which is never taken for a value
    Declared,
    /// Any other word, by its salted hash; `None` where hashes of several salts were merged
    Word(Option<u64>),
}

/// A key as it is, and its type.
type FirstKey = (Box<[u8]>, KeyType);

/// The keys that end at a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) keys: KeyCounts,
    /// Keys that would belong to a definition if a parameter had a value of its type
    pub(crate) misfits: Amount,
    pub(crate) examples: Examples,
    /// The key that comes first in the salted order, as it is: until its neighbour was looked for
    #[serde(skip)]
    first: Option<(u64, FirstKey)>,
    /// The neighbour of that key, with its place in the order
    near: Option<(u64, Stranger)>,
}

impl Leaves {
    /// The leaf of a key, to add the key to; so many of the biggest keys are wanted. Keys that differ only in the
    /// values of a schema's prefix, which lie at these places, have the same leaf.
    pub(crate) fn add(
        &mut self,
        key: &[u8],
        prefix: &[(Range<usize>, &str)],
        mask: &Mask,
        top: usize,
    ) -> &mut Leaf {
        if self.size > MOST_LEAVES {
            self.tighten();
        }
        let key = &key[..key.len().min(LONGEST)];
        let mut name = std::mem::take(&mut self.scratch);
        let mut node = &mut self.root;
        let mut at = 0;
        for (depth, segment) in segments(key).take(self.bounds.depth + 1).enumerate() {
            name.clear();
            let (inside, separator) = segment::split_separator(segment);
            let place = at..at + inside.len();
            at += segment.len();
            if depth == self.bounds.depth {
                name.push_str(REST);
            } else if let Some((_, param)) = prefix.iter().find(|(it, _)| *it == place) {
                name.extend(["{", param, "}"]);
                name.extend(separator.iter().map(|byte| char::from(*byte)));
            } else {
                look(segment, &mut name);
            }
            node = node.child(&name, mask, self.bounds, &mut self.size);
        }
        name.clear();
        self.scratch = name;
        if node.leaf.is_none() {
            self.size += 1;
        }
        node.leaf
            .get_or_insert_with(|| Box::new(Leaf { keys: KeyCounts::new(top), ..Leaf::default() }))
    }

    /// Adds the keys of another tree. The coarser of the two decides how finely keys are grouped.
    pub(crate) fn merge(&mut self, mut other: Leaves) {
        let bounds = Bounds {
            words: self.bounds.words.min(other.bounds.words),
            depth: self.bounds.depth.min(other.bounds.depth),
        };
        for tree in [&mut *self, &mut other] {
            if tree.bounds != bounds {
                tree.bounds = bounds;
                tree.root.tighten(bounds.words, bounds.depth);
            }
        }
        self.root.merge(other.root, bounds.words);
        self.size = self.root.count();
        if self.size > MOST_LEAVES {
            self.tighten();
        }
    }

    /// Makes room: fewer words at a place, then fewer places.
    #[cold]
    fn tighten(&mut self) {
        while self.size > MOST_LEAVES / 2 {
            if self.bounds.words > 1 {
                self.bounds.words /= 2;
            } else if self.bounds.depth > 1 {
                self.bounds.depth /= 2;
            } else {
                return;
            }
            self.root.tighten(self.bounds.words, self.bounds.depth);
            self.size = self.root.count();
        }
    }

    /// Whether there were too many leaves, so that the groups depend on the order of the keys.
    pub(crate) fn is_approximate(&self) -> bool {
        self.bounds != Bounds::default()
    }

    /// All keys.
    pub(crate) fn amount(&self) -> Amount {
        let mut all = Amount::default();
        self.root.each(&mut |leaf| all.merge(leaf.keys.amount));
        all
    }

    /// Forgets hashes, where those of several salts meet: words are known by their names only.
    pub(crate) fn forget_salt(&mut self) {
        self.root.forget_salt(self.bounds.words);
    }

    /// Every number that is added when trees are merged.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut numbers = Vec::new();
        self.root.each(&mut |leaf| {
            numbers.extend(leaf.keys.numbers());
            numbers.extend([leaf.misfits.keys, leaf.misfits.bytes]);
        });
        numbers.into_iter()
    }
}

impl Leaf {
    /// Keeps a key as an example, if it is one.
    pub(crate) fn exemplify(&mut self, fact: &Fact<'_>, order: u64, mask: &Mask) {
        if self.examples.want(order) {
            self.examples.add(Example { order, key: mask.unknown(fact.key), detail: None });
            if self.first.as_ref().is_none_or(|(known, _)| order < *known) {
                let key = &fact.key[..fact.key.len().min(LONGEST)];
                self.first = Some((order, (key.into(), fact.key_type.clone())));
            }
        }
    }

    /// Keys that are near no definition's parameters.
    pub(crate) fn strangers(&self) -> Amount {
        let Amount { keys, bytes } = self.keys.amount;
        Amount {
            keys: keys.saturating_sub(self.misfits.keys),
            bytes: bytes.saturating_sub(self.misfits.bytes),
        }
    }

    fn merge(&mut self, other: Leaf) {
        fn least<T>(ours: Option<(u64, T)>, theirs: Option<(u64, T)>) -> Option<(u64, T)> {
            ours.into_iter().chain(theirs).min_by_key(|(order, _)| *order)
        }
        self.keys.merge(other.keys);
        self.misfits.merge(other.misfits);
        self.examples.merge(other.examples);
        self.first = least(self.first.take(), other.first);
        self.near = least(self.near.take(), other.near);
    }
}

impl Node {
    /// The child for a segment; words become a value where they are too many.
    fn child(&mut self, name: &str, mask: &Mask, bounds: Bounds, size: &mut usize) -> &mut Node {
        // Most keys are of a leaf that is known: whether a name is a word is only asked of a new one.
        if self.children.contains_key(name) {
            return self.children.get_mut(name).expect("it is there");
        }
        let kind = NodeKind::of(name, mask);
        if !matches!(kind, NodeKind::Word(_)) {
            return self.children.entry(name.into()).or_insert(Node { kind, ..Node::default() });
        }
        if !self.any && self.words >= bounds.words {
            let before = self.count();
            self.join(bounds.words);
            *size = size.saturating_sub(before.saturating_sub(self.count()));
        }
        if self.any {
            return self.children.entry(any_word(name).into()).or_default();
        }
        self.words += 1;
        self.children.entry(name.into()).or_insert(Node { kind, ..Node::default() })
    }

    /// Makes a value of all words here.
    fn join(&mut self, most: usize) {
        self.any = true;
        self.words = 0;
        for (name, mut node) in std::mem::take(&mut self.children) {
            let is_word = matches!(node.kind, NodeKind::Word(_));
            let name = if is_word { any_word(&name).into() } else { name };
            if is_word {
                node.kind = NodeKind::Value;
            }
            self.put(name, node, most);
        }
    }

    /// Puts a node below a name, to what is there already.
    fn put(&mut self, name: Box<str>, node: Node, most: usize) {
        match self.children.entry(name) {
            Entry::Occupied(known) => known.into_mut().merge(node, most),
            Entry::Vacant(free) => drop(free.insert(node)),
        }
    }

    /// Takes over what another node has.
    fn merge(&mut self, other: Node, most: usize) {
        match (&mut self.leaf, other.leaf) {
            (Some(ours), Some(theirs)) => ours.merge(*theirs),
            (ours, Some(theirs)) => *ours = Some(theirs),
            (_, None) => {}
        }
        if other.any && !self.any {
            self.join(most);
        }
        for (name, mut node) in other.children {
            match node.kind {
                NodeKind::Word(_) if self.any => {
                    node.kind = NodeKind::Value;
                    self.put(any_word(&name).into(), node, most);
                }
                NodeKind::Word(hash) => self.put_word(name, hash, node, most),
                _ => self.put(name, node, most),
            }
        }
    }

    fn put_word(&mut self, name: Box<str>, hash: Option<u64>, node: Node, most: usize) {
        match self.same_word(&name, hash) {
            Some(ours) if is_hidden(&ours) && !is_hidden(&name) => {
                let hidden = self.children.remove(&ours).unwrap_or_default();
                self.put(name.clone(), hidden, most);
                self.put(name, node, most);
            }
            Some(ours) => self.put(ours, node, most),
            None => {
                self.words += 1;
                self.put(name, node, most);
                if self.words > most {
                    self.join(most);
                }
            }
        }
    }

    /// The name under which a word is known here: its own, or that of the same hash.
    fn same_word(&self, name: &str, hash: Option<u64>) -> Option<Box<str>> {
        if self.children.contains_key(name) {
            return Some(name.into());
        }
        let end = segment::cut(name).1;
        let is_same = |known: &str, node: &Node| {
            hash.is_some() && node.kind == NodeKind::Word(hash) && segment::cut(known).1 == end
        };
        let same = self.children.iter().find(|(known, node)| is_same(known, node));
        same.map(|(known, _)| known.clone())
    }

    fn tighten(&mut self, most: usize, depth: usize) {
        if depth == 0 {
            let mut rest = Node::default();
            for (_, node) in std::mem::take(&mut self.children) {
                node.into_each(&mut |leaf| {
                    rest.merge(Node { leaf: Some(leaf), ..Node::default() }, most);
                });
            }
            (self.words, self.any) = (0, false);
            if rest.leaf.is_some() {
                self.children.insert(REST.into(), rest);
            }
            return;
        }
        if !self.any && self.words > most {
            self.join(most);
        }
        self.children.values_mut().for_each(|node| node.tighten(most, depth - 1));
    }

    fn forget_salt(&mut self, most: usize) {
        for (name, mut node) in std::mem::take(&mut self.children) {
            node.forget_salt(most);
            match node.kind {
                NodeKind::Word(_) if is_hidden(&name) => {
                    node.kind = NodeKind::Value;
                    self.words -= 1;
                    self.put(segment::hidden_word(&name).into(), node, most);
                }
                NodeKind::Word(_) => {
                    node.kind = NodeKind::Word(None);
                    self.put(name, node, most);
                }
                _ => self.put(name, node, most),
            }
        }
    }

    fn count(&self) -> usize {
        usize::from(self.leaf.is_some()) + self.children.values().map(Node::count).sum::<usize>()
    }

    fn each<'n>(&'n self, visit: &mut dyn FnMut(&'n Leaf)) {
        self.leaf.iter().for_each(|leaf| visit(leaf));
        self.children.values().for_each(|node| node.each(visit));
    }

    fn each_mut<'n>(&'n mut self, visit: &mut dyn FnMut(&'n mut Leaf)) {
        self.leaf.iter_mut().for_each(|leaf| visit(leaf));
        self.children.values_mut().for_each(|node| node.each_mut(visit));
    }

    fn into_each(self, visit: &mut dyn FnMut(Box<Leaf>)) {
        self.leaf.into_iter().for_each(&mut *visit);
        self.children.into_values().for_each(|node| node.into_each(visit));
    }
}

impl NodeKind {
    fn of(name: &str, mask: &Mask) -> Self {
        let (inside, _) = segment::cut(name);
        match is_word(name) {
            false => NodeKind::Value,
            true if mask.declares(inside) => NodeKind::Declared,
            true => NodeKind::Word(Some(hash(mask.salt, inside))),
        }
    }
}

fn hash(salt: Salt, word: &str) -> u64 {
    salt.hash(word.as_bytes())
}

/// Whether a name is only the hash of a word. No look has a `#`, which is not a character of a word.
fn is_hidden(name: &str) -> bool {
    name.starts_with('#')
}
