//! Findings, unknown keys, settings: what is wrong, and what was perhaps meant.

use super::chart::strip;
use super::links::Links;
use crate::render::subject::examples;
use crate::render::words;
use crate::report::{ChangeVerdict, Example, Finding, Group, Report, Setting};
use keyward_fact::thousands;
use keyward_page::{Span, Strip, Token, prose, tokens};
use keyward_rules::Rule;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct FindingRow {
    number: usize,
    rule: String,
    severity: &'static str,
    message: Vec<Span>,
    help: Vec<Vec<Span>>,
    examples: Vec<(String, Vec<Span>)>,
    /// How many keys the examples leave out
    more: Option<String>,
    bytes: Option<String>,
    sampled: bool,
    change: Option<String>,
    /// Name and place of the definition
    definition: Option<(String, String)>,
}

impl FindingRow {
    pub(super) fn new(number: usize, finding: &Finding, links: &Links) -> Self {
        let detail = |it: &Example| it.detail.as_deref().map(prose).unwrap_or_default();
        let examples: Vec<_> =
            examples(finding).iter().map(|it| (it.key.to_string(), detail(it))).collect();
        let more = finding.keys().unwrap_or(0).saturating_sub(examples.len() as u64);
        FindingRow {
            number: number + 1,
            rule: finding.rule.name().to_owned(),
            severity: finding.severity.name(),
            message: prose(&finding.message),
            help: (finding.details.iter().cloned())
                .chain(finding.written_by())
                .chain(finding.help.iter().cloned())
                .map(|text| prose(&text))
                .collect(),
            more: (more > 0 && !examples.is_empty()).then(|| words::counted(more, "more key")),
            examples,
            bytes: finding.bytes.filter(|bytes| *bytes > 0).map(words::size),
            sampled: finding.sampled,
            change: change(finding),
            definition: links.find(finding.schema.as_deref(), finding.definition.as_deref()),
        }
    }
}

fn change(finding: &Finding) -> Option<String> {
    let change = finding.change.as_ref()?;
    let was = words::percent(change.share);
    Some(match change.verdict {
        ChangeVerdict::New => "new".to_owned(),
        ChangeVerdict::Worse => format!("worse, was {was}"),
        ChangeVerdict::Same => "as before".to_owned(),
        ChangeVerdict::Better => format!("better, was {was}"),
    })
}

/// Keys that no definition matches.
#[derive(Debug, Serialize)]
pub(super) struct UnknownRow {
    /// The number of the finding about them, which has examples and help
    finding: Option<usize>,
    tokens: Vec<Token>,
    keys: String,
    bytes: String,
    types: String,
    strip: Strip,
    half: Option<String>,
    examples: Vec<String>,
    /// Name, place, pattern and why
    nearest: Option<(String, Option<String>, String, Vec<Span>)>,
    /// To be copied into a schema, line by line
    toml: Vec<String>,
}

impl UnknownRow {
    pub(super) fn new(report: &Report, group: &Group, links: &Links) -> Self {
        let facts = &group.facts;
        let about = |it: &Finding| {
            it.rule == Rule::UnknownKey && it.subject.as_deref() == Some(group.pattern.as_str())
        };
        let finding = report.findings.iter().position(about).map(|number| number + 1);
        let mut examples: Vec<String> = group.examples.iter().map(ToString::to_string).collect();
        examples.dedup();
        let nearest = group.nearest.as_ref().map(|nearest| {
            let target = links.find(Some(&nearest.schema), Some(&nearest.definition));
            let href = target.map(|(_, href)| href);
            (nearest.definition.clone(), href, nearest.pattern.clone(), prose(&nearest.why))
        });
        let types: Vec<&str> =
            facts.types.iter().filter(|it| *it.1 > 0).map(|it| it.0.as_str()).collect();
        UnknownRow {
            finding,
            tokens: tokens(group.pattern.as_str()),
            keys: thousands(facts.keys),
            bytes: words::size_if_known(facts.bytes),
            types: types.join(", "),
            strip: strip(&facts.ttl),
            half: (facts.ttl.expiring > 0).then(|| words::seconds(facts.ttl.remaining.p50)),
            examples,
            nearest,
            toml: lines(group),
        }
    }

    pub(super) fn strip(&self) -> &Strip {
        &self.strip
    }
}

/// The lines of the definition to copy.
pub(super) fn lines(group: &Group) -> Vec<String> {
    group.toml.iter().flat_map(|toml| toml.lines()).map(str::to_owned).collect()
}

/// A setting of the server.
#[derive(Debug, Serialize)]
pub(super) struct SettingRow {
    name: String,
    want: String,
    got: Option<String>,
    /// `ok`, `bad` or `unseen`
    verdict: &'static str,
    why: Vec<Span>,
}

impl SettingRow {
    pub(super) fn new(setting: &Setting) -> Self {
        let quoted = |value: &String| {
            if value.is_empty() { "\"\"".to_owned() } else { value.clone() }
        };
        SettingRow {
            name: setting.name.clone(),
            want: quoted(&setting.want),
            got: setting.got.as_ref().map(quoted),
            verdict: match setting.ok {
                Some(true) => "ok",
                Some(false) => "bad",
                None => "unseen",
            },
            why: prose(&setting.why),
        }
    }
}
