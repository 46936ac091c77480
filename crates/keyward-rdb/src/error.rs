//! Why a snapshot cannot be read, and where.

use std::fmt;
use std::io;

use keyward_fact::thousands;

use crate::version::Version;

/// Why a snapshot cannot be read, with the place.
///
/// ```
/// let error = keyward_rdb::Reader::from_slice(b"%PDF-1.7 \n%").read(&mut ()).unwrap_err();
/// assert_eq!(error.to_string(), "at byte 0: this is not an RDB file, it is a PDF");
/// assert_eq!(error.offset(), 0);
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    offset: u64,
    kind: ErrorKind,
}

/// Why a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input failed
    #[error("the input cannot be read: {0}")]
    Io(#[source] io::Error),
    /// It does not begin like an RDB file
    #[error("{}", not_rdb(begins))]
    NotRdb {
        /// Its first bytes, nine at most
        begins: Vec<u8>,
    },
    /// It begins like an RDB file, but names no version
    #[error("`{}` names no RDB version", begins.escape_ascii())]
    BadVersion {
        /// Its first nine bytes
        begins: Vec<u8>,
    },
    /// It ends in the middle
    #[error("the input ends too early; it was cut off")]
    Truncated,
    /// The bytes are not those that were written
    #[error("the checksum is wrong: {stored:016x} is stored, the bytes give {computed:016x}")]
    Checksum {
        /// The checksum in the file
        stored: u64,
        /// The checksum of the bytes
        computed: u64,
    },
    /// A type of value, or an opcode, that is not known
    #[error("{}", unknown_type(*code, *version))]
    UnknownType {
        /// The byte
        code: u8,
        /// The file's version
        version: Version,
    },
    /// The bytes contradict the format
    #[error("{why}")]
    Corrupt {
        /// What is wrong
        why: &'static str,
    },
    /// The visitor asked to stop
    #[error("reading was stopped")]
    Stopped,
}

impl Error {
    pub(crate) fn new(offset: u64, kind: ErrorKind) -> Self {
        Error(Box::new(Inner { offset, kind }))
    }

    #[cold]
    pub(crate) fn corrupt(offset: u64, why: &'static str) -> Self {
        Error::new(offset, ErrorKind::Corrupt { why })
    }

    #[cold]
    pub(crate) fn truncated(offset: u64) -> Self {
        Error::new(offset, ErrorKind::Truncated)
    }

    #[cold]
    pub(crate) fn io(offset: u64, error: io::Error) -> Self {
        Error::new(offset, ErrorKind::Io(error))
    }

    /// Where it went wrong: bytes from the start of the RDB data (decompressed, where the file was
    /// compressed as a whole). Inside a value that the server compressed, it is the value's start.
    pub fn offset(&self) -> u64 {
        self.0.offset
    }

    /// What went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", thousands(self.0.offset), self.0.kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("offset", &self.0.offset).field("kind", &self.0.kind).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.kind.source()
    }
}

fn not_rdb(begins: &[u8]) -> String {
    match familiar(begins) {
        _ if begins.is_empty() => "the input is empty".to_owned(),
        Some(name) => format!("this is not an RDB file, it is {name}"),
        None => format!(
            "this is not an RDB file: it begins with `{}`, not with `REDIS` or `VALKEY`",
            begins.escape_ascii()
        ),
    }
}

fn unknown_type(code: u8, version: Version) -> String {
    if !version.is_newer() {
        return format!("{code} is not a type of value");
    }
    let newest = version.newest_known();
    format!("type {code} is unknown; {version} is newer than what this reader knows, {newest}")
}

/// What people pass by mistake.
fn familiar(begins: &[u8]) -> Option<&'static str> {
    const FAMILIAR: [(&[u8], &str); 11] = [
        (b"%PDF-", "a PDF"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "compressed with gzip, which this build does not read"),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd, which this build does not read"),
        (b"BZh", "compressed with bzip2"),
        (b"\xfd7zXZ", "compressed with xz"),
        (b"\x04\x22\x4d\x18", "compressed with lz4"),
        (b"\x7fELF", "a program"),
        (b"SQLite", "an SQLite database"),
        (b"*", "an append-only file without a snapshot in front"),
        (b"file ", "the manifest of an append-only file"),
    ];
    FAMILIAR.iter().find(|(magic, _)| begins.starts_with(magic)).map(|(_, name)| *name)
}
