//! References that lead from a key of a definition to another key of it, by themselves or through the key that they name.

use super::indexes::{Located, Said, only};
use super::references::Spelling;
use super::relations::End;
use super::{Audit, Class};
use crate::outline::OutlinedChain;
use keyward_fact::KeyType;
use keyward_pattern::{DefinitionId, Type};
use keyward_rules::Rule;
use keyward_schema::model::{Law, Value};

/// A field or value that leads to another key of its own definition.
#[derive(Debug)]
pub(crate) struct PlannedChain {
    pub(crate) definition: usize,
    /// `None` where it is the value
    pub(crate) field: Option<String>,
    spelling: Spelling,
    onward: Onward,
}

/// How what a key names leads to the next key.
#[derive(Debug)]
enum Onward {
    /// It is the next key
    Itself,
    /// It is the only parameter of the next key
    Param,
    /// The next key has it as its parameter: `{page_key}:parent`
    Beside(End),
    /// It is a key of one of these definitions, whose parameter is the only one of the next key: `parent:{page_id}`
    Of(Vec<(usize, usize)>),
}

/// Finds the references that may lead back to where they began.
pub(super) fn plan(audit: &mut Audit) {
    for number in 0..audit.definitions.len() {
        if !audit.definitions[number].selected {
            continue;
        }
        for chain in chains(audit, number) {
            let outlined = audit.severity(Rule::ReferenceCycle, number).map(|severity| {
                let field = chain.field.clone();
                OutlinedChain { severity, definition: number, field }
            });
            let Some(outlined) = outlined else { continue };
            let said = Said::Next(audit.chains.len());
            audit.definitions[number].says(chain.field.as_deref(), said);
            audit.outline.chains.push(outlined);
            audit.chains.push(chain);
        }
    }
}

/// The references of which each key has at most one.
fn chains(audit: &Audit, number: usize) -> Vec<PlannedChain> {
    let planned = &audit.definitions[number];
    let (_, definition) = audit.declared(planned);
    let value = definition.value.as_ref().filter(|_| planned.key_type == Some(KeyType::String));
    let value = value.map(|value| (None, &value.value));
    let fields = definition.fields.iter().filter(|_| planned.is_hash());
    let fields = fields.map(|field| (Some(field.name.value.clone()), &field.value.value));
    value
        .into_iter()
        .chain(fields)
        .filter_map(|(field, value)| {
            let (spelling, onward) = onward(audit, number, value)?;
            Some(PlannedChain { definition: number, field, spelling, onward })
        })
        .collect()
}

/// How a value is spelled that leads to another key of its definition.
fn onward(audit: &Audit, number: usize, value: &Value) -> Option<(Spelling, Onward)> {
    let planned = &audit.definitions[number];
    let (_, definition) = audit.declared(planned);
    let own = &definition.name.value;
    match value {
        Value::Ref { definition: name, param } if name == own => {
            let at = only(planned).filter(|at| planned.params[*at].name == *param)?;
            Some((Spelling::of_param(audit, number, at), Onward::Param))
        }
        Value::Ref { definition: name, param } => {
            let target = audit.sibling(number, name)?;
            let at = audit.definitions[target].params.iter().position(|it| it.name == *param)?;
            let leads_on = same_param(audit, number, target) == Some(at);
            leads_on.then(|| (Spelling::of_param(audit, target, at), Onward::Param))
        }
        Value::Key(names) => {
            let spelling = Spelling::of_key(audit, number)?;
            if names.contains(own) {
                return Some((spelling, Onward::Itself));
            }
            if let Some(ends) = definition.ends() {
                // What is symmetric leads back with every step.
                let laws = definition.relation.laws();
                let is_symmetric =
                    laws.into_iter().any(|it| it.0 == Law::Inverse && **it.1 == *own);
                let leads_on = names.iter().any(|name| ends.from.contains(name)) && !is_symmetric;
                let beside = leads_on.then(|| End::of(audit, number)).flatten()?;
                return Some((spelling, Onward::Beside(beside)));
            }
            let targets = names.iter().filter_map(|name| {
                let target = audit.sibling(number, name)?;
                Some((target, same_param(audit, number, target)?))
            });
            let targets: Vec<_> = targets.collect();
            (!targets.is_empty()).then_some((spelling, Onward::Of(targets)))
        }
        _ => None,
    }
}

/// The parameter of another definition that is the same as the only one of this: by its name, which begins with that of the
/// other definition, or by its type, where no two things have the same value.
fn same_param(audit: &Audit, number: usize, target: usize) -> Option<usize> {
    let (own, other) = (&audit.definitions[number], &audit.definitions[target]);
    let at = only(own)?;
    let (_, declared) = audit.declared(other);
    let name = &own.params[at].name;
    let begins = format!("{}_", *declared.name);
    let rest = || (other.prefix_params..other.params.len()).map(|at| (at, &other.params[at].name));
    let by_name = rest().find(|(_, it)| {
        name.strip_prefix(&begins).is_some_and(|short| short == **it)
            || (name == *it && name.starts_with(&begins))
    });
    by_name.map(|(at, _)| at).or_else(|| {
        let ty = unique_type(audit, number, at)?;
        let mut same = rest().filter(|(at, _)| unique_type(audit, target, *at) == Some(ty));
        let (at, _) = same.next()?;
        same.next().is_none().then_some(at)
    })
}

/// The type of a parameter, if its values name one thing in the world.
fn unique_type(audit: &Audit, definition: usize, param: usize) -> Option<&Type> {
    let planned = &audit.definitions[definition];
    let id = DefinitionId(u32::try_from(planned.number).ok()?);
    let (_, param) = &audit.keyspaces[planned.schema].definition(id).params()[param];
    matches!(param.ty, Type::Uuid | Type::Ulid).then_some(&param.ty)
}

impl PlannedChain {
    /// The key that comes next.
    pub(crate) fn next(&self, audit: &Audit, own: Located<'_>, value: &[u8]) -> Option<Vec<u8>> {
        let named = self.spelling.spelled(value, own.key, own.places);
        let definition = &audit.definitions[self.definition];
        match &self.onward {
            Onward::Itself => Some(named.into_owned()),
            Onward::Param => audit.name_of(definition, own, &[&named]),
            Onward::Beside(end) => end.key_of(audit, own.db, &named),
            Onward::Of(targets) => {
                let mut places = Vec::new();
                let Class::Defined(found) = audit.classify(own.db, &named, &mut places) else {
                    return None;
                };
                let (_, at) = targets.iter().find(|(target, _)| *target == found)?;
                let like = Located { db: own.db, key: &named, places: &places };
                audit.name_of(definition, like, &[like.param(*at)?])
            }
        }
    }
}
