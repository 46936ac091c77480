//! All servers in a few numbers, and what needs somebody. Nothing here asks a server.

use crate::state::{Auditing, Current, Health, MigrationState, Server, State};
use crate::webhooks::WebhookState;
use keyward_audit::report::Severity;
use keyward_fact::thousands;
use serde::Serialize;
use utoipa::ToSchema;

/// Memory from which on somebody should look, as a share of the bound.
const MUCH: f64 = 0.9;
/// For how long somebody should look at a server that took the place of another one: a day, in milliseconds.
const REPLACED: u64 = 24 * 60 * 60 * 1000;

/// A server in a few numbers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ServerSummary {
    /// Its name in URLs
    pub(crate) name: String,
    /// Where it is, without credentials
    pub(crate) url: String,
    /// The names of its keyspaces
    pub(crate) keyspaces: Vec<String>,
    /// How many primaries it has: more than one in a cluster; `null` where it has not answered yet
    pub(crate) primaries: Option<u64>,
    pub(crate) health: Health,
    pub(crate) auditing: Auditing,
    /// When its last audit ended
    pub(crate) audited_at: Option<u64>,
    /// Keys
    pub(crate) keys: Option<u64>,
    /// Their bytes
    pub(crate) bytes: Option<u64>,
    /// The share of judged keys that are as declared, from 0 to 1
    pub(crate) compliance: Option<f64>,
    /// Findings
    pub(crate) findings: Option<u64>,
    /// Findings that are errors
    pub(crate) errors: Option<u64>,
    /// Bytes that it uses, as it says
    pub(crate) used_memory: Option<u64>,
    /// The bound of its memory; `null` where there is none
    pub(crate) maxmemory: Option<u64>,
    /// Migrations of its schemas
    pub(crate) migrations: u64,
    /// Migrations whose old names should be gone, and are not
    pub(crate) overdue: u64,
    /// Jobs that wait in its queues; `null` where they were not counted
    pub(crate) waiting: Option<u64>,
    /// Jobs that run
    pub(crate) running: Option<u64>,
    /// Dead letters
    pub(crate) dead: Option<u64>,
    /// Why its schemas could not be read again
    pub(crate) schema_error: Option<String>,
}

/// Something that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Attention {
    /// The server's name; empty where it is about this instance, such as its history or a webhook
    pub(crate) server: String,
    /// `error` or `warning`
    pub(crate) severity: &'static str,
    /// What, in a sentence without a full stop
    pub(crate) text: String,
    /// The page of the server that says more: `/queues`
    pub(crate) page: &'static str,
}

/// All servers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Fleet {
    pub(crate) servers: Vec<ServerSummary>,
    /// What needs somebody, errors first
    pub(crate) attention: Vec<Attention>,
    /// How the webhooks do
    pub(crate) webhooks: Vec<WebhookState>,
}

impl Fleet {
    pub(crate) fn of(state: &State) -> Self {
        let own = |notice: crate::state::Notice| Attention {
            server: String::new(),
            severity: "error",
            text: notice.text,
            page: "",
        };
        let mut attention: Vec<Attention> = state.notices().into_iter().map(own).collect();
        let mut servers = Vec::new();
        for server in &state.servers {
            let current = server.current();
            let summary = ServerSummary::new(server, &current);
            attention.extend(needs(&summary, &current));
            servers.push(summary);
        }
        attention.sort_by_key(|it| it.severity != "error");
        Fleet { servers, attention, webhooks: state.webhooks.states() }
    }

    /// A number of all servers: `None` where no server has one.
    pub(crate) fn sum(&self, of: impl Fn(&ServerSummary) -> Option<u64>) -> Option<u64> {
        let numbers: Vec<u64> = self.servers.iter().filter_map(of).collect();
        (!numbers.is_empty()).then(|| numbers.into_iter().fold(0, u64::saturating_add))
    }
}

impl ServerSummary {
    pub(crate) fn new(server: &Server, current: &Current) -> Self {
        let report = current.report();
        let errors = |it: &keyward_audit::Report| {
            it.findings.iter().filter(|it| it.severity == Severity::Error).count() as u64
        };
        let queues = &current.queues.each;
        let jobs = |of: fn(&keyward_audit::queues::QueueStats) -> Option<u64>| {
            let counted: Vec<u64> = queues.iter().filter_map(of).collect();
            (!counted.is_empty()).then(|| counted.into_iter().fold(0, u64::saturating_add))
        };
        let schemas = current.schemas.each.iter();
        ServerSummary {
            name: server.name.clone(),
            url: server.url.clone(),
            keyspaces: schemas.map(|it| it.keyspace.name.value.clone()).collect(),
            primaries: current.info.as_ref().map(|it| (it.nodes.len() + it.away.len()) as u64),
            health: current.health.clone(),
            auditing: current.auditing.clone(),
            audited_at: current.audit.as_ref().map(|audit| audit.at),
            keys: report.map(|it| it.summary.keys),
            bytes: report.and_then(|it| it.summary.bytes),
            compliance: report.and_then(|it| it.summary.compliance),
            findings: report.map(|it| it.findings.len() as u64),
            errors: report.map(errors),
            used_memory: current.info.as_ref().and_then(|it| it.used_memory()),
            maxmemory: current.info.as_ref().and_then(|it| it.maxmemory()),
            migrations: current.migrations.len() as u64,
            overdue: current.migrations.iter().filter(|it| it.is_overdue()).count() as u64,
            waiting: jobs(|it| it.waiting),
            running: jobs(|it| it.running),
            dead: jobs(|it| it.dead),
            schema_error: current.schema_error.clone(),
        }
    }
}

/// What of a server needs somebody.
fn needs(summary: &ServerSummary, current: &Current) -> Vec<Attention> {
    let mut all = Vec::new();
    let mut add = |severity, page, text: String| {
        all.push(Attention { server: summary.name.clone(), severity, text, page });
    };
    if let Health::Away { why, .. } = &summary.health {
        add("error", "/server", format!("it is away: {why}"));
    }
    if let Health::Up { replaced: Some(at), .. } = &summary.health
        && keyward_audit::now().saturating_sub(*at) < REPLACED
    {
        add("warning", "/server", "another server took its place".to_owned());
    }
    match summary.errors {
        None | Some(0) => {}
        Some(1) => add("error", "/findings", "1 finding is an error".to_owned()),
        Some(errors) => {
            add("error", "/findings", format!("{} findings are errors", thousands(errors)));
        }
    }
    if let Some(info) = &current.info {
        for away in &info.away {
            add("error", "/server", format!("a shard is away: {away}"));
        }
    }
    if let (Auditing::Failed { why, .. }, Health::Up { .. }) = (&summary.auditing, &summary.health)
    {
        add("error", "", format!("the audit failed: {why}"));
    }
    if summary.schema_error.is_some() {
        let text = "the schema on disk cannot be read: the last good one is used";
        add("error", "", text.to_owned());
    }
    if let Some(error) = &current.queues.error {
        add("warning", "/queues", format!("queues cannot be counted: {error}"));
    }
    if let (Some(used), Some(most)) = (summary.used_memory, summary.maxmemory) {
        let share = keyward_page::share(used, most);
        if share >= MUCH {
            let share = keyward_page::percent(share);
            add("error", "/server", format!("{share} of the memory is used"));
        }
    }
    for migration in current.migrations.iter().filter(|it| it.is_overdue()) {
        let left = match migration.keys_left {
            Some(1) => "1 key has an old name".to_owned(),
            Some(keys) => format!("{} keys have an old name", thousands(keys)),
            None => "old names were not counted yet".to_owned(),
        };
        add(
            "warning",
            "/migrations",
            format!("the migration {} is overdue: {left}", migration.name),
        );
    }
    if let Some(dead) = summary.dead.filter(|dead| *dead > 0) {
        let noun = if dead == 1 { "dead letter" } else { "dead letters" };
        add("warning", "/queues", format!("queues have {} {noun}", thousands(dead)));
    }
    all
}

impl MigrationState {
    /// Whether old names should be gone, and are not, as far as is known.
    pub(crate) fn is_overdue(&self) -> bool {
        self.days_left.is_some_and(|days| days < 0) && self.keys_left != Some(0)
    }
}
