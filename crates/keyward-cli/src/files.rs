//! Reads files within bounds, and writes them so that nobody ever sees half of one.

use crate::failure::{Failure, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

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

/// Reads a regular file of at most so many bytes.
pub(crate) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>> {
    keyward_fact::read_file(path, most).map_err(|error| Failure::file("read", path, &error))
}

/// The same for a file that may also be a pipe, such as `<(command)`.
pub(crate) fn read_stream(path: &Path, most: u64) -> Result<Vec<u8>> {
    keyward_fact::read_stream(path, most).map_err(|error| Failure::file("read", path, &error))
}

/// Refuses an output that is also an input, or another output: writing it would destroy that one.
pub(crate) fn keep_apart<'p>(
    inputs: impl Iterator<Item = &'p Path>,
    outputs: &[(&str, Option<&Path>)],
) -> Result<()> {
    let read: Vec<Identity> = inputs.filter_map(Identity::of).collect();
    let mut written: Vec<(Identity, &str)> = Vec::new();
    for (option, path) in outputs.iter().filter_map(|(option, path)| Some((*option, (*path)?))) {
        let Some(identity) = Identity::of(path) else { continue };
        let shown = path.display();
        if read.contains(&identity) {
            return Err(Failure::new(format!(
                "`{option}` would overwrite `{shown}`, which is read"
            ))
            .help("choose another file to write to"));
        }
        if let Some((_, other)) = written.iter().find(|(it, _)| *it == identity) {
            return Err(Failure::new(format!("`{other}` and `{option}` both write to `{shown}`"))
                .help("choose a file for each"));
        }
        written.push((identity, option));
    }
    Ok(())
}

/// What makes two paths the same file.
#[derive(PartialEq)]
enum Identity {
    /// Device and inode
    File(u64, u64),
    /// A name in a folder, where there is no file yet
    Name(PathBuf),
}

impl Identity {
    /// `None` for what can be written to twice: a pipe, a terminal, `/dev/null`.
    fn of(path: &Path) -> Option<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Some(Identity::File(found.dev(), found.ino())),
            Ok(_) => None,
            Err(_) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                let folder = folder.unwrap_or(Path::new("."));
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
                Some(Identity::Name(folder.join(path.file_name()?)))
            }
        }
    }
}

/// Fails where a file could not be written later: better now than when the work is done.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    let check = || -> io::Result<()> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(_) => drop(OpenOptions::new().write(true).open(path)?),
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        if is_replaced(path) { temporary(path).map(drop) } else { Ok(()) }
    };
    check().map_err(|error| Failure::file("write", path, &error))
}

/// Writes a file, whether it is there or not. What is not a plain file is written to.
pub(crate) fn put(path: &Path, content: &str) -> Result<()> {
    if path.exists() && is_replaced(path) {
        return replace(path, content);
    }
    let write = || -> io::Result<()> {
        if !is_replaced(path) {
            return fs::write(path, content);
        }
        let mut file = temporary(path)?;
        file.write_all(content.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Failure::file("write", path, &error))
}

/// Whether another file takes its place, rather than a pipe or a terminal being written to.
fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.is_file())
}

/// A file beside it, that everybody may read who may read others.
fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(".keyward-").permissions(fs::Permissions::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}
