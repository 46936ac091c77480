//! Which element of a text is which of those that are stored.
//!
//! What is unchanged keeps its key, wherever it moved. What changed keeps it if its name is the same. Each pass goes over
//! what is left once, so that the time is linear however different the two are.

use crate::kind::Kind;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// An element that is stored, in the order of positions.
#[derive(Debug, Clone)]
pub(super) struct Old<'a> {
    pub(super) kind: Kind,
    pub(super) hash: &'a str,
    pub(super) identifier: &'a str,
    pub(super) parent: &'a str,
    pub(super) key: &'a str,
}

/// An element of the text, in reading order.
#[derive(Debug, Clone)]
pub(super) struct New<'a> {
    pub(super) kind: Kind,
    pub(super) hash: &'a str,
    /// Its place among the new ones
    pub(super) parent: Option<usize>,
}

/// What becomes of a new element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is the stored one at this place
    Old(usize),
    /// It gets a key with this identifier
    Named(String),
}

/// Chooses for each new element. `document` is the key of the stored document, and `name` names a new element.
pub(super) fn choose(
    old: &[Old<'_>],
    new: &[New<'_>],
    document: &str,
    name: impl Fn(usize) -> String,
) -> Vec<Choice> {
    let mut matching = Matching { chosen: vec![None; new.len()], taken: vec![false; old.len()] };
    let same = |o: usize, n: usize| (old[o].kind, old[o].hash) == (new[n].kind, new[n].hash);
    let content_of_old = |o: usize| (old[o].kind, old[o].hash);
    let content_of_new = |n: usize| (new[n].kind, new[n].hash);

    // What stands before and after all changes.
    let shorter = old.len().min(new.len());
    let before = (0..shorter).take_while(|&at| same(at, at)).count();
    (0..before).for_each(|at| matching.take(at, at));
    let from_end = |at: usize| (old.len() - 1 - at, new.len() - 1 - at);
    let after = (0..shorter - before).take_while(|&at| {
        let (o, n) = from_end(at);
        same(o, n)
    });
    for at in 0..after.count() {
        let (o, n) = from_end(at);
        matching.take(o, n);
    }
    // What is there once before and once now, wherever it moved.
    let mut once: HashMap<_, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for o in matching.left_old() {
        once.entry(content_of_old(o)).or_default().0.push(o);
    }
    for n in matching.left_new() {
        once.entry(content_of_new(n)).or_default().1.push(n);
    }
    for (olds, news) in once.into_values() {
        if let ([o], [n]) = (&olds[..], &news[..]) {
            matching.take(*o, *n);
        }
    }
    // What is there more than once: below the same parent, then anywhere, in order.
    let parents: Vec<&str> = new
        .iter()
        .map(|it| match it.parent.map(|parent| matching.chosen[parent]) {
            None => document,
            Some(Some(parent)) => old[parent].key,
            Some(None) => "",
        })
        .collect();
    matching.pass(|o| (content_of_old(o), old[o].parent), |n| (content_of_new(n), parents[n]));
    matching.pass(content_of_old, content_of_new);
    // What changed, and is still named alike.
    let names: Vec<String> = (0..new.len())
        .map(|n| if matching.chosen[n].is_none() { name(n) } else { String::new() })
        .collect();
    matching.pass(|o| (old[o].kind, old[o].identifier), |n| (new[n].kind, names[n].as_str()));
    let chosen = matching.chosen.into_iter().zip(names);
    chosen.map(|(old, name)| old.map_or(Choice::Named(name), Choice::Old)).collect()
}

struct Matching {
    /// For each new element
    chosen: Vec<Option<usize>>,
    /// For each stored element
    taken: Vec<bool>,
}

impl Matching {
    fn take(&mut self, old: usize, new: usize) {
        self.chosen[new] = Some(old);
        self.taken[old] = true;
    }

    fn left_old(&self) -> Vec<usize> {
        (0..self.taken.len()).filter(|&o| !self.taken[o]).collect()
    }

    fn left_new(&self) -> Vec<usize> {
        (0..self.chosen.len()).filter(|&n| self.chosen[n].is_none()).collect()
    }

    /// Matches what has equal keys, in order.
    fn pass<K: Hash + Eq>(&mut self, of_old: impl Fn(usize) -> K, of_new: impl Fn(usize) -> K) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for o in self.left_old() {
            waiting.entry(of_old(o)).or_default().push_back(o);
        }
        if waiting.is_empty() {
            return;
        }
        for n in self.left_new() {
            if let Some(o) = waiting.get_mut(&of_new(n)).and_then(VecDeque::pop_front) {
                self.take(o, n);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Old and new elements, by their letters; a capital is a chapter, below which small letters stand.
    fn chosen(old: &str, new: &str) -> String {
        let letters: Vec<String> = (b'A'..=b'z').map(|it| char::from(it).to_string()).collect();
        let letter = |c: char| letters[c as usize - usize::from(b'A')].as_str();
        let kind = |c: char| if c.is_uppercase() { Kind::Chapter } else { Kind::Chunk };
        let keys: Vec<String> = (0..old.len()).map(|at| at.to_string()).collect();
        let mut parent = "document";
        let mut olds = Vec::new();
        for (c, key) in old.chars().zip(&keys) {
            let own = if c.is_uppercase() { "document" } else { parent };
            let hash = letter(c);
            olds.push(Old { kind: kind(c), hash, identifier: "same", parent: own, key });
            if c.is_uppercase() {
                parent = key;
            }
        }
        let mut parent = None;
        let mut news = Vec::new();
        for (at, c) in new.chars().enumerate() {
            let own = if c.is_uppercase() { None } else { parent };
            news.push(New { kind: kind(c), hash: letter(c), parent: own });
            if c.is_uppercase() {
                parent = Some(at);
            }
        }
        let choices = choose(&olds, &news, "document", |at| format!("new{at}"));
        let shown = choices.into_iter().map(|choice| match choice {
            Choice::Old(at) => at.to_string(),
            Choice::Named(_) => "-".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn unchanged_elements_are_found_around_and_between_changes() {
        assert_eq!(chosen("AaBb", "AaBb"), "0 1 2 3");
        assert_eq!(chosen("AaBb", "AaCcBb"), "0 1 - - 2 3");
        assert_eq!(chosen("AaCcBb", "AaBb"), "0 1 4 5");
        assert_eq!(chosen("", "Aa"), "- -");
        assert_eq!(chosen("Aa", ""), "");
    }

    #[test]
    fn what_moved_is_found() {
        assert_eq!(chosen("AaBbCc", "CcAaBb"), "4 5 0 1 2 3");
    }

    #[test]
    fn equal_texts_stay_below_their_own_parents() {
        // `x` is below A and below B; now there is a C with another one before both.
        assert_eq!(chosen("AxBx", "CxAxBx"), "- - 0 1 2 3");
        assert_eq!(chosen("AxBxDd", "CxAxBxEe"), "- - 0 1 2 3 - -");
    }
}
