//! Accepted changes: `[[accept]]`, each until its day.

use crate::finding::Finding;
use crate::rules::Rule;
use crate::settings::unknown;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Accept, Date, Schema};

/// The `[[accept]]`s of a schema on some day.
#[derive(Debug)]
pub(crate) struct Accepting<'a> {
    all: &'a [Accept],
    today: Date,
}

impl<'a> Accepting<'a> {
    pub(crate) fn new(schema: &'a Schema, today: Date) -> Self {
        Accepting { all: &schema.accept, today }
    }

    /// Whether a finding is accepted today.
    pub(crate) fn accepts(&self, rule: Rule, finding: &Finding<'_>) -> bool {
        self.of(rule, finding).any(|accept| accept.expires.value >= self.today)
    }

    /// The finding, with a note if it was accepted until some day.
    pub(crate) fn noting<'f>(&self, rule: Rule, finding: Finding<'f>) -> Finding<'f> {
        let expired = self.of(rule, &finding).max_by_key(|accept| accept.expires.value);
        let note = expired.map(|accept| {
            format!("it was accepted until {}: {}", accept.expires.value, accept.reason.value)
        });
        match note {
            Some(note) => finding.note(note),
            None => finding,
        }
    }

    fn of(&self, rule: Rule, finding: &Finding<'_>) -> impl Iterator<Item = &'a Accept> {
        let subject = finding.subject().map(str::to_owned);
        self.all.iter().filter(move |accept| {
            let named = accept.subject.value.as_str();
            let is_about = |subject: &str| {
                // What is accepted of a definition is accepted of its parts.
                subject == named || subject.split_once('.').is_some_and(|(whole, _)| whole == named)
            };
            *accept.rule == rule.name() && subject.as_deref().is_some_and(is_about)
        })
    }
}

/// Refuses rules that do not exist, or do not compare versions.
pub(crate) fn refused(schema: &Schema) -> impl Iterator<Item = Diagnostic> {
    schema.accept.iter().filter_map(|accept| match Rule::parse(&accept.rule) {
        None => Some(unknown(&accept.rule)),
        Some(rule) if !rule.is_breaking() => {
            let message = format!("`{rule}` is not about changes, so `[[accept]]` accepts nothing");
            let span = accept.rule.span.clone();
            let refused = Diagnostic::schema(message, span, "not a rule of `keyward breaking`");
            Some(refused.help("accept its findings with `allow`"))
        }
        Some(_) => None,
    })
}
