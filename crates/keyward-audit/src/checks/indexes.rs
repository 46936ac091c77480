//! Indexes that must agree with what they find.

use super::references::Spelling;
use super::{Audit, Class, Planned};
use crate::counts::Side;
use crate::outline::OutlinedAgreement;
use crate::report::Severity;
use keyward_pattern::{Part, Template};
use keyward_rules::{Live, Rule};
use keyward_schema::model::{Definition, Index, Role, Value};
use std::ops::Range;

/// What an element of a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// That a set of an index has a member
    InSet(usize),
    /// What the member itself says of that: its field, or its reverse
    ByMember(usize),
    /// Which key of the same definition comes next
    Next(usize),
    /// That a relation leads from one key to another
    Related(usize, Side),
    /// A step of the relation that another is the closure of
    Step(usize),
}

/// An index, and what its members say of it.
#[derive(Debug)]
pub(crate) struct PlannedAgreement {
    pub(crate) index: usize,
    /// The definition that is compared with it
    pub(crate) other: usize,
    pub(crate) kept: Kept,
    subject: Subject,
    value: Content,
}

/// What must agree with the sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kept {
    /// A field of the member itself
    Field(String),
    /// A parameter of the key that the member is
    Param(usize),
    /// A set of the words of a member
    Reverse,
}

/// Whom a member means.
#[derive(Debug)]
enum Subject {
    /// The key that it is
    Key(Spelling),
    /// The only parameter of the other definition
    Param(Spelling),
    /// The parameters of the other definition, from those of the key that the member is
    Params { spelling: Spelling, from: Vec<(usize, Vec<usize>)> },
}

/// What is said of a member.
#[derive(Debug)]
enum Content {
    /// The whole key of a set
    Key(Spelling),
    /// The value of a set's parameter
    Param(usize, Spelling),
}

/// A key that is compared, with the places of its parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'k> {
    pub(crate) db: u64,
    pub(crate) key: &'k [u8],
    pub(crate) places: &'k [Range<usize>],
}

impl<'k> Located<'k> {
    pub(super) fn param(self, at: usize) -> Option<&'k [u8]> {
        self.key.get(self.places.get(at)?.clone())
    }
}

/// What an element says: of whom, and what.
pub(crate) type Statement = (Vec<u8>, Vec<u8>);

/// Finds what is compared, where both sides were asked for.
pub(super) fn plan(audit: &mut Audit) {
    for number in 0..audit.definitions.len() {
        let planned = &audit.definitions[number];
        if !planned.selected {
            continue;
        }
        let (_, definition) = audit.declared(planned);
        let role = definition.role.as_ref().map(|role| &role.value);
        if let Some(Role::Index(index)) = role {
            let agreements = [by(audit, number, index), reverse(audit, number, index)];
            for (agreement, rule) in agreements.into_iter().flatten() {
                agree(audit, agreement, rule);
            }
        }
    }
}

/// Lets both sides be compared.
fn agree(audit: &mut Audit, agreement: PlannedAgreement, rule: Rule) {
    let Some(severity) = audit.severity(rule, agreement.index) else { return };
    let PlannedAgreement { index, other, kept, .. } = &agreement;
    let at = audit.agreements.len();
    audit.outline.agreements.push(OutlinedAgreement {
        severity,
        index: *index,
        other: *other,
        by: match kept {
            Kept::Reverse => None,
            Kept::Field(name) => Some(name.clone()),
            Kept::Param(at) => Some(audit.definitions[*other].params[*at].name.clone()),
        },
    });
    audit.definitions[*index].says(None, Said::InSet(at));
    match kept {
        Kept::Reverse => audit.definitions[*other].says(None, Said::ByMember(at)),
        Kept::Field(name) => audit.definitions[*other].says(Some(name), Said::ByMember(at)),
        Kept::Param(_) => {}
    }
    audit.agreements.push(agreement);
}

/// Members that have the field which their index is by.
fn by(audit: &Audit, number: usize, index: &Index) -> Option<(PlannedAgreement, Rule)> {
    let by = index.by.as_ref()?;
    let other = audit.sibling(number, &index.of.value)?;
    let (_, of) = audit.declared(&audit.definitions[other]);
    let in_key = audit.definitions[other].params.iter().position(|param| param.name == by.value);
    let has_field = of.fields.iter().any(|field| field.name.value == by.value);
    let kept = match in_key {
        Some(at) => Kept::Param(at),
        None if has_field && audit.definitions[other].is_hash() => Kept::Field(by.value.clone()),
        None => return None,
    };
    let planned = &audit.definitions[number];
    let named = |name: &str| planned.params.iter().position(|param| param.name == name);
    let long = format!("{}_{}", index.of.value, by.value);
    let param = named(&by.value).or_else(|| named(&long)).or_else(|| only(planned))?;
    let subject = match &member_of(audit, number)?.value {
        Value::Key(_) => Subject::Key(Spelling::of_key(audit, number)?),
        // What is not a key does not have its parameters.
        Value::Ref { .. } if in_key.is_none() => {
            Subject::Param(Spelling::of_param(audit, other, only(&audit.definitions[other])?))
        }
        _ => return None,
    };
    let value = Content::Param(param, Spelling::of_param(audit, number, param));
    Some((
        PlannedAgreement { index: number, other, kept, subject, value },
        Rule::IndexContradiction,
    ))
}

/// Sets and the reverse that holds the sets of a member.
fn reverse(audit: &Audit, number: usize, index: &Index) -> Option<(PlannedAgreement, Rule)> {
    let other = audit.sibling(number, &index.reverse.as_ref()?.value)?;
    let partner = &audit.definitions[other];
    let value = match &member_of(audit, other)?.value {
        Value::Key(_) => Content::Key(Spelling::of_key(audit, other)?),
        Value::Ref { .. } => {
            let param = only(&audit.definitions[number])?;
            Content::Param(param, Spelling::of_param(audit, number, param))
        }
        _ => return None,
    };
    let subject = match &member_of(audit, number)?.value {
        Value::Ref { .. } => Subject::Param(Spelling::of_param(audit, other, only(partner)?)),
        Value::Key(names) => {
            let from = names.iter().map(|name| {
                let target = audit.sibling(number, name)?;
                let params = partner.params[partner.prefix_params..].iter();
                let place = |wanted: &super::definition::PlannedParam| {
                    let mut params = audit.definitions[target].params.iter();
                    params.position(|it| {
                        it.name == wanted.name || format!("{name}_{}", it.name) == wanted.name
                    })
                };
                Some((target, params.map(place).collect::<Option<_>>()?))
            });
            let from = from.collect::<Option<_>>()?;
            Subject::Params { spelling: Spelling::of_key(audit, number)?, from }
        }
        _ => return None,
    };
    let kept = Kept::Reverse;
    Some((
        PlannedAgreement { index: number, other, kept, subject, value },
        Rule::IndexReverseMismatch,
    ))
}

impl PlannedAgreement {
    /// What a member of a set says.
    pub(crate) fn in_set(
        &self,
        audit: &Audit,
        set: Located<'_>,
        member: &[u8],
    ) -> Option<Statement> {
        let other = &audit.definitions[self.other];
        let subject = match &self.subject {
            Subject::Key(spelling) => spelling.spelled(member, set.key, set.places).into_owned(),
            Subject::Param(spelling) => {
                let param = spelling.spelled(member, set.key, set.places);
                audit.name_of(other, set, &[&param])?
            }
            Subject::Params { spelling, from } => {
                let name = spelling.spelled(member, set.key, set.places);
                let mut places = Vec::new();
                let Class::Defined(found) = audit.classify(set.db, &name, &mut places) else {
                    return None;
                };
                let (_, params) = from.iter().find(|(definition, _)| *definition == found)?;
                let values = params.iter().map(|at| name.get(places.get(*at)?.clone()));
                audit.name_of(other, set, &values.collect::<Option<Vec<_>>>()?)?
            }
        };
        let value = match &self.value {
            Content::Key(_) => set.key.to_vec(),
            Content::Param(at, _) => set.param(*at)?.to_vec(),
        };
        Some((subject, value))
    }

    /// What a member itself says: by an element of its reverse, or by its field.
    pub(crate) fn by_member(&self, own: Located<'_>, element: &[u8]) -> Statement {
        let value = match &self.value {
            Content::Key(spelling) | Content::Param(_, spelling) => {
                spelling.spelled(element, own.key, own.places)
            }
        };
        (own.key.to_vec(), value.into_owned())
    }

    /// What the key that a member is says, where its index is by a parameter of it.
    pub(crate) fn by_key(
        &self,
        audit: &Audit,
        set: Located<'_>,
        (subject, _): &Statement,
    ) -> Option<Statement> {
        let (Kept::Param(at), Content::Param(_, spelling)) = (&self.kept, &self.value) else {
            return None;
        };
        let mut places = Vec::new();
        let class = audit.classify(set.db, subject, &mut places);
        let value = subject.get(places.get(*at)?.clone())?;
        let value = spelling.spelled(value, set.key, set.places).into_owned();
        (class == Class::Defined(self.other)).then(|| (subject.clone(), value))
    }

    /// The key of the set that a statement means.
    pub(crate) fn set_of(&self, audit: &Audit, own: Located<'_>, value: &[u8]) -> Option<Vec<u8>> {
        match &self.value {
            Content::Key(_) => Some(value.to_vec()),
            Content::Param(..) => {
                let index = &audit.definitions[self.index];
                only(index).and_then(|_| audit.name_of(index, own, &[value]))
            }
        }
    }
}

impl Audit {
    /// How serious a rule's findings about a definition are, if it applies.
    pub(super) fn severity(&self, rule: Rule, number: usize) -> Option<Severity> {
        let (schema, definition) = self.declared(&self.definitions[number]);
        Severity::of(Live::new(schema).severity(rule, Some(definition)))
    }

    /// Another definition of the same schema that was asked for.
    pub(super) fn sibling(&self, number: usize, name: &str) -> Option<usize> {
        let schema = self.definitions[number].schema;
        let at = self.schemas[schema].keys.iter().position(|key| *key.name == *name)?;
        let found = self.spaces[schema].first + at;
        self.definitions[found].selected.then_some(found)
    }

    /// A key of a definition with these parameters, as keys spell them; its prefix has the values of another key's.
    pub(super) fn name_of(
        &self,
        planned: &Planned,
        like: Located<'_>,
        params: &[&[u8]],
    ) -> Option<Vec<u8>> {
        let (_, definition) = self.declared(planned);
        let prefix = self.keyspaces[planned.schema].prefix().map_or(&[][..], Template::parts);
        let mut name = Vec::new();
        for part in prefix.iter().chain(definition.pattern.parts()) {
            match part {
                Part::Literal(text) => name.extend(text.as_bytes()),
                Part::Hole(hole) => {
                    let at = planned.params.iter().position(|param| param.name == hole.name)?;
                    let value = match at.checked_sub(planned.prefix_params) {
                        None => like.param(at)?,
                        Some(at) => params.get(at)?,
                    };
                    name.extend(value);
                }
            }
        }
        Some(name)
    }
}

impl Planned {
    /// Notes that a field, or the value or members, say something.
    pub(super) fn says(&mut self, field: Option<&str>, said: Said) {
        let field =
            field.map(|name| self.fields.iter_mut().find(|it| *it.name == *name.as_bytes()));
        match field {
            None => self.said.push(said),
            Some(Some(field)) => field.said.push(said),
            Some(None) => {}
        }
    }
}

/// The only parameter of a definition besides those of the prefix.
pub(super) fn only(planned: &Planned) -> Option<usize> {
    (planned.params.len() == planned.prefix_params + 1).then_some(planned.prefix_params)
}

fn member_of(audit: &Audit, number: usize) -> Option<&keyward_schema::Spanned<Value>> {
    let (_, definition): (_, &Definition) = audit.declared(&audit.definitions[number]);
    definition.member.as_ref()
}
