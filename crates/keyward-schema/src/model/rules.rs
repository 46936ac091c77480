//! `[rules]`: which rules apply, and how.

use crate::span::Spanned;
use keyward_fact::Duration;

/// `[rules]`
#[derive(Debug, Clone)]
pub struct RuleSettings {
    /// Which rule set applies; `recommended` unless given
    pub set: Spanned<RuleSet>,
    /// Settings of single rules, by name as written
    pub rules: Vec<(Spanned<String>, RuleSetting)>,
}

/// The nested rule sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSet {
    /// What every keyspace needs: soundness
    Minimal,
    /// What almost everyone wants
    Recommended,
    /// Everything
    Strict,
}

impl RuleSet {
    /// All of them, the smallest first.
    pub const ALL: [RuleSet; 3] = [RuleSet::Minimal, RuleSet::Recommended, RuleSet::Strict];

    /// The word in a schema.
    pub fn name(self) -> &'static str {
        match self {
            RuleSet::Minimal => "minimal",
            RuleSet::Recommended => "recommended",
            RuleSet::Strict => "strict",
        }
    }
}

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Not reported
    Off,
    /// Reported; `check` still exits 1, as for any finding
    Warn,
    /// Reported first
    Error,
}

impl Severity {
    /// All of them, the most serious first.
    pub const ALL: [Severity; 3] = [Severity::Error, Severity::Warn, Severity::Off];

    /// The word before a message.
    pub fn label(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warn => "warning",
            Severity::Off => "note",
        }
    }

    /// The word in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warn => "warn",
            Severity::Off => "off",
        }
    }
}

/// One rule's settings: `missing-owner = "error"`, or a table.
#[derive(Debug, Clone, Default)]
pub struct RuleSetting {
    /// The severity, if it is overridden
    pub severity: Option<Severity>,
    /// Words for rules with a word list (`abbreviation`)
    pub words: Vec<Spanned<String>>,
    /// Words such a rule must accept
    pub accept: Vec<Spanned<String>>,
    /// A bound for rules with a bound in time (`stale-cache`)
    pub max: Option<Spanned<Duration>>,
}
