//! What the last audit of a server saw.

use super::{Answer, audited, current, named};
use crate::commands::Reach;
use crate::http::Problem;
use crate::state::{Current, Sample, Shared};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use keyward_audit::Report;
use keyward_audit::report::{self, Finding, Group, Setting, Summary};
use keyward_fact::visible_json;
use keyward_schema::Schema;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The last audit in a few numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Overview {
    /// When it ended
    at: u64,
    /// How long it took, in milliseconds
    took: u64,
    /// Whether everything was seen
    complete: bool,
    /// What could not be seen, and what else to know about the numbers
    notes: Vec<String>,
    /// Everything in a few numbers
    #[schema(value_type = Object)]
    summary: Summary,
    /// Keys and bytes of each group of definitions; `""` for those without one
    groups: BTreeMap<String, Total>,
    /// Keys and bytes of each owner; `""` for definitions without one
    owners: BTreeMap<String, Total>,
    /// Findings that are errors
    errors: u64,
    /// Findings that are warnings
    warnings: u64,
    /// The server's settings against those that the schemas ask for
    #[schema(value_type = Vec<Object>)]
    settings: Vec<Setting>,
}

/// Several definitions together.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(super) struct Total {
    definitions: u64,
    keys: u64,
    /// `null` where they are not known
    bytes: Option<u64>,
    findings: u64,
}

/// The last audit in a few numbers
#[utoipa::path(get, path = "/api/v1/servers/{server}/overview", params(("server" = String, Path)),
    responses((status = 200, body = Overview), (status = 404, body = Problem)))]
pub(super) async fn overview(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Overview> {
    let audit = audited(&shared, &server)?;
    let report = &audit.report;
    let of = |severity| report.findings.iter().filter(|it| it.severity == severity).count() as u64;
    Ok(Json(Overview {
        at: audit.at,
        took: audit.took,
        complete: report.source.complete,
        notes: report.source.notes.clone(),
        summary: report.summary.clone(),
        groups: totals(report, |it| it.group.as_deref()),
        owners: totals(report, |it| it.owner.as_deref()),
        errors: of(report::Severity::Error),
        warnings: of(report::Severity::Warning),
        settings: report.settings.clone(),
    }))
}

fn totals(
    report: &Report,
    name: fn(&report::Definition) -> Option<&str>,
) -> BTreeMap<String, Total> {
    let findings = findings_by_definition(report);
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for it in &report.definitions {
        let total = totals.entry(name(it).unwrap_or_default().to_owned());
        let total = total.or_insert_with(|| Total { bytes: Some(0), ..Total::default() });
        total.definitions += 1;
        total.keys = total.keys.saturating_add(it.facts.keys);
        total.bytes = total.bytes.zip(it.facts.bytes).map(|(all, own)| all.saturating_add(own));
        total.findings +=
            findings.get(&(it.schema.as_str(), it.name.as_str())).copied().unwrap_or(0);
    }
    totals
}

fn findings_by_definition(report: &Report) -> BTreeMap<(&str, &str), u64> {
    let mut counts = BTreeMap::new();
    for finding in &report.findings {
        if let (Some(schema), Some(definition)) = (&finding.schema, &finding.definition) {
            *counts.entry((schema.as_str(), definition.as_str())).or_default() += 1;
        }
    }
    counts
}

/// A definition in a few numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DefinitionSummary {
    schema: String,
    name: String,
    /// Its whole pattern
    pattern: String,
    group: Option<String>,
    owner: Option<String>,
    lifecycle: String,
    keys: u64,
    bytes: Option<u64>,
    /// Keys without a TTL
    no_ttl: u64,
    findings: u64,
}

/// All definitions, also those without keys
#[utoipa::path(get, path = "/api/v1/servers/{server}/definitions", params(("server" = String, Path)),
    responses((status = 200, body = Vec<DefinitionSummary>), (status = 404, body = Problem)))]
pub(super) async fn definitions(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Vec<DefinitionSummary>> {
    let audit = audited(&shared, &server)?;
    let findings = findings_by_definition(&audit.report);
    let each = audit.report.definitions.iter().map(|it| DefinitionSummary {
        schema: it.schema.clone(),
        name: it.name.clone(),
        pattern: it.pattern.clone(),
        group: it.group.clone(),
        owner: it.owner.clone(),
        lifecycle: it.lifecycle.clone(),
        keys: it.facts.keys,
        bytes: it.facts.bytes,
        no_ttl: it.facts.ttl.none,
        findings: findings.get(&(it.schema.as_str(), it.name.as_str())).copied().unwrap_or(0),
    });
    Ok(Json(each.collect()))
}

/// Everything about a definition.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DefinitionDetail {
    /// What the report has of it
    #[schema(value_type = Object)]
    definition: report::Definition,
    /// Its documentation, as the schema has it
    doc: Option<String>,
    /// How to reach its owner
    contact: Option<String>,
    /// Some of its keys, masked; none after a restart until the next audit
    samples: Vec<Sample>,
    findings: Vec<FindingDetail>,
}

/// Everything about a definition
#[utoipa::path(get, path = "/api/v1/servers/{server}/definitions/{schema}/{definition}",
    params(("server" = String, Path), ("schema" = String, Path), ("definition" = String, Path)),
    responses((status = 200, body = DefinitionDetail), (status = 404, body = Problem)))]
pub(super) async fn definition(
    State(shared): State<Shared>,
    Path((server, schema, name)): Path<(String, String, String)>,
) -> Answer<DefinitionDetail> {
    let current = current(&shared, &server)?;
    let audit = audited(&shared, &server)?;
    let report = &audit.report;
    let found = report.definitions.iter().find(|it| it.schema == schema && it.name == name);
    let reach = &named(&shared, &server)?.reach;
    let missing = || Problem::not_found(format!("`{schema}` has no definition `{name}`"));
    let definition = found.cloned().ok_or_else(missing)?;
    let schemas = &current.schemas.each;
    let declared = schemas.iter().find(|it| it.keyspace.name.value == schema);
    let declared = declared.and_then(|it| it.keys.iter().find(|it| it.name.value == name));
    let own = report.findings.iter().filter(|it| {
        it.schema.as_deref() == Some(&*schema) && it.definition.as_deref() == Some(&*name)
    });
    Ok(Json(DefinitionDetail {
        doc: declared.and_then(|it| it.doc.as_ref()).map(|doc| doc.value.clone()),
        contact: contact(schemas, Some(&schema), definition.owner.as_deref()),
        samples: audit.samples.get(&(schema.clone(), name.clone())).cloned().unwrap_or_default(),
        findings: own.map(|it| FindingDetail::new(it, &current, reach)).collect(),
        definition,
    }))
}

/// Keys that no definition has, as patterns with the nearest definition
#[utoipa::path(get, path = "/api/v1/servers/{server}/unknown", params(("server" = String, Path)),
    responses((status = 200, body = Vec<Object>), (status = 404, body = Problem)))]
pub(super) async fn unknown(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Vec<Group>> {
    let audit = audited(&shared, &server)?;
    let groups = audit.report.unknown.iter().chain(&audit.report.groups);
    Ok(Json(groups.cloned().collect()))
}

/// A finding, whom to ask, and how to repair it.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FindingDetail {
    /// What the report has of it
    #[serde(flatten)]
    #[schema(value_type = Object)]
    finding: Finding,
    /// How to reach its owner
    contact: Option<String>,
    /// The command that plans its repair; `null` where people repair it
    fix: Option<String>,
}

impl FindingDetail {
    fn new(finding: &Finding, current: &Current, reach: &Reach) -> Self {
        let schemas = &current.schemas.each;
        FindingDetail {
            contact: contact(schemas, finding.schema.as_deref(), finding.owner.as_deref()),
            fix: reach.fix(current, finding),
            finding: finding.clone(),
        }
    }
}

/// What is wrong, with owner, contact and the command that repairs it
#[utoipa::path(get, path = "/api/v1/servers/{server}/findings", params(("server" = String, Path)),
    responses((status = 200, body = Vec<FindingDetail>), (status = 404, body = Problem)))]
pub(super) async fn findings(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Vec<FindingDetail>> {
    let current = current(&shared, &server)?;
    let audit = audited(&shared, &server)?;
    let reach = &named(&shared, &server)?.reach;
    let each = audit.report.findings.iter();
    Ok(Json(each.map(|it| FindingDetail::new(it, &current, reach)).collect()))
}

/// The whole report, as `keyward audit --format json` writes it, in one line
#[utoipa::path(get, path = "/api/v1/servers/{server}/report", params(("server" = String, Path)),
    responses((status = 200, body = Object), (status = 404, body = Problem)))]
pub(super) async fn report(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Result<Response, Problem> {
    let audit = audited(&shared, &server)?;
    let json = super::blocking(move || {
        // With line breaks it is twice as long.
        serde_json::to_string(&audit.report).map(visible_json).map_err(|error| {
            let text = format!("the report cannot be written: {error}");
            Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, text)
        })
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

/// How to reach an owner.
fn contact(schemas: &[Schema], schema: Option<&str>, owner: Option<&str>) -> Option<String> {
    let schema = schemas.iter().find(|it| Some(it.keyspace.name.as_str()) == schema)?;
    let owner = schema.owners.iter().find(|it| Some(it.name.as_str()) == owner)?;
    owner.contact.as_ref().map(|contact| contact.value.clone())
}
