//! What stands around each page, and how pages are answered.

use super::known::Known;
use super::words::{Moment, ago, coarse, counted, seconds};
use crate::state::{Auditing, Current, Health, Server, Shared, State};
use axum::Extension;
use axum::extract::FromRequestParts;
use axum::extract::rejection::ExtensionRejection;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use keyward_fact::thousands;
use minijinja::{Environment, Value, context};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use std::sync::{Arc, LazyLock};

/// The pages of a server: path and name, in the order of the menu.
const PAGES: [(&str, &str); 12] = [
    ("", "Overview"),
    ("/definitions", "Definitions"),
    ("/findings", "Findings"),
    ("/unknown", "Unknown keys"),
    ("/server", "Server"),
    ("/migrations", "Migrations"),
    ("/queues", "Queues"),
    ("/compare", "Compare"),
    ("/key", "Paste a key"),
    ("/reference", "Reference"),
    ("/add", "Add a key"),
    ("/checklist", "Check-list"),
];

/// The templates, each with its text.
const TEMPLATES: [(&str, &str); 19] = [
    ("frame.html", include_str!("../../templates/frame.html.j2")),
    ("tables.html", include_str!("../../templates/tables.html.j2")),
    ("fleet.html", include_str!("../../templates/fleet.html.j2")),
    ("migrations.html", include_str!("../../templates/migrations.html.j2")),
    ("queues.html", include_str!("../../templates/queues.html.j2")),
    ("overview.html", include_str!("../../templates/overview.html.j2")),
    ("definitions.html", include_str!("../../templates/definitions.html.j2")),
    ("definition.html", include_str!("../../templates/definition.html.j2")),
    ("findings.html", include_str!("../../templates/findings.html.j2")),
    ("unknown.html", include_str!("../../templates/unknown.html.j2")),
    ("server.html", include_str!("../../templates/server.html.j2")),
    ("compare.html", include_str!("../../templates/compare.html.j2")),
    ("key.html", include_str!("../../templates/key.html.j2")),
    ("reference.html", include_str!("../../templates/reference.html.j2")),
    ("add.html", include_str!("../../templates/add.html.j2")),
    ("checklist.html", include_str!("../../templates/checklist.html.j2")),
    ("documented.html", include_str!("../../templates/documented.html.j2")),
    ("login.html", include_str!("../../templates/login.html.j2")),
    ("missing.html", include_str!("../../templates/missing.html.j2")),
];

pub(super) static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = keyward_page::environment();
    keyward_docs::add_filters(&mut environment);
    let docs = [("card.html", keyward_docs::CARD), ("content.html", keyward_docs::CONTENT)];
    for (name, text) in TEMPLATES.into_iter().chain(docs) {
        environment.add_template(name, text).expect("our templates can be parsed");
    }
    environment
});

/// One server at one moment, as a page sees it.
pub(super) struct At<'a> {
    pub(super) state: &'a State,
    pub(super) server: &'a Server,
    pub(super) current: Arc<Current>,
    pub(super) known: &'a Known,
    /// Where its pages are: `/s/main`
    pub(super) base: String,
    pub(super) now: u64,
}

/// A request for a page of a server.
pub(super) struct Visit {
    pub(super) shared: Shared,
    known: Arc<Known>,
}

impl FromRequestParts<Shared> for Visit {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(
        parts: &mut Parts,
        shared: &Shared,
    ) -> Result<Self, Self::Rejection> {
        let Extension(known) = Extension::from_request_parts(parts, shared).await?;
        Ok(Visit { shared: shared.clone(), known })
    }
}

/// Answers with a page of a server. Making it may take a while, so that no other request waits for it.
pub(super) async fn answer(
    visit: Visit,
    server: String,
    page: impl FnOnce(&At<'_>) -> Response + Send + 'static,
) -> Response {
    let make = move || {
        let Some(server) = visit.shared.server(&server) else {
            let text = "There is no server of this name.";
            return missing(&visit.shared, StatusCode::NOT_FOUND, "Not found", text);
        };
        page(&At::new(&visit.shared, server, &visit.known))
    };
    let made = tokio::task::spawn_blocking(make).await;
    made.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

impl<'a> At<'a> {
    fn new(state: &'a State, server: &'a Server, known: &'a Known) -> Self {
        let base = format!("/s/{}", encoded(&server.name));
        At { state, server, current: server.current(), known, base, now: keyward_audit::now() }
    }

    /// Where a definition is.
    pub(super) fn definition(&self, schema: &str, name: &str) -> String {
        definition_of(&self.server.name, schema, name)
    }

    /// A page of this server; `place` is its path in the menu.
    pub(super) fn page(&self, template: &str, place: &str, title: &str, page: Value) -> Response {
        let frame = self.frame(place, title);
        write(StatusCode::OK, template, context! { frame, ..page })
    }

    /// What is answered before the first audit has ended.
    pub(super) fn not_yet(&self, place: &str, title: &str) -> Response {
        let text = "No audit has ended yet. This page shows what it finds when it does.";
        self.page("missing.html", place, title, context! { text })
    }

    /// What is answered where something is not there.
    pub(super) fn not_found(&self, text: &str) -> Response {
        let frame = self.frame("-", "Not found");
        write(StatusCode::NOT_FOUND, "missing.html", context! { frame, text })
    }

    fn frame(&self, place: &str, title: &str) -> Frame {
        let report = self.current.audit.as_ref().map(|it| &it.report);
        let count = |path: &str| {
            let count = report.map_or(0, |report| match path {
                "/definitions" => report.definitions.len() + report.groups.len(),
                "/findings" => report.findings.len(),
                "/unknown" => report.unknown.len(),
                "/migrations" => self.current.migrations.len(),
                "/queues" => self.current.queues.each.len(),
                _ => 0,
            });
            (count > 0).then(|| thousands(count as u64))
        };
        let page = |(path, name): (&str, &'static str)| Page {
            name: name.to_owned(),
            href: format!("{}{path}", self.base),
            count: count(path),
            here: path == place,
        };
        Frame {
            title: title.to_owned(),
            is_fleet: false,
            server: Some(ServerName {
                name: self.server.name.clone(),
                url: self.server.url.clone(),
                base: self.base.clone(),
            }),
            servers: servers(self.state, Some(self.server)),
            pages: PAGES.into_iter().map(page).collect(),
            health: Mark::of(&self.current.health, self.now),
            auditing: self.auditing(),
            notices: self.notices(),
            audited: self.current.audit.as_ref().map(|it| Moment::new(it.at)),
            version: super::assets::VERSION.as_str(),
            keyward: env!("CARGO_PKG_VERSION"),
        }
    }

    fn auditing(&self) -> String {
        let last = self.current.audit.as_ref().map(|it| ago(it.at, self.now));
        let last =
            last.map_or_else(|| "not audited yet".to_owned(), |ago| format!("audited {ago}"));
        let inn = |at: u64| seconds(at.saturating_sub(self.now) / 1000);
        match &self.current.auditing {
            Auditing::Waiting => last,
            Auditing::Running { expected: 0, .. } => format!("{last}; auditing again"),
            Auditing::Running { keys, expected, .. } => {
                format!("auditing: {} of {}", thousands(*keys), counted(*expected, "key"))
            }
            Auditing::Idle { next } => format!("{last}, again in {}", inn(*next)),
            Auditing::Failed { why, next, .. } => {
                format!("{last}; the audit failed: {why}; tried again in {}", inn(*next))
            }
        }
    }

    fn notices(&self) -> Vec<Vec<String>> {
        let mut notices: Vec<String> = self
            .state
            .notices()
            .into_iter()
            .map(|it| format!("{}: {}", it.about, it.text))
            .collect();
        if let Health::Away { since, why, help } = &self.current.health {
            let since = Moment::new(*since).text;
            notices.push(format!("The server is away since {since}: {why}. {help}"));
        }
        if let Auditing::Failed { why, help, .. } = &self.current.auditing {
            notices.push(format!("The audit failed: {why}. {help}"));
        }
        let mut notices: Vec<Vec<String>> = notices.into_iter().map(|it| vec![it]).collect();
        if let Some(error) = &self.current.schema_error {
            let first = "The schema on disk cannot be read: the last good one is used.".to_owned();
            let lines = error.trim_end().lines().map(str::to_owned);
            notices.push([first].into_iter().chain(lines).collect());
        }
        notices
    }
}

/// A page without a server.
pub(super) fn plain(state: &State, template: &str, title: &str, page: Value) -> Response {
    write(StatusCode::OK, template, context! { frame => Frame::plain(state, title), ..page })
}

/// What is answered where there is no page.
pub(super) fn missing(state: &State, status: StatusCode, title: &str, text: &str) -> Response {
    write(status, "missing.html", context! { frame => Frame::plain(state, title), text })
}

/// The form that asks for the token.
pub(crate) fn sign_in(message: &str) -> String {
    let page = context! { message, version => super::assets::VERSION.as_str() };
    // Our own template needs nothing else; a test parses it.
    render("login.html", page).unwrap_or_default()
}

/// Fills a template.
pub(super) fn render(template: &str, page: Value) -> Result<String, minijinja::Error> {
    ENVIRONMENT.get_template(template)?.render(page)
}

fn write(status: StatusCode, template: &str, page: Value) -> Response {
    match render(template, page) {
        Ok(html) => {
            let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (status, kind, html).into_response()
        }
        // A template asked for what a page does not have. The reader must not see half of a page.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Where a definition of a server is.
pub(super) fn definition_of(server: &str, schema: &str, name: &str) -> String {
    format!("/s/{}/definitions/{}/{}", encoded(server), encoded(schema), encoded(name))
}

/// A name in a path.
pub(super) fn encoded(name: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
    utf8_percent_encode(name, KEPT).to_string()
}

/// What the frame says.
#[derive(Debug, Serialize)]
struct Frame {
    title: String,
    /// Whether it is the page of all servers
    is_fleet: bool,
    server: Option<ServerName>,
    servers: Vec<Page>,
    pages: Vec<Page>,
    health: Mark,
    auditing: String,
    /// Each in lines
    notices: Vec<Vec<String>>,
    audited: Option<Moment>,
    version: &'static str,
    keyward: &'static str,
}

#[derive(Debug, Serialize)]
struct ServerName {
    name: String,
    url: String,
    base: String,
}

#[derive(Debug, Serialize)]
struct Page {
    name: String,
    href: String,
    count: Option<String>,
    here: bool,
}

impl Frame {
    fn plain(state: &State, title: &str) -> Self {
        Frame {
            title: title.to_owned(),
            is_fleet: title == "Fleet",
            server: None,
            servers: servers(state, None),
            pages: Vec::new(),
            health: Mark::of(&Health::Unknown, 0),
            auditing: String::new(),
            notices: (state.notices().into_iter())
                .map(|it| vec![format!("{}: {}", it.about, it.text)])
                .collect(),
            audited: None,
            version: super::assets::VERSION.as_str(),
            keyward: env!("CARGO_PKG_VERSION"),
        }
    }
}

fn servers(state: &State, here: Option<&Server>) -> Vec<Page> {
    let page = |server: &Server| Page {
        name: server.name.clone(),
        href: format!("/s/{}", encoded(&server.name)),
        count: None,
        here: here.is_some_and(|here| here.name == server.name),
    };
    state.servers.iter().map(page).collect()
}

/// Whether a server answers, in words.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    class: &'static str,
    text: String,
}

impl Mark {
    pub(super) fn of(health: &Health, now: u64) -> Self {
        let (class, text) = match health {
            Health::Unknown => ("unseen", "not asked yet".to_owned()),
            Health::Up { replaced: Some(at), .. } => {
                ("ok", format!("up; replaced by another server {}", ago(*at, now)))
            }
            Health::Up { .. } => ("ok", "up".to_owned()),
            Health::Away { since, .. } => {
                ("bad", format!("away for {}", coarse(now.saturating_sub(*since) / 1000)))
            }
        };
        Mark { class, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_parsed() {
        for (name, _) in TEMPLATES {
            assert!(ENVIRONMENT.get_template(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_name_stays_one_part_of_a_path() {
        assert_eq!(encoded("a/b?c#d e"), "a%2Fb%3Fc%23d%20e");
        assert_eq!(encoded("file_meta-2.x"), "file_meta-2.x");
    }
}
