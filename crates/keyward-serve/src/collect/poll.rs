//! Asks a server about itself every few seconds, and notices when it goes away, comes back or is another one.

use super::{Context, node};
use crate::history::Poll;
use crate::info::{NodeInfo, ServerInfo};
use crate::state::{Event, Health};
use keyward_audit::live::{Error, Primary};
use keyward_audit::{Audit, now};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a server may take to answer: longer is away.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How often what it says is kept.
const KEPT: Duration = Duration::from_secs(60);
/// How often it is asked which primaries there are: a cluster's slots move without a connection that breaks.
const ROUND: Duration = Duration::from_secs(60);

/// Asks a server until it is told to stop.
pub(super) fn run(context: &Context) {
    let mut polls = Polls {
        context,
        primaries: Vec::new(),
        away: Vec::new(),
        found: None,
        runs: BTreeMap::new(),
        before: None,
        kept: None,
        audit: None,
    };
    loop {
        polls.once();
        if !context.stop.wait(context.source.poll) {
            return;
        }
    }
}

struct Polls<'a> {
    context: &'a Context,
    primaries: Vec<Primary>,
    /// Shards that could not be reached, and why
    away: Vec<String>,
    /// When the primaries were found; `None` once one of them is none any more
    found: Option<Instant>,
    /// Which process each address was the last time
    runs: BTreeMap<String, String>,
    before: Option<(Instant, Arc<ServerInfo>)>,
    kept: Option<Instant>,
    /// What names keys in the log of slow commands, for schemas with this fingerprint
    audit: Option<(String, Arc<Audit>)>,
}

impl Polls<'_> {
    fn once(&mut self) {
        match self.ask() {
            Ok(nodes) => self.publish(nodes),
            Err(Error::Stopped) => {}
            Err(error) => {
                self.primaries.clear();
                self.set_health(|since| match since {
                    Health::Away { since, .. } => away(*since, &error),
                    _ => away(now(), &error),
                });
            }
        }
    }

    fn ask(&mut self) -> Result<Vec<NodeInfo>, Error> {
        if self.primaries.is_empty() || !self.away.is_empty() {
            self.connect()?;
        } else if self.found.is_none_or(|found| found.elapsed() > ROUND) {
            // If nobody says who they are now, those that were primaries still answer.
            let _ = self.connect();
        }
        let audit = self.audit();
        let mut nodes = Vec::new();
        let mut lost = None;
        for primary in &mut self.primaries {
            match node::ask(primary, &audit) {
                Ok(node) => {
                    if node.role.as_deref() == Some("slave") {
                        self.found = None;
                    }
                    nodes.push(node);
                }
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(error) => {
                    self.away.push(error.to_string());
                    lost = Some(error);
                }
            }
        }
        match lost {
            Some(error) if nodes.is_empty() => Err(error),
            _ => Ok(nodes),
        }
    }

    fn connect(&mut self) -> Result<(), Error> {
        let mut options = self.context.options();
        options.timeout = TIMEOUT;
        let found = Primary::each(&self.context.source.url, &options)?;
        (self.primaries, self.away, self.found) = (Vec::new(), Vec::new(), Some(Instant::now()));
        let mut last = None;
        for primary in found {
            match primary {
                Ok(primary) => self.primaries.push(primary),
                Err(error) => {
                    self.away.push(error.to_string());
                    last = Some(error);
                }
            }
        }
        match last {
            Some(error) if self.primaries.is_empty() => Err(error),
            _ => Ok(()),
        }
    }

    /// What knows the declared keys.
    fn audit(&mut self) -> Arc<Audit> {
        let schemas = self.context.server().current().schemas.clone();
        match &self.audit {
            Some((fingerprint, audit)) if *fingerprint == schemas.fingerprint => audit.clone(),
            _ => {
                let audit = self.context.audit(&schemas);
                self.audit = Some((schemas.fingerprint.clone(), audit.clone()));
                audit
            }
        }
    }

    fn publish(&mut self, mut nodes: Vec<NodeInfo>) {
        if let Some((at, before)) = &self.before {
            let seconds = at.elapsed().as_secs_f64();
            for node in &mut nodes {
                let before = before.nodes.iter().find(|it| it.name == node.name);
                node::compare(node, before, seconds);
            }
        } else {
            for node in &mut nodes {
                node::compare(node, None, 0.0);
            }
        }
        let replaced = self.note_runs(&nodes);
        let info = Arc::new(ServerInfo { at: now(), nodes, away: self.away.clone() });
        self.before = Some((Instant::now(), info.clone()));
        self.keep(&info);
        let server = self.context.server();
        let event = Event::Info { server: server.name.clone() };
        self.context.state.update(server, event, |current| current.info = Some(info));
        self.set_health(|health| match health {
            Health::Up { since, replaced: before } if !replaced => {
                Health::Up { since: *since, replaced: *before }
            }
            _ => Health::Up { since: now(), replaced: replaced.then(now) },
        });
    }

    /// Remembers which processes answer, and says whether one took another's place.
    fn note_runs(&mut self, nodes: &[NodeInfo]) -> bool {
        let mut replaced = false;
        for node in nodes {
            let Some(run_id) = node.run_id.clone() else { continue };
            let before = self.runs.insert(node.name.clone(), run_id.clone());
            replaced |= before.is_some_and(|before| before != run_id);
        }
        replaced
    }

    fn keep(&mut self, info: &ServerInfo) {
        if self.kept.is_some_and(|kept| kept.elapsed() < KEPT) || !info.away.is_empty() {
            return;
        }
        self.kept = Some(Instant::now());
        let sum = |of: fn(&NodeInfo) -> Option<u64>| {
            let numbers: Option<Vec<u64>> = info.nodes.iter().map(of).collect();
            numbers.map(|numbers| numbers.into_iter().fold(0, u64::saturating_add))
        };
        let poll = Poll {
            at: info.at,
            used_memory: info.used_memory(),
            maxmemory: info.maxmemory(),
            ops: info.ops(),
            clients: sum(|node| node.clients),
            hits: sum(|node| node.hits),
            misses: sum(|node| node.misses),
            evicted: sum(|node| node.evicted),
            expired: sum(|node| node.expired),
        };
        let state = &self.context.state;
        state.history_result(state.history.add_poll(&self.context.server().name, &poll));
    }

    fn set_health(&self, change: impl FnOnce(&Health) -> Health) {
        let server = self.context.server();
        let before = server.current();
        let health = change(&before.health);
        if health == before.health {
            return;
        }
        self.announce(&before.health, &health);
        let is_back = matches!((&before.health, &health), (Health::Away { .. }, Health::Up { .. }));
        let event = Event::Health { server: server.name.clone(), health: health.clone() };
        self.context.state.update(server, event, |current| current.health = health);
        if is_back {
            self.context.note_return();
        }
    }

    /// Says in a line, and to webhooks, that the server went away, is back or is another one.
    fn announce(&self, before: &Health, after: &Health) {
        let (state, name) = (&self.context.state, &self.context.server().name);
        match (before, after) {
            (Health::Away { .. }, Health::Away { .. }) => {}
            (_, Health::Away { why, help, .. }) => {
                state.say(&format!("warning: `{name}` is away: {why}"));
                state.webhooks.away(name, why, help);
            }
            (Health::Away { since, .. }, Health::Up { .. }) => {
                let seconds = now().saturating_sub(*since) / 1000;
                let time = keyward_fact::Duration::from_secs(seconds).human();
                state.say(&format!("`{name}` is back after {time}"));
                state.webhooks.back(name, seconds);
            }
            (Health::Up { replaced: old, .. }, Health::Up { replaced: new, .. }) if old != new => {
                state.say(&format!("warning: `{name}` was replaced by another server"));
            }
            _ => {}
        }
    }
}

fn away(since: u64, error: &Error) -> Health {
    Health::Away { since, why: error.to_string(), help: error.help().to_owned() }
}
