//! Makes a draft a schema that can be read and is sound: what does not fit is left out, and said to be.

use crate::compose::count;
use crate::draft::{Definition, Draft, Holds, ParamType, PatternPiece};
use crate::sketch::Sample;
use crate::write;
use keyward_schema::model::Schema;
use keyward_schema::{Diagnostic, Loaded, Span};
use std::collections::BTreeSet;

/// How often a draft is corrected before what is wrong is left out altogether.
const MOST_ROUNDS: usize = 200;

type Drafted<'s> = (Definition, Vec<&'s Sample<'s>>);

/// The definitions that make a sound schema together. Keys of the others, and keys that no definition has, are the rest.
pub(crate) fn fit<'s>(draft: &mut Draft, mut definitions: Vec<Drafted<'s>>) -> Vec<Definition> {
    let mut left: Vec<Drafted<'s>> = Vec::new();
    for round in 0.. {
        draft.definitions = definitions.iter().map(|(definition, _)| definition.clone()).collect();
        let keys =
            |id: &str| definitions.iter().find(|(it, _)| it.id == id).map_or(0, |(it, _)| it.keys);
        let (wrong, is_readable) = wrong(&write::plain(draft), &keyward_schema::read, keys);
        if wrong.is_empty() {
            break;
        }
        let last = round >= MOST_ROUNDS;
        let mut kept = Vec::with_capacity(definitions.len());
        for (mut definition, samples) in std::mem::take(&mut definitions) {
            let stays = !wrong.contains(&definition.id)
                || !last && (!is_readable && say_less(&mut definition) || loosen(&mut definition));
            if stays {
                kept.push((definition, samples));
            } else {
                left.push((definition, samples));
            }
        }
        definitions = kept;
    }
    let schema = keyward_schema::read(&write::plain(draft)).schema.ok();
    let classify = |key: &[u8]| schema.as_ref().and_then(|it: &Schema| it.compiled.classify(key));
    let all = definitions.iter().chain(&left).flat_map(|(_, samples)| samples);
    let weight: f64 =
        all.filter(|it| classify(&it.observed.key).is_none()).map(|it| it.weight).sum();
    draft.rest.add("no pattern that is sound with the others holds the key", count(weight));
    definitions.into_iter().map(|(definition, _)| definition).collect()
}

/// Whether a draft can be read and is sound.
pub(crate) fn is_sound(draft: &Draft) -> bool {
    let (wrong, is_readable) = wrong(&write::plain(draft), &keyward_schema::read, |_| 0);
    is_readable && wrong.is_empty()
}

/// Says nothing about values, if something was said.
fn say_less(definition: &mut Definition) -> bool {
    let said = definition.holds != Holds::default() || definition.max_len.is_some();
    definition.holds = Holds::default();
    definition.max_len = None;
    said
}

/// Makes a definition simpler, if it can be.
fn loosen(definition: &mut Definition) -> bool {
    // The last parameter but the rest takes everything behind it.
    let is_param = |piece: &PatternPiece| matches!(piece, PatternPiece::Param(_));
    let Some(first) = definition.pieces.iter().position(is_param).filter(|at| *at > 0) else {
        return false;
    };
    let is_rest = definition.params.iter().any(|param| param.ty == ParamType::Rest);
    if is_rest || first + 1 == definition.pieces.len() {
        return false;
    }
    definition.pieces.truncate(first + 1);
    definition.params.truncate(1);
    definition.params[0].ty = ParamType::Rest;
    "rest".clone_into(&mut definition.params[0].name);
    true
}

/// The id in a line that begins a definition.
fn id_of(line: &str) -> Option<&str> {
    line.strip_prefix("[keys.")?.split([']', '.']).next()
}

/// The ids of definitions that are not sound as they are: of two that contradict each other, the one with fewer keys.
/// Also whether the text can be read.
pub(crate) fn wrong(
    text: &str,
    load: &dyn Fn(&str) -> Loaded,
    keys: impl Fn(&str) -> u64,
) -> (BTreeSet<String>, bool) {
    let loaded = load(text);
    // What the text includes is not to be changed.
    let own = loaded.sources.iter().next().map(|(file, _)| file);
    let id_at = |span: &Span| {
        if Some(span.file) != own {
            return None;
        }
        let start = span.start;
        let before = &text[..text[start..].find('\n').map_or(text.len(), |end| start + end)];
        before.lines().rev().find_map(id_of).map(str::to_owned)
    };
    let schema = match &loaded.schema {
        Err(errors) => {
            let place = |error: &Diagnostic| id_at(&error.labels.first()?.span);
            let found: BTreeSet<String> = errors.iter().filter_map(place).collect();
            // What is wrong outside of definitions is wrong because of one of them.
            let all = || text.lines().filter_map(id_of).map(str::to_owned).collect();
            return (if found.is_empty() { all() } else { found }, false);
        }
        Ok(schema) => schema,
    };
    let mut wrong = BTreeSet::new();
    for finding in keyward_rules::unsound(&[schema]) {
        let ids: Vec<String> =
            finding.labels.iter().filter_map(|label| id_at(&label.span)).collect();
        if ids.iter().any(|id| wrong.contains(id)) {
            continue;
        }
        let least = ids.into_iter().min_by_key(|id| (keys(id), id.clone()));
        match least.or(finding.definition) {
            Some(id) => drop(wrong.insert(id)),
            None => wrong.extend(schema.keys.last().map(|it| it.name.value.clone())),
        }
    }
    (wrong, true)
}
