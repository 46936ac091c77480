//! The team's check-list, ticked.

use super::context::Context;
use super::doc::Doc;
use super::page::ChecklistItem;
use super::prose::Prose;
use keyward_rules::{Options, State, checklist};
use keyward_schema::model::{Date, Level};

impl Context<'_> {
    /// `[[checklist]]`. The same schema gives the same page on every day, so that no rule is asked about today.
    pub(super) fn checklist(&self) -> Vec<ChecklistItem> {
        let words = self.words;
        let today = Date { year: 1970, month: 1, day: 1 };
        let mut ticks = checklist(self.schema, &Options { today });
        ticks.sort_by_key(|tick| tick.item.level == Level::Should);
        let row = |tick: &keyward_rules::Tick<'_>| {
            let item = tick.item;
            let rules = item.rules.iter().map(|rule| Prose::code(&rule.value));
            let mut decided = Prose::join(rules, words.list_comma);
            let note = match tick.state {
                State::Holds => None,
                State::Broken(_) => Some(words.broken),
                State::ByAudit => Some(words.by_audit),
                State::ByReview => Some(words.by_review),
                State::Off(_) => Some(words.is_off),
            };
            let excepted = (tick.accepted > 0)
                .then(|| format!("{} {}", words.number(tick.accepted), words.excepted));
            let notes: Vec<String> = note.map(str::to_owned).into_iter().chain(excepted).collect();
            if !notes.is_empty() && !decided.is_empty() {
                decided.push_text(words.colon, false);
            }
            decided.push_text(&notes.join(words.list_comma), false);
            ChecklistItem {
                holds: tick.state == State::Holds,
                text: Doc::read(&item.text.value),
                level: if item.level == Level::Must { words.must } else { words.should },
                decided,
            }
        };
        ticks.iter().map(row).collect()
    }
}
