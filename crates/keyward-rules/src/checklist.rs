//! A team's check-list, ticked by rules.

use crate::allowing;
use crate::check::{Options, judge_all};
use crate::context::Context;
use crate::rules::Rule;
use crate::settings::unknown;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{ChecklistItem, Schema, Severity};

/// An item of a check-list, and whether it holds.
#[derive(Debug, Clone, Copy)]
pub struct Tick<'s> {
    /// The item
    pub item: &'s ChecklistItem,
    /// Whether it holds
    pub state: State,
    /// What an `allow` accepts and `state` therefore leaves out: findings, and of rules that judge keys each `allow`
    pub accepted: u64,
}

/// Whether an item of a check-list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its rules have no finding
    Holds,
    /// Its rules have so many findings
    Broken(u64),
    /// It depends on keys: an audit decides it
    ByAudit,
    /// No rule can decide it: people do
    ByReview,
    /// This rule of its own is switched off, so that nobody decides it
    Off(Rule),
}

/// Judges a schema, and ticks the items of its check-list.
///
/// ```
/// use keyward_rules::{Options, State, checklist};
/// use keyward_schema::{model::Date, read};
///
/// let schema = read(r#"
/// version = 1
/// [keyspace]
/// name = "shop"
/// [[checklist]]
/// text = "Every key has a TTL"
/// rules = ["missing-ttl"]
/// [[checklist]]
/// text = "Names mean something to the business"
/// level = "should"
/// [keys.cart]
/// pattern = "cart:{user_id:uint}"
/// type = "hash"
/// "#).schema.expect("a schema without errors");
///
/// let today = Date { year: 2026, month: 11, day: 16 };
/// let states: Vec<State> =
///     checklist(&schema, &Options { today }).iter().map(|tick| tick.state).collect();
/// assert_eq!(states, [State::Broken(1), State::ByReview]);
/// ```
pub fn checklist<'s>(schema: &'s Schema, options: &Options) -> Vec<Tick<'s>> {
    if schema.checklist.is_empty() {
        return Vec::new();
    }
    let (findings, contexts) = judge_all(&[schema], options.today);
    let tick = |context: &Context<'_>, item| Tick {
        item,
        state: state(item, context, &findings),
        accepted: rules(item).map(|rule| accepted(rule, context)).sum(),
    };
    let ticks = |context| schema.checklist.iter().map(move |item| tick(context, item));
    contexts.iter().flat_map(ticks).collect()
}

fn rules(item: &ChecklistItem) -> impl Iterator<Item = Rule> {
    item.rules.iter().filter_map(|name| Rule::parse(name))
}

/// How much of what a rule finds is accepted. What it would find in keys is not known here.
fn accepted(rule: Rule, context: &Context<'_>) -> u64 {
    if !rule.is_live() {
        return context.allowing.count(rule);
    }
    let allows = allowing::lists(context.schema).flatten();
    allows.filter(|allow| *allow.rule == rule.name()).count() as u64
}

fn state(item: &ChecklistItem, context: &Context<'_>, findings: &[Diagnostic]) -> State {
    let (rules, settings) = (|| rules(item), &context.settings);
    let of = |rule: Rule| {
        let own = findings.iter().filter(move |it| it.rule == rule.name());
        own.map(|finding| 1 + finding.left_out).sum::<u64>()
    };
    let broken: u64 = rules().map(of).sum();
    if broken > 0 {
        State::Broken(broken)
    } else if let Some(off) = rules().find(|rule| settings.severity(*rule) == Severity::Off) {
        State::Off(off)
    } else if rules().next().is_none() {
        State::ByReview
    } else if rules().any(Rule::is_live) {
        State::ByAudit
    } else {
        State::Holds
    }
}

/// Refuses names of rules that do not exist, or compare two versions.
pub(crate) fn refused(schema: &Schema) -> impl Iterator<Item = Diagnostic> {
    let names = schema.checklist.iter().flat_map(|item| &item.rules);
    names.filter_map(|name| match Rule::parse(name) {
        None => Some(unknown(name)),
        Some(rule) if rule.is_breaking() => {
            let message = format!("`{rule}` compares two versions, and a check-list is about one");
            let refused = Diagnostic::schema(message, name.span.clone(), "decides nothing here");
            Some(refused.help("remove it: `keyward breaking` applies it"))
        }
        Some(_) => None,
    })
}
