//! Writing files so that nobody ever sees half of one.

use crate::failure::{Failure, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Puts new content in the place of a file, which keeps its permissions. A symbolic link stays one:
/// what it leads to is replaced.
pub(crate) fn replace(path: &Path, content: &str) -> Result<()> {
    let write = || -> io::Result<()> {
        let target = path.canonicalize()?;
        // Renaming asks for the folder's permission only; a read-only file means what it says.
        let permissions = OpenOptions::new().write(true).open(&target)?.metadata()?.permissions();
        let folder = target.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new().prefix(".keyward-").tempfile_in(folder)?;
        file.write_all(content.as_bytes())?;
        file.as_file().set_permissions(permissions)?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    write().map_err(|error| Failure::file("write", path, &error))
}

/// Writes a file that is not there yet; with `force`, also one that is.
pub(crate) fn create(path: &Path, content: &str, force: bool) -> Result<()> {
    if force && path.exists() {
        return replace(path, content);
    }
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        file.write_all(content.as_bytes()).inspect_err(|_| drop(fs::remove_file(path)))
    };
    write().map_err(|error| Failure::file("write", path, &error))
}
