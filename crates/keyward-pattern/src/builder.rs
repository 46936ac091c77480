//! Takes definitions, until they are compiled together.

use crate::DefinitionId;
#[cfg(feature = "prove")]
use crate::automaton::{Nfa, TooLarge};
use crate::compile::Compiler;
use crate::define_error::DefineError;
use crate::keyspace::Keyspace;
use crate::{BuildError, BuildErrorKind, Param, Template, Type};
use std::fmt;

/// Takes definitions and compiles them together.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(crate) separator: u8,
    pub(crate) prefix: Option<(Template, Vec<(String, Param)>)>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) limit: Option<Limit>,
}

/// How long keys may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) max_len: usize,
    /// The room that is kept for the prefix, where that is longer than the prefix itself
    pub(crate) room: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) template: Template,
    pub(crate) params: Vec<(String, Param)>,
    /// Whether the pattern is whole, without the prefix
    pub(crate) absolute: bool,
}

impl Builder {
    pub(crate) fn new(separator: char) -> Result<Self, SeparatorError> {
        let usable = separator.is_ascii_punctuation()
            && !matches!(separator, '{' | '}' | '~' | '%' | '*' | '?' | '[' | ']' | '\\' | '"');
        if usable { Ok(Builder::empty(separator as u8)) } else { Err(SeparatorError { separator }) }
    }

    fn empty(separator: u8) -> Self {
        Builder { separator, prefix: None, entries: Vec::new(), limit: None }
    }

    /// What every key starts with. `resolve` gives the declaration of a parameter by its name; a
    /// type in place wins over it, and a parameter without either is text.
    pub fn prefix(&mut self, template: &Template, resolve: impl Fn(&str) -> Option<Param>) {
        self.prefix = Some((template.clone(), resolved(template, resolve)));
    }

    /// Refuses keys that are longer than this many bytes. A builder keeps room for the longest prefix,
    /// so that binding the prefix later never fails.
    pub fn max_len(&mut self, bytes: usize) {
        self.limit = Some(Limit { max_len: bytes, room: 0 });
    }

    /// Adds a definition; its pattern follows the prefix.
    pub fn define(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
    ) -> DefinitionId {
        self.add(name, template, resolve, false)
    }

    /// Adds a definition whose pattern is whole: a former name.
    pub fn define_absolute(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
    ) -> DefinitionId {
        self.add(name, template, resolve, true)
    }

    fn add(
        &mut self,
        name: &str,
        template: &Template,
        resolve: impl Fn(&str) -> Option<Param>,
        absolute: bool,
    ) -> DefinitionId {
        let params = resolved(template, resolve);
        self.entries.push(Entry {
            name: name.to_owned(),
            template: template.clone(),
            params,
            absolute,
        });
        DefinitionId(u32::try_from(self.entries.len() - 1).unwrap_or(u32::MAX))
    }

    /// The same definitions with a prefix of these values.
    pub(crate) fn bind(&self, values: &[(&str, &str)]) -> Result<Builder, BuildError> {
        let mut bound = self.clone();
        let Some((template, params)) = &self.prefix else { return Ok(bound) };
        // The prefix as a definition of its own spells the values.
        let mut alone = Builder::empty(self.separator);
        let id = alone.define("prefix", template, |name| {
            params.iter().find(|(param, _)| param == name).map(|(_, param)| param.clone())
        });
        let alone = alone.finish().map_err(unbindable)?;
        let text = alone.definition(id).build_named(values)?;
        if let Some(limit) = &mut bound.limit {
            limit.room = alone.definition(id).max_len().unwrap_or(0);
        }
        bound.prefix = Some((Template::literal(&text), Vec::new()));
        Ok(bound)
    }

    /// The same definitions with text in place of every type that stands in one segment, and
    /// without a bound on their length.
    pub(crate) fn loosened(&self) -> Builder {
        let mut loose = self.clone();
        loose.limit = None;
        for (_, param) in loose.entries.iter_mut().flat_map(|entry| &mut entry.params) {
            if param.ty.targets().is_none() && !param.ty.spans() {
                let without = std::mem::take(&mut param.without);
                *param = Param { without, ..Type::Text.into() };
            }
        }
        loose
    }

    pub(crate) fn prefix_template(&self) -> Option<&Template> {
        self.prefix.as_ref().map(|(template, _)| template)
    }

    #[cfg(feature = "prove")]
    pub(crate) fn prefix_nfa(&self) -> Result<Nfa, TooLarge> {
        let mut alone = Builder::empty(self.separator);
        alone.prefix.clone_from(&self.prefix);
        Compiler::new(alone).prefix().nfa()
    }

    /// Compiles all definitions, or says everything that is wrong with them.
    pub fn finish(self) -> Result<Keyspace, Vec<DefineError>> {
        Compiler::new(self).compile()
    }
}

/// A prefix whose keyspace compiles has a value for every binding; nobody should see this.
#[allow(clippy::needless_pass_by_value, reason = "handed to `map_err`")]
pub(crate) fn unbindable(errors: Vec<DefineError>) -> BuildError {
    let kind = BuildErrorKind::Unbindable(errors.iter().map(ToString::to_string).collect());
    BuildError { definition: "prefix".to_owned(), param: String::new(), kind }
}

fn resolved(template: &Template, resolve: impl Fn(&str) -> Option<Param>) -> Vec<(String, Param)> {
    template
        .holes()
        .map(|hole| {
            let declared = resolve(&hole.name);
            let param = match (&hole.ty, declared) {
                (Some(ty), _) => Param::from(ty.clone()),
                (None, Some(param)) => param,
                (None, None) => Param::from(Type::Text),
            };
            (hole.name.clone(), param)
        })
        .collect()
}

/// A character that cannot separate segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeparatorError {
    /// The character
    pub separator: char,
}

impl fmt::Display for SeparatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` cannot be the separator: it must be one of ! # $ & ' ( ) + , - . / : ; < = > @ ^ _ ` |",
            self.separator
        )
    }
}

impl std::error::Error for SeparatorError {}
