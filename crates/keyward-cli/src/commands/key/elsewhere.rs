//! Keys that a schema speaks of without defining them: old names, and other software's.

use super::answer::{Form, Words};
use keyward_pattern::{DefinitionId, Glob, Keyspace};
use keyward_schema::Schema;
use std::borrow::Cow;

/// What the schemas say outside `[keys]`, compiled once.
#[derive(Debug)]
pub(super) struct Elsewhere {
    each: Vec<Outside>,
}

/// What one schema says.
#[derive(Debug)]
struct Outside {
    old: Vec<Old>,
    foreign: Vec<(Glob, Words)>,
}

/// The old names in one database.
#[derive(Debug)]
struct Old {
    /// The old patterns; the first definitions are those of `renames`
    keyspace: Keyspace,
    renames: Vec<Words>,
}

/// Where a key is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    /// Which of the schemas, which of [`Schema::old_names_by_db`], and which of its renames
    Old { schema: usize, names: usize, rename: usize },
    /// Which of the schemas, and which of its `[foreign.*]`
    Foreign { schema: usize, number: usize },
}

impl Elsewhere {
    pub(super) fn new(schemas: &[Schema], form: Form) -> Self {
        let several = schemas.len() > 1;
        Elsewhere { each: schemas.iter().map(|it| Outside::new(it, several, form)).collect() }
    }

    /// Finds what is said about a key, and the values of an old name's parameters.
    pub(super) fn find<'k>(
        &self,
        key: &'k [u8],
        values: &mut Vec<Cow<'k, str>>,
    ) -> Option<Mention> {
        for (schema, outside) in self.each.iter().enumerate() {
            for (names, old) in outside.old.iter().enumerate() {
                if let Some(rename) = old.keyspace.parse_into(key, values).map(DefinitionId::index)
                    && rename < old.renames.len()
                {
                    return Some(Mention::Old { schema, names, rename });
                }
            }
        }
        values.clear();
        self.each.iter().enumerate().find_map(|(schema, outside)| {
            let number = outside.foreign.iter().position(|(glob, _)| glob.matches(key))?;
            Some(Mention::Foreign { schema, number })
        })
    }

    /// What an answer says in any case.
    pub(super) fn words(&self, mention: Mention) -> &Words {
        match mention {
            Mention::Old { schema, names, rename } => &self.each[schema].old[names].renames[rename],
            Mention::Foreign { schema, number } => &self.each[schema].foreign[number].1,
        }
    }
}

impl Outside {
    fn new(schema: &Schema, several: bool, form: Form) -> Self {
        let keyspace = schema.keyspace.name.as_str();
        let owner = if several { format!("{keyspace}/") } else { String::new() };
        let named = |kind: &str, name: &str| format!("{kind}:{owner}{name}");
        let mut outside = Outside { old: Vec::new(), foreign: Vec::new() };
        for old in schema.old_names_by_db() {
            let each = old.renames.iter().zip(old.keyspace.definitions());
            let renames = each.map(|((migration, rename), definition)| {
                let params = definition.params().iter().map(|(param, _)| param.as_str());
                let name = rename.definition.as_str();
                match form {
                    Form::Text => Words::text(&named("old", name), params),
                    Form::Json => Words::json_old(keyspace, name, &migration.name, params),
                }
            });
            let renames = renames.collect();
            outside.old.push(Old { keyspace: old.keyspace, renames });
        }
        for foreign in &schema.foreign {
            let words = match form {
                Form::Text => Words::text(&named("foreign", &foreign.name), std::iter::empty()),
                Form::Json => Words::json_foreign(keyspace, &foreign.name),
            };
            outside.foreign.push((Glob::new(&foreign.glob), words));
        }
        outside
    }
}
