//! What is known of each server now: what pages, the API and the metrics are made of.
//!
//! Collectors replace a server's [`Current`] as a whole; whoever answers a request takes one [`Arc`] of it and
//! sees one moment. Nothing here asks a server.

use crate::asking::{Asked, Asking};
use crate::commands::Reach;
use crate::config::{Config, Source};
use crate::history::{self, History};
use crate::info::ServerInfo;
use crate::repairs::Repairs;
use crate::webhooks::Webhooks;
use keyward_audit::Report;
use keyward_audit::lookup::Lookup;
use keyward_audit::queues::QueueStats;
use keyward_audit::report::Finding;
use keyward_pattern::Keyspace;
use keyward_schema::Schema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use tokio::sync::broadcast;
use utoipa::ToSchema;

/// Events that a slow reader may fall behind by before it misses some.
const EVENTS: usize = 256;

/// What all requests share.
#[derive(Debug)]
pub struct State {
    /// The servers, in the order of the configuration
    pub servers: Vec<Server>,
    /// What was seen before
    pub history: History,
    /// When this instance was started, in milliseconds since 1970
    pub started: u64,
    pub(crate) webhooks: Webhooks,
    notices: Mutex<BTreeMap<String, Notice>>,
    events: broadcast::Sender<Event>,
    say: Say,
}

/// Who is told in lines for people what goes wrong.
pub(crate) struct Say(pub(crate) Box<dyn Fn(&str) + Send + Sync>);

impl std::fmt::Debug for Say {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Say")
    }
}

/// How handlers receive it: `State(shared): axum::extract::State<Shared>`.
pub type Shared = Arc<State>;

impl State {
    /// The state of a configuration before anything was seen.
    pub(crate) fn new(
        config: &Config,
        schemas: Vec<Arc<Schemas>>,
        history: History,
        say: Say,
    ) -> Self {
        let servers = config.servers.iter().zip(schemas);
        State {
            servers: servers.map(|(it, schemas)| Server::new(it, schemas)).collect(),
            history,
            started: keyward_audit::now(),
            webhooks: Webhooks::new(&config.webhooks),
            notices: Mutex::default(),
            events: broadcast::Sender::new(EVENTS),
            say,
        }
    }

    /// The server of a name, as it stands in URLs.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// What does not work here, such as a history that cannot be written.
    pub fn notices(&self) -> Vec<Notice> {
        lock(&self.notices).values().cloned().collect()
    }

    /// Says that something does not work, or works again.
    pub(crate) fn notice(&self, about: &str, text: Option<String>) {
        let mut notices = lock(&self.notices);
        let known = notices.get(about).map(|it| &it.text);
        if known == text.as_ref() {
            return;
        }
        match text {
            Some(text) => {
                self.say(&format!("warning: {text}"));
                let at = keyward_audit::now();
                notices.insert(about.to_owned(), Notice { about: about.to_owned(), text, at });
            }
            None => drop(notices.remove(about)),
        }
        drop(notices);
        self.tell(Event::Notices);
    }

    /// Says a line to whoever runs the program.
    pub(crate) fn say(&self, line: &str) {
        (self.say.0)(line);
    }

    /// Says whether the history could be read or written, and what was moved aside.
    pub(crate) fn history_result(&self, result: Result<(), history::Error>) {
        if let Some(moved) = self.history.moved_aside() {
            self.notice("history-moved", Some(moved));
        }
        let text = result.err().map(|error| format!("the history cannot be used: {error}"));
        self.notice("history", text);
    }

    /// Replaces what is known of a server, and tells those who listen.
    pub(crate) fn update(&self, server: &Server, event: Event, change: impl FnOnce(&mut Current)) {
        server.update(change);
        self.tell(event);
    }

    /// Tells those who listen; there may be nobody.
    pub(crate) fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Everything that happens from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }
}

/// One server, cluster, or what a Sentinel names.
#[derive(Debug)]
pub struct Server {
    /// Its name in the configuration: letters, digits, `-`, `_` and `.`
    pub name: String,
    /// Its URL without credentials
    pub url: String,
    /// How commands that are proposed reach it
    pub(crate) reach: Reach,
    asking: Asking,
    current: RwLock<Arc<Current>>,
}

impl Server {
    fn new(source: &Source, schemas: Arc<Schemas>) -> Self {
        let (name, url) = (source.name.clone(), keyward_audit::live::shown(&source.url));
        let current = Current { schemas, ..Current::default() };
        let (reach, asking) = (Reach::new(source), Asking::new(source));
        Server { name, url, reach, asking, current: RwLock::new(Arc::new(current)) }
    }

    /// What is known of it now.
    pub fn current(&self) -> Arc<Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks it about one key, in this database where its schema names one.
    pub(crate) fn ask(&self, key: &[u8], db: Option<u64>) -> Asked {
        self.asking.ask(key, db)
    }

    fn update(&self, change: impl FnOnce(&mut Current)) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut current));
    }
}

/// What is known of one server at one moment. Cheap to clone: everything large is shared.
#[derive(Debug, Clone, Default)]
pub struct Current {
    /// What its keys are checked against
    pub schemas: Arc<Schemas>,
    /// Why the schemas on disk could not be read again, in lines for people; the last good ones are used
    pub schema_error: Option<String>,
    /// The last audit that saw everything, if there was one: also one of an earlier run
    pub audit: Option<Arc<Audited>>,
    /// What the audit does now
    pub auditing: Auditing,
    /// Whether the server answers
    pub health: Health,
    /// What the server said about itself the last time
    pub info: Option<Arc<ServerInfo>>,
    /// `[migrations.*]`, with the keys that the last audit counted
    pub migrations: Arc<[MigrationState]>,
    /// The queues of the schemas, as of the last audit
    pub queues: Arc<Queues>,
    /// `[[checklist]]`, ticked by the schema's rules and the last audit
    pub checklist: Arc<[Tick]>,
    /// What `plan fix` repairs of what the last audit found
    pub(crate) repairs: Arc<Repairs>,
    /// What was found while it was watched, the newest first; empty unless it is watched
    pub found: Arc<[LiveFinding]>,
    /// How it is watched: `None` unless it is
    pub watching: Option<Watching>,
}

impl Current {
    /// The report of the last audit.
    pub fn report(&self) -> Option<&Report> {
        self.audit.as_ref().map(|audit| &audit.report)
    }
}

/// The schemas of a server.
#[derive(Debug, Default)]
pub struct Schemas {
    /// The schemas
    pub each: Vec<Schema>,
    /// Where they were read from, as they were named
    pub paths: Vec<String>,
    /// Tells their texts from others
    pub fingerprint: String,
    /// What finds keys in them, made when it is first needed
    pub(crate) lookup: OnceLock<(Lookup, Vec<Keyspace>)>,
}

impl Schemas {
    /// What finds keys, and the keyspaces that it finds them in.
    pub fn lookup(&self) -> (&Lookup, &[Keyspace]) {
        let (lookup, keyspaces) = self.lookup.get_or_init(|| {
            let keyspaces: Vec<_> = self.each.iter().map(|it| it.compiled.clone()).collect();
            (Lookup::new(&self.each, &keyspaces), keyspaces)
        });
        (lookup, keyspaces)
    }
}

/// An audit that saw everything.
#[derive(Debug)]
pub struct Audited {
    /// The report
    pub report: Report,
    /// When it ended, in milliseconds since 1970
    pub at: u64,
    /// How long it took, in milliseconds, pauses and interruptions included
    pub took: u64,
    /// Some masked keys of each definition, by keyspace and definition; none after a restart
    pub samples: BTreeMap<(String, String), Vec<Sample>>,
}

/// A key of a definition, masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Sample {
    /// Its name, masked
    pub key: String,
    /// Its type, as TYPE answers
    pub key_type: String,
    /// Bytes of a string, elements of a collection
    pub length: Option<u64>,
    /// Bytes of key and value
    pub bytes: Option<u64>,
    /// What is left of its TTL, in milliseconds
    pub ttl: Option<u64>,
}

/// What the audit of a server does now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Auditing {
    /// It has not begun
    #[default]
    Waiting,
    /// It reads keys
    Running {
        /// When it began, in milliseconds since 1970
        since: u64,
        /// Keys that were read
        keys: u64,
        /// Keys that there were when it began
        expected: u64,
    },
    /// It is done, and begins again
    Idle {
        /// When, in milliseconds since 1970
        next: u64,
    },
    /// It failed, and is tried again
    Failed {
        /// When it failed, in milliseconds since 1970
        at: u64,
        /// Why, in a sentence without a full stop
        why: String,
        /// What to do about it
        help: String,
        /// Keys that were read, from which it goes on
        keys: u64,
        /// When it is tried again, in milliseconds since 1970
        next: u64,
    },
}

/// Whether a server answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Health {
    /// It was not asked yet
    #[default]
    Unknown,
    /// It answers
    Up {
        /// Since when, as far as was seen; in milliseconds since 1970
        since: u64,
        /// When it was noticed that another process took its place, in milliseconds since 1970
        replaced: Option<u64>,
    },
    /// It does not
    Away {
        /// Since when, in milliseconds since 1970
        since: u64,
        /// Why, in a sentence without a full stop
        why: String,
        /// What to do about it
        help: String,
    },
}

/// A migration, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MigrationState {
    /// The keyspace's name
    pub schema: String,
    /// The migration
    pub name: String,
    /// `dual-write`, `read-fallback`, …
    pub phase: String,
    /// When it began: `2026-11-15`
    pub started: Option<String>,
    /// When the old names must be gone: `2026-11-15`
    pub remove_after: Option<String>,
    /// Days until then; negative when it is over
    pub days_left: Option<i64>,
    /// Keys that still have an old name; `null` before the first audit
    pub keys_left: Option<u64>,
    /// Why, in the schema's words
    pub doc: Option<String>,
    /// Old names, with the keys that still have them
    pub old_names: Vec<OldNameState>,
}

/// An old name, and the keys that still have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct OldNameState {
    /// The definition
    pub definition: String,
    /// The old pattern
    pub pattern: String,
    /// Keys; `null` before the first audit
    pub keys: Option<u64>,
    /// Bytes, where they are known
    pub bytes: Option<u64>,
}

/// The queues of a server.
#[derive(Debug, Default)]
pub struct Queues {
    /// When they were counted, in milliseconds since 1970; 0 before
    pub at: u64,
    /// The queues
    pub each: Vec<QueueStats>,
    /// Why they could not be counted, in a sentence without a full stop
    pub error: Option<String>,
}

/// An item of a check-list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Tick {
    /// The keyspace's name
    pub schema: String,
    /// The item, in the team's words
    pub text: String,
    /// Whether it must hold; else it should
    pub must: bool,
    /// The rules that decide it
    pub rules: Vec<String>,
    /// `holds`, `broken`, `by-audit` (none was done yet), `by-review` or `off`
    pub state: &'static str,
    /// How many findings its rules have
    pub findings: u64,
}

/// What was found while a server was watched.
#[derive(Debug, Clone)]
pub struct LiveFinding {
    /// When, in milliseconds since 1970
    pub at: u64,
    /// What is wrong
    pub finding: Finding,
}

/// How a server is watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Watching {
    /// `tracking`, `notifications` or `scan`; `null` while it is not
    pub via: Option<String>,
    /// What that cannot see, or why it is not watched, in sentences without a full stop
    pub notes: Vec<String>,
}

/// Something that does not work here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Notice {
    /// What it is about: `history`, `resume`, `webhook-NAME`
    pub about: String,
    /// What is wrong, in a sentence without a full stop
    pub text: String,
    /// Since when, in milliseconds since 1970
    pub at: u64,
}

/// Something has changed. `/events` sends each as JSON; pages ask for what they show.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An audit has ended: everything may be new
    Audit {
        /// The server's name
        server: String,
    },
    /// An audit goes on
    Progress {
        /// The server's name
        server: String,
        /// How far it is
        auditing: Auditing,
    },
    /// The server said something about itself
    Info {
        /// The server's name
        server: String,
    },
    /// The server went away, came back or was replaced
    Health {
        /// The server's name
        server: String,
        /// What it is now
        health: Health,
    },
    /// Something wrong was written
    Found {
        /// The server's name
        server: String,
        /// When, in milliseconds since 1970
        at: u64,
        /// What
        finding: Box<Finding>,
    },
    /// What does not work here has changed
    Notices,
}

impl Event {
    /// Its name among server-sent events.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Audit { .. } => "audit",
            Event::Progress { .. } => "progress",
            Event::Info { .. } => "info",
            Event::Health { .. } => "health",
            Event::Found { .. } => "found",
            Event::Notices => "notices",
        }
    }
}

/// A lock, whatever happened to who held it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
