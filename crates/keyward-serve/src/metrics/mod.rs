//! `/metrics`: the last audit and what servers say about themselves, for Prometheus. A scrape asks nobody.
//!
//! Series are bounded: definitions beyond [`MOST`] are left out, those with the fewest bytes first, and counted.

mod audit;
mod exposition;
mod server;

use crate::state::{Current, Shared};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use exposition::{Exposition, Form, Kind};
use keyward_audit::now;
use std::sync::Arc;

/// The most definitions of a server that have series of their own.
const MOST: usize = 1_000;

/// A server's name, and what is known of it.
type Seen = (String, Arc<Current>);

pub(crate) async fn answer(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let form = if accepts.contains("application/openmetrics-text") {
        Form::OpenMetrics
    } else {
        Form::Text
    };
    let text = page(&shared, form, now());
    ([(header::CONTENT_TYPE, form.content_type())], text).into_response()
}

fn page(shared: &Shared, form: Form, now: u64) -> String {
    let mut out = Exposition::new(form);
    let servers: Vec<Seen> =
        shared.servers.iter().map(|it| (it.name.clone(), it.current())).collect();
    out.family("keyward_build_info", Kind::Gauge, "The version of keyward, always 1");
    out.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    out.family("keyward_notices", Kind::Gauge, "What does not work in keyward serve itself");
    out.sample(&[], exposition::float(shared.notices().len() as u64));
    server::write(&mut out, &servers, now);
    audit::write(&mut out, &servers, now);
    out.finish()
}
