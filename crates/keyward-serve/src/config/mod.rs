//! What to serve, and how: from a file, or from the command line for one server.

mod file;
mod read;
mod webhook;

pub use file::load;

use keyward_audit::live::{Options, Secret};
use keyward_audit::report::Severity;
use keyward_schema::{Diagnostic, Sources};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where it listens unless told otherwise.
pub const LISTEN: &str = "127.0.0.1:9736";
/// How long after an audit has ended the next one begins, unless told otherwise.
pub const EVERY: Duration = Duration::from_secs(15 * 60);
/// How often what an audit has counted is kept, so that it goes on from there after a crash.
pub const KEEP: Duration = Duration::from_secs(60);
/// How often a server is asked about itself.
pub const POLL: Duration = Duration::from_secs(10);

/// Everything that an instance needs to know.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens
    pub listen: SocketAddr,
    /// What requests must carry; needed unless it listens on loopback only
    pub token: Option<Secret>,
    /// The folder of the history, the secret of masks, and audits that were stopped
    pub state: PathBuf,
    /// How much history is kept
    pub retention: Retention,
    /// The servers
    pub servers: Vec<Source>,
    /// Who is told what happens
    pub webhooks: Vec<Webhook>,
}

/// How much history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// How old it may get
    pub age: Duration,
    /// How many bytes it may take on disk
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { age: Duration::from_secs(366 * 24 * 60 * 60), bytes: 1024 * 1024 * 1024 }
    }
}

/// A server to be audited.
#[derive(Clone)]
pub struct Source {
    /// Its name: letters, digits, `-`, `_` and `.`
    pub name: String,
    /// Where it is; it may hold a password, so only [`keyward_audit::live::shown`] of it is shown
    pub url: String,
    /// The schemas of its keys; without one, keys are grouped by what they look like
    pub schemas: Vec<PathBuf>,
    /// How long after an audit has ended the next one begins
    pub every: Duration,
    /// How often it is asked about itself
    pub poll: Duration,
    /// How often what an audit has counted is kept, so that it goes on from there after a crash
    pub keep: Duration,
    /// Whether it is watched between audits
    pub watch: bool,
    /// Who connects, and how much it may be burdened
    pub options: Options,
    /// The file that its password was read from, for the commands that are proposed
    pub password_file: Option<PathBuf>,
}

impl Source {
    /// A server with the defaults.
    pub fn new(name: String, url: String, schemas: Vec<PathBuf>, mut options: Options) -> Self {
        options.client_name = "keyward-serve";
        let (every, poll, keep) = (EVERY, POLL, KEEP);
        let (watch, password_file) = (false, None);
        Source { name, url, schemas, every, poll, keep, watch, options, password_file }
    }
}

/// Without the password that the URL may hold.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = keyward_audit::live::shown(&self.url);
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("url", &url)
            .finish_non_exhaustive()
    }
}

/// Who is told what happens, by a POST of JSON.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// Its name: letters, digits, `-`, `_` and `.`
    pub name: String,
    /// Where to; it may hold a secret, so that it is never shown
    pub url: Secret,
    /// What is sent as `Authorization: Bearer`
    pub token: Option<Secret>,
    /// Of what it is told
    pub events: Vec<HookEvent>,
    /// Of which servers; of all where none is named
    pub servers: Vec<String>,
    /// The least severity of findings that it is told of
    pub severity: Severity,
    /// How long it may take to answer
    pub timeout: Duration,
    /// Certificates to trust besides those of the system
    pub authority: Option<PathBuf>,
}

impl Webhook {
    /// One that is told of everything.
    pub fn new(name: impl Into<String>, url: Secret) -> Self {
        Webhook {
            name: name.into(),
            url,
            token: None,
            events: HookEvent::ALL.to_vec(),
            servers: Vec::new(),
            severity: Severity::Warning,
            timeout: Duration::from_secs(10),
            authority: None,
        }
    }

    pub(crate) fn wants(&self, event: HookEvent) -> bool {
        self.events.contains(&event)
    }

    pub(crate) fn is_about(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|it| it == server)
    }
}

/// What a webhook can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// An audit found what the one before did not
    Found,
    /// An audit did not find any more what the one before did
    Resolved,
    /// A server does not answer any more
    Away,
    /// It answers again
    Back,
}

impl HookEvent {
    /// All of them.
    pub const ALL: [HookEvent; 4] =
        [HookEvent::Found, HookEvent::Resolved, HookEvent::Away, HookEvent::Back];

    /// Its name in the configuration and in messages.
    pub fn name(self) -> &'static str {
        match self {
            HookEvent::Found => "found",
            HookEvent::Resolved => "resolved",
            HookEvent::Away => "away",
            HookEvent::Back => "back",
        }
    }

    /// The event of a name.
    pub fn parse(name: &str) -> Option<Self> {
        HookEvent::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Whether a name can stand in a URL, a metric and a file name as it is.
pub fn is_name(name: &str) -> bool {
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('.')
}

/// Why a configuration cannot be used: everything that is wrong, with its places.
#[derive(Debug)]
pub struct Refused {
    /// The files
    pub sources: Sources,
    /// What is wrong
    pub errors: Vec<Diagnostic>,
}
