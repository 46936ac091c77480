//! Files: which ones are meant, and what is in them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The largest file that is read.
const LARGEST: u64 = 100 << 20;
/// How often a file is read that changes meanwhile.
const ATTEMPTS: usize = 3;

/// Why a file was not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is not there, or may not be read
    #[error("{}: {why}", path.display())]
    Io {
        /// The file
        path: PathBuf,
        /// What the system says
        why: io::Error,
    },
    /// Neither a file nor a folder
    #[error("{}: this is neither a file nor a folder", .0.display())]
    Strange(PathBuf),
    /// Too large to be read
    #[error("{}: the file has {} MiB, and the library reads up to {} MiB: divide it", path.display(), size >> 20, LARGEST >> 20)]
    TooLarge {
        /// The file
        path: PathBuf,
        /// Its size in bytes
        size: u64,
    },
    /// Somebody writes to it
    #[error("{}: the file changed while it was read: add it again when nothing writes to it", .0.display())]
    Changing(PathBuf),
    /// It is not text
    #[error("{}:{line}: byte {at} of the file is {what}: save it as UTF-8", path.display())]
    NotText {
        /// The file
        path: PathBuf,
        /// The line, from 1
        line: usize,
        /// The offset in the file, from 0
        at: usize,
        /// What is there
        what: &'static str,
    },
    /// A path that is no text
    #[error("{}: the path is not valid UTF-8: rename it", .0.display())]
    Path(PathBuf),
}

/// All Markdown files that are meant: files as given, and what is in folders below them, in the order of their paths.
/// What cannot be read is among them, so that the others can be.
pub fn find(given: &[PathBuf]) -> Vec<Result<PathBuf, FileError>> {
    let mut found = Vec::new();
    for path in given {
        match path.canonicalize().and_then(|path| Ok((fs::metadata(&path)?, path))) {
            Ok((metadata, path)) if metadata.is_dir() => walk(path, &mut found),
            Ok((_, path)) => found.push(Ok(path)),
            Err(why) => found.push(Err(FileError::Io { path: path.clone(), why })),
        }
    }
    found.sort_by(|a, b| a.as_ref().ok().cmp(&b.as_ref().ok()));
    found.dedup_by(|a, b| matches!((a, b), (Ok(a), Ok(b)) if a == b));
    found
}

/// Links to folders are not followed, so that none is visited twice.
fn walk(folder: PathBuf, found: &mut Vec<Result<PathBuf, FileError>>) {
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        let failed = |why| FileError::Io { path: folder.clone(), why };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(why) => {
                found.push(Err(failed(why)));
                continue;
            }
        };
        for entry in entries {
            match entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) {
                Ok((kind, path)) if kind.is_dir() => folders.push(path),
                // A link is the file that it leads to, as if that had been given.
                Ok((_, path)) if has_markdown(&path) => {
                    match path.canonicalize().and_then(|path| Ok((fs::metadata(&path)?, path))) {
                        Ok((metadata, path)) if metadata.is_file() => found.push(Ok(path)),
                        Ok(_) => {}
                        // A link to nothing
                        Err(why) => found.push(Err(FileError::Io { path, why })),
                    }
                }
                Ok(_) => {}
                Err(why) => found.push(Err(failed(why))),
            }
        }
    }
}

/// By its name.
fn has_markdown(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    ["md", "markdown"].iter().any(|it| extension.eq_ignore_ascii_case(it))
}

/// Reads a file whole, as it was at one moment.
///
/// # Errors
/// If it cannot be read, is too large, changes while it is read, or is not text.
pub fn read(path: &Path) -> Result<String, FileError> {
    read_beside(path, || {})
}

/// The same, while something else happens after each time that the file was read.
fn read_beside(path: &Path, mut happens: impl FnMut()) -> Result<String, FileError> {
    let failed = |why| FileError::Io { path: path.to_owned(), why };
    for _ in 0..ATTEMPTS {
        // Opening a pipe would wait for whoever writes to it.
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(FileError::Strange(path.to_owned()));
        }
        let size = metadata.len();
        if size > LARGEST {
            return Err(FileError::TooLarge { path: path.to_owned(), size });
        }
        let mut file = File::open(path).map_err(failed)?;
        let before = file.metadata().map_err(failed)?;
        let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
        (&mut file).take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
        happens();
        let after = file.metadata().map_err(failed)?;
        if is_same(&before, &after) && bytes.len() as u64 == after.len() {
            return text(path, bytes);
        }
    }
    Err(FileError::Changing(path.to_owned()))
}

fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.len() == b.len() && a.modified().ok() == b.modified().ok()
}

/// Bytes of a file as text.
///
/// # Errors
/// If they are not UTF-8, or there is a NUL among them.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    let refuse = |bytes: &[u8], at: usize, what| {
        let line = bytes[..at].split(|byte| *byte == b'\n').count();
        FileError::NotText { path: path.to_owned(), line, at, what }
    };
    let text = String::from_utf8(bytes).map_err(|error| {
        refuse(error.as_bytes(), error.utf8_error().valid_up_to(), "not valid UTF-8")
    })?;
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(refuse(text.as_bytes(), at, "NUL")),
        None => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write as _;

    #[test]
    fn a_file_that_changes_while_it_is_read_is_read_again_and_then_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text.md");
        fs::write(&path, "one\n").unwrap();
        let append = || {
            OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more\n").unwrap();
        };
        let mut left = 2;
        let read = read_beside(&path, || {
            if left > 0 {
                left -= 1;
                append();
            }
        });
        assert_eq!(read.unwrap(), "one\nmore\nmore\n");
        let refused = read_beside(&path, append).unwrap_err();
        assert!(
            refused.to_string().ends_with("add it again when nothing writes to it"),
            "{refused}"
        );
    }
}
