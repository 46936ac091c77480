//! What a change of a schema breaks: two versions are compared, definition by definition.
//!
//! [`Change`] says which definition of the new version each definition of the old one became, and what happened to
//! its keys, decided on the languages of the patterns. The rules of this kind put that into words.

pub(crate) mod accept;
mod change;
#[cfg(test)]
mod laws;
mod lifetime;
mod measured;
mod reading;
mod taken;
pub(crate) mod words;

pub(crate) use change::{Change, Pair};
pub(crate) use lifetime::lifetimes;
pub(crate) use measured::Said;
pub use measured::{Measured, MeasuredDefinition, OldAmount};
pub(crate) use reading::{Reading, parts, reading};

use crate::allowing::Allowing;
use crate::check::{diagnostics, ordered};
use crate::finding::Findings;
use crate::rule::{Judges, Tier};
use crate::rules::Rule;
use crate::settings::Settings;
use accept::Accepting;
use keyward_schema::diagnostic::Diagnostic;
use keyward_schema::model::{Date, Schema, Severity};

/// What a comparison depends on beside the two versions.
#[derive(Debug, Clone, Copy)]
pub struct BreakingOptions<'a> {
    /// The day on which an `[[accept]]` is judged
    pub today: Date,
    /// What may not break; all of it if none is named
    pub tiers: &'a [Tier],
    /// What an audit has counted, if there is one
    pub measured: Option<&'a Measured>,
}

/// What a change breaks.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Broken {
    /// The findings, tier by tier, in the order of their places
    pub findings: Vec<Diagnostic>,
    /// How many findings an `[[accept]]` accepts
    pub accepted: u64,
    /// How many findings are about definitions of unstable groups
    pub unstable: u64,
}

/// Compares a schema with an earlier version of it. The files of both must be in one list, see
/// [`keyward_schema::load_after`].
///
/// `[rules]` and `[[accept]]` are those of the new version, `unstable` groups those of the old one: what was promised
/// to be stable is.
///
/// ```
/// use keyward_rules::{BreakingOptions, breaking};
/// use keyward_schema::{model::Date, read};
///
/// let schema = |id: &str| {
///     let text = format!("version = 1\n[keyspace]\nname = \"shop\"\n[keys.user]\npattern = \"user:{{id:{id}}}\"\n");
///     read(&text).schema.expect("a schema without errors")
/// };
/// let today = Date { year: 2026, month: 11, day: 17 };
/// let options = BreakingOptions { today, tiers: &[], measured: None };
/// let broken = breaking(&schema("hex"), &schema("uuid"), &options);
/// assert_eq!(broken.findings[0].rule, "param-narrowed");
/// assert!(breaking(&schema("hex"), &schema("hex"), &options).findings.is_empty());
/// ```
pub fn breaking(old: &Schema, new: &Schema, options: &BreakingOptions<'_>) -> Broken {
    let mut broken = Broken::default();
    let mut refused = Vec::new();
    let settings = Settings::read(new, &mut refused);
    Allowing::read(new, &mut refused);
    broken.findings = refused;
    let accepting = Accepting::new(new, options.today);
    let change = Change::new(old, new, options.measured);
    for rule in Rule::ALL.iter().copied() {
        let Judges::Change(check) = rule.declaration().judges else { continue };
        let severity = settings.severity(rule);
        let asked = rule
            .tier()
            .is_some_and(|tier| options.tiers.is_empty() || options.tiers.contains(&tier));
        if severity == Severity::Off || !asked {
            continue;
        }
        let mut findings = Findings::default();
        check(&change, &mut findings);
        let before = findings.len();
        let findings = findings.retain(|finding| !finding.is_unstable());
        broken.unstable += (before - findings.len()) as u64;
        let before = findings.len();
        let findings = findings.retain(|finding| !accepting.accepts(rule, finding));
        broken.accepted += (before - findings.len()) as u64;
        let findings = findings.map(|finding| accepting.noting(rule, finding));
        broken.findings.extend(diagnostics(rule, severity, findings, |_| false));
    }
    broken.findings = ordered(broken.findings);
    // What hurts most comes first.
    let tier = |finding: &Diagnostic| Rule::parse(finding.rule).and_then(Rule::tier);
    broken.findings.sort_by_key(tier);
    broken
}
