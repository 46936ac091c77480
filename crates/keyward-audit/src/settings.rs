//! The server's settings against those that the schemas ask for.

use crate::plan::{Audit, weight};
use crate::report::{Finding, Setting, Severity};
use keyward_fact::Size;
use keyward_rules::{Case, Live, word};
use keyward_schema::model::Schema;
use std::collections::{BTreeMap, BTreeSet};

/// What a source could see of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Settings by their names in `redis.conf`, as far as they could be seen: `maxmemory` in bytes
    pub settings: BTreeMap<String, String>,
    /// Settings that could not be seen, and why
    pub unseen: BTreeMap<String, &'static str>,
    /// The memory that the server uses
    pub used_memory: Option<u64>,
}

/// Compares, and says what is wrong.
pub(crate) fn judge(audit: &Audit, server: &ServerFacts) -> (Vec<Setting>, Vec<Finding>) {
    let (mut settings, mut findings) = (Vec::new(), Vec::new());
    if audit.selective {
        return (settings, findings);
    }
    for schema in &audit.schemas {
        let live = Live::new(schema);
        let severity = weight(live.severity("server-setting", None));
        for (name, want, why) in wanted(schema) {
            let got = server.settings.get(name).cloned();
            let ok = got.as_ref().map(|got| is_same(name, &want, got));
            if let (Some(severity), Some(false), Some(got)) = (severity, ok, &got) {
                let case = Case {
                    subject: Some(name),
                    detail: Some(&want),
                    near: Some(got),
                    definition: None,
                };
                findings.push(about_server("server-setting", severity, schema, &case));
            }
            let unseen = || server.unseen.get(name).copied();
            let why = match got {
                Some(_) => why,
                None => unseen().unwrap_or("this source does not show it"),
            };
            settings.push(Setting {
                schema: schema.keyspace.name.value.clone(),
                name: name.to_owned(),
                want,
                got,
                ok,
                why: why.to_owned(),
            });
        }
        if let Some(severity) = weight(live.severity("memory-high", None)) {
            findings.extend(memory(schema, server, severity));
        }
    }
    (settings, findings)
}

impl Audit {
    /// The settings that the schemas ask for, to be asked of a server.
    pub(crate) fn declared_settings(&self) -> Vec<String> {
        let each = self.schemas.iter().flat_map(|schema| wanted(schema));
        let names: BTreeSet<String> = each.map(|(name, ..)| name.to_owned()).collect();
        names.into_iter().collect()
    }
}

/// The settings that a schema asks for, and why they matter.
fn wanted(schema: &Schema) -> Vec<(&str, String, &'static str)> {
    let server = &schema.server;
    let mut all = Vec::new();
    if let Some(size) = &server.maxmemory {
        all.push(("maxmemory", size.value.to_string(), "how much memory the keys may take"));
    }
    if let Some(policy) = &server.maxmemory_policy {
        let why = "which keys the server may evict before their time";
        all.push(("maxmemory-policy", policy.name().to_owned(), why));
    }
    if let Some(save) = &server.save {
        all.push(("save", save.value.clone(), "what is left after a restart"));
    }
    if let Some(appendonly) = &server.appendonly {
        let want = if appendonly.value { "yes" } else { "no" };
        all.push(("appendonly", want.to_owned(), "what is left after a restart"));
    }
    for (name, want) in &server.other {
        all.push((name.as_str(), want.value.clone(), "the schema asks for it"));
    }
    all
}

fn is_same(name: &str, want: &str, got: &str) -> bool {
    if name == "maxmemory" {
        let bytes = |text: &str| {
            text.parse::<u64>().ok().or_else(|| Some(text.parse::<Size>().ok()?.bytes()))
        };
        return bytes(want).is_some() && bytes(want) == bytes(got);
    }
    want.eq_ignore_ascii_case(got.trim())
}

/// Whether the server uses more of its memory than the schema allows.
fn memory(schema: &Schema, server: &ServerFacts, severity: Severity) -> Option<Finding> {
    let alert = schema.alerts.memory.as_ref()?.value;
    let shown = server.settings.get("maxmemory").and_then(|text| text.parse::<u64>().ok());
    let declared = || schema.server.maxmemory.as_ref().map(|size| size.bytes());
    let maxmemory =
        shown.filter(|bytes| *bytes > 0).or_else(declared).filter(|bytes| *bytes > 0)?;
    let used = server.used_memory?;
    #[allow(clippy::cast_precision_loss, reason = "a share that is shown to a tenth")]
    let percent = used as f64 * 100.0 / maxmemory as f64;
    if percent <= alert {
        return None;
    }
    let (used, maxmemory) = (Size::from_bytes(used).human(), Size::from_bytes(maxmemory).human());
    let near = format!("{percent:.1} % ({used} of {maxmemory})");
    let detail = format!("{alert} %");
    let case = Case { near: Some(&near), detail: Some(&detail), ..Case::default() };
    Some(Finding { share: percent / 100.0, ..about_server("memory-high", severity, schema, &case) })
}

fn about_server(rule: &str, severity: Severity, schema: &Schema, case: &Case<'_>) -> Finding {
    let wording = word(rule, case);
    Finding {
        rule: rule.to_owned(),
        severity,
        schema: Some(schema.keyspace.name.value.clone()),
        definition: None,
        subject: case.subject.map(str::to_owned),
        count: 1,
        of: 1,
        share: 1.0,
        bytes: 0,
        message: String::new(),
        help: wording.help,
        examples: Vec::new(),
        sampled: false,
        change: None,
        what: wording.what,
    }
}
