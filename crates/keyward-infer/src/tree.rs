//! Which places of keys are words and which are values: the families of a sample.
//!
//! Keys are cut into segments, and the segments at one place, behind the same beginning, are its tokens. A token whose
//! form only values have is a value. Of the others, those that are followed by the same are the values of a parameter
//! if a schema is shorter that way, see [`crate::alike`]; a word that recurs behind most values of the parameter before
//! it is a word.

use crate::alike::{self, Candidate};
use crate::cut::{cut, separator};
use crate::form::{self, Atom, Form, atoms, skeleton};
use crate::hash::hash;
use crate::sketch::Sample;
use crate::thresholds::{Threshold, Thresholds};
use crate::{reach, spelling};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A key of the sample, cut into segments.
pub(crate) struct Key<'s> {
    pub(crate) sample: &'s Sample<'s>,
    pub(crate) segments: Vec<KeySegment<'s>>,
}

pub(crate) struct KeySegment<'s> {
    pub(crate) text: &'s [u8],
    pub(crate) separator: Option<u8>,
    /// The number of its token
    pub(crate) token: u32,
}

/// What a segment looks like, with the separator behind it.
pub(crate) struct Token {
    pub(crate) is_value: Option<Form>,
    pub(crate) atoms: Vec<Atom>,
    pub(crate) separator: Option<u8>,
}

impl Token {
    /// Whether a number stands right behind letters in a text of it.
    pub(crate) fn is_glued(text: Option<&[u8]>) -> bool {
        let Some(text) = text else { return false };
        atoms(text).windows(2).any(|pair| {
            let before = &text[pair[0].place.clone()];
            pair[0].form.is_none()
                && pair[1].form.is_some()
                && before.last().is_some_and(u8::is_ascii_alphabetic)
        })
    }
}

/// A piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(Vec<u8>),
    /// The number of a parameter
    Param(usize),
    /// A parameter that takes the rest of the key
    Rest(usize),
}

/// The values of a parameter, with how many keys have each.
pub(crate) type Values<'s> = BTreeMap<&'s [u8], f64>;

/// Keys of one pattern.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub(crate) pieces: Vec<Piece>,
    /// The numbers of its keys in the sample
    pub(crate) keys: Vec<u32>,
}

impl Family {
    /// Makes one text of several in a row.
    fn join_texts(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            match (self.pieces.last_mut(), piece) {
                (Some(Piece::Text(before)), Piece::Text(text)) => before.extend(text),
                (_, piece) => self.pieces.push(piece),
            }
        }
    }
}

/// A key on its way through the tree, and the value of the last parameter in it so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) key: u32,
    pub(crate) parent: u64,
}

/// Finds families.
pub(crate) struct Tree<'s> {
    pub(crate) keys: Vec<Key<'s>>,
    pub(crate) tokens: Vec<Token>,
    pub(crate) params: Vec<Values<'s>>,
    pub(crate) families: Vec<Family>,
    pub(crate) thresholds: Thresholds,
}

impl<'s> Tree<'s> {
    /// The families of these keys.
    pub(crate) fn grow(samples: &'s [Sample<'s>], main: u8, thresholds: Thresholds) -> Self {
        let mut tree = Tree {
            keys: Vec::with_capacity(samples.len()),
            tokens: Vec::new(),
            params: Vec::new(),
            families: Vec::new(),
            thresholds,
        };
        let mut known = HashMap::new();
        for sample in samples {
            let key = &*sample.observed.key;
            let segments = cut(key, separator(key, main)).into_iter().map(|segment| {
                let text = &key[segment.place];
                let token = tree_token(&mut tree.tokens, &mut known, text, segment.separator);
                KeySegment { text, separator: segment.separator, token }
            });
            let segments = segments.collect();
            tree.keys.push(Key { sample, segments });
        }
        let all = (0u32..).take(tree.keys.len()).map(|key| Item { key, parent: 0 }).collect();
        tree.branch(all, 0, &mut Vec::new());
        tree.families.iter_mut().for_each(Family::join_texts);
        tree.unite();
        reach::join(&mut tree);
        tree
    }

    pub(crate) fn weight(&self, items: &[Item]) -> f64 {
        items.iter().map(|item| self.keys[item.key as usize].sample.weight).sum()
    }

    fn text(&self, item: Item, at: usize) -> &'s [u8] {
        self.keys[item.key as usize].segments[at].text
    }

    /// Finds the families of keys that have the same pieces before a place.
    fn branch(&mut self, items: Vec<Item>, at: usize, pieces: &mut Vec<Piece>) {
        let (ended, going): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|it| self.keys[it.key as usize].segments.len() == at);
        if !ended.is_empty() {
            let keys = ended.iter().map(|item| item.key).collect();
            self.families.push(Family { pieces: pieces.clone(), keys });
        }
        if going.is_empty() {
            return;
        }
        let before = self.families.len();
        let weight = self.weight(&going);
        let parents: BTreeSet<u64> = going.iter().map(|item| item.parent).collect();
        let mut by_token: BTreeMap<u32, Vec<Item>> = BTreeMap::new();
        for item in &going {
            by_token
                .entry(self.keys[item.key as usize].segments[at].token)
                .or_default()
                .push(*item);
        }
        let mut values = Vec::new();
        let mut words = Vec::new();
        for (token, items) in by_token {
            let is_value = self.tokens[token as usize].is_value;
            match is_value {
                Some(form) => values.push((form, Candidate { token, items })),
                None => words.push(Candidate { token, items }),
            }
        }
        let (recurrent, words) = self.recurrent(words, &parents);
        let (recurrent, choices) = self.choices(recurrent, &parents, at);
        let is_root = !pieces.iter().any(|piece| matches!(piece, Piece::Text(_)));
        let decided = alike::decide(self, recurrent, words, values, at, is_root);
        for literal in decided.words {
            self.descend_word(literal, at, pieces);
        }
        for cluster in decided.values.into_iter().chain([choices]).filter(|it| !it.is_empty()) {
            self.descend_values(&cluster, at, pieces);
        }
        self.collect_scattered(before, &going, weight, at, pieces);
    }

    /// Parts the words that recur behind most of the values before them from the others.
    fn recurrent(
        &self,
        words: Vec<Candidate>,
        parents: &BTreeSet<u64>,
    ) -> (Vec<(Candidate, bool)>, Vec<Candidate>) {
        if parents.len() < 2 {
            return (Vec::new(), words);
        }
        #[allow(clippy::cast_precision_loss, reason = "a share")]
        let share = |candidate: &Candidate| {
            let seen: BTreeSet<u64> = candidate.items.iter().map(|item| item.parent).collect();
            (seen.len(), seen.len() as f64 / parents.len() as f64)
        };
        let (mut recurrent, mut others) = (Vec::new(), Vec::new());
        for candidate in words {
            let (seen, share) = share(&candidate);
            if seen >= 2
                && (seen >= 3 || parents.len() <= 4)
                && share >= self.thresholds.of(Threshold::Recurs)
            {
                recurrent.push((candidate, share >= self.thresholds.of(Threshold::RecursSurely)));
            } else {
                others.push(candidate);
            }
        }
        (recurrent, others)
    }

    /// Takes out words of which many ids have one or the other at their end, with values of the same kind: they are
    /// choices (`presence/7/ios`) rather than names of different things, which nearly every id has.
    #[allow(clippy::cast_precision_loss, reason = "a share")]
    fn choices(
        &self,
        recurrent: Vec<(Candidate, bool)>,
        parents: &BTreeSet<u64>,
        at: usize,
    ) -> (Vec<(Candidate, bool)>, Vec<Item>) {
        let kind = |candidate: &Candidate| {
            let kinds: BTreeSet<_> = candidate
                .items
                .iter()
                .map(|item| {
                    let key = &self.keys[item.key as usize];
                    let observed = key.sample.observed;
                    let ttl = observed.ttl.is_some();
                    (key.segments.len() == at + 1, &*observed.key_type, ttl)
                })
                .collect();
            kinds
        };
        let share = |candidate: &Candidate| {
            let seen: BTreeSet<u64> = candidate.items.iter().map(|item| item.parent).collect();
            seen.len() as f64 / parents.len() as f64
        };
        let same = recurrent.windows(2).all(|pair| kind(&pair[0].0) == kind(&pair[1].0));
        let ends = recurrent.iter().all(|(it, _)| {
            let kinds = kind(it);
            kinds.len() == 1 && kinds.iter().all(|(ends, ..)| *ends)
        });
        let before = |item: &Item| {
            let segments = &self.keys[item.key as usize].segments;
            at.checked_sub(1).map(|before| self.tokens[segments[before].token as usize].is_value)
        };
        let ids = recurrent
            .iter()
            .flat_map(|(it, _)| &it.items)
            .all(|item| before(item).flatten().is_some());
        let rare =
            recurrent.iter().all(|(it, _)| share(it) < self.thresholds.of(Threshold::ChoiceShare));
        let is_choice = (2..=6).contains(&recurrent.len())
            && parents.len() >= self.thresholds.count(Threshold::ChoiceIds)
            && same
            && ends
            && ids
            && rare;
        if !is_choice {
            return (recurrent, Vec::new());
        }
        let mut items: Vec<Item> = recurrent.into_iter().flat_map(|(it, _)| it.items).collect();
        items.sort_by_key(|item| item.key);
        (Vec::new(), items)
    }

    /// A word, perhaps with values in it.
    fn descend_word(&mut self, candidate: Candidate, at: usize, pieces: &mut Vec<Piece>) {
        let depth = pieces.len();
        let separator = self.tokens[candidate.token as usize].separator;
        let atoms = self.tokens[candidate.token as usize].atoms.clone();
        let mut parent = None;
        for (number, atom) in atoms.iter().enumerate() {
            let texts: Vec<&'s [u8]> =
                candidate.items.iter().map(|it| nth(self.text(*it, at), number)).collect();
            let first = texts[0];
            let glued = number > 0 && atoms[number - 1].form.is_none() && {
                let before = nth(self.text(candidate.items[0], at), number - 1);
                before.last().is_some_and(u8::is_ascii_alphabetic)
            };
            let constant = texts.iter().all(|text| *text == first)
                && (glued
                    || first.len() <= 2 && texts.len() >= self.thresholds.count(Threshold::Fewest));
            match atom.form {
                Some(_) if !constant => {
                    let param = self.param(&candidate.items, &texts);
                    push_param(pieces, param);
                    parent = Some(());
                }
                _ => push_text(pieces, first),
            }
        }
        push_text(pieces, separator.as_slice());
        let mut items = candidate.items;
        if parent.is_some() {
            self.adopt(&mut items, at);
        }
        self.branch(items, at + 1, pieces);
        cut_back(pieces, depth);
    }

    /// Values of one parameter, perhaps with text before or behind them.
    fn descend_values(&mut self, items: &[Item], at: usize, pieces: &mut Vec<Piece>) {
        let texts: Vec<&'s [u8]> = items.iter().map(|item| self.text(*item, at)).collect();
        // What has a form is whole: all addresses of a network begin alike.
        let typed = texts.iter().all(|text| form::whole(text).is_some());
        for group in if typed {
            spelling::whole(texts.len())
        } else {
            spelling::split(&texts, &self.thresholds)
        } {
            let depth = pieces.len();
            let mut inside: Vec<Item> = group.members.iter().map(|member| items[*member]).collect();
            let own: Vec<&'s [u8]> = group
                .members
                .iter()
                .map(|member| {
                    let text = texts[*member];
                    &text[group.before.len()..text.len() - group.behind.len()]
                })
                .collect();
            push_text(pieces, &group.before);
            if !group.literal {
                // A name and a date behind it are two parameters.
                for part in spelling::parts(&own, typed, &self.thresholds) {
                    match part {
                        spelling::Part::Values(places) => {
                            let texts: Vec<&'s [u8]> =
                                own.iter().zip(places).map(|(text, place)| &text[place]).collect();
                            let param = self.param(&inside, &texts);
                            push_param(pieces, param);
                        }
                        spelling::Part::Mark(mark) => push_text(pieces, &[mark]),
                    }
                }
                self.adopt(&mut inside, at);
            }
            push_text(pieces, &group.behind);
            // All of a cluster have the same separator.
            let separator =
                inside.first().and_then(|item| self.keys[item.key as usize].segments[at].separator);
            push_text(pieces, separator.as_slice());
            self.branch(inside, at + 1, pieces);
            cut_back(pieces, depth);
        }
    }

    fn param(&mut self, items: &[Item], texts: &[&'s [u8]]) -> usize {
        let mut values = Values::new();
        for (item, text) in items.iter().zip(texts) {
            *values.entry(text).or_default() += self.keys[item.key as usize].sample.weight;
        }
        self.params.push(values);
        self.params.len() - 1
    }

    /// The values at a place are what words behind them may recur for.
    fn adopt(&self, items: &mut [Item], at: usize) {
        let texts: BTreeSet<&[u8]> = items.iter().map(|item| self.text(*item, at)).collect();
        if texts.len() > 1 {
            for item in items {
                item.parent = hash(self.text(*item, at));
            }
        }
    }

    /// Takes many families with few keys each for one whose keys may be anything.
    #[allow(clippy::cast_precision_loss, reason = "a mean")]
    fn collect_scattered(
        &mut self,
        before: usize,
        items: &[Item],
        weight: f64,
        at: usize,
        pieces: &[Piece],
    ) {
        let found = self.families.len() - before;
        if found < self.thresholds.count(Threshold::Scattered)
            || weight / found as f64 >= self.thresholds.of(Threshold::ScatteredKeys)
        {
            return;
        }
        if !pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) {
            return;
        }
        let texts: Vec<&'s [u8]> = items
            .iter()
            .map(|item| {
                let key = &self.keys[item.key as usize];
                let whole = &*key.sample.observed.key;
                let rest: usize = key.segments[at..]
                    .iter()
                    .map(|it| it.text.len() + usize::from(it.separator.is_some()))
                    .sum();
                &whole[whole.len() - rest..]
            })
            .collect();
        let param = self.param(items, &texts);
        let mut pieces = pieces.to_vec();
        pieces.push(Piece::Rest(param));
        let keys = items.iter().map(|item| item.key).collect();
        self.families.truncate(before);
        self.families.push(Family { pieces, keys });
    }

    /// Joins families that were found in several places with the same pieces.
    fn unite(&mut self) {
        let mut united: Vec<Family> = Vec::new();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for family in std::mem::take(&mut self.families) {
            let look = family.pieces.iter().fold(Vec::new(), |mut look, piece| {
                match piece {
                    Piece::Text(text) => look.extend_from_slice(text),
                    Piece::Param(_) => look.push(0),
                    Piece::Rest(_) => look.extend([0, 0]),
                }
                look
            });
            if let Some(at) = known.get(&look) {
                let ours = united[*at].pieces.clone();
                for (ours, theirs) in ours.iter().zip(&family.pieces) {
                    let ((Piece::Param(ours), Piece::Param(theirs))
                    | (Piece::Rest(ours), Piece::Rest(theirs))) = (ours, theirs)
                    else {
                        continue;
                    };
                    if ours != theirs {
                        let theirs = self.params[*theirs].clone();
                        for (value, weight) in theirs {
                            *self.params[*ours].entry(value).or_default() += weight;
                        }
                    }
                }
                united[*at].keys.extend(family.keys);
            } else {
                known.insert(look, united.len());
                united.push(family);
            }
        }
        self.families = united;
    }
}

fn tree_token(
    tokens: &mut Vec<Token>,
    known: &mut HashMap<Vec<u8>, u32>,
    text: &[u8],
    separator: Option<u8>,
) -> u32 {
    let atoms = atoms(text);
    let mut look = Vec::with_capacity(text.len() + 1);
    skeleton(text, &atoms, &mut look);
    look.push(separator.unwrap_or(0));
    *known.entry(look).or_insert_with(|| {
        let is_value = match &atoms[..] {
            [only] => only.form,
            _ => None,
        };
        tokens.push(Token { is_value, atoms, separator });
        u32::try_from(tokens.len() - 1).unwrap_or(u32::MAX)
    })
}

/// The text of an atom of a segment. Segments with the same token have the same atoms.
fn nth(text: &[u8], number: usize) -> &[u8] {
    atoms(text).get(number).map_or(&[], |atom| &text[atom.place.clone()])
}

fn push_text(pieces: &mut Vec<Piece>, text: &[u8]) {
    if !text.is_empty() {
        pieces.push(Piece::Text(text.to_vec()));
    }
}

fn push_param(pieces: &mut Vec<Piece>, param: usize) {
    pieces.push(Piece::Param(param));
}

fn cut_back(pieces: &mut Vec<Piece>, depth: usize) {
    pieces.truncate(depth);
}
