//! `/s/{server}/findings`: what is wrong, who writes it, how to reach them, and what repairs it.

use super::definitions::Choice;
use super::frame::{At, Visit, answer};
use super::known::Documents;
use axum::extract::{Path, Query};
use axum::response::Response;
use keyward_audit::report::Finding;
use keyward_fact::thousands;
use minijinja::context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Findings on one page.
const STEP: usize = 200;

/// What the address asks for.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Asked {
    /// Words, each of which must occur
    #[serde(skip_serializing_if = "String::is_empty")]
    q: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    severity: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    rule: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    owner: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    definition: String,
    /// How many are left out, as they were shown before
    #[serde(skip_serializing_if = "String::is_empty")]
    from: String,
}

/// A finding, and what the report does not say about it.
#[derive(Debug, Serialize)]
struct Row {
    number: usize,
    owner: Option<String>,
    contact: Option<String>,
    purpose: &'static str,
    command: String,
}

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let words = at.known.words(at);
        let (Some(words), Some(audit)) = (words, &at.current.audit) else {
            return at.not_yet("/findings", "Findings");
        };
        let findings = &audit.report.findings;
        let documents = at.known.documents(at);
        let fitting: Vec<usize> =
            (0..findings.len()).filter(|&number| fits(&findings[number], &asked)).collect();
        let from = asked.from.parse().unwrap_or(0_usize).min(fitting.len());
        let rows: Vec<Row> = (fitting.iter().skip(from).take(STEP))
            .map(|&number| Row::new(at, number, &findings[number], &documents))
            .collect();
        let (shown, all) = (thousands(fitting.len() as u64), thousands(findings.len() as u64));
        let told = match fitting.len() {
            0 if findings.is_empty() => "Nothing is wrong.".to_owned(),
            0 => format!("None of {all} fits."),
            some if some == findings.len() => format!("All {all}."),
            _ => format!("{shown} of {all}."),
        };
        let next = from + rows.len();
        let next = (next < fitting.len()).then(|| {
            let asked = Asked { from: next.to_string(), ..asked.clone() };
            format!("{}/findings?{}", at.base, query(&asked))
        });
        let page = context! {
            page => words.page,
            rows => rows,
            told => told,
            choices => choices(findings, &asked),
            next => next,
            step => STEP,
            asked => context! { q => asked.q },
        };
        at.page("findings.html", "/findings", "Findings", page)
    })
    .await
}

fn fits(finding: &Finding, asked: &Asked) -> bool {
    let is = |asked: &str, has: &str| asked.is_empty() || asked == has;
    is(&asked.severity, finding.severity.name())
        && is(&asked.rule, finding.rule.name())
        && is(&asked.owner, finding.owner.as_deref().unwrap_or_default())
        && is(&asked.definition, finding.definition.as_deref().unwrap_or_default())
        && {
            let text = || {
                let definition = finding.definition.as_deref().unwrap_or_default();
                let words = [&finding.message, finding.rule.name(), definition].join("\n");
                words.to_lowercase()
            };
            let words = asked.q.to_lowercase();
            asked.q.is_empty() || {
                let text = text();
                words.split_whitespace().all(|word| text.contains(word))
            }
        }
}

impl Row {
    fn new(at: &At<'_>, number: usize, finding: &Finding, documents: &Documents) -> Self {
        let owner = finding.owner.clone();
        let of = |it: &&super::known::Document| {
            finding.schema.as_ref().is_none_or(|schema| *schema == it.name)
        };
        let contact = owner.as_ref().and_then(|owner| {
            documents.each.iter().filter(of).find_map(|it| it.contacts.get(owner).cloned())
        });
        let (purpose, command) = repair(at, finding);
        Row { number, owner, contact, purpose, command }
    }
}

/// The command that repairs it, or else the one that says what to do.
fn repair(at: &At<'_>, finding: &Finding) -> (&'static str, String) {
    if let Some(command) = at.server.reach.fix(&at.current, finding) {
        return ("To repair it:", command);
    }
    ("What it means, and what to do:", format!("keyward explain {}", finding.rule.name()))
}

fn choices(findings: &[Finding], asked: &Asked) -> Vec<Choice> {
    let options = |of: &dyn Fn(&Finding) -> Option<String>| -> Vec<String> {
        findings.iter().filter_map(of).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let choice = |label, name, options: Vec<String>, chosen: &str| Choice {
        label,
        name,
        options,
        chosen: chosen.to_owned(),
    };
    [
        choice(
            "Severity",
            "severity",
            options(&|it| Some(it.severity.name().to_owned())),
            &asked.severity,
        ),
        choice("Rule", "rule", options(&|it| Some(it.rule.name().to_owned())), &asked.rule),
        choice("Owner", "owner", options(&|it| it.owner.clone()), &asked.owner),
        choice("Definition", "definition", options(&|it| it.definition.clone()), &asked.definition),
    ]
    .into_iter()
    .filter(|it| !it.options.is_empty())
    .collect()
}

fn query(asked: &Asked) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    let parts = [
        ("q", &asked.q),
        ("severity", &asked.severity),
        ("rule", &asked.rule),
        ("owner", &asked.owner),
        ("definition", &asked.definition),
        ("from", &asked.from),
    ];
    let given = parts.into_iter().filter(|(_, value)| !value.is_empty());
    let part = |(name, value): (&str, &String)| {
        format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
    };
    given.map(part).collect::<Vec<_>>().join("&")
}
