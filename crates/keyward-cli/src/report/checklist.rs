//! A team's check-list, ticked.

use crate::output::{DIM, ERROR, GOOD, WARNING, printable};
use keyward_fact::thousands;
use keyward_rules::{State, Tick};
use keyward_schema::model::Level;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// An item, and whether it holds.
#[derive(Debug)]
pub(crate) struct Ticked {
    text: String,
    level: Level,
    rules: Vec<String>,
    state: State,
    accepted: u64,
}

impl Ticked {
    pub(crate) fn new(tick: &Tick<'_>) -> Self {
        let rules = tick.item.rules.iter().map(|rule| rule.value.clone());
        Ticked {
            text: tick.item.text.value.clone(),
            level: tick.item.level,
            rules: rules.collect(),
            state: tick.state,
            accepted: tick.accepted,
        }
    }

    pub(super) fn object(&self) -> Value {
        let (state, findings) = match self.state {
            State::Holds => ("holds", 0),
            State::Broken(findings) => ("broken", findings),
            State::ByAudit => ("by-audit", 0),
            State::ByReview => ("by-review", 0),
            State::Off(_) => ("off", 0),
        };
        let level = if self.level == Level::Must { "must" } else { "should" };
        json!({
            "text": self.text, "level": level, "rules": self.rules, "state": state, "findings": findings,
            "accepted": self.accepted,
        })
    }

    fn line(&self) -> String {
        let rules = self.rules.join("`, `");
        let (mark, why) = match self.state {
            State::Holds => (GOOD.on("✓"), String::new()),
            State::Broken(findings) => {
                let look = if self.level == Level::Must { ERROR } else { WARNING };
                let plural = if findings == 1 { "" } else { "s" };
                (look.on("✗"), format!("{} finding{plural} of `{rules}`", thousands(findings)))
            }
            State::ByAudit => (DIM.on("·"), "by audit".to_owned()),
            State::ByReview => (DIM.on("·"), "by review".to_owned()),
            State::Off(rule) => {
                (WARNING.on("?"), format!("`{rule}` is off, so nothing decides it"))
            }
        };
        let accepted = match self.accepted {
            0 => None,
            accepted => Some(format!("{} accepted", thousands(accepted))),
        };
        let why: Vec<String> =
            Some(why).filter(|it| !it.is_empty()).into_iter().chain(accepted).collect();
        let why = match why.join(", ") {
            why if why.is_empty() => why,
            why => format!("{} {why}", DIM.on(":")),
        };
        format!("  {mark} {}{why}", printable(&self.text))
    }
}

/// The check-list in lines: what must hold, then what should.
pub(super) fn lines(checklist: &[Ticked]) -> String {
    let mut text = String::new();
    for (level, title) in [(Level::Must, "must"), (Level::Should, "should")] {
        let mut items = checklist.iter().filter(|item| item.level == level).peekable();
        if items.peek().is_some() {
            let _ = writeln!(text, "check-list, {title} hold:");
        }
        for item in items {
            let _ = writeln!(text, "{}", item.line());
        }
    }
    text
}
