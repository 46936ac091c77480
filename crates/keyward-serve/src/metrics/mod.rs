//! `/metrics`: the last audit and what servers say about themselves, for Prometheus. A scrape asks nobody.
//!
//! Series are bounded: definitions beyond [`MOST`] are left out, those with the fewest bytes first, and counted.

mod audit;
mod exposition;
mod server;

use crate::state::{Current, Shared};
use crate::webhooks::WebhookState;
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
    let webhooks = shared.webhooks.states();
    webhook(&mut out, &webhooks);
    server::write(&mut out, &servers, now);
    audit::write(&mut out, &servers, now);
    out.finish()
}

fn webhook(out: &mut Exposition, webhooks: &[WebhookState]) {
    type Number = (&'static str, Kind, &'static str, fn(&WebhookState) -> u64);
    const NUMBERS: [Number; 4] = [
        ("keyward_webhook_waiting", Kind::Gauge, "Messages that wait to be sent", |it| it.waiting),
        ("keyward_webhook_sent", Kind::Counter, "Messages that were taken", |it| it.sent),
        (
            "keyward_webhook_failed",
            Kind::Counter,
            "Messages that were refused, or tried for an hour",
            |it| it.failed,
        ),
        (
            "keyward_webhook_dropped",
            Kind::Counter,
            "Messages that were given up because too many waited",
            |it| it.dropped,
        ),
    ];
    for (name, kind, help, number) in NUMBERS {
        out.family(name, kind, help);
        for webhook in webhooks {
            out.sample(&[("webhook", &webhook.name)], exposition::float(number(webhook)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyward_testkit::repository;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// The names of all series that are ever exported, whether or not there is something to export.
    fn exported() -> BTreeSet<String> {
        let mut out = Exposition::new(Form::Text);
        out.family("keyward_build_info", Kind::Gauge, "");
        out.family("keyward_notices", Kind::Gauge, "");
        webhook(&mut out, &[]);
        server::write(&mut out, &[], 0);
        audit::write(&mut out, &[], 0);
        out.names
    }

    /// The names that applications export: what the store of the library measures.
    fn of_store(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                of_store(&path, names);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).expect("a file");
                let quoted = text.split('"').filter(|it| is_name(it));
                for name in quoted {
                    names.insert(name.to_owned());
                    if name.ends_with("_seconds") {
                        let parts = ["bucket", "sum", "count"];
                        names.extend(parts.map(|part| format!("{name}_{part}")));
                    }
                }
            }
        }
    }

    fn is_name(word: &str) -> bool {
        let is_part =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
        word.strip_prefix("keyward_").is_some_and(|rest| rest.chars().all(is_part))
    }

    fn names_in(text: &str) -> BTreeSet<String> {
        let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let words = text.split(|char| !is_part(char)).filter(|word| is_name(word));
        words.map(str::to_owned).collect()
    }

    #[test]
    fn dashboard_and_alerts_use_metrics_that_there_are() {
        let mut known = exported();
        of_store(&repository().join("crates/keyward/src/store"), &mut known);
        for file in ["grafana.json", "alerts.yml"] {
            let text = fs::read_to_string(repository().join("docs/src/guide").join(file));
            let used = names_in(&text.expect("a file"));
            assert!(used.len() > 10, "{file} uses {used:?}");
            let unknown: Vec<&String> = used.difference(&known).collect();
            assert!(unknown.is_empty(), "{file} uses {unknown:?}");
        }
    }

    #[test]
    fn the_guide_names_metrics_that_there_are() {
        let guide = fs::read_to_string(repository().join("docs/src/guide/serve.md"));
        let known = exported();
        let guide = guide.expect("a guide");
        for name in names_in(&guide) {
            let is_known = known.contains(&name) || known.iter().any(|it| it.starts_with(&name));
            assert!(is_known, "{name}");
        }
    }
}
