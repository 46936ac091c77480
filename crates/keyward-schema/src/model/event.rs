//! `[events.*]`: what happens in the application and invalidates keys.

use super::{Allow, ParamDeclaration};
use crate::span::Spanned;

/// `[events.*]`: something that happens in the application and invalidates keys.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its id
    pub name: Spanned<String>,
    /// When it happens
    pub doc: Option<Spanned<String>>,
    /// Its parameters
    pub params: Vec<ParamDeclaration>,
    /// What it invalidates, and what it refreshes
    pub invalidates: Vec<Spanned<Invalidation>>,
    /// Findings accepted for this event
    pub allow: Vec<Allow>,
}

/// `permission(folder_id = id, user_id = *)`
#[derive(Debug, Clone, PartialEq)]
pub struct Invalidation {
    /// The definition
    pub definition: String,
    /// What was written in the parentheses
    pub bindings: Vec<Binding>,
    /// `definition(*)`: every parameter that is not bound is free
    pub rest_free: bool,
    /// Whether its values are served until they are loaded again; otherwise they are removed
    pub refresh: bool,
}

impl Invalidation {
    /// Whether keys with every value of this parameter are meant.
    pub fn leaves_free(&self, param: &str) -> bool {
        let bound = self.bindings.iter().find(|binding| binding.param == param);
        bound.map_or(self.rest_free, |binding| binding.source == BindingSource::Free)
    }
}

/// `param = source`
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// The definition's parameter
    pub param: String,
    /// Where its value comes from
    pub source: BindingSource,
}

/// Where a bound parameter's value comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum BindingSource {
    /// The event's parameter of this name
    Param(String),
    /// Always this word: `region = 'de'`
    Word(String),
    /// `*`: every value
    Free,
}
