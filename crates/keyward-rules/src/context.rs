//! What a rule can see.

use crate::allowing::Allowing;
use crate::loss::{Use, uses};
use crate::rules::Rule;
use crate::settings::Settings;
use keyward_pattern::prove::{self, Overlaps};
use keyward_pattern::{Param, nearest};
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Date, Definition, Policy, RuleSetting, Schema};
use keyward_schema::span::Spanned;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

/// How many guesses at what was meant are made for one schema: each looks at every name there is.
const MAX_HINTS: usize = 100;

/// A schema, and what several rules need to know about it.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) today: Date,
    pub(crate) settings: Settings<'a>,
    pub(crate) allowing: Allowing<'a>,
    /// Whether no other schema is checked with it
    pub(crate) alone: bool,
    definitions: HashMap<&'a str, &'a Definition>,
    uses: HashMap<&'a str, Use>,
    overlaps: OnceCell<Overlaps>,
    refusals: RefCell<HashMap<(Param, Param), Option<String>>>,
    hints: Cell<usize>,
}

impl<'a> Context<'a> {
    /// Reads the settings and the accepted findings; names of rules that do not exist are refused.
    pub(crate) fn new(
        schema: &'a Schema,
        today: Date,
        alone: bool,
        refused: &mut Vec<Diagnostic>,
    ) -> Self {
        Context {
            schema,
            today,
            settings: Settings::read(schema, refused),
            allowing: Allowing::read(schema, refused),
            alone,
            definitions: schema.keys.iter().map(|key| (key.name.as_str(), key)).collect(),
            uses: schema.keys.iter().flat_map(uses).collect(),
            overlaps: OnceCell::new(),
            refusals: RefCell::default(),
            hints: Cell::new(MAX_HINTS),
        }
    }

    /// The definition of that name.
    pub(crate) fn definition(&self, name: &str) -> Option<&'a Definition> {
        self.definitions.get(name).copied()
    }

    /// What another definition's role uses it for.
    pub(crate) fn used_for(&self, definition: &Definition) -> Option<Use> {
        self.uses.get(definition.name.as_str()).copied()
    }

    /// What `[rules]` says about the rule.
    pub(crate) fn setting(&self, rule: Rule) -> Option<&'a RuleSetting> {
        self.settings.of(rule)
    }

    /// Where definitions meet; proved once for the rules that ask.
    pub(crate) fn overlaps(&self) -> &Overlaps {
        self.overlaps.get_or_init(|| prove::overlaps(&self.schema.compiled))
    }

    /// A value of `narrow` that `wide` refuses, if there is one and both are types of one segment.
    pub(crate) fn refusal(&self, wide: &Param, narrow: &Param) -> Option<String> {
        let mut known = self.refusals.borrow_mut();
        let refusal = known.entry((wide.clone(), narrow.clone())).or_insert_with(|| {
            let separator = *self.schema.keyspace.separator;
            prove::accepts_all(separator, wide, narrow).ok().flatten()
        });
        refusal.clone()
    }

    /// What may have been meant by a name that does not exist.
    pub(crate) fn nearest<'n>(
        &self,
        name: &str,
        candidates: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let left = self.hints.get().checked_sub(1)?;
        self.hints.set(left);
        nearest(name, candidates)
    }

    /// The eviction policy, if the server may evict at all. Only `maxmemory = 0` says that it never
    /// does: where the schema is silent, the server has some limit.
    pub(crate) fn evicting(&self) -> Option<&'a Spanned<Policy>> {
        let server = &self.schema.server;
        let unlimited = server.maxmemory.as_ref().is_some_and(|size| size.bytes() == 0);
        let policy = server.maxmemory_policy.as_ref()?;
        (policy.evicts_expiring() && !unlimited).then_some(policy)
    }

    /// How many of a definition's first parameters belong to the prefix, which is bound once.
    pub(crate) fn bound_by_prefix(&self) -> usize {
        self.schema.keyspace.prefix.as_ref().map_or(0, |prefix| prefix.holes().count())
    }
}
