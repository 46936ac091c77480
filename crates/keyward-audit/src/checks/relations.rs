//! Relations between keys that must agree.

use super::indexes::{Located, Said};
use super::references::Spelling;
use super::{Audit, Class};
use crate::counts::{Link, Side};
use crate::outline::OutlinedRelation;
use keyward_rules::Rule;
use keyward_rules::judge::LOOKED_AT;
use keyward_schema::model::Law;

/// A relation, and the other that it must agree with.
#[derive(Debug)]
pub(crate) struct PlannedRelation {
    pub(crate) law: Law,
    pub(crate) own: End,
    pub(crate) other: End,
}

/// A definition whose keys say which key leads to which.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) definition: usize,
    /// Its parameter that is a key
    param: usize,
    pub(crate) spelling: Spelling,
    /// The definitions of the keys that it goes from
    from: Vec<usize>,
}

/// That a key leads to another, both with the prefix.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
}

/// Finds the relations that must agree, where both were asked for.
pub(super) fn plan(audit: &mut Audit) {
    for number in 0..audit.definitions.len() {
        if !audit.definitions[number].selected {
            continue;
        }
        let (_, definition) = audit.declared(&audit.definitions[number]);
        let laws: Vec<_> =
            definition.relation.laws().map(|(law, name)| (law, name.value.clone())).collect();
        for (law, name) in laws {
            let Some(other) = audit.sibling(number, &name) else { continue };
            // Two that name each other are one pair.
            let (_, named) = audit.declared(&audit.definitions[other]);
            if law == Law::Inverse && other < number && named.relation.inverse.is_some() {
                continue;
            }
            agree(audit, law, number, other);
        }
    }
}

/// Lets both relations be compared.
fn agree(audit: &mut Audit, law: Law, own: usize, other: usize) {
    let rule = rule(law);
    let severities = audit.severity(rule, own).zip(audit.severity(rule, other));
    let (Some((severity, _)), Some(own_end), Some(other_end)) =
        (severities, End::of(audit, own), End::of(audit, other))
    else {
        return;
    };
    let at = audit.relations.len();
    audit.definitions[own].says(None, Said::Related(at, Side::Set));
    let said = match law {
        Law::Inverse | Law::Same => Said::Related(at, Side::Member),
        Law::Closure => Said::Step(at),
    };
    audit.definitions[other].says(None, said);
    audit.outline.relations.push(OutlinedRelation { rule, severity, own, other });
    audit.relations.push(PlannedRelation { law, own: own_end, other: other_end });
}

fn rule(law: Law) -> Rule {
    match law {
        Law::Inverse => Rule::RelationInverseMismatch,
        Law::Closure => Rule::RelationClosureMismatch,
        Law::Same => Rule::RelationMembersMismatch,
    }
}

impl OutlinedRelation {
    /// How they must agree; `None` where a file names another rule.
    pub(crate) fn law(&self) -> Option<Law> {
        [Law::Inverse, Law::Closure, Law::Same].into_iter().find(|law| rule(*law) == self.rule)
    }

    pub(crate) fn is_symmetric(&self) -> bool {
        self.own == self.other
    }
}

impl PlannedRelation {
    pub(crate) fn is_symmetric(&self) -> bool {
        self.own.definition == self.other.definition
    }

    /// Which key leads to which by an element of either side.
    pub(crate) fn link(&self, side: Side, at: Located<'_>, element: &[u8]) -> Option<Step> {
        match side {
            Side::Set => self.own.step(at, element),
            Side::Member => {
                let Step { from, to } = self.other.step(at, element)?;
                Some(match self.law {
                    Law::Inverse => Step { from: to, to: from },
                    Law::Closure | Law::Same => Step { from, to },
                })
            }
        }
    }

    /// A step of the relation that this is the closure of.
    pub(crate) fn step(&self, at: Located<'_>, element: &[u8]) -> Option<Step> {
        self.other.step(at, element)
    }

    /// Whether both relations can lead from and to these keys. Others are not judged here: they are invalid values.
    pub(crate) fn can_be(&self, audit: &Audit, db: u64, link: &Step) -> bool {
        let leads_on = self.law != Law::Inverse || self.other.starts_at(audit, db, &link.to);
        self.own.starts_at(audit, db, &link.from) && leads_on
    }

    /// The key that makes a statement, and the element that does. Nothing states what a closure lacks: then it is the key
    /// that leads there.
    pub(crate) fn shown<'l>(&self, audit: &Audit, side: Side, link: &'l Link) -> (String, &'l str) {
        let Link { db, from, to } = link;
        let (end, node, element) = match (self.law, side) {
            (_, Side::Set) => (&self.own, from, to),
            (Law::Inverse, Side::Member) => (&self.other, to, from),
            (Law::Same, Side::Member) => (&self.other, from, to),
            (Law::Closure, Side::Member) => return (from.clone(), to),
        };
        let key = end.key_of(audit, *db, node.as_bytes());
        let key = key.and_then(|key| String::from_utf8(key).ok());
        (key.unwrap_or_else(|| node.clone()), element)
    }
}

impl End {
    pub(super) fn of(audit: &Audit, number: usize) -> Option<End> {
        let planned = &audit.definitions[number];
        let (schema, definition) = audit.declared(planned);
        let ends = definition.ends()?;
        let first = audit.spaces[planned.schema].first;
        let find = |name: &String| schema.keys.iter().position(|key| *key.name == *name);
        Some(End {
            definition: number,
            param: planned.params.iter().position(|param| param.name == ends.param)?,
            spelling: Spelling::of_key(audit, number)?,
            from: ends.from.iter().filter_map(find).map(|at| first + at).collect(),
        })
    }

    /// Which key leads to which by an element of one of its keys. What is too long to be seen whole on one of two sides is
    /// passed over on both.
    fn step(&self, at: Located<'_>, element: &[u8]) -> Option<Step> {
        let spelled = |text: &[u8]| self.spelling.spelled(text, at.key, at.places).into_owned();
        let step = Step { from: spelled(at.param(self.param)?), to: spelled(element) };
        (step.from.len() <= LOOKED_AT && step.to.len() <= LOOKED_AT).then_some(step)
    }

    /// Whether it goes from a key.
    pub(crate) fn starts_at(&self, audit: &Audit, db: u64, node: &[u8]) -> bool {
        let class = audit.classify(db, node, &mut Vec::new());
        matches!(class, Class::Defined(number) if self.from.contains(&number))
    }

    /// The key that holds where it leads from a key, if it goes from there.
    pub(crate) fn key_of(&self, audit: &Audit, db: u64, node: &[u8]) -> Option<Vec<u8>> {
        let mut places = Vec::new();
        let class = audit.classify(db, node, &mut places);
        if !matches!(class, Class::Defined(number) if self.from.contains(&number)) {
            return None;
        }
        let bare = node.strip_prefix(&*self.spelling.prefix(node, &places)?)?;
        let like = Located { db, key: node, places: &places };
        audit.name_of(&audit.definitions[self.definition], like, &[bare])
    }
}

impl Step {
    /// The same with names that can be read again; `None` where they are not text.
    pub(crate) fn names(&self, db: u64) -> Option<Link> {
        let text = |bytes: &[u8]| str::from_utf8(bytes).ok().map(str::to_owned);
        Some(Link { db, from: text(&self.from)?, to: text(&self.to)? })
    }
}
