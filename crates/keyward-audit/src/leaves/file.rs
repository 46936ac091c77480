//! The tree in a file: its leaves, each with its path.
//!
//! A word is written `user#9f2c41d07b3e8a55:`, with its salted hash; a hidden one is only `#9f2c41d07b3e8a55:`.

use super::{Bounds, DEEPEST, Leaf, Leaves, MOST_WORDS, Node, NodeKind, is_hidden};
use crate::segment::{WORD, cut, is_word};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Serialize, Deserialize)]
struct Stored<'l> {
    bounds: Bounds,
    leaves: Vec<StoredLeaf<'l>>,
}

#[derive(Serialize, Deserialize)]
struct StoredLeaf<'l> {
    segments: Vec<String>,
    #[serde(flatten)]
    leaf: Cow<'l, Leaf>,
}

impl Serialize for Leaves {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut leaves = Vec::new();
        self.root.store(&mut Vec::new(), &mut leaves);
        leaves.sort_by(|one, other| one.segments.cmp(&other.segments));
        Stored { bounds: self.bounds, leaves }.serialize(serializer)
    }
}

impl Node {
    fn store<'n>(&'n self, path: &mut Vec<String>, leaves: &mut Vec<StoredLeaf<'n>>) {
        if let Some(leaf) = &self.leaf {
            leaves.push(StoredLeaf { segments: path.clone(), leaf: Cow::Borrowed(leaf) });
        }
        for (name, node) in &self.children {
            let (inside, end) = cut(name);
            path.push(match node.kind {
                NodeKind::Word(Some(hash)) if !is_hidden(name) => {
                    format!("{inside}#{hash:016x}{end}")
                }
                NodeKind::Word(None) => format!("{inside}#{end}"),
                _ => name.to_string(),
            });
            node.store(path, leaves);
            path.pop();
        }
    }
}

impl<'de> Deserialize<'de> for Leaves {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { bounds, leaves } = Stored::deserialize(deserializer)?;
        if bounds.words > MOST_WORDS || bounds.depth > DEEPEST {
            return Err(D::Error::custom("its leaves have other bounds than there can be"));
        }
        let mut root = Node::default();
        for StoredLeaf { segments, leaf } in leaves {
            if segments.len() > DEEPEST + 1 {
                return Err(D::Error::custom("a leaf has more segments than there can be"));
            }
            let mut node = &mut root;
            for segment in &segments {
                let (name, kind) = read(segment)
                    .ok_or_else(|| D::Error::custom(format!("`{segment}` is not a segment")))?;
                node = node.stored_child(name, kind);
            }
            node.leaf = Some(Box::new(leaf.into_owned()));
        }
        let size = root.count();
        Ok(Leaves { root, size, bounds, scratch: String::new() })
    }
}

impl Node {
    /// The child of a tree that was in order when it was written.
    fn stored_child(&mut self, name: String, kind: NodeKind) -> &mut Node {
        self.any |= cut(&name).0 == WORD;
        let words = &mut self.words;
        self.children.entry(name.into()).or_insert_with(|| {
            *words += usize::from(matches!(kind, NodeKind::Word(_)));
            Node { kind, ..Node::default() }
        })
    }
}

/// The name and the kind of a segment.
fn read(segment: &str) -> Option<(String, NodeKind)> {
    let (inside, end) = cut(segment);
    let Some((word, hash)) = inside.split_once('#') else {
        let kind = if is_word(segment) { NodeKind::Declared } else { NodeKind::Value };
        return Some((segment.to_owned(), kind));
    };
    let hash = match hash {
        "" => None,
        hash => Some(u64::from_str_radix(hash, 16).ok()?),
    };
    match (word, hash) {
        ("", None) => None,
        ("", Some(hash)) => Some((format!("#{hash:016x}{end}"), NodeKind::Word(Some(hash)))),
        (word, hash) => Some((format!("{word}{end}"), NodeKind::Word(hash))),
    }
}
