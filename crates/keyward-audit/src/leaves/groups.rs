//! The groups as they are shown, and the words that must not be.
//!
//! Both walk the tree by places: all nodes whose paths look the same once hidden words are put together.

use super::{Leaf, Leaves, Node, NodeKind, is_hidden};
use crate::mask::shared::{Sharing, hidden};
use crate::segment::{cut, hidden_word};
use std::collections::{BTreeMap, BTreeSet};

/// Keys that look alike, as they are shown.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Words that may be shown, and kinds in angle brackets; each with its separator
    pub(crate) segments: Vec<String>,
    pub(crate) leaf: Leaf,
}

impl Leaves {
    /// The groups, in the order of their segments.
    pub(crate) fn groups(&self, reveal: bool) -> Vec<Group> {
        let mut groups = Vec::new();
        collect(&[&self.root], reveal, &mut Vec::new(), &mut groups);
        groups
    }

    /// Takes the names from words that must not be shown; their hashes stay.
    pub(crate) fn hide(&mut self) {
        hide(vec![&mut self.root]);
    }
}

fn collect(place: &[&Node], reveal: bool, path: &mut Vec<String>, groups: &mut Vec<Group>) {
    let leaves = place.iter().filter_map(|node| node.leaf.as_deref().cloned());
    let together = leaves.reduce(|mut all, leaf| {
        all.merge(leaf);
        all
    });
    groups.extend(together.map(|leaf| Group { segments: path.clone(), leaf }));
    let hidden = if reveal { BTreeSet::new() } else { hidden(&words(place)) };
    let mut places: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for (name, node) in place.iter().flat_map(|node| &node.children) {
        let is_shown = !is_hidden(name) && !hidden.contains(&**name);
        let shown = if is_shown { name.to_string() } else { hidden_word(name) };
        places.entry(shown).or_default().push(node);
    }
    for (shown, nodes) in places {
        path.push(shown);
        collect(&nodes, reveal, path, groups);
        path.pop();
    }
}

fn hide(mut place: Vec<&mut Node>) {
    let nodes: Vec<&Node> = place.iter().map(|node| &**node).collect();
    let hidden: Vec<String> = hidden(&words(&nodes)).into_iter().map(str::to_owned).collect();
    for node in &mut place {
        for name in &hidden {
            node.hide(name);
        }
    }
    let mut places: BTreeMap<String, Vec<&mut Node>> = BTreeMap::new();
    for (name, node) in place.into_iter().flat_map(|node| &mut node.children) {
        let shown = if is_hidden(name) { hidden_word(name) } else { name.to_string() };
        places.entry(shown).or_default().push(node);
    }
    places.into_values().for_each(hide);
}

impl Node {
    /// Leaves of a word nothing but its hash.
    fn hide(&mut self, name: &str) {
        let Some(child) = self.children.remove(name) else { return };
        let name = match child.kind {
            NodeKind::Word(Some(hash)) => format!("#{hash:016x}{}", cut(name).1),
            _ => hidden_word(name),
        };
        if is_hidden(&name) {
            self.children.insert(name.into(), child);
        } else {
            self.words -= 1;
            self.put(name.into(), Node { kind: NodeKind::Value, ..child }, usize::MAX);
        }
    }
}

/// The words at a place that have a name, and who shares them.
fn words<'n>(place: &[&'n Node]) -> BTreeMap<&'n str, Sharing<'n>> {
    let mut words: BTreeMap<&str, (Sharing<'_>, Vec<&Node>)> = BTreeMap::new();
    for (name, node) in place.iter().flat_map(|node| &node.children) {
        if matches!(node.kind, NodeKind::Word(_)) && !is_hidden(name) {
            let (sharing, nodes) = words.entry(name).or_default();
            node.each(&mut |leaf| sharing.keys += leaf.keys.amount.keys);
            nodes.push(node);
        }
    }
    let complete = |(name, (mut sharing, nodes)): (&'n str, (Sharing<'n>, Vec<&'n Node>))| {
        if Sharing::is_of_few(sharing.keys) {
            for node in nodes {
                node.paths(&mut Vec::new(), &mut sharing.below);
            }
        }
        (name, sharing)
    };
    words.into_iter().map(complete).collect()
}

impl Node {
    fn paths<'n>(&'n self, path: &mut Vec<&'n str>, paths: &mut BTreeSet<Vec<&'n str>>) {
        if self.leaf.is_some() {
            paths.insert(path.clone());
        }
        for (name, node) in &self.children {
            path.push(name);
            node.paths(path, paths);
            path.pop();
        }
    }
}
