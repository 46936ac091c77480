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
    /// What no keyspace can do without: soundness
    Minimal,
    /// What almost everyone wants
    Recommended,
    /// Everything
    Strict,
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
