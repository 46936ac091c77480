//! `plan drop`: keys of a definition, of a group, or that a glob matches.

use super::{Work, beside, covering};
use crate::change::Change;
use crate::document::Row;
use crate::error::Error;
use crate::order::Target;
use keyward_pattern::{DefinitionId, Glob, is_plan_marker, nearest};
use keyward_schema::Schema;
use keyward_schema::model::Definition;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Keys that are removed.
pub(super) struct DropKeys<'s> {
    schema: &'s Schema,
    target: Wanted,
    no_backup: bool,
}

enum Wanted {
    /// The definitions with their rows, and a glob that the keys must match too
    Definitions {
        rows: HashMap<DefinitionId, usize>,
        names: Vec<String>,
        glob: Option<String>,
    },
    Glob(String),
}

impl<'s> DropKeys<'s> {
    pub(super) fn new(schema: &'s Schema, target: &Target, no_backup: bool) -> Result<Self, Error> {
        let target = match target {
            Target::Glob(glob) => Wanted::Glob(glob.clone()),
            Target::Definition { name, values } => {
                let id = schema.compiled.find(name).ok_or_else(|| {
                    let names = schema.keys.iter().map(|it| it.name.as_str());
                    unknown(name, "definition", nearest(name, names))
                })?;
                let names = vec![name.clone()];
                let glob = glob_of(schema, id, values)?;
                Wanted::Definitions { rows: HashMap::from([(id, 0)]), names, glob: Some(glob) }
            }
            Target::Group(group) => {
                let is_member = |it: &&Definition| it.group.as_deref() == Some(group);
                let members = schema.keys.iter().filter(is_member);
                let names: Vec<String> = members.map(|it| it.name.value.clone()).collect();
                if names.is_empty() {
                    let groups = schema.groups.iter().map(|it| it.name.as_str());
                    return Err(unknown(group, "group", nearest(group, groups)));
                }
                let id = |(row, name): (usize, &String)| Some((schema.compiled.find(name)?, row));
                let rows: HashMap<DefinitionId, usize> =
                    names.iter().enumerate().filter_map(id).collect();
                let none = BTreeMap::new();
                let globs: Result<Vec<_>, _> =
                    rows.keys().map(|id| glob_of(schema, *id, &none)).collect();
                Wanted::Definitions { rows, names, glob: covering(&globs?) }
            }
        };
        Ok(DropKeys { schema, target, no_backup })
    }

    fn change(&self, beside: Vec<String>) -> Change {
        if self.no_backup {
            Change::Discard { beside }
        } else {
            Change::Remove { unless_lone: None, beside }
        }
    }
}

/// The glob of a definition's keys with these values.
pub(super) fn glob_of(
    schema: &Schema,
    id: DefinitionId,
    values: &BTreeMap<String, String>,
) -> Result<String, Error> {
    let values: Vec<(&str, &str)> = values.iter().map(|(it, value)| (&**it, &**value)).collect();
    let glob = schema.compiled.definition(id).glob_named(&values);
    glob.map_err(|error| Error::refused(error.to_string(), "write it as `name=value`"))
}

fn unknown(name: &str, what: &str, near: Option<&str>) -> Error {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`keyward docs` lists what there is; a glob has a `*`".to_owned(),
    };
    Error::refused(format!("the schema has no {what} `{name}`"), help)
}

impl Work for DropKeys<'_> {
    fn rows(&self) -> Vec<Row> {
        let row = |definition: &str, keys: &str| Row {
            destructive: true,
            not_undoable: self.no_backup,
            ..Row::new("remove", definition, keys)
        };
        match &self.target {
            Wanted::Glob(glob) => vec![row("", glob)],
            Wanted::Definitions { names, .. } => {
                let pattern = |name: &str| {
                    let found = self.schema.keys.iter().find(|it| *it.name == *name);
                    found.map(|it| it.pattern.as_str()).unwrap_or_default()
                };
                names.iter().map(|name| row(name, pattern(name))).collect()
            }
        }
    }

    fn definitions(&self) -> BTreeSet<String> {
        match &self.target {
            // Whose keys it matches is not known before: all of them may be.
            Wanted::Glob(_) => self.schema.keys.iter().map(|it| it.name.value.clone()).collect(),
            Wanted::Definitions { names, .. } => names.iter().cloned().collect(),
        }
    }

    fn pick(&self, _: Option<u64>, key: &[u8]) -> Option<(usize, Change)> {
        // What says which plans were started here outlives what they remove.
        if std::str::from_utf8(key).is_ok_and(is_plan_marker) {
            return None;
        }
        let id = self.schema.compiled.classify(key);
        match &self.target {
            Wanted::Glob(glob) if !Glob::new(glob).matches(key) => None,
            Wanted::Glob(_) => {
                let owner = id.and_then(|id| self.schema.keys.get(id.index()));
                let beside = owner.zip(std::str::from_utf8(key).ok());
                let beside = beside.map(|(owner, key)| beside_of(self.schema, owner, key));
                Some((0, self.change(beside.unwrap_or_default())))
            }
            Wanted::Definitions { rows, glob, .. } => {
                let row = *rows.get(&id?)?;
                if glob.as_ref().is_some_and(|glob| !Glob::new(glob).matches(key)) {
                    return None;
                }
                let owner = self.schema.keys.get(id?.index())?;
                let beside = beside_of(self.schema, owner, std::str::from_utf8(key).ok()?);
                Some((row, self.change(beside)))
            }
        }
    }

    fn glob(&self) -> Option<String> {
        match &self.target {
            Wanted::Glob(glob) => Some(glob.clone()),
            Wanted::Definitions { glob, .. } => glob.clone(),
        }
    }
}

fn beside_of(schema: &Schema, owner: &Definition, key: &str) -> Vec<String> {
    beside(schema, owner, key, key)
}
