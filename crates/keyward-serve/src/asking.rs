//! Asks a server about one key: the only thing that a request may ask.

use crate::config::Source;
use keyward_audit::live::{Error, Options, Primary, Reply};
use keyward_fact::visible;
use keyward_pattern::slot;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use utoipa::ToSchema;

/// How many may be asked at the same time.
const MOST: usize = 4;
/// How long a server may take.
const TIMEOUT: Duration = Duration::from_secs(3);

/// How a server is asked. Nothing of it is printed, since its URL may hold a password.
pub(crate) struct Asking {
    url: String,
    options: Options,
    running: AtomicUsize,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asking")
    }
}

/// What came of it.
pub(crate) enum Asked {
    Answer(LiveKey),
    /// Why not, in a sentence without a full stop
    Failed(String),
}

/// What a server has under a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct LiveKey {
    /// Whether it is there
    pub(crate) exists: bool,
    /// The database that was looked in
    pub(crate) db: u64,
    /// Its type, as TYPE answers
    pub(crate) key_type: Option<String>,
    /// What is left of its TTL, in milliseconds; `null` where it has none
    pub(crate) ttl: Option<u64>,
    /// Its bytes, as MEMORY USAGE answers; `null` where the server does not say
    pub(crate) bytes: Option<u64>,
}

impl Asking {
    pub(crate) fn new(source: &Source) -> Self {
        let mut options = source.options.clone();
        options.timeout = TIMEOUT;
        options.patience = TIMEOUT;
        Asking { url: source.url.clone(), options, running: AtomicUsize::new(0) }
    }

    /// Asks about a key, in this database where its schema names one.
    pub(crate) fn ask(&self, key: &[u8], db: Option<u64>) -> Asked {
        if self.running.fetch_add(1, Ordering::AcqRel) >= MOST {
            self.running.fetch_sub(1, Ordering::AcqRel);
            return Asked::Failed("several keys are being looked up: try again".to_owned());
        }
        let asked = self.asked(key, db);
        self.running.fetch_sub(1, Ordering::AcqRel);
        match asked {
            Ok(live) => Asked::Answer(live),
            Err(error) => Asked::Failed(error.to_string()),
        }
    }

    fn asked(&self, key: &[u8], db: Option<u64>) -> Result<LiveKey, Error> {
        let slot = slot(key);
        let mut away = None;
        let mut found = None;
        for primary in Primary::each(&self.url, &self.options)? {
            match primary {
                Ok(primary) if primary.has(slot) => found = Some(primary),
                Ok(_) => {}
                Err(error) => away = Some(error),
            }
        }
        let mut primary = found.ok_or_else(|| {
            away.unwrap_or_else(|| Error::ClusterDown {
                address: "the cluster".to_owned(),
                why: "no server has the slot of the key".to_owned(),
            })
        })?;
        if let Some(db) = db.filter(|_| !primary.is_clustered()) {
            primary.select(db)?;
        }
        // Where a server does not know this, the key looks used.
        primary.command(&[b"CLIENT", b"NO-TOUCH", b"ON"])?;
        let key_type = match primary.command(&[b"TYPE", key])? {
            Reply::Status(word) => Some(visible(&word).into_owned()),
            _ => None,
        };
        let exists = key_type.as_deref().is_some_and(|it| it != "none");
        let ttl = match primary.command(&[b"PTTL", key])? {
            Reply::Integer(millis) => u64::try_from(millis).ok(),
            _ => None,
        };
        let bytes = match primary.command(&[b"MEMORY", b"USAGE", key, b"SAMPLES", b"256"])? {
            Reply::Integer(bytes) => u64::try_from(bytes).ok(),
            _ => None,
        };
        let db = primary.db();
        Ok(LiveKey { exists, db, key_type: key_type.filter(|_| exists), ttl, bytes })
    }
}
