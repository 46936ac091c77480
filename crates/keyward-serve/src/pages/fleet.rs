//! `/fleet`: all servers, what needs somebody, their migrations and queues. Where there is one server, its overview is
//! what a reader of `/` wants.

use super::frame::{Mark, encoded, plain};
use super::migrations::Migration;
use super::queues::Queue;
use super::words::{Number, UNKNOWN, ago, counted, number_if_known, size, size_if_known};
use crate::fleet::{Attention, Fleet, ServerSummary};
use crate::state::{Health, Shared};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use keyward_fact::thousands;
use keyward_page::{per_cent, percent, share};
use minijinja::context;
use serde::Serialize;

/// `/`
pub(super) async fn first(State(shared): State<Shared>) -> Response {
    let to = match &*shared.servers {
        [server] => format!("/s/{}", encoded(&server.name)),
        _ => "/fleet".to_owned(),
    };
    Redirect::to(&to).into_response()
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    url: String,
    href: String,
    about: String,
    health: Mark,
    keys: String,
    bytes: String,
    memory: String,
    bar: Option<f64>,
    compliance: String,
    findings: String,
    jobs: String,
    audited: String,
}

/// What needs somebody, with its place.
#[derive(Debug, Serialize)]
struct Need {
    href: String,
    #[serde(flatten)]
    attention: Attention,
}

pub(super) async fn page(State(shared): State<Shared>) -> Response {
    let now = keyward_audit::now();
    let fleet = Fleet::of(&shared);
    let rows: Vec<Row> = fleet.servers.iter().map(|it| Row::new(it, now)).collect();
    let needs: Vec<Need> = fleet.attention.iter().map(Need::new).collect();
    let (mut migrations, mut queues) = (Vec::new(), Vec::new());
    for server in &shared.servers {
        let current = server.current();
        migrations.extend(Migration::all(server, &current));
        queues.extend(Queue::all(server, &current));
    }
    let page = context! {
        numbers => numbers(&fleet),
        rows => rows,
        needs => needs,
        migrations => migrations,
        queues => queues,
        webhooks => fleet.webhooks,
    };
    plain(&shared, "fleet.html", "Fleet", page)
}

fn numbers(fleet: &Fleet) -> Vec<Number> {
    let away = fleet.servers.iter().filter(|it| matches!(it.health, Health::Away { .. })).count();
    let findings = fleet.sum(|it| it.findings).unwrap_or(0);
    let errors = fleet.sum(|it| it.errors).unwrap_or(0);
    let overdue = fleet.sum(|it| Some(it.overdue)).unwrap_or(0);
    let dead = fleet.sum(|it| it.dead);
    let number =
        |label, value, more, tone| Number { label, value, more, tone, ..Number::default() };
    let tone = |bad: bool, otherwise| if bad { "bad" } else { otherwise };
    let mut numbers = vec![
        number(
            "Servers",
            thousands(fleet.servers.len() as u64),
            if away == 0 { "all answer".to_owned() } else { format!("{away} away") },
            tone(away > 0, "good"),
        ),
        number(
            "Keys",
            number_if_known(fleet.sum(|it| it.keys)),
            size_if_known(fleet.sum(|it| it.bytes)),
            "",
        ),
        number(
            "Findings",
            thousands(findings),
            counted(errors, "error"),
            tone(errors > 0, if findings > 0 { "mild" } else { "good" }),
        ),
        number(
            "Migrations",
            number_if_known(fleet.sum(|it| Some(it.migrations))),
            if overdue == 0 { "none is overdue".to_owned() } else { format!("{overdue} overdue") },
            if overdue > 0 { "mild" } else { "" },
        ),
    ];
    if dead.is_some() || fleet.sum(|it| it.waiting).is_some() {
        let running = number_if_known(fleet.sum(|it| it.running));
        let more = format!("{running} run, {} dead", number_if_known(dead));
        let waiting = number_if_known(fleet.sum(|it| it.waiting));
        let tone = if dead.is_some_and(|dead| dead > 0) { "mild" } else { "" };
        numbers.push(number("Jobs that wait", waiting, more, tone));
    }
    numbers
}

impl Row {
    fn new(server: &ServerSummary, now: u64) -> Self {
        let nodes = server.primaries.filter(|it| *it > 1);
        let nodes = nodes.map(|it| format!("a cluster of {} primaries", thousands(it)));
        let about: Vec<String> = server.keyspaces.iter().cloned().chain(nodes).collect();
        let part = server.used_memory.zip(server.maxmemory).map(|(used, most)| share(used, most));
        let memory = match (server.used_memory, server.maxmemory, part) {
            (Some(used), Some(most), Some(part)) => {
                format!("{} of {}, {}", size(used), size(most), percent(part))
            }
            (Some(used), ..) => size(used),
            _ => UNKNOWN.to_owned(),
        };
        let findings = match (server.findings, server.errors) {
            (Some(0), _) => "none".to_owned(),
            (Some(all), Some(errors)) if all == errors => counted(errors, "error"),
            (Some(all), Some(errors)) => {
                format!("{}, {}", thousands(all), counted(errors, "error"))
            }
            _ => UNKNOWN.to_owned(),
        };
        let jobs = match (server.waiting, server.dead) {
            (None, None) => String::new(),
            (waiting, dead) => {
                format!("{} wait, {} dead", number_if_known(waiting), number_if_known(dead))
            }
        };
        Row {
            name: server.name.clone(),
            url: server.url.clone(),
            href: format!("/s/{}", encoded(&server.name)),
            about: about.join(" · "),
            health: Mark::of(&server.health, now),
            keys: number_if_known(server.keys),
            bytes: size_if_known(server.bytes),
            memory,
            bar: part.map(per_cent),
            compliance: server.compliance.map_or_else(|| UNKNOWN.to_owned(), percent),
            findings,
            jobs,
            audited: server.audited_at.map_or_else(|| "not yet".to_owned(), |at| ago(at, now)),
        }
    }
}

impl Need {
    fn new(attention: &Attention) -> Self {
        let href = match attention.server.as_str() {
            "" => "/fleet".to_owned(),
            server => format!("/s/{}{}", encoded(server), attention.page),
        };
        Need { href, attention: attention.clone() }
    }
}
