//! Keys that a schema speaks of without defining them: old names, and other software's.

use super::answer::{Form, Words};
use keyward_audit::lookup::Mention;
use keyward_schema::Schema;

/// What answers say about keys that schemas mention outside `[keys]`.
#[derive(Debug)]
pub(super) struct Elsewhere {
    each: Vec<Outside>,
}

/// What one schema says.
#[derive(Debug)]
struct Outside {
    /// For each database, the old names in it
    old: Vec<Vec<Words>>,
    foreign: Vec<Words>,
}

impl Elsewhere {
    pub(super) fn new(schemas: &[Schema], form: Form) -> Self {
        let several = schemas.len() > 1;
        Elsewhere { each: schemas.iter().map(|it| Outside::new(it, several, form)).collect() }
    }

    /// What an answer says in any case.
    pub(super) fn words(&self, mention: Mention) -> &Words {
        match mention {
            Mention::Old { schema, names, rename } => &self.each[schema].old[names][rename],
            Mention::Foreign { schema, number } => &self.each[schema].foreign[number],
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
            outside.old.push(renames.collect());
        }
        for foreign in &schema.foreign {
            let words = match form {
                Form::Text => Words::text(&named("foreign", &foreign.name), std::iter::empty()),
                Form::Json => Words::json_foreign(keyspace, &foreign.name),
            };
            outside.foreign.push(words);
        }
        outside
    }
}
