//! Values that are parameters of other definitions, where the sample proves it.

use crate::draft::{Draft, Held, ParamType};
use crate::sketch::Sample;
use crate::write;
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
    values: BTreeSet<Cow<'k, str>>,
    is_whole: bool,
}

/// Finds references: all values that were seen are a parameter of one other definition, all keys of which were seen.
pub(crate) fn find(draft: &mut Draft, samples: &[Sample<'_>]) {
    let Ok(schema) = keyward_schema::read(&write::plain(draft)).schema else { return };
    let mut texts = Texts::new();
    let mut targets: Vec<Target<'_>> = (0..draft.definitions.len())
        .map(|definition| Target { definition, values: BTreeSet::new(), is_whole: true })
        .collect();
    let mut values = Vec::new();
    for sample in samples {
        let Some(id) = schema.compiled.parse_into(&sample.observed.key, &mut values) else {
            continue;
        };
        let target = &mut targets[id.index()];
        target.is_whole &= sample.weight < WHOLE;
        if let [value] = &values[..] {
            target.values.insert(value.clone());
        }
        for part in sample.observed.content.iter().flat_map(|content| &content.parts) {
            if let Some(text) = &part.text {
                texts.entry((id.index(), &part.name)).or_default().insert(text);
            }
        }
    }
    let is_distinct = |target: &Target<'_>| match &draft.definitions[target.definition].params[..] {
        [only] => match &only.ty {
            ParamType::Named(name) => {
                const DISTINCT: [&str; 8] =
                    ["uuid", "uint", "ulid", "email", "hex", "digits", "alnum", "base64url"];
                let base = name.split('(').next().unwrap_or(name);
                DISTINCT.contains(&base)
            }
            _ => false,
        },
        _ => false,
    };
    targets.retain(|target| target.is_whole && is_distinct(target));
    let mut found = Vec::new();
    for ((from, name), texts) in texts {
        if texts.len() < FEWEST {
            continue;
        }
        let holds = |target: &&Target<'_>| {
            let definition = &draft.definitions[target.definition];
            let param = &definition.params[0];
            let is_number = param.ty == ParamType::Named("uint".to_owned());
            target.definition != from
                && (!is_number || param.name == name)
                && texts.iter().all(|text| target.values.contains(*text))
        };
        let nearest = targets.iter().filter(holds).min_by_key(|target| {
            let definition = &draft.definitions[target.definition];
            (definition.params[0].name != name, definition.pieces.len(), definition.id.clone())
        });
        if let Some(target) = nearest {
            let to = &draft.definitions[target.definition];
            found.push((from, name.to_owned(), (to.id.clone(), to.params[0].name.clone())));
        }
    }
    for (from, name, (definition, param)) in found {
        let holds = &mut draft.definitions[from].holds;
        let held = Held::Ref(definition, param);
        if name.is_empty() {
            if holds.value.is_some() {
                holds.value = Some(held);
            }
        } else if let Some(field) = holds.fields.iter_mut().find(|field| field.name == name) {
            field.held = held;
        }
    }
}
