//! What the members of sets name, and whether it agrees with them.

use super::super::prefix_of;
use crate::change::Reference;
use keyward_fact::KeyType;
use keyward_pattern::{DefinitionId, Part};
use keyward_rules::Rule;
use keyward_schema::Schema;
use keyward_schema::model::{Definition, Index, Phase, Role, Value};

/// The members of a definition's sets.
pub(super) struct Members {
    /// The definition of the sets
    sets: DefinitionId,
    names: Names,
    wrong: Wrong,
}

/// What a member names.
enum Names {
    /// The value of a definition's only parameter
    Param(DefinitionId),
    /// A key of one of these definitions
    Key(Vec<DefinitionId>),
}

/// When a member is wrong.
enum Wrong {
    /// The key that it names is gone
    Gone,
    /// A field of that key has another value than this parameter of the set
    Field { field: String, param: String },
    /// A parameter of that key has
    Param { own: String, param: String },
}

impl Members {
    /// The members that a rule judges; `None` where it judges none, or they name keys that cannot be looked up.
    pub(super) fn new(schema: &Schema, number: usize, rule: Rule) -> Option<Self> {
        let definition = schema.keys.get(number)?;
        if !matches!(definition.key_type.as_deref(), Some(KeyType::Set | KeyType::Zset)) {
            return None;
        }
        let names = Names::new(schema, &definition.member.as_ref()?.value)?;
        let index = match definition.role.as_deref() {
            Some(Role::Index(index)) => Some(index),
            _ => None,
        };
        let of = index.and_then(|it| schema.keys.iter().find(|key| *key.name == *it.of));
        let expires = of.and_then(|of| of.ttl.as_ref()).is_some_and(|ttl| ttl.expires());
        let wrong = match rule {
            Rule::IndexContradiction => {
                Wrong::contradiction(schema, number, (index?, of?), &names)?
            }
            // An index of keys that expire lists them until somebody prunes it.
            Rule::StaleIndex if expires => Wrong::Gone,
            Rule::DanglingReference if !expires && !is_reverse(schema, definition) => Wrong::Gone,
            _ => return None,
        };
        Some(Members { sets: schema.compiled.find(&definition.name)?, names, wrong })
    }

    /// What a member names that may be wrong.
    pub(super) fn refers(&self, schema: &Schema, set: &[u8], member: &[u8]) -> Option<Reference> {
        let (set, member) = (std::str::from_utf8(set).ok()?, std::str::from_utf8(member).ok()?);
        let (id, key) = self.names.key(schema, set, member)?;
        match &self.wrong {
            Wrong::Gone => Some(Reference::Key(key)),
            Wrong::Field { field, .. } => Some(Reference::Field(key, field.clone())),
            Wrong::Param { own, .. } => {
                let compiled = schema.compiled.definition(id);
                let at = compiled.params().iter().position(|(name, _)| name == own)?;
                let value = compiled.parse(key.as_bytes())?.into_iter().nth(at)?;
                self.contradicts(schema, set.as_bytes(), value.as_bytes())
                    .then_some(Reference::Wrong)
            }
        }
    }

    /// Whether a value is certainly not that of a set: it belongs to another set.
    pub(super) fn contradicts(&self, schema: &Schema, set: &[u8], value: &[u8]) -> bool {
        let param = match &self.wrong {
            Wrong::Field { param, .. } | Wrong::Param { param, .. } => param,
            Wrong::Gone => return false,
        };
        let belongs = || {
            let (own, value) = (std::str::from_utf8(set).ok()?, std::str::from_utf8(value).ok()?);
            let compiled = schema.compiled.definition(self.sets);
            let at = compiled.params().iter().position(|(name, _)| name == param)?;
            let mut places = Vec::new();
            schema.compiled.locate(set, &mut places)?;
            if own.get(places.get(at)?.clone())? == value {
                return Some(own.to_owned());
            }
            let values = compiled.parse(set)?;
            let names = compiled.params().iter().map(|(name, _)| name.as_str());
            let mut values: Vec<(&str, &str)> =
                names.zip(values.iter().map(|value| &**value)).collect();
            values[at].1 = value;
            compiled.build_named(&values).ok()
        };
        belongs().is_some_and(|other| other.as_bytes() != set)
    }
}

impl Names {
    fn new(schema: &Schema, member: &Value) -> Option<Self> {
        let known = |name: &String| {
            // While a migration runs, a key may be there under its old name alone.
            let mut running = schema.migrations.iter().filter(|it| *it.phase != Phase::Cleanup);
            let is_moving = running.any(|it| it.renames.iter().any(|it| *it.definition == *name));
            if is_moving { None } else { schema.compiled.find(name) }
        };
        Some(match member {
            Value::Ref { definition, param } => {
                let id = known(definition)?;
                let compiled = schema.compiled.definition(id);
                let own = compiled.params().get(compiled.prefix_params()..)?;
                match own {
                    [(only, _)] if only == param => Names::Param(id),
                    _ => return None,
                }
            }
            Value::Key(definitions) => {
                Names::Key(definitions.iter().map(known).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The key that a member names, and its definition; `None` if it cannot be one.
    fn key(&self, schema: &Schema, set: &str, member: &str) -> Option<(DefinitionId, String)> {
        let prefix = prefix_of(schema, set);
        if !set.starts_with(&prefix) {
            return None;
        }
        match self {
            Names::Key(ids) => {
                let whole = member.starts_with(&prefix);
                let key = if whole { member.to_owned() } else { format!("{prefix}{member}") };
                let id = schema.compiled.classify(key.as_bytes())?;
                ids.contains(&id).then_some((id, key))
            }
            Names::Param(id) => {
                let definition = schema.keys.get(id.index())?;
                let parts = definition.pattern.parts().iter().map(|part| match part {
                    Part::Literal(text) => text,
                    Part::Hole(_) => member,
                });
                // As keys spell it, or as the application does.
                let spelled = format!("{prefix}{}", parts.collect::<String>());
                if schema.compiled.classify(spelled.as_bytes()) == Some(*id) {
                    return Some((*id, spelled));
                }
                let compiled = schema.compiled.definition(*id);
                let mut own = Vec::new();
                schema.compiled.parse_into(set.as_bytes(), &mut own)?;
                let names = compiled.params().iter().map(|(name, _)| name.as_str());
                let prefix = own.iter().map(|value| &**value).take(compiled.prefix_params());
                let values: Vec<(&str, &str)> = names.zip(prefix.chain([member])).collect();
                Some((*id, compiled.build_named(&values).ok()?))
            }
        }
    }
}

impl Wrong {
    /// How a member of an index contradicts its `by`.
    fn contradiction(
        schema: &Schema,
        number: usize,
        (index, of): (&Index, &Definition),
        names: &Names,
    ) -> Option<Self> {
        let by = &index.by.as_ref()?.value;
        let params = |number: usize| {
            let id = schema.compiled.find(&schema.keys.get(number)?.name)?;
            let compiled = schema.compiled.definition(id);
            Some((compiled.params(), compiled.prefix_params()))
        };
        let (own, prefix) = params(number)?;
        let named = |name: &str| own.iter().find(|(it, _)| it == name);
        let long = format!("{}_{by}", *of.name);
        let only = || own.get(prefix).filter(|_| own.len() == prefix + 1);
        let (param, _) = named(by).or_else(|| named(&long)).or_else(only)?;
        let param = param.clone();
        let of_number = schema.keys.iter().position(|key| *key.name == *of.name)?;
        if params(of_number)?.0.iter().any(|(name, _)| name == by) {
            let is_key = matches!(names, Names::Key(_));
            return is_key.then(|| Wrong::Param { own: by.clone(), param });
        }
        let is_hash = of.key_type.as_deref() == Some(&KeyType::Hash);
        let has_field = of.fields.iter().any(|field| field.name.value == *by);
        (is_hash && has_field).then(|| Wrong::Field { field: by.clone(), param })
    }
}

/// Whether it is the reverse of an index, which is compared with that.
fn is_reverse(schema: &Schema, definition: &Definition) -> bool {
    schema.keys.iter().any(|key| match key.role.as_deref() {
        Some(Role::Index(index)) => {
            index.reverse.as_ref().is_some_and(|reverse| reverse.value == definition.name.value)
        }
        _ => false,
    })
}
