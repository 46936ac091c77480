//! A team's check-list, ticked by what was found.

use crate::counts::Counted;
use crate::outline::Outline;
use crate::report::{ChecklistItem, Finding, Setting, Source, Ticked, WhyUnread};
use keyward_rules::Rule;

/// What decides whether rules judged everything that they judge.
pub(super) struct Seen<'r> {
    pub(super) counted: &'r Counted,
    pub(super) source: &'r Source,
    pub(super) settings: &'r [Setting],
    /// Whether rules that compare keys were left out
    pub(super) is_uncompared: bool,
}

impl Seen<'_> {
    /// The check-lists of all schemas.
    pub(super) fn tick(&self, findings: &[Finding]) -> Vec<ChecklistItem> {
        let items = self.outline().schemas.iter().flat_map(|schema| &schema.checklist);
        items.map(|item| self.decided(item.clone(), findings)).collect()
    }

    fn decided(&self, mut item: ChecklistItem, findings: &[Finding]) -> ChecklistItem {
        let is_own = |finding: &&Finding| {
            item.deciding().any(|rule| rule == finding.rule)
                && finding.schema.as_ref().is_none_or(|schema| *schema == item.schema)
        };
        let found = findings.iter().filter(is_own).count() as u64;
        if found > 0 {
            let findings = item.findings.saturating_add(found);
            return ChecklistItem { state: Ticked::Broken, findings, why: None, ..item };
        }
        if item.state == Ticked::NotJudged {
            let why = item.deciding().find_map(|rule| self.unjudged(rule, &item.schema));
            item.why = why;
            item.state = if item.why.is_some() { Ticked::NotJudged } else { Ticked::Holds };
        }
        item
    }

    fn outline(&self) -> &Outline {
        &self.counted.outline
    }

    /// Why a rule has not judged all that it judges.
    fn unjudged(&self, rule: Rule, schema: &str) -> Option<String> {
        let (outline, source) = (self.outline(), self.source);
        let is_of_server = matches!(rule, Rule::ServerSetting | Rule::MemoryHigh);
        let why = if !rule.is_live() {
            return None;
        } else if is_of_server && !outline.selective {
            return self.unseen(rule, schema).then(|| "the source does not show it".to_owned());
        } else if !source.complete {
            "the audit is incomplete"
        } else if outline.selective || outline.narrowed.is_some() || source.narrowed.is_some() {
            "only some keys were asked for"
        } else if source.sample.is_some() {
            "only a sample was read"
        } else if self.lacks_values() && needs_values(outline, rule) {
            "values were not read"
        } else if self.is_uncompared && compares(outline, rule) {
            "keys could not be compared"
        } else {
            return None;
        };
        Some(why.to_owned())
    }

    fn lacks_values(&self) -> bool {
        self.source.values_unread.is_some_and(|unread| unread.why == WhyUnread::LeftOut)
    }

    /// Whether the source does not show of the server what a schema asks for.
    fn unseen(&self, rule: Rule, schema: &str) -> bool {
        let mut outlined = self.outline().schemas.iter().enumerate();
        let Some((number, outlined)) = outlined.find(|(_, it)| it.name == schema) else {
            return true;
        };
        let shown = &self.counted.counts.server;
        if rule == Rule::MemoryHigh {
            return outlined.memory.is_some() && shown.memory.iter().all(|it| it.schema != number);
        }
        let own = || self.settings.iter().filter(|it| it.schema == schema);
        own().any(|it| it.ok.is_none()) || own().count() < outlined.settings.len()
    }
}

/// Whether only values show what a rule judges.
fn needs_values(outline: &Outline, rule: Rule) -> bool {
    let mut slots = outline.definitions.iter().flat_map(|it| &it.slots);
    slots.any(|slot| slot.stored && slot.rule == rule) || compares(outline, rule)
}

/// Whether a rule compares keys with each other.
fn compares(outline: &Outline, rule: Rule) -> bool {
    match rule {
        Rule::BothNames => !outline.joins.is_empty(),
        Rule::DanglingReference => !outline.references.is_empty(),
        Rule::IndexContradiction | Rule::IndexReverseMismatch => !outline.agreements.is_empty(),
        Rule::ReferenceCycle => !outline.chains.is_empty(),
        rule => outline.relations.iter().any(|it| it.rule == rule),
    }
}
