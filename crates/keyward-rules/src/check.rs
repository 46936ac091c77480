//! Runs the rules over a schema.

use crate::all;
use crate::context::Context;
use crate::finding::Findings;
use crate::rule::Rule;
use crate::rules;
use keyward_fact::thousands;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Date, Schema, Severity};
use keyward_schema::span::{FileId, Span};

/// The name under which a schema is refused, in place of a rule's.
pub const SCHEMA: &str = "schema";

/// How many findings of one rule are reported; the last says how many more there were.
pub const MAX_FINDINGS: usize = 200;

/// What a check depends on beside the schema.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The day on which migrations are judged
    pub today: Date,
}

/// Runs every rule that the schema asks for, and returns what is left after `allow`, in the order
/// of the places.
pub fn check(schema: &Schema, options: &Options) -> Vec<Diagnostic> {
    let mut refused = Vec::new();
    let context = Context::new(schema, options.today, &mut refused);
    let (last, first): (Vec<_>, Vec<_>) = all().partition(|rule| rule.name == rules::LAST);
    let found = first.into_iter().chain(last).flat_map(|rule| run(rule, &context));
    let mut diagnostics: Vec<_> = refused.into_iter().chain(found).collect();
    diagnostics.sort_by_key(place);
    diagnostics
}

fn run(rule: &'static Rule, context: &Context<'_>) -> Vec<Diagnostic> {
    let severity = context.settings.severity(rule);
    if severity == Severity::Off {
        return Vec::new();
    }
    let mut findings = Findings::default();
    (rule.check)(context, &mut findings);
    let mut diagnostics: Vec<_> = findings
        .into_iter()
        .filter(|finding| !context.allowing.accepts(rule, finding))
        .map(|finding| finding.into_diagnostic(rule.name, severity))
        .collect();
    cut(&mut diagnostics, rule);
    diagnostics
}

fn cut(diagnostics: &mut Vec<Diagnostic>, rule: &Rule) {
    let Some(more) = diagnostics.len().checked_sub(MAX_FINDINGS).filter(|more| *more > 0) else {
        return;
    };
    diagnostics.sort_by_key(place);
    diagnostics.truncate(MAX_FINDINGS);
    if let Some(last) = diagnostics.last_mut() {
        let more = thousands(more as u64);
        last.notes.push(format!("and {more} more findings of `{}`", rule.name));
    }
}

fn place(diagnostic: &Diagnostic) -> (Span, &'static str) {
    let start = Span::new(FileId(0), 0..0);
    (diagnostic.labels.first().map_or(start, |label| label.span.clone()), diagnostic.rule)
}
