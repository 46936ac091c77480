//! What was seen before.

use super::{Answer, audited, blocking, current, named};
use crate::compared::compared;
use crate::forecast::{self, Expiries, Memory};
use crate::history::{AuditRow, DefinitionRow, PollRow, SchemaChange};
use crate::http::Problem;
use crate::state::Shared;
use axum::Json;
use axum::extract::{Path, Query, State};
use keyward_audit::{Difference, now};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// What is answered where nobody says from when: a month.
const MONTH: u64 = 31 * 24 * 60 * 60 * 1000;

/// Two moments.
#[derive(Debug, Deserialize, IntoParams)]
pub(super) struct Span {
    /// From when, in milliseconds since 1970; a month before `to` by default
    from: Option<u64>,
    /// Until when; now by default
    to: Option<u64>,
}

impl Span {
    fn range(&self) -> Result<(u64, u64), Problem> {
        let to = self.to.unwrap_or_else(now);
        let from = self.from.unwrap_or_else(|| to.saturating_sub(MONTH));
        if from > to {
            return Err(Problem::bad("`from` is after `to`"));
        }
        Ok((from, to))
    }
}

/// A server's history.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ServerHistory {
    /// Audits: all of the last day, one an hour of the last month, one a day before
    audits: Vec<AuditRow>,
    /// What the server said about itself, as densely
    polls: Vec<PollRow>,
    /// When its schemas changed
    changes: Vec<SchemaChange>,
}

/// Audits, what the server said about itself, and changes of its schemas
#[utoipa::path(get, path = "/api/v1/servers/{server}/history", params(("server" = String, Path), Span),
    responses((status = 200, body = ServerHistory), (status = 404, body = Problem)))]
pub(super) async fn history(
    State(shared): State<Shared>,
    Path(server): Path<String>,
    Query(span): Query<Span>,
) -> Answer<ServerHistory> {
    named(&shared, &server)?;
    let range = span.range()?;
    let history = blocking(move || {
        Ok(ServerHistory {
            audits: shared.history.audits(&server, range)?,
            polls: shared.history.polls(&server, range)?,
            changes: shared.history.changes(&server, range)?,
        })
    });
    history.await.map(Json)
}

/// A definition's history
#[utoipa::path(get, path = "/api/v1/servers/{server}/history/{schema}/{definition}",
    params(("server" = String, Path), ("schema" = String, Path), ("definition" = String, Path), Span),
    responses((status = 200, body = Vec<DefinitionRow>), (status = 404, body = Problem)))]
pub(super) async fn definition(
    State(shared): State<Shared>,
    Path((server, schema, name)): Path<(String, String, String)>,
    Query(span): Query<Span>,
) -> Answer<Vec<DefinitionRow>> {
    named(&shared, &server)?;
    let range = span.range()?;
    let rows = blocking(move || Ok(shared.history.definition(&server, (&schema, &name), range)?));
    rows.await.map(Json)
}

/// Two moments to compare.
#[derive(Debug, Deserialize, IntoParams)]
pub(super) struct Moments {
    /// The earlier one, in milliseconds since 1970
    #[param(value_type = u64, required = true)]
    from: Option<u64>,
    /// The later one, in milliseconds since 1970
    #[param(value_type = u64, required = true)]
    to: Option<u64>,
}

/// What changed between two moments: each is the last audit at or before it whose report is kept
#[utoipa::path(get, path = "/api/v1/servers/{server}/compare", params(("server" = String, Path), Moments),
    responses((status = 200, body = Object), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn compare(
    State(shared): State<Shared>,
    Path(server): Path<String>,
    Query(moments): Query<Moments>,
) -> Answer<Difference> {
    named(&shared, &server)?;
    let Moments { from: Some(from), to: Some(to) } = moments else {
        return Err(Problem::bad("`from` and `to` are needed, in milliseconds since 1970"));
    };
    if from > to {
        return Err(Problem::bad("`from` is after `to`"));
    }
    let last = current(&shared, &server)?.audit.clone().filter(|it| it.at <= to);
    let compared = blocking(move || {
        let report = |at: u64| -> Result<_, Problem> {
            let found = shared.history.report(&server, at)?;
            let missing = "no report of that time is kept";
            found.map(|(_, _, report)| report).ok_or_else(|| Problem::not_found(missing))
        };
        let before = report(from)?;
        // The last one is here: to unpack a large one takes as long as all else.
        Ok(match last {
            Some(audit) => compared(&before, &audit.report),
            None => compared(&before, &report(to)?),
        })
    });
    compared.await.map(Json)
}

/// What is to be expected.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Forecast {
    memory: Memory,
    expiries: Expiries,
}

/// Memory by a straight line through the last week; keys that expire within a day of the last audit
#[utoipa::path(get, path = "/api/v1/servers/{server}/forecast", params(("server" = String, Path)),
    responses((status = 200, body = Forecast), (status = 404, body = Problem)))]
pub(super) async fn forecast(
    State(shared): State<Shared>,
    Path(server): Path<String>,
) -> Answer<Forecast> {
    let audit = audited(&shared, &server)?;
    let forecast = blocking(move || {
        let to = now();
        let polls = shared.history.polls(&server, (to.saturating_sub(forecast::LOOK_BACK), to))?;
        let expiries = forecast::expiries(&audit.report);
        Ok(Forecast { memory: forecast::memory(&polls), expiries })
    });
    forecast.await.map(Json)
}
