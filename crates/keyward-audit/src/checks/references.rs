//! Values that name other keys, and the names that they are looked up in.

use super::{Audit, Planned};
use crate::outline::OutlinedReference;
use crate::report::Severity;
use keyward_pattern::{Keyspace, Part, Template, Type};
use keyward_rules::judge::Target;
use keyward_rules::{Live, Rule};
use keyward_schema::model::{Definition, Role, Schema, Ttl, Value};
use std::borrow::Cow;
use std::ops::Range;

/// A value that is declared to name other keys.
#[derive(Debug)]
pub(crate) struct PlannedReference {
    pub(crate) names: Names,
    pub(crate) spelling: Spelling,
}

/// What a value names.
#[derive(Debug)]
pub(crate) enum Names {
    Key,
    /// The value of a definition's parameter
    Param {
        definition: usize,
        param: usize,
        pool: usize,
    },
}

/// How a value that names something is spelled in a key.
#[derive(Debug)]
pub(crate) enum Spelling {
    /// It is a key, whose prefix may be left out: then it is that of the key that has the value
    Key { prefix: Vec<PrefixPart> },
    /// It is the value of a parameter
    Param {
        /// The parameter alone; `None` where its values are keys themselves
        alone: Option<Box<Keyspace>>,
        /// Whether a value may be spelled otherwise in a key
        respelled: bool,
    },
}

/// A piece of the prefix of all keys.
#[derive(Debug)]
pub(crate) enum PrefixPart {
    Text(Vec<u8>),
    /// The value of a parameter, by its number
    Param(usize),
}

/// Where a reference is.
#[derive(Debug, Clone, Copy)]
enum Holder {
    Param(usize),
    Value,
    Field(usize),
}

/// Finds all references, and marks the definitions that take part.
pub(super) fn plan(audit: &mut Audit) {
    for number in 0..audit.definitions.len() {
        let planned = &audit.definitions[number];
        let (schema, definition) = audit.declared(planned);
        let severity = Live::new(schema).severity(Rule::DanglingReference, Some(definition));
        let Some(severity) = Severity::of(severity).filter(|_| planned.selected) else { continue };
        let listing = lists_what_expires(schema, definition) || is_reverse(schema, definition);
        for (holder, subject, value) in referring(definition, planned) {
            if listing && matches!(holder, Holder::Value) {
                continue;
            }
            let first = audit.spaces[audit.definitions[number].schema].first;
            let Some((planned, target, pools)) = named(audit, number, first, &value) else {
                continue;
            };
            let stored = !matches!(holder, Holder::Param(_));
            let outlined =
                OutlinedReference { severity, definition: number, subject, target, stored, pools };
            let at = Some(audit.references.len());
            audit.references.push(planned);
            audit.outline.references.push(outlined);
            let planned = &mut audit.definitions[number];
            match holder {
                Holder::Param(param) => planned.params[param].refers = at,
                Holder::Value => planned.refers = at,
                Holder::Field(field) => planned.fields[field].refers = at,
            }
        }
    }
}

/// Whether it is the reverse of an index, which is compared with that.
fn is_reverse(schema: &Schema, definition: &Definition) -> bool {
    schema.keys.iter().any(|key| match key.role.as_ref().map(|role| &role.value) {
        Some(Role::Index(index)) => {
            index.reverse.as_ref().is_some_and(|reverse| reverse.value == definition.name.value)
        }
        _ => false,
    })
}

/// Whether it is an index of keys that expire: it lists them until somebody changes it.
fn lists_what_expires(schema: &Schema, definition: &Definition) -> bool {
    let Some(Role::Index(index)) = definition.role.as_ref().map(|role| &role.value) else {
        return false;
    };
    let of = schema.keys.iter().find(|key| *key.name == *index.of);
    let ttl = of.and_then(|of| of.ttl.as_ref());
    ttl.is_some_and(|ttl| !matches!(ttl.value, Ttl::None))
}

/// What a value names, and the pools that it must be in; `None` where a definition is not declared, which `check`
/// reports.
fn named(
    audit: &mut Audit,
    number: usize,
    first: usize,
    value: &Value,
) -> Option<(PlannedReference, Target, Vec<usize>)> {
    let schema = &audit.schemas[audit.definitions[number].schema];
    let find = |name: &String| Some(first + schema.keys.iter().position(|key| *key.name == *name)?);
    match value {
        Value::Ref { definition, param } => {
            let target = Target::param(definition.clone(), param.clone());
            let definition = find(definition)?;
            let params = &audit.definitions[definition].params;
            let param = params.iter().position(|it| it.name == *param)?;
            let spelling = Spelling::of_param(audit, definition, param);
            let pool = audit.pool_of_param(definition, param);
            let names = Names::Param { definition, param, pool };
            Some((PlannedReference { names, spelling }, target, vec![pool]))
        }
        Value::Key(definitions) => {
            let found: Vec<usize> = definitions.iter().map(find).collect::<Option<_>>()?;
            let spelling = Spelling::of_key(audit, number)?;
            audit.pool_keys();
            let pools = found.iter().filter_map(|it| audit.definitions[*it].pool).collect();
            let planned = PlannedReference { names: Names::Key, spelling };
            Some((planned, Target::key(definitions.clone()), pools))
        }
        _ => None,
    }
}

impl Audit {
    /// Makes a pool of each definition's keys, and one of all others: a value may name any of them.
    fn pool_keys(&mut self) {
        if self.others.is_none() {
            let pools = &mut self.outline.pools;
            let mut next = || {
                *pools += 1;
                Some(*pools - 1)
            };
            self.definitions.iter_mut().for_each(|planned| planned.pool = next());
            self.others = next();
        }
    }

    fn pool_of_param(&mut self, definition: usize, param: usize) -> usize {
        let pools = &mut self.outline.pools;
        *self.definitions[definition].params[param].pool.get_or_insert_with(|| {
            *pools += 1;
            *pools - 1
        })
    }

    /// A definition's parameter as a keyspace of its own, and whether its values may be spelled otherwise in a key.
    fn alone(&self, definition: usize, param: usize) -> (Option<Keyspace>, bool) {
        let planned = &self.definitions[definition];
        let (_, declared) = self.declared(planned);
        let keyspace = &self.keyspaces[planned.schema];
        let id = keyward_pattern::DefinitionId(u32::try_from(planned.number).unwrap_or(u32::MAX));
        let (name, param) = &keyspace.definition(id).params()[param];
        let respelled = param.normalize.is_some()
            || !param.encode.is_empty()
            || matches!(
                param.ty,
                Type::Ip | Type::RawIp | Type::Ulid | Type::Encoded | Type::Any(_)
            );
        let rest = declared.pattern.holes().any(|hole| hole.name == *name && hole.rest);
        let template = Template::parse(if rest { "{value...}" } else { "{value}" });
        let alone = template.ok().and_then(|template| {
            let mut builder = Keyspace::builder(keyspace.separator().into()).ok()?;
            builder.define("value", &template, |_| Some(param.clone()));
            builder.finish().ok()
        });
        (alone, respelled)
    }
}

impl Spelling {
    /// Of a value under a definition's keys that is a key itself; `None` where the definition does not have all
    /// parameters of the prefix.
    pub(super) fn of_key(audit: &Audit, number: usize) -> Option<Self> {
        let keyspace = &audit.keyspaces[audit.definitions[number].schema];
        prefix_of(keyspace, &audit.definitions[number]).map(|prefix| Spelling::Key { prefix })
    }

    /// Of a value that is one of a definition's parameter.
    pub(super) fn of_param(audit: &Audit, definition: usize, param: usize) -> Self {
        let (alone, respelled) = audit.alone(definition, param);
        Spelling::Param { alone: alone.map(Box::new), respelled }
    }

    /// The prefix that a key has; `None` where it does not have all parameters of it.
    pub(crate) fn prefix(&self, key: &[u8], places: &[Range<usize>]) -> Option<Vec<u8>> {
        let Spelling::Key { prefix } = self else { return Some(Vec::new()) };
        let own = |part: &PrefixPart| match part {
            PrefixPart::Text(text) => Some(text.clone()),
            PrefixPart::Param(at) => Some(key.get(places.get(*at)?.clone())?.to_vec()),
        };
        prefix.iter().map(own).collect::<Option<Vec<_>>>().map(|parts| parts.concat())
    }

    /// A value as a key spells it, as far as that is cheap to know; `key` has it, and its parameters lie at
    /// these places.
    #[inline]
    pub(crate) fn spelled<'v>(
        &self,
        value: &'v [u8],
        key: &[u8],
        places: &[Range<usize>],
    ) -> Cow<'v, [u8]> {
        match self {
            Spelling::Key { prefix } if prefix.is_empty() => value.into(),
            Spelling::Key { .. } => {
                // A key without the parameters of the prefix is not one of this schema: what it names stays as it is.
                let Some(prefix) = self.prefix(key, places) else { return value.into() };
                if value.starts_with(&prefix) {
                    return value.into();
                }
                [&prefix[..], value].concat().into()
            }
            Spelling::Param { alone: Some(alone), respelled: true } => {
                if alone.classify(value).is_some() {
                    return value.into();
                }
                let built = alone.definitions().next().zip(str::from_utf8(value).ok());
                let built = built.and_then(|(it, value)| it.build_named(&[("value", value)]).ok());
                built.map_or(value.into(), |text| text.into_bytes().into())
            }
            Spelling::Param { .. } => value.into(),
        }
    }
}

/// The prefix of all keys; `None` where a definition does not have all of its parameters.
fn prefix_of(keyspace: &Keyspace, planned: &Planned) -> Option<Vec<PrefixPart>> {
    let part = |part: &Part| match part {
        Part::Literal(text) => Some(PrefixPart::Text(text.as_bytes().to_vec())),
        Part::Hole(hole) => {
            let at = planned.params.iter().position(|param| param.name == hole.name);
            at.map(PrefixPart::Param)
        }
    };
    keyspace.prefix().map_or(&[][..], Template::parts).iter().map(part).collect()
}

/// Where a definition names other keys, what that is called, and what it names.
fn referring(definition: &Definition, planned: &Planned) -> Vec<(Holder, String, Value)> {
    let mut all = Vec::new();
    if let Some(value) = &definition.value {
        all.push((Holder::Value, "the value".to_owned(), value.value.clone()));
    }
    if let Some(member) = &definition.member {
        all.push((Holder::Value, "a member".to_owned(), member.value.clone()));
    }
    for (number, field) in definition.fields.iter().enumerate().take(planned.fields.len()) {
        let subject = format!("field `{}`", field.name.value);
        all.push((Holder::Field(number), subject, field.value.value.clone()));
    }
    // A lock, a limit or a flag may well exist before the key that it is named after.
    if definition.role.is_none() {
        for param in &definition.params {
            let at = planned.params.iter().position(|it| it.name == *param.name.value);
            if let (Some(at), Type::Key(names)) = (at, &param.param.ty) {
                let subject = format!("parameter `{}`", param.name.value);
                all.push((Holder::Param(at), subject, Value::Key(names.clone())));
            }
        }
    }
    all
}
