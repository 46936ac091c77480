//! Relations between keys, and which of them must agree.

use super::{Definition, Value};
use crate::span::Spanned;
use keyward_fact::KeyType;
use keyward_pattern::Type;

/// The other relations that a relation between keys must agree with.
#[derive(Debug, Clone, Default)]
pub struct Relation {
    /// The relation in the opposite direction; its own id where it is symmetric
    pub inverse: Option<Spanned<String>>,
    /// The relation of which it holds every key that is reached in one or more steps
    pub closure_of: Option<Spanned<String>>,
    /// The relation that holds the same keys
    pub same_as: Option<Spanned<String>>,
}

/// How two relations must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// One leads from a to b exactly if the other leads from b to a
    Inverse,
    /// One leads from a to all that the other reaches from a in one or more steps
    Closure,
    /// Both lead from a to the same keys
    Same,
}

impl Law {
    /// The word in a schema.
    pub fn word(self) -> &'static str {
        match self {
            Law::Inverse => "inverse",
            Law::Closure => "closure_of",
            Law::Same => "same_as",
        }
    }
}

impl Relation {
    /// Which other relations it must agree with, and how.
    pub fn laws(&self) -> impl Iterator<Item = (Law, &Spanned<String>)> {
        let inverse = self.inverse.as_ref().map(|name| (Law::Inverse, name));
        let closure = self.closure_of.as_ref().map(|name| (Law::Closure, name));
        let same = self.same_as.as_ref().map(|name| (Law::Same, name));
        [inverse, closure, same].into_iter().flatten()
    }
}

/// Between which keys a relation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends<'d> {
    /// The parameter of the pattern that is a key
    pub param: &'d str,
    /// The definitions of the keys that it goes from
    pub from: &'d [String],
    /// The definitions of the keys that it leads to
    pub to: &'d [String],
    /// Whether it may lead to several keys
    pub many: bool,
}

impl Definition {
    /// Between which keys it is, if it is a relation: its pattern has one parameter, a `key`, and its value, items or
    /// members are keys.
    pub fn ends(&self) -> Option<Ends<'_>> {
        let mut holes = self.pattern.holes();
        let (Some(hole), None) = (holes.next(), holes.next()) else { return None };
        let param = self.params.iter().find(|param| *param.name == hole.name)?;
        let Type::Key(from) = &param.param.ty else { return None };
        let key_type = &self.key_type.as_ref()?.value;
        let held = match key_type {
            KeyType::String | KeyType::List => self.value.as_ref()?,
            KeyType::Set | KeyType::Zset => self.member.as_ref()?,
            _ => return None,
        };
        let Value::Key(to) = &held.value else { return None };
        Some(Ends { param: &param.name, from, to, many: *key_type != KeyType::String })
    }
}
