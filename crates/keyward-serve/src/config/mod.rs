//! What to serve, and how: from a file, or from the command line for one server.

mod file;
mod read;

pub use file::load;

use keyward_audit::live::{Options, Secret};
use keyward_schema::{Diagnostic, Sources};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Where it listens unless told otherwise.
pub const LISTEN: &str = "127.0.0.1:9736";
/// How long after an audit has ended the next one begins, unless told otherwise.
pub const EVERY: Duration = Duration::from_secs(15 * 60);
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
    /// Whether it is watched between audits
    pub watch: bool,
    /// Who connects, and how much it may be burdened
    pub options: Options,
}

impl Source {
    /// A server with the defaults.
    pub fn new(name: String, url: String, schemas: Vec<PathBuf>, mut options: Options) -> Self {
        options.client_name = "keyward-serve";
        Source { name, url, schemas, every: EVERY, poll: POLL, watch: false, options }
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
