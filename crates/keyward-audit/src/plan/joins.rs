//! Rules that look at two definitions at once, by samples of both.

use super::{Audit, weight};
use crate::outline::OutlinedJoin;
use keyward_rules::{Live, Rule};
use keyward_schema::model::{Definition, Value};

/// Two samples that are compared.
#[derive(Debug)]
pub(crate) struct PlannedJoin {
    /// What every key of the schema begins with, which a reference may leave out
    pub(crate) prefix: Vec<u8>,
}

/// Which of the two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Where a reference stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    Value,
    Field(usize),
}

pub(crate) struct Joins;

impl Joins {
    /// Finds what is to be compared, and tells everyone who takes part.
    pub(super) fn plan(audit: &mut Audit) {
        for number in 0..audit.definitions.len() {
            Joins::references(audit, number);
        }
        for space in 0..audit.spaces.len() {
            Joins::former_names(audit, space);
        }
        for (planned, outlined) in audit.definitions.iter_mut().zip(&audit.outline.definitions) {
            planned.decide_show(&outlined.slots);
        }
    }

    fn references(audit: &mut Audit, number: usize) {
        let planned = &audit.definitions[number];
        let (schema, definition) = audit.declared(planned);
        let Some(severity) =
            weight(Live::new(schema).severity(Rule::DanglingReference, Some(definition)))
        else {
            return;
        };
        if !planned.selected {
            return;
        }
        let first = audit.spaces[planned.schema].first;
        let find =
            |name: &str| schema.keys.iter().position(|key| *key.name == name).map(|at| first + at);
        let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
        let mut found = Vec::new();
        for (place, subject, value) in referring(definition) {
            let targets: Vec<(usize, Option<usize>)> = match value {
                Value::Ref { definition, param } => {
                    let target = find(definition);
                    let param = target.and_then(|target| {
                        audit.definitions[target].params.iter().position(|it| it.name == *param)
                    });
                    target
                        .filter(|_| param.is_some())
                        .map(|target| (target, param))
                        .into_iter()
                        .collect()
                }
                Value::Key(names) => {
                    let targets: Vec<_> = names.iter().filter_map(|name| find(name)).collect();
                    if targets.len() < names.len() {
                        continue;
                    }
                    targets.into_iter().map(|target| (target, None)).collect()
                }
                _ => continue,
            };
            if targets.is_empty() {
                continue;
            }
            let rule = Rule::DanglingReference;
            let outlined = OutlinedJoin { rule, severity, definition: number, subject };
            let join = PlannedJoin { prefix: prefix.as_bytes().to_vec() };
            found.push((outlined, join, place, targets));
        }
        for (outlined, join, place, targets) in found {
            let at = audit.joins.len();
            audit.joins.push(join);
            audit.outline.joins.push(outlined);
            for (target, param) in targets {
                let target = &mut audit.definitions[target];
                match param {
                    Some(param) => target.params[param].sought.push(at),
                    None => target.sought.push(at),
                }
            }
            match place {
                Place::Value => audit.definitions[number].refers = Some(at),
                Place::Field(field) => {
                    // The fields of a stream's entries are not shown.
                    if let Some(field) = audit.definitions[number].fields.get_mut(field) {
                        field.refers = Some(at);
                    }
                }
            }
        }
    }

    fn former_names(audit: &mut Audit, space: usize) {
        for rename in 0..audit.spaces[space].renames.len() {
            let old = &audit.spaces[space].renames[rename];
            let (Some(number), Some(severity)) = (old.definition, old.both) else { continue };
            let planned = &audit.definitions[number];
            // Only names that say the same can be compared.
            let same = planned.params.len() == old.names.len()
                && planned.params.iter().all(|param| old.names.contains(&param.name));
            if !same || !planned.selected {
                continue;
            }
            let subject = audit.outline.schemas[space].old_names[rename].pattern.clone();
            let rule = Rule::BothNames;
            let at = audit.joins.len();
            audit.joins.push(PlannedJoin { prefix: Vec::new() });
            audit.outline.joins.push(OutlinedJoin { rule, severity, definition: number, subject });
            audit.spaces[space].renames[rename].join = Some(at);
            audit.definitions[number].renamed.push(at);
        }
    }
}

/// What a definition refers to, and how that is called.
fn referring(definition: &Definition) -> Vec<(Place, String, &Value)> {
    let mut all = Vec::new();
    if let Some(value) = &definition.value {
        all.push((Place::Value, "the value".to_owned(), &value.value));
    }
    if let Some(member) = &definition.member {
        all.push((Place::Value, "a member".to_owned(), &member.value));
    }
    for (number, field) in definition.fields.iter().enumerate() {
        all.push((
            Place::Field(number),
            format!("field `{}`", field.name.value),
            &field.value.value,
        ));
    }
    all
}
