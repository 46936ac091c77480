//! What keys look like, now and before.

use super::Building;
use crate::model::{Former, FormerPart, Param, PatternPart, Prefix};
use keyward_pattern::{Template, Type};
use keyward_schema::Schema;
use keyward_schema::model::{Phase, Recase, Rename};

impl Building<'_> {
    pub(super) fn prefix(&self, params: &[Param]) -> Prefix {
        let template = self.schema.keyspace.prefix.as_ref().map(|prefix| &prefix.value);
        let parts = template.map(parts).unwrap_or_default();
        let literals = || parts.iter().filter_map(|part| part.literal.as_deref());
        Prefix {
            pattern: template.map(ToString::to_string).unwrap_or_default(),
            constant: params.is_empty().then(|| literals().collect()),
            params: params.to_vec(),
            parts,
        }
    }

    /// An old name, and the number of the definition that has it.
    pub(super) fn former<'l>(
        &self,
        phase: Phase,
        rename: &Rename,
        languages: &mut impl Iterator<Item = &'l Option<u32>>,
    ) -> Option<(usize, Former)> {
        let languages: Vec<Option<u32>> =
            languages.by_ref().take(rename.params.len()).copied().collect();
        let number = self.schema.keys.iter().position(|key| *key.name == *rename.definition)?;
        let params = &self.schema.keys[number].params;
        let parts = parts(&rename.from);
        let parts: Option<Vec<FormerPart>> = parts
            .into_iter()
            .map(|part| {
                let Some(at) = part.param else {
                    return Some(FormerPart { literal: part.literal, ..FormerPart::default() });
                };
                let old = rename.params.get(at)?;
                let param = params.iter().position(|param| *param.name == *old.name)?;
                let rest = rename.from.holes().nth(at).is_some_and(|hole| hole.rest);
                let keys = match &old.param.value.ty {
                    Type::Key(names) => self.numbers(names),
                    _ => Vec::new(),
                };
                let language = languages.get(at).copied().flatten().filter(|_| !rest);
                let recase = rename.recase(&old.name).map(Recase::name);
                Some(FormerPart { literal: None, param: Some(param), language, keys, recase })
            })
            .collect();
        Some((number, Former { phase: phase.name(), parts: parts? }))
    }
}

/// The old names that stores know, with the phase of their migration.
pub(super) fn old_names(schema: &Schema) -> impl Iterator<Item = (Phase, &Rename)> {
    let running = schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup);
    running
        .flat_map(|it| it.renames.iter().map(|rename| (*it.phase, rename)))
        .filter(|(_, rename)| rename.is_known_to_stores())
}

/// The literals and parameters of a pattern, neighbouring literals joined.
pub(super) fn parts(template: &Template) -> Vec<PatternPart> {
    let mut found = Vec::new();
    let mut next = 0;
    for part in template.parts() {
        match part {
            keyward_pattern::Part::Literal(text) => found.push(Ok(text.clone())),
            keyward_pattern::Part::Hole(hole) => {
                found.extend(hole.tag.then(|| Ok("{".to_owned())));
                found.push(Err(next));
                found.extend(hole.tag.then(|| Ok("}".to_owned())));
                next += 1;
            }
        }
    }
    let mut joined: Vec<Result<String, usize>> = Vec::new();
    for part in found {
        match (joined.last_mut(), part) {
            (Some(Ok(before)), Ok(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    joined
        .into_iter()
        .map(|part| match part {
            Ok(text) => {
                PatternPart { glob: Some(escaped(&text)), literal: Some(text), param: None }
            }
            Err(param) => PatternPart { literal: None, glob: None, param: Some(param) },
        })
        .collect()
}

/// A text as it is written in a glob.
fn escaped(text: &str) -> String {
    let mut glob = String::new();
    keyward_pattern::escape_glob(text, &mut glob);
    glob
}
