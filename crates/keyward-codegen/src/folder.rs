//! An output folder, read and written with care: below it, no symbolic link is followed.

use crate::files::PlanError;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

/// The most that a file may hold which Keyward wrote.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Where generated files go.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: &Path) -> Self {
        Folder(path.to_owned())
    }

    /// The bytes of a file, if there is one. One that is too large for Keyward to have written it differs
    /// from everything.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, PlanError> {
        let whole = self.checked(path)?;
        match keyward_fact::read_file(&whole, MAX_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
                ErrorKind::FileTooLarge => Ok(Some(vec![0])),
                _ => Err(PlanError::Read(whole, error)),
            },
        }
    }

    /// Writes a file, which appears whole or not at all.
    pub(crate) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let whole = self.checked(path).map_err(io::Error::other)?;
        let folder = whole.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name = whole.file_name().unwrap_or_default().to_string_lossy();
        // Always the same name, so that the next run replaces what a killed one has left.
        let half = folder.join(format!(".{name}.keyward-half"));
        let write = || -> io::Result<()> {
            match fs::remove_file(&half) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // Fails where a link is, instead of writing to what it leads to.
            let mut file = OpenOptions::new().write(true).create_new(true).open(&half)?;
            file.write_all(text.as_bytes())?;
            fs::rename(&half, &whole)
        };
        write().inspect_err(|_| drop(fs::remove_file(&half)))
    }

    /// Removes a file, and the folders that it leaves empty.
    pub(crate) fn remove(&self, path: &str) -> io::Result<()> {
        let whole = self.checked(path).map_err(io::Error::other)?;
        fs::remove_file(&whole)?;
        for folder in whole.ancestors().skip(1).take_while(|folder| *folder != self.0) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// The whole path of a file, if it is below the folder and nothing on the way to it is a link.
    fn checked(&self, path: &str) -> Result<PathBuf, PlanError> {
        let mut whole = self.0.clone();
        for component in Path::new(path).components() {
            let Component::Normal(name) = component else {
                return Err(PlanError::Outside(self.0.join(path)));
            };
            whole.push(name);
            if fs::symlink_metadata(&whole).is_ok_and(|found| found.is_symlink()) {
                return Err(PlanError::Link(whole));
            }
        }
        Ok(whole)
    }
}
