//! `/`: all servers. Where there is one, its overview is what a reader wants.

use super::frame::{Mark, encoded, plain};
use super::words::{UNKNOWN, ago, number_if_known, size_if_known};
use crate::state::{Server, Shared};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use keyward_audit::report::Severity;
use keyward_page::percent;
use minijinja::context;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    url: String,
    href: String,
    health: Mark,
    keys: String,
    bytes: String,
    compliance: String,
    errors: String,
    warnings: String,
    audited: String,
}

pub(super) async fn page(State(shared): State<Shared>) -> Response {
    if let [server] = &*shared.servers {
        return Redirect::to(&format!("/s/{}", encoded(&server.name))).into_response();
    }
    let now = keyward_audit::now();
    let rows: Vec<Row> = shared.servers.iter().map(|it| Row::new(it, now)).collect();
    plain(&shared, "servers.html", "Servers", context! { rows })
}

impl Row {
    fn new(server: &Server, now: u64) -> Self {
        let current = server.current();
        let report = current.audit.as_ref().map(|it| &it.report);
        let summary = report.map(|it| &it.summary);
        let count = |severity: Severity| {
            let found = report.map(|it| it.findings.iter().filter(|it| it.severity == severity));
            number_if_known(found.map(|it| it.count() as u64))
        };
        let compliance = summary.and_then(|it| it.compliance);
        Row {
            name: server.name.clone(),
            url: server.url.clone(),
            href: format!("/s/{}", encoded(&server.name)),
            health: Mark::of(&current.health, now),
            keys: number_if_known(summary.map(|it| it.keys)),
            bytes: size_if_known(summary.and_then(|it| it.bytes)),
            compliance: compliance.map_or_else(|| UNKNOWN.to_owned(), percent),
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            audited: current
                .audit
                .as_ref()
                .map_or_else(|| "not yet".to_owned(), |it| ago(it.at, now)),
        }
    }
}
