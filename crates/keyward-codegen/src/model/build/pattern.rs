//! What keys look like, now and before.

use super::Building;
use crate::model::{Former, FormerPart, Param, PatternPart, Prefix};
use keyward_pattern::{Template, Type};
use keyward_schema::model::{Migration, Phase, Recase, Rename};

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

    /// An old name; `None` if there is no such definition. `languages` are those of its own parameters.
    pub(super) fn former(
        &self,
        migration: &Migration,
        rename: &Rename,
        languages: &[Option<u32>],
    ) -> Option<Former> {
        let key = self.schema.keys.iter().position(|key| *key.name == *rename.definition)?;
        let params = &self.schema.keys[key].params;
        let part = |part: PatternPart| {
            let old = part.param.and_then(|at| Some((rename.params.get(at)?, languages.get(at)?)));
            let Some((old, language)) = old else {
                return FormerPart { literal: part.literal, ..FormerPart::default() };
            };
            let keys = match &old.param.value.ty {
                Type::Key(names) => self.numbers(names),
                _ => Vec::new(),
            };
            let param = params.iter().position(|param| *param.name == *old.name);
            let recase = rename.recase(&old.name).map(Recase::name);
            FormerPart { literal: None, param, language: *language, keys, recase }
        };
        let parts: Vec<FormerPart> = parts(&rename.from).into_iter().map(part).collect();
        let known = |part: &FormerPart| part.literal.is_some() || part.param.is_some();
        Some(Former {
            migration: migration.name.value.clone(),
            phase: migration.phase.name(),
            key,
            db: rename.database(),
            used: *migration.phase != Phase::Cleanup
                && rename.is_known_to_stores()
                && parts.iter().all(known),
            parts,
        })
    }
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
