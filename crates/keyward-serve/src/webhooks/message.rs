//! What is sent. It names rules, definitions and owners, and counts; nothing of a key, masked or not.

use crate::folder::random;
use keyward_audit::now;
use keyward_audit::report::{Finding, Severity};
use keyward_fact::{Duration, thousands};
use keyward_rules::Rule;
use serde::Serialize;

/// The version of the document.
const VERSION: u32 = 1;
/// Findings that a message lists; the others are counted.
const LISTED: usize = 50;
/// Findings that its text names.
const NAMED: usize = 3;

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Message {
    /// The version of this document
    version: u32,
    /// The same in each attempt, so that a message that came twice is known
    id: String,
    /// When, in milliseconds since 1970
    at: u64,
    /// `found`, `resolved`, `away` or `back`
    event: &'static str,
    /// The server's name
    server: String,
    /// What happened, in a sentence
    text: String,
    /// Of `found` and `resolved`: the findings, errors first
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<About>>,
    /// How many findings are not listed
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
    /// Of `away`: why
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Of `away`: what to do
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// Of `back`: how many seconds it was away
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
}

/// A finding. Its own message may show parts of keys, so that it is left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct About {
    rule: &'static str,
    severity: &'static str,
    schema: Option<String>,
    definition: Option<String>,
    /// Of `server-setting`: the setting
    #[serde(skip_serializing_if = "Option::is_none")]
    setting: Option<String>,
    owner: Option<String>,
    contact: Option<String>,
    /// How many keys, or entries of keys
    count: u64,
    /// Of how many
    of: u64,
}

impl Message {
    fn new(event: &'static str, server: &str, text: String) -> Self {
        Message {
            version: VERSION,
            // Without randomness nothing would have been started.
            id: random().unwrap_or_default().chars().take(32).collect(),
            at: now(),
            event,
            server: server.to_owned(),
            text,
            findings: None,
            more: None,
            why: None,
            help: None,
            seconds: None,
        }
    }

    pub(super) fn found(server: &str, findings: &[&Finding]) -> Self {
        Message::about("found", server, "new", findings)
    }

    pub(super) fn resolved(server: &str, findings: &[&Finding]) -> Self {
        Message::about("resolved", server, "resolved", findings)
    }

    pub(super) fn away(server: &str, why: &str, help: &str) -> Self {
        let (why, help) = (Some(why.to_owned()), Some(help.to_owned()));
        let text = format!("{server} is away: {}", why.as_deref().unwrap_or_default());
        Message { why, help, ..Message::new("away", server, text) }
    }

    pub(super) fn back(server: &str, seconds: u64) -> Self {
        let text = format!("{server} is back after {}", Duration::from_secs(seconds).human());
        Message { seconds: Some(seconds), ..Message::new("back", server, text) }
    }

    fn about(event: &'static str, server: &str, what: &str, findings: &[&Finding]) -> Self {
        let mut sorted: Vec<&&Finding> = findings.iter().collect();
        sorted.sort_by_key(|it| it.severity != Severity::Error);
        let names: Vec<String> = sorted.iter().take(NAMED).map(|it| named(it)).collect();
        let rest = findings.len().saturating_sub(NAMED);
        let rest =
            if rest > 0 { format!(" and {} more", thousands(rest as u64)) } else { String::new() };
        let noun = if findings.len() == 1 { "finding" } else { "findings" };
        let count = thousands(findings.len() as u64);
        let text = format!("{server}: {count} {what} {noun}: {}{rest}", names.join(", "));
        let listed = sorted.iter().take(LISTED).map(|it| About::new(it)).collect();
        let more = findings.len().saturating_sub(LISTED) as u64;
        Message { findings: Some(listed), more: Some(more), ..Message::new(event, server, text) }
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// `ttl-missing in cart`
fn named(finding: &Finding) -> String {
    match (&finding.definition, setting(finding)) {
        (Some(definition), _) => format!("{} in {definition}", finding.rule.name()),
        (None, Some(setting)) => format!("{} {setting}", finding.rule.name()),
        (None, None) => finding.rule.name().to_owned(),
    }
}

/// The setting that a finding is about. What other findings are about may be part of a key.
fn setting(finding: &Finding) -> Option<&String> {
    finding.subject.as_ref().filter(|_| finding.rule == Rule::ServerSetting)
}

impl About {
    fn new(finding: &Finding) -> Self {
        About {
            rule: finding.rule.name(),
            severity: finding.severity.name(),
            schema: finding.schema.clone(),
            definition: finding.definition.clone(),
            setting: setting(finding).cloned(),
            owner: finding.owner.clone(),
            contact: finding.contact.clone(),
            count: finding.count,
            of: finding.of,
        }
    }
}
