//! A team's check-list, ticked.

use keyward_rules::{Rule, State, Tick};
use keyward_schema::model;
use serde::{Deserialize, Serialize};

/// An item of a schema's check-list, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecklistItem {
    /// The keyspace's name
    pub schema: String,
    /// The item, in the team's words
    pub text: String,
    /// Whether it must hold, or should
    pub level: Level,
    /// The rules that decide it; none where people do
    #[serde(default)]
    pub rules: Vec<String>,
    /// Whether it holds
    pub state: Ticked,
    /// How many findings its rules have, in the schema and in the keys
    pub findings: u64,
    /// What an `allow` accepts and `findings` therefore leaves out: findings in the schema, and of rules that judge
    /// keys each `allow`
    #[serde(default)]
    pub accepted: u64,
    /// Why it was not judged, or which of its rules is off
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether an item must hold, or should.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It must
    Must,
    /// It should
    Should,
}

/// Whether an item of a check-list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ticked {
    /// Its rules have no finding
    Holds,
    /// It depends on keys, and these were not all judged
    NotJudged,
    /// No rule can decide it: people do
    ByReview,
    /// A rule of its own is switched off, so that nothing decides it
    Off,
    /// Its rules have findings
    Broken,
}

impl ChecklistItem {
    /// As far as the schema alone decides it.
    pub(crate) fn new(schema: &str, tick: &Tick<'_>) -> Self {
        let (state, findings, why) = match tick.state {
            State::Holds => (Ticked::Holds, 0, None),
            State::Broken(findings) => (Ticked::Broken, findings, None),
            State::ByAudit => (Ticked::NotJudged, 0, None),
            State::ByReview => (Ticked::ByReview, 0, None),
            State::Off(rule) => (Ticked::Off, 0, Some(format!("`{rule}` is off"))),
        };
        ChecklistItem {
            schema: schema.to_owned(),
            text: tick.item.text.value.clone(),
            level: match tick.item.level {
                model::Level::Must => Level::Must,
                model::Level::Should => Level::Should,
            },
            rules: tick.item.rules.iter().map(|rule| rule.value.clone()).collect(),
            state,
            findings,
            accepted: tick.accepted,
            why,
        }
    }

    /// The rules that decide it.
    pub(crate) fn deciding(&self) -> impl Iterator<Item = Rule> {
        self.rules.iter().filter_map(|name| Rule::parse(name))
    }

    /// Whether both are the same item, whether it holds or not.
    pub(crate) fn is(&self, other: &ChecklistItem) -> bool {
        let identity = |item: &ChecklistItem| {
            (item.schema.clone(), item.text.clone(), item.level, item.rules.clone())
        };
        identity(self) == identity(other)
    }

    /// In words, what else to know of its state.
    pub fn remark(&self) -> String {
        let rules = self.rules.join("`, `");
        let state = match (self.state, &self.why) {
            (Ticked::Holds, _) => None,
            (Ticked::Broken, _) => {
                let plural = if self.findings == 1 { "" } else { "s" };
                let findings = keyward_fact::thousands(self.findings);
                Some(format!("{findings} finding{plural} of `{rules}`"))
            }
            (Ticked::NotJudged, Some(why)) => Some(format!("not judged: {why}")),
            (Ticked::NotJudged, None) => Some("not judged".to_owned()),
            (Ticked::ByReview, _) => Some("by review".to_owned()),
            (Ticked::Off, why) => {
                let why = why.as_deref().unwrap_or("a rule of its own is off");
                Some(format!("{why}, so nothing decides it"))
            }
        };
        let accepted = (self.accepted > 0)
            .then(|| format!("{} accepted", keyward_fact::thousands(self.accepted)));
        state.into_iter().chain(accepted).collect::<Vec<_>>().join(", ")
    }
}
