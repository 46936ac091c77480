//! The state folder: the history, the secret of masks, audits that were stopped. Only who runs the program reads it.

use keyward_audit::Salt;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder, which no other instance uses meanwhile.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// By which keys are masked, in every audit the same: else no mask could be found again
    pub(crate) salt: Salt,
    _lock: File,
}

impl Folder {
    /// Creates it where it is not there, and takes it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let lock = private().create(true).truncate(false).open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another `keyward serve` uses it"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let salt = salt(&path.join("salt"))?;
        Ok(Folder { path: path.to_owned(), salt, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a stopped audit of a server is kept.
    pub(crate) fn resume(&self, server: &str) -> PathBuf {
        self.path.join(format!("resume-{server}.json"))
    }
}

/// What the system said about a file, in plain words where it is common.
pub(crate) fn why(error: &io::Error) -> String {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::AlreadyExists => "it is a file, not a folder".to_owned(),
        ErrorKind::NotADirectory => "part of the path is not a folder".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::AddrInUse => "another program listens there".to_owned(),
        ErrorKind::AddrNotAvailable => "this machine does not have the address".to_owned(),
        _ => error.to_string(),
    }
}

/// Replaces a file so that nobody ever sees half of one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private().create(true).truncate(true).open(&new)?;
    file.write_all(content).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path))
}

fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(0o600);
    options
}

/// A secret that nobody guesses.
pub(crate) fn random() -> io::Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The secret of masks, written when it is first needed.
fn salt(path: &Path) -> io::Result<Salt> {
    const MOST: u64 = 1024;
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => drop(file.take(MOST).read_to_string(&mut text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if text.trim().is_empty() {
        text = random()?;
        replace(path, text.as_bytes())?;
    }
    Ok(Salt::of(text.trim()))
}
