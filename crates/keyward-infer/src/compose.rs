//! From families of keys to a draft.

use crate::draft::{Definition, Draft, Foreign, Param, ParamType, PatternPiece, Rest};
use crate::foreign;
use crate::sketch::{Sample, Sketch};
use crate::thresholds::Thresholds;
use crate::tree::{Family, Piece, Tree, Values};
use crate::types::Types;
use crate::{cut, facts, fit, lifetime, names, references, separators, typing, write};
use std::collections::{BTreeMap, BTreeSet};

/// How many keys of a definition are kept to compare it with others.
const EXAMPLES: usize = 200;

/// What is wanted of a draft.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Whether keys of well-known software are recognised
    pub foreign: bool,
    /// The numbers that decide
    pub thresholds: Thresholds,
}

impl Default for Options {
    fn default() -> Self {
        Options { foreign: true, thresholds: Thresholds::default() }
    }
}

impl Options {
    /// The same, without keys of well-known software being recognised.
    #[must_use]
    pub fn without_foreign(self) -> Self {
        Options { foreign: false, ..self }
    }

    /// The same with other numbers that decide.
    #[must_use]
    pub fn with_thresholds(self, thresholds: Thresholds) -> Self {
        Options { thresholds, ..self }
    }
}

/// Drafts a schema from a sample of a keyspace.
///
/// ```
/// use keyward_infer::{Observed, Options, Sketch, infer};
///
/// let mut sketch = Sketch::default();
/// for user in 1..=20 {
///     sketch.observe(Observed::new(0, format!("user:{user}:cart").as_bytes(), "hash"));
/// }
/// let draft = infer(&sketch, &Options::default());
/// assert_eq!(draft.definitions[0].pattern(|_| true), "user:{user_id:uint}:cart");
/// ```
pub fn infer(sketch: &Sketch, options: &Options) -> Draft {
    let samples = sketch.samples();
    let mut rest = Rest::default();
    rest.add("the key is longer than 512 bytes", sketch.long());
    let (foreign, samples) = recognise(samples, options);
    let samples = expressible(samples, &mut rest);
    let main = cut::main_separator(samples.iter().map(|sample| &*sample.observed.key));
    let dbs: BTreeSet<u64> = samples.iter().map(|sample| sample.observed.db).collect();
    let tree = Tree::grow(&samples, main, options.thresholds);
    let types = Types::new(main);
    let mut definitions: Vec<(Definition, Vec<&Sample<'_>>)> =
        tree.families.iter().map(|family| definition(&tree, family, &types)).collect();
    definitions.sort_by_key(|(definition, _)| definition.pieces_text());
    let prefix = take_prefix(&mut definitions, main);
    for (definition, _) in &mut definitions {
        definition.lifecycle = lifetime::lifecycle(definition);
    }
    name(&mut definitions);
    let mut draft = Draft {
        separator: char::from(main),
        prefix,
        db: dbs.first().copied().filter(|db| dbs.len() == 1 && *db != 0),
        keys: sketch.keys(),
        definitions: Vec::new(),
        foreign,
        rest,
        notes: Vec::new(),
        show_keys: false,
    };
    let definitions = fit::fit(&mut draft, definitions);
    draft.definitions = definitions;
    if let Ok(schema) = keyward_schema::read(&write::plain(&draft)).schema {
        lifetime::decide(&mut draft, &schema, &samples);
        references::find(&mut draft, &schema, &samples);
    }
    draft
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of keys")]
pub(crate) fn count(weight: f64) -> u64 {
    weight.round() as u64
}

impl Rest {
    pub(crate) fn add(&mut self, why: &str, keys: u64) {
        if keys == 0 {
            return;
        }
        self.keys += keys;
        match self.why.iter_mut().find(|(known, _)| known == why) {
            Some((_, count)) => *count += keys,
            None => self.why.push((why.to_owned(), keys)),
        }
    }
}

/// Takes out the keys of software that is recognised.
fn recognise<'s>(samples: Vec<Sample<'s>>, options: &Options) -> (Vec<Foreign>, Vec<Sample<'s>>) {
    if !options.foreign {
        return (Vec::new(), samples);
    }
    let known = samples.iter().map(|it| (&*it.observed.key, &*it.observed.key_type));
    let software = foreign::recognised(known);
    let mut counts: BTreeMap<(usize, &str), f64> = BTreeMap::new();
    let mut own = Vec::with_capacity(samples.len());
    for sample in samples {
        let glob = |(at, it): (usize, &&'static foreign::Software)| {
            it.glob_of(&sample.observed.key).map(|glob| (at, glob))
        };
        match software.iter().enumerate().find_map(glob) {
            Some(found) => *counts.entry(found).or_default() += sample.weight,
            None => own.push(sample),
        }
    }
    let mut found: Vec<Foreign> = Vec::new();
    for ((at, glob), weight) in counts {
        let id = names::free(software[at].name.clone(), |id| found.iter().any(|it| it.id == id));
        let about = software[at].about.clone();
        found.push(Foreign { id, about, glob: glob.to_owned(), keys: count(weight) });
    }
    (found, own)
}

/// Leaves out keys that no pattern can have.
fn expressible<'s>(samples: Vec<Sample<'s>>, rest: &mut Rest) -> Vec<Sample<'s>> {
    let mut own = Vec::with_capacity(samples.len());
    let mut left: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in samples {
        let why = match str::from_utf8(&sample.observed.key) {
            Err(_) => "the key is not UTF-8",
            Ok("") => "the key is empty",
            Ok(key) if key.chars().any(char::is_control) => "the key contains control characters",
            Ok(_) => {
                own.push(sample);
                continue;
            }
        };
        *left.entry(why).or_default() += sample.weight;
    }
    for (why, weight) in left {
        rest.add(why, count(weight).max(1));
    }
    own
}

/// A definition of a family; its id and the names of its parameters come later.
fn definition<'s>(
    tree: &Tree<'s>,
    family: &Family,
    types: &Types,
) -> (Definition, Vec<&'s Sample<'s>>) {
    let samples: Vec<&'s Sample<'s>> =
        family.keys.iter().map(|key| tree.keys[*key as usize].sample).collect();
    let mut pieces: Vec<PatternPiece> = Vec::new();
    let mut params = Vec::new();
    for piece in &family.pieces {
        match piece {
            Piece::Text(text) => {
                let text = String::from_utf8_lossy(text);
                match pieces.last_mut() {
                    Some(PatternPiece::Text(before)) => before.push_str(&text),
                    _ => pieces.push(PatternPiece::Text(text.into_owned())),
                }
            }
            Piece::Param(number) => {
                let values = &tree.params[*number];
                let ty = typing::param_type(values, types, &tree.thresholds);
                pieces.push(PatternPiece::Param(params.len()));
                params.push(param(ty, values));
            }
            Piece::Rest(number) => {
                pieces.push(PatternPiece::Param(params.len()));
                params.push(param(ParamType::Rest, &tree.params[*number]));
            }
        }
    }
    let own = samples.first().map(|it| cut::separator(&it.observed.key, types.separator));
    let separators = separators::apply(tree, &family.pieces, &mut params, own, types);
    let key_type = facts::key_type(&samples);
    let (ttl, sliding) = lifetime::ttl(&samples);
    let is_bounded = matches!(key_type.as_deref(), Some("list" | "set" | "zset" | "stream"));
    let definition = Definition {
        id: String::new(),
        pieces,
        params,
        separators,
        keys: count(samples.iter().map(|sample| sample.weight).sum()),
        group: None,
        ttl,
        ttls: Vec::new(),
        sliding,
        lifecycle: None,
        holds: facts::holds(&samples, key_type.as_deref()),
        max_len: is_bounded.then(|| facts::max_len(&samples)).flatten(),
        key_type,
        notes: Vec::new(),
        examples: samples.iter().take(EXAMPLES).map(|it| it.observed.key.clone()).collect(),
    };
    (definition, samples)
}

fn param(ty: ParamType, values: &Values<'_>) -> Param {
    let path = ty == ParamType::Rest && values.keys().any(|text| text.contains(&b'/'));
    Param { name: if path { "path" } else { "" }.to_owned(), ty, values: values.len() }
}

/// What all keys begin with, if it ends with a separator; it is taken off the patterns.
fn take_prefix(definitions: &mut [(Definition, Vec<&Sample<'_>>)], main: u8) -> String {
    const FEWEST: usize = 3;
    let head = |definition: &Definition| match definition.pieces.first() {
        Some(PatternPiece::Text(text)) => text.clone(),
        _ => String::new(),
    };
    let Some(mut shared) = definitions.first().map(|(it, _)| head(it)) else {
        return String::new();
    };
    for (definition, _) in definitions.iter() {
        let own = head(definition);
        let len = shared.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
        shared.truncate((0..=len).rev().find(|at| shared.is_char_boundary(*at)).unwrap_or(0));
        // Something must be left.
        if own.len() == shared.len() && definition.pieces.len() == 1 {
            shared.pop();
        }
    }
    let end = shared.rfind(char::from(main)).map_or(0, |at| at + 1);
    shared.truncate(end);
    if definitions.len() < FEWEST || shared.contains(['{', '}']) {
        return String::new();
    }
    for (definition, _) in definitions {
        if let Some(PatternPiece::Text(text)) = definition.pieces.first_mut() {
            text.drain(..shared.len());
            if text.is_empty() {
                definition.pieces.remove(0);
            }
        }
    }
    shared
}

/// Gives definitions their ids and groups, and parameters their names.
fn name(definitions: &mut [(Definition, Vec<&Sample<'_>>)]) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for (definition, _) in definitions.iter_mut() {
        name_params(definition);
        let words = definition.words();
        let id = if words.is_empty() {
            format!("by_{}", definition.params.first().map_or("key", |param| param.name.as_str()))
        } else {
            names::id(words.iter().map(String::as_str))
        };
        let id = match definition.params.last() {
            Some(last) if taken.contains(&id) => format!("{id}_by_{}", last.name),
            _ => id,
        };
        definition.id = names::free(id, |id| taken.contains(id));
        taken.insert(definition.id.clone());
        if let Some(word) = words.first() {
            *groups.entry(names::id([word.as_str()].into_iter())).or_default() += 1;
        }
    }
    let shared = groups.values().filter(|count| **count > 1).count();
    if groups.len() < 2 || shared == 0 {
        return;
    }
    for (definition, _) in definitions {
        let word = definition.words().into_iter().next();
        let group = word.map(|word| names::id([word.as_str()].into_iter()));
        definition.group = group.filter(|group| groups.get(group).is_some_and(|count| *count > 1));
    }
}

pub(crate) fn name_params(definition: &mut Definition) {
    let mut word: Option<String> = None;
    let mut named: Vec<String> = Vec::new();
    let end = definition.pieces.len().saturating_sub(1);
    for (at, piece) in definition.pieces.iter().enumerate() {
        match piece {
            PatternPiece::Text(text) => {
                let last = names::words(text).pop();
                word = last.filter(|word| !word.chars().all(|char| char.is_ascii_digit())).or(word);
            }
            PatternPiece::Param(number) => {
                let param = &mut definition.params[*number];
                let own = std::mem::take(&mut param.name);
                let name = match &param.ty {
                    _ if !own.is_empty() => own,
                    ParamType::Rest if at < end => "path".to_owned(),
                    ty => names::param(word.as_deref(), ty),
                };
                param.name = names::free(name, |name| named.iter().any(|known| known == name));
                named.push(param.name.clone());
                word = None;
            }
        }
    }
}

impl Definition {
    /// The words of its pattern, each once in a row.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                PatternPiece::Text(text) => Some(names::words(text)),
                PatternPiece::Param(_) => None,
            })
            .flatten()
            .collect();
        words.dedup();
        words
    }

    /// The pattern with a mark for each parameter, which patterns are ordered by.
    pub(crate) fn pieces_text(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                PatternPiece::Text(text) => text.as_str(),
                PatternPiece::Param(_) => "\u{1}",
            })
            .collect()
    }
}
