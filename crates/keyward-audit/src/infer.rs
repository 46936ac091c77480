//! Keys that nobody declared, grouped by what they look like.
//!
//! A tree of segments. Where a place has more words than [`MOST_WORDS`], they are a value rather than
//! words, and become one: `user:alice:cart`, `user:bob:cart` and so on become `user:<word>:cart`. Which
//! places these are depends on the set of keys alone, not on their order: whatever was joined early would
//! have been joined late. Only where there are more groups than fit does the order matter, and the report
//! says so.

use crate::facts::{Gathered, add_count};
use crate::report::{Count, Example, Leaf};
use crate::segment::{Kind, look, segments};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// More words than these at one place are a value.
pub(crate) const MOST_WORDS: usize = 24;
/// What stands for words that are a value.
pub(crate) const WORD: &str = "<word>";
/// What stands for everything that is not looked at.
const REST: &str = "<rest>";
/// The most groups that are kept apart.
const MOST_LEAVES: usize = 4096;
/// The most segments that are looked at; what follows is taken as one.
const DEEPEST: usize = 16;
/// The longest key that is looked at to its end.
const LONGEST: usize = 1024;
/// How many examples a group has.
pub(crate) const EXAMPLES: usize = 3;

/// The tree.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    root: Node,
    leaves: usize,
    words: Words,
    deepest: usize,
    /// Whether the groups depend on the order of the keys
    pub(crate) approximate: bool,
    scratch: String,
}

/// Which segments are words that may turn out to be a value.
#[derive(Debug, Clone)]
struct Words {
    most: usize,
    known: Arc<HashSet<String>>,
}

impl Words {
    fn has(&self, segment: &str) -> bool {
        is_word(segment) && !self.known.contains(segment.trim_end_matches([':', '/', '|']))
    }
}

#[derive(Debug, Clone, Default)]
struct Node {
    children: HashMap<Box<str>, Node>,
    /// How many children are words, or have words
    words: usize,
    /// Whether words are a value here
    any: bool,
    here: Option<Box<Here>>,
}

/// The keys that end at a node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Here {
    pub(crate) gathered: Gathered,
    /// Keys that would belong to a definition if a parameter had a value of its type
    pub(crate) misfits: Count,
    /// The keys with the least salted hashes: hash, masked key, key
    pub(crate) examples: Vec<(u64, String, Box<[u8]>)>,
}

impl Groups {
    /// Words that a schema has are never a value.
    pub(crate) fn new(known: Arc<HashSet<String>>) -> Self {
        Groups {
            words: Words { most: MOST_WORDS, known },
            root: Node::default(),
            leaves: 0,
            deepest: DEEPEST,
            approximate: false,
            scratch: String::new(),
        }
    }

    /// The group of a key, to be told of it.
    pub(crate) fn of(&mut self, key: &[u8]) -> &mut Here {
        if self.leaves > MOST_LEAVES {
            self.tighten();
        }
        let key = &key[..key.len().min(LONGEST)];
        let mut node = &mut self.root;
        for (depth, segment) in segments(key).take(self.deepest + 1).enumerate() {
            self.scratch.clear();
            if depth == self.deepest {
                self.scratch.push_str(REST);
            } else {
                look(segment, &mut self.scratch);
            }
            node = node.child(&self.scratch, &self.words, &mut self.leaves);
        }
        if node.here.is_none() {
            self.leaves += 1;
        }
        node.here.get_or_insert_default()
    }

    /// Makes room: fewer words at a place, then fewer places.
    #[cold]
    fn tighten(&mut self) {
        self.approximate = true;
        while self.leaves > MOST_LEAVES / 2 {
            if self.words.most > 1 {
                self.words.most /= 2;
            } else if self.deepest > 1 {
                self.deepest /= 2;
            } else {
                return;
            }
            self.root.tighten(&self.words, self.deepest);
            self.leaves = self.root.count();
        }
    }

    /// Every group with its segments, and a key of each by which its neighbour is found.
    pub(crate) fn into_leaves(self) -> Vec<(Leaf, Box<[u8]>)> {
        let mut leaves = Vec::new();
        self.root.into_leaves(&mut Vec::new(), &mut leaves);
        leaves.sort_by(|(left, _), (right, _)| left.segments.cmp(&right.segments));
        leaves
    }
}

impl Here {
    /// Whether a key of this hash would be an example.
    pub(crate) fn wants(&self, order: u64) -> bool {
        self.examples.len() < EXAMPLES
            || self.examples.last().is_some_and(|(last, _, _)| order < *last)
    }

    pub(crate) fn exemplify(&mut self, order: u64, masked: String, key: &[u8]) {
        let at = self.examples.partition_point(|(known, _, _)| *known < order);
        self.examples.insert(at, (order, masked, key[..key.len().min(LONGEST)].into()));
        self.examples.truncate(EXAMPLES);
    }
}

impl Node {
    /// The child for a segment; words become a value where they are too many.
    fn child(&mut self, name: &str, words: &Words, leaves: &mut usize) -> &mut Node {
        // Most keys are of a group that is known: whether a name is a word is only asked of a new one.
        if !self.children.contains_key(name) {
            let is_word = words.has(name);
            if is_word && !self.any {
                if self.words >= words.most {
                    let before = self.count();
                    self.join(words);
                    *leaves = leaves.saturating_sub(before.saturating_sub(self.count()));
                } else {
                    self.words += 1;
                }
            }
            let name = if is_word && self.any { joined(name) } else { name.to_owned() };
            return self.children.entry(name.into()).or_default();
        }
        self.children.get_mut(name).expect("it is there")
    }

    /// Makes a value of all words here.
    fn join(&mut self, words: &Words) {
        self.any = true;
        self.words = 0;
        let children = std::mem::take(&mut self.children);
        for (name, node) in children {
            let name = if words.has(&name) { joined(&name).into() } else { name };
            match self.children.entry(name) {
                std::collections::hash_map::Entry::Occupied(known) => {
                    known.into_mut().absorb(node, words);
                }
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(node);
                }
            }
        }
    }

    /// Takes over what another node has.
    fn absorb(&mut self, other: Node, words: &Words) {
        if let Some(theirs) = other.here {
            match &mut self.here {
                Some(ours) => ours.absorb(*theirs),
                None => self.here = Some(theirs),
            }
        }
        if other.any && !self.any {
            self.join(words);
        }
        for (name, node) in other.children {
            let mut leaves = 0;
            self.child(&name, words, &mut leaves).absorb(node, words);
        }
    }

    fn tighten(&mut self, words: &Words, deepest: usize) {
        if deepest == 0 {
            let children = std::mem::take(&mut self.children);
            let mut rest = Node::default();
            for (_, mut node) in children {
                node.flatten(&mut rest, words);
            }
            if rest.here.is_some() {
                self.children.insert(REST.into(), rest);
            }
            return;
        }
        if !self.any && self.words > words.most {
            self.join(words);
        }
        self.children.values_mut().for_each(|node| node.tighten(words, deepest - 1));
    }

    /// Gives everything below to one node.
    fn flatten(&mut self, rest: &mut Node, words: &Words) {
        if let Some(here) = self.here.take() {
            rest.absorb(Node { here: Some(here), ..Node::default() }, words);
        }
        self.children.values_mut().for_each(|node| node.flatten(rest, words));
    }

    fn count(&self) -> usize {
        usize::from(self.here.is_some()) + self.children.values().map(Node::count).sum::<usize>()
    }

    fn into_leaves(self, path: &mut Vec<String>, out: &mut Vec<(Leaf, Box<[u8]>)>) {
        if let Some(here) = self.here {
            let key = here.examples.first().map(|(_, _, key)| key.clone()).unwrap_or_default();
            let examples = here.examples.into_iter().map(|(order, key, _)| Example {
                hash: format!("{order:016x}"),
                key,
                detail: None,
            });
            let leaf = Leaf {
                segments: path.clone(),
                facts: here.gathered.facts(None),
                misfits: here.misfits,
                examples: examples.collect(),
                nearest: None,
            };
            out.push((leaf, key));
        }
        for (name, node) in self.children {
            path.push(name.into());
            node.into_leaves(path, out);
            path.pop();
        }
    }
}

impl Here {
    fn absorb(&mut self, other: Here) {
        self.gathered.absorb(other.gathered, usize::MAX);
        add_count(&mut self.misfits, other.misfits);
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|(order, _, _)| *order);
        self.examples.truncate(EXAMPLES);
    }
}

/// Whether a segment is a word, or has one: not only a value of some kind.
pub(crate) fn is_word(segment: &str) -> bool {
    let inside = segment.trim_end_matches([':', '/', '|']);
    let kind = inside.strip_prefix('<').and_then(|inside| inside.strip_suffix('>'));
    let is_kind = |kind| Kind::VALUES.iter().any(|it| it.word() == kind);
    !inside.is_empty() && inside != WORD && inside != REST && !kind.is_some_and(is_kind)
}

/// What a word becomes that is a value; its separator stays.
pub(crate) fn joined(segment: &str) -> String {
    let inside = segment.trim_end_matches([':', '/', '|']);
    format!("{WORD}{}", &segment[inside.len()..])
}
