//! Values that are parameters of other definitions, where the sample proves it.

use crate::draft::{Definition, Draft, Held, ParamType, PatternPiece};
use crate::sketch::Sample;
use crate::{fit, names};
use keyward_schema::model::Schema;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// So many different values must be parameters of the other definition.
const FEWEST: usize = 5;
/// A key that stands for more than itself: not all keys of its definition are known.
const WHOLE: f64 = 1.001;

/// Texts of a definition: of its field of this name, or of its values if it is empty.
type Texts<'s> = BTreeMap<(usize, &'s str), BTreeSet<&'s str>>;

/// A parameter that values may refer to.
struct Target<'k> {
    definition: usize,
    param: usize,
    values: BTreeSet<Cow<'k, str>>,
}

/// Finds references: all values that were seen are a parameter of one other definition, all keys of which were seen, or
/// are keys of other definitions.
pub(crate) fn find(draft: &mut Draft, schema: &Schema, samples: &[Sample<'_>]) {
    let mut texts = Texts::new();
    let mut whole = vec![true; draft.definitions.len()];
    let mut targets: BTreeMap<(usize, usize), Target<'_>> = BTreeMap::new();
    let mut values = Vec::new();
    for sample in samples {
        let Some(id) = schema.compiled.parse_into(&sample.observed.key, &mut values) else {
            continue;
        };
        whole[id.index()] &= sample.weight < WHOLE;
        for (param, value) in values.iter().enumerate() {
            let (definition, param) = (id.index(), param);
            let new = || Target { definition, param, values: BTreeSet::new() };
            targets.entry((definition, param)).or_insert_with(new).values.insert(value.clone());
        }
        for part in sample.observed.content.iter().flat_map(|content| &content.parts) {
            if let Some(text) = &part.text {
                texts.entry((id.index(), &part.name)).or_default().insert(text);
            }
        }
    }
    targets.retain(|_, target| {
        whole[target.definition] && is_distinct(&draft.definitions[target.definition], target.param)
    });
    let mut found = Vec::new();
    for ((from, name), texts) in texts {
        if texts.len() < FEWEST {
            continue;
        }
        let held = parameter(draft, targets.values(), from, name, &texts)
            .or_else(|| keys(draft, schema, from, &texts));
        found.extend(held.map(|held| (from, name.to_owned(), held)));
    }
    for (from, name, held) in found {
        let before = draft.definitions[from].holds.clone();
        let holds = &mut draft.definitions[from].holds;
        if name.is_empty() {
            if holds.value.is_some() {
                holds.value = Some(held);
            }
        } else if let Some(field) = holds.fields.iter_mut().find(|field| field.name == name) {
            field.held = held;
        }
        // A reference may contradict what else is declared.
        if draft.definitions[from].holds != before && !fit::is_sound(draft) {
            draft.definitions[from].holds = before;
        }
    }
}

/// Whether a value of a parameter is hardly another's by accident.
fn is_distinct(definition: &Definition, param: usize) -> bool {
    const DISTINCT: [&str; 8] =
        ["uuid", "uint", "ulid", "email", "hex", "digits", "alnum", "base64url"];
    match definition.params.get(param).map(|param| &param.ty) {
        Some(ParamType::Named(name)) => DISTINCT.contains(&name.split('(').next().unwrap_or(name)),
        _ => false,
    }
}

/// The parameter that all texts are values of.
fn parameter<'t, 'k: 't>(
    draft: &Draft,
    targets: impl Iterator<Item = &'t Target<'k>>,
    from: usize,
    name: &str,
    texts: &BTreeSet<&str>,
) -> Option<Held> {
    let param = |target: &Target<'_>| &draft.definitions[target.definition].params[target.param];
    let holds = |target: &&Target<'_>| {
        let is_number = param(target).ty == ParamType::Named("uint".to_owned());
        target.definition != from
            && (!is_number || param(target).name == name)
            && texts.iter().all(|text| target.values.contains(*text))
    };
    let nearest = targets.filter(holds).min_by_key(|target| {
        let definition = &draft.definitions[target.definition];
        (param(target).name != name, definition.pieces.len(), definition.id.clone(), target.param)
    })?;
    let id = draft.definitions[nearest.definition].id.clone();
    Some(Held::Ref(id, param(nearest).name.clone()))
}

/// The definitions that all texts are keys of: they begin with words, so that no other text is one by accident.
fn keys(draft: &Draft, schema: &Schema, from: usize, texts: &BTreeSet<&str>) -> Option<Held> {
    const MOST: usize = 3;
    let mut ids = BTreeSet::new();
    for text in texts {
        let id = schema.compiled.classify(format!("{}{text}", draft.prefix).as_bytes())?.index();
        let begins = match draft.definitions.get(id)?.pieces.first() {
            Some(PatternPiece::Text(text)) => names::words(text).iter().any(|it| it.len() > 1),
            _ => false,
        };
        if !begins || id == from {
            return None;
        }
        ids.insert(draft.definitions[id].id.clone());
    }
    (ids.len() <= MOST).then(|| Held::Key(ids.into_iter().collect()))
}
