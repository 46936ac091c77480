//! What was seen before, in one SQLite file: narrow rows for charts, whole reports to compare any two moments.
//!
//! Every change is one transaction, so that a killed process leaves whole rows. The file is bounded by age and size
//! (`thin`). A file that turns out to be corrupt is moved aside and a new one begun; a file that cannot be written
//! is an error of that write, and the next write tries again.

mod read;
mod tables;
mod thin;
mod write;

pub use read::{AuditRow, DefinitionRow, PollRow, SchemaChange};
pub(crate) use write::Poll;

use crate::config::Retention;
use crate::folder::why as explained;
use crate::state::lock;
use rusqlite::{Connection, ErrorCode};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The file's name in the state folder.
const FILE: &str = "history.sqlite";
/// How long a connection waits for the other one.
const BUSY: Duration = Duration::from_secs(5);

/// The history of all servers.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    retention: Retention,
    writer: Mutex<Slot>,
    /// So that pages do not wait while much is thinned out
    reader: Mutex<Slot>,
    /// How many files were moved aside: who finds the second broken page of one does not move its successor
    generation: AtomicU64,
    /// What was moved aside, until somebody asks
    moved: Mutex<Option<String>>,
}

/// A connection that is made when it is needed.
type Slot = Option<Open>;

/// A connection, and the file that it leads to: device and inode. A file that was removed can still be written.
#[derive(Debug)]
struct Open {
    connection: Connection,
    file: (u64, u64),
}

/// Why the history could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite says why
    #[error("{}", why(.0))]
    Sqlite(#[from] rusqlite::Error),
    /// A report cannot be packed or unpacked
    #[error("a report cannot be read: {0}")]
    Report(String),
    /// A newer version wrote it
    #[error("a newer version of keyward wrote it (its tables have version {0})")]
    Newer(i64),
    /// What was corrupt could not be moved aside
    #[error("it is corrupt and cannot be moved aside: {}", explained(.0))]
    Stuck(io::Error),
    /// Somebody removed the folder
    #[error("the folder `{}` was removed: create it again, and start `keyward serve` again", .0.display())]
    NoFolder(PathBuf),
    /// The file cannot be found
    #[error("{}", explained(.0))]
    File(io::Error),
}

type Result<T> = std::result::Result<T, Error>;

impl History {
    /// The history in a folder. Nothing is opened yet.
    pub(crate) fn new(folder: &Path, retention: Retention) -> Self {
        History {
            path: folder.join(FILE),
            retention,
            writer: Mutex::default(),
            reader: Mutex::default(),
            generation: AtomicU64::new(0),
            moved: Mutex::default(),
        }
    }

    /// What was moved aside since the last call, in a sentence without a full stop.
    pub(crate) fn moved_aside(&self) -> Option<String> {
        lock(&self.moved).take()
    }

    fn reading<T>(&self, run: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        self.with(&self.reader, run)
    }

    fn writing<T>(&self, run: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        self.with(&self.writer, run)
    }

    /// Runs with a connection; where the file is corrupt, once more with a new one.
    fn with<T>(&self, slot: &Mutex<Slot>, run: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        let generation = self.generation.load(Ordering::Acquire);
        let corrupt = match self.attempt(slot, &run) {
            Err(error) if error.is_corrupt() => error,
            result => return result,
        };
        self.move_aside(&corrupt, generation)?;
        self.attempt(slot, &run)
    }

    fn attempt<T>(
        &self,
        slot: &Mutex<Slot>,
        run: &impl Fn(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let mut slot = lock(slot);
        let mut open = match slot.take() {
            Some(open) if identity(&self.path).is_ok_and(|file| file == open.file) => open,
            Some(gone) => {
                drop(gone);
                let open = self.open()?;
                let text = format!("`{}` was removed, and a new one begun", self.path.display());
                *lock(&self.moved) = Some(text);
                open
            }
            None => self.open()?,
        };
        let result = run(&mut open.connection);
        // Whatever is wrong with it, the next one begins with a new connection.
        *slot = result.is_ok().then_some(open);
        result
    }

    fn open(&self) -> Result<Open> {
        if let Some(folder) = self.path.parent().filter(|it| !it.is_dir()) {
            return Err(Error::NoFolder(folder.to_owned()));
        }
        let mut connection = Connection::open(&self.path)?;
        restrict(&self.path);
        connection.busy_timeout(BUSY)?;
        tables::prepare(&mut connection)?;
        let file = identity(&self.path).map_err(Error::File)?;
        Ok(Open { connection, file })
    }

    fn move_aside(&self, why: &Error, generation: u64) -> Result<()> {
        // Nobody else uses the file meanwhile.
        let (mut writer, mut reader) = (lock(&self.writer), lock(&self.reader));
        if self.generation.load(Ordering::Acquire) != generation {
            return Ok(());
        }
        (*writer, *reader) = (None, None);
        let aside = self.path.with_extension(format!("corrupt-{}", keyward_audit::now()));
        match fs::rename(&self.path, &aside) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Error::Stuck(error)),
        }
        for suffix in ["-wal", "-shm"] {
            let mut beside = self.path.clone().into_os_string();
            beside.push(suffix);
            // They belong to the file that is gone.
            let _ = fs::remove_file(beside);
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
        *lock(&self.moved) = Some(format!(
            "the history was corrupt ({why}): it was moved to `{}`, and a new one begun",
            aside.display()
        ));
        Ok(())
    }
}

impl Error {
    fn is_corrupt(&self) -> bool {
        let Error::Sqlite(error) = self else { return false };
        let corrupt = [ErrorCode::DatabaseCorrupt, ErrorCode::NotADatabase];
        error.sqlite_error_code().is_some_and(|code| corrupt.contains(&code))
    }
}

fn why(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}

/// Which file is at a path.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Only who runs it may read it.
fn restrict(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    // The folder is closed to others anyway.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
}
