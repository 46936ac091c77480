//! The text of a file, if it is one that can be part of a schema.

use keyward_fact::Size;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The most that the files of a schema may hold together.
pub const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Where the files of a schema are.
pub trait Files {
    /// The content of a file; fails if it has more than so many bytes.
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    /// The one path of a file, by which it is known again; fails if there is no such file.
    fn canonical(&mut self, path: &Path) -> io::Result<PathBuf>;

    /// The path as it is shown to people.
    fn shown(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }
}

/// Files on disk.
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&mut self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        keyward_fact::read_file(path, most)
    }

    fn canonical(&mut self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }
}

/// Reads a file of at most `left` bytes.
pub(crate) fn text(files: &mut dyn Files, path: &Path, left: u64) -> Result<String, Unreadable> {
    String::from_utf8(files.read(path, left)?)
        .map_err(|error| not_utf8(error.as_bytes(), error.utf8_error().valid_up_to()))
}

/// The most entries of a folder that are looked at for a name.
const MAX_ENTRIES: usize = 10_000;

/// The TOML file in the same folder with the name most similar to that of a missing file.
pub(crate) fn similar(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let folder = match path.parent()? {
        folder if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let mut stems: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .take(MAX_ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect();
    stems.sort();
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    let near = keyward_pattern::nearest(stem, stems.iter().map(String::as_str))?;
    Some(path.with_file_name(format!("{near}.toml")))
}

/// Why a file cannot be part of a schema.
#[derive(Debug, PartialEq)]
pub(crate) enum Unreadable {
    Missing,
    Directory,
    TooLarge,
    NotUtf8 { byte: u8, line: usize, column: usize },
    Other(String),
}

impl From<std::io::Error> for Unreadable {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Unreadable::Missing,
            ErrorKind::IsADirectory => Unreadable::Directory,
            ErrorKind::FileTooLarge => Unreadable::TooLarge,
            ErrorKind::PermissionDenied => Unreadable::Other("permission denied".to_owned()),
            _ => Unreadable::Other(error.to_string()),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Missing => f.write_str("there is no such file"),
            Unreadable::Directory => f.write_str("it is a directory"),
            Unreadable::TooLarge => {
                let limit = Size::from_bytes(MAX_BYTES).human();
                write!(
                    f,
                    "the files of a schema may have {limit} in all, and this exceeds the limit"
                )
            }
            Unreadable::NotUtf8 { byte, line, column } => {
                write!(f, "it is not UTF-8 text: byte 0x{byte:02x} at line {line}, column {column}")
            }
            Unreadable::Other(reason) => f.write_str(reason),
        }
    }
}

fn not_utf8(bytes: &[u8], offset: usize) -> Unreadable {
    let before = &bytes[..offset];
    let line = before.split(|byte| *byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    Unreadable::NotUtf8 { byte: bytes.get(offset).copied().unwrap_or_default(), line, column }
}
