//! `/s/{server}/definitions`: all of them, filtered and sorted as the address says.

use super::frame::{Visit, answer};
use super::known::Row;
use axum::extract::{Path, Query};
use axum::response::Response;
use keyward_fact::thousands;
use minijinja::context;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the address asks for.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Asked {
    /// Words, each of which must occur
    q: String,
    group: String,
    owner: String,
    lifecycle: String,
    /// `errors`, `warnings` or `none`
    findings: String,
    /// `bytes`, `keys`, `name` or `findings`
    sort: String,
}

/// A filter with its choices.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    pub(super) options: Vec<String>,
    pub(super) chosen: String,
}

const SORTS: [(&str, &str); 4] =
    [("bytes", "largest"), ("keys", "most keys"), ("name", "name"), ("findings", "most findings")];

pub(super) async fn page(
    visit: Visit,
    Path(server): Path<String>,
    Query(asked): Query<Asked>,
) -> Response {
    answer(visit, server, move |at| {
        let Some(words) = at.known.words(at) else {
            return at.not_yet("/definitions", "Definitions");
        };
        let shown = shown(&words.rows, &asked);
        let all = thousands(words.rows.len() as u64);
        let told = match shown.len() {
            0 => format!("None of {all} fits."),
            some if some == words.rows.len() => format!("All {all}."),
            some => format!("{} of {all}.", thousands(some as u64)),
        };
        let owners: Vec<&str> = words.rows.iter().map(|it| it.owner.as_str()).collect();
        let page = context! {
            page => words.page,
            rows => shown,
            owners => owners,
            told => told,
            choices => choices(&words.rows, &asked),
            sorts => SORTS,
            asked => asked,
        };
        at.page("definitions.html", "/definitions", "Definitions", page)
    })
    .await
}

/// The numbers of the rows that fit, in the order that is asked for.
fn shown(rows: &[Row], asked: &Asked) -> Vec<usize> {
    let words = asked.q.to_lowercase();
    let words: Vec<&str> = words.split_whitespace().collect();
    let is = |asked: &str, has: &str| asked.is_empty() || asked == has;
    let fits = |row: &Row| {
        words.iter().all(|word| row.text.contains(word))
            && is(&asked.group, &row.group)
            && is(&asked.owner, &row.owner)
            && is(&asked.lifecycle, &row.lifecycle)
            && match asked.findings.as_str() {
                "errors" => row.errors > 0,
                "warnings" => row.warnings > 0,
                "none" => row.errors + row.warnings == 0,
                _ => true,
            }
    };
    let mut shown: Vec<usize> = (0..rows.len()).filter(|&number| fits(&rows[number])).collect();
    match asked.sort.as_str() {
        "name" => shown.sort_by_key(|&it| rows[it].name.to_lowercase()),
        "keys" => shown.sort_by_key(|&it| Reverse(rows[it].keys)),
        "findings" => shown.sort_by_key(|&it| Reverse((rows[it].errors, rows[it].warnings))),
        _ => shown.sort_by_key(|&it| Reverse((rows[it].bytes, rows[it].keys))),
    }
    shown
}

fn choices(rows: &[Row], asked: &Asked) -> Vec<Choice> {
    let options = |of: fn(&Row) -> &String| -> Vec<String> {
        let all: BTreeSet<&String> = rows.iter().map(of).filter(|it| !it.is_empty()).collect();
        all.into_iter().cloned().collect()
    };
    let choice = |label, name, options: Vec<String>, chosen: &str| {
        let chosen = chosen.to_owned();
        (!options.is_empty()).then_some(Choice { label, name, options, chosen })
    };
    let findings = ["errors", "warnings", "none"].map(str::to_owned).to_vec();
    let has_schema = rows.iter().any(|it| it.schema.is_some());
    let findings = if has_schema { findings } else { Vec::new() };
    [
        choice("Group", "group", options(|it| &it.group), &asked.group),
        choice("Owner", "owner", options(|it| &it.owner), &asked.owner),
        choice("Lifecycle", "lifecycle", options(|it| &it.lifecycle), &asked.lifecycle),
        choice("Findings", "findings", findings, &asked.findings),
    ]
    .into_iter()
    .flatten()
    .collect()
}
