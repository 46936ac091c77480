//! Accepted findings: `allow = [{ rule = "…", reason = "…" }]`.

use crate::breaking::accept;
use crate::rules::Rule;
use crate::settings;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Allow, Schema};
use keyward_schema::span::Span;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Every `allow` of a schema, and which of them have accepted something.
#[derive(Debug)]
pub(crate) struct Allowing<'a> {
    everywhere: &'a [Allow],
    used: RefCell<HashSet<&'a Span>>,
    /// How many findings of each rule were accepted
    counts: RefCell<HashMap<Rule, u64>>,
}

impl<'a> Allowing<'a> {
    /// Reads them; a rule that does not exist is refused.
    pub(crate) fn read(schema: &'a Schema, refused: &mut Vec<Diagnostic>) -> Self {
        let allows = lists(schema).flatten();
        let unknown = allows.filter(|allow| Rule::parse(&allow.rule).is_none());
        refused.extend(unknown.map(|allow| settings::unknown(&allow.rule)));
        refused.extend(lists(schema).flatten().filter_map(misplaced));
        refused.extend(accept::refused(schema));
        Allowing { everywhere: &schema.allow, used: RefCell::default(), counts: RefCell::default() }
    }

    /// Whether one of these lists, or that of the whole schema, accepts what a rule found; the first
    /// `allow` that does counts as used.
    pub(crate) fn accepts(&self, rule: Rule, lists: &[&'a [Allow]]) -> bool {
        let lists = lists.iter().copied().chain([self.everywhere]);
        let accepting = lists.flatten().find(|allow| *allow.rule == rule.name());
        if let Some(allow) = accepting {
            self.used.borrow_mut().insert(&allow.span);
            *self.counts.borrow_mut().entry(rule).or_default() += 1;
        }
        accepting.is_some()
    }

    /// How many findings of a rule were accepted so far.
    pub(crate) fn count(&self, rule: Rule) -> u64 {
        self.counts.borrow().get(&rule).copied().unwrap_or(0)
    }

    /// Whether it has accepted something so far.
    pub(crate) fn is_used(&self, allow: &Allow) -> bool {
        self.used.borrow().contains(&allow.span)
    }
}

/// Refuses an `allow` for a rule that compares two versions: what it finds lasts only as long as the old version.
fn misplaced(allow: &Allow) -> Option<Diagnostic> {
    let rule = Rule::parse(&allow.rule).filter(|rule| rule.is_breaking())?;
    let message = format!("`{rule}` compares two versions, and an `allow` accepts nothing there");
    Some(
        Diagnostic::schema(message, allow.rule.span.clone(), "a rule of `keyward breaking`")
            .help("accept the change with `[[accept]]`: `rule`, `subject`, `reason`, `expires`"),
    )
}

/// Whether a list accepts what a rule finds.
pub(crate) fn accepted(rule: Rule, list: &[Allow]) -> bool {
    list.iter().any(|allow| *allow.rule == rule.name())
}

/// Every list of accepted findings in a schema.
pub(crate) fn lists(schema: &Schema) -> impl Iterator<Item = &[Allow]> {
    [schema.allow.as_slice()]
        .into_iter()
        .chain(schema.keys.iter().map(|definition| definition.allow.as_slice()))
        .chain(schema.events.iter().map(|event| event.allow.as_slice()))
        .chain(schema.migrations.iter().map(|migration| migration.allow.as_slice()))
}
