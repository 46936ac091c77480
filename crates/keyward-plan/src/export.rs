//! What was found about a person, in a file that only its owner can read.

use crate::error::{Error, MAKE};
use keyward_audit::live::Reply;
use keyward_audit::rfc3339;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// One JSON object a line: a key with its value, or what is removed from a value.
#[derive(Debug)]
pub(crate) struct Export {
    path: PathBuf,
    file: Mutex<File>,
}

impl Export {
    /// Makes the file, which must not be there.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        Self::open(path, OpenOptions::new().append(true).create_new(true), MAKE)
    }

    /// Opens the file, to write behind what it has: on a line of its own, also where the last one was torn.
    pub(crate) fn append(path: &Path) -> Result<Self, Error> {
        let export =
            Self::open(path, OpenOptions::new().read(true).append(true).create(true), "write")?;
        let mut file = export.file.lock().unwrap_or_else(PoisonError::into_inner);
        end_line(&mut file).map_err(|error| Error::file("write", path, error))?;
        drop(file);
        Ok(export)
    }

    fn open(path: &Path, options: &mut OpenOptions, doing: &'static str) -> Result<Self, Error> {
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
        let file = options.open(path).map_err(|error| Error::file(doing, path, error))?;
        crate::journal::expect_own(path, &file)?;
        Ok(Export { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// Writes lines, and returns when the disk has them.
    pub(crate) fn write(&self, lines: &[Value]) -> Result<(), Error> {
        let mut text = String::new();
        for line in lines {
            text.push_str(&line.to_string());
            text.push('\n');
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut write = || {
            let before = file.metadata()?.len();
            let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
            // Half a line would spoil the next one; if it stays, the next run begins a line of its own.
            written.inspect_err(|_| _ = file.set_len(before))
        };
        write().map_err(|error| Error::file("write", &self.path, error))
    }
}

/// Ends a line that was torn.
fn end_line(file: &mut File) -> io::Result<()> {
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// A whole key: its type, when it ends, and its content as the server gave it.
pub(crate) fn key(
    definition: &str,
    key: &[u8],
    db: u64,
    (kind, ends, content): (&str, i64, &Reply),
) -> Value {
    let items = match content {
        Reply::Array(items) => &items[..],
        _ => &[],
    };
    let value = match kind {
        "string" => items.first().map_or(Value::Null, text),
        "hash" => {
            let pairs = items.chunks_exact(2).filter_map(|pair| match pair {
                [Reply::Bytes(name), value] => {
                    Some((String::from_utf8_lossy(name).into_owned(), text(value)))
                }
                _ => None,
            });
            Value::Object(pairs.collect::<Map<String, Value>>())
        }
        _ => Value::Array(items.iter().map(text).collect()),
    };
    let expires = u64::try_from(ends).ok().map(rfc3339);
    json!({
        "definition": definition, "database": db, "key": bytes(key), "type": kind, "expires": expires, "value": value,
    })
}

/// What is removed from a value that stays.
pub(crate) fn part(definition: &str, key: &[u8], db: u64, place: &str, found: &[Vec<u8>]) -> Value {
    let found: Vec<Value> = found.iter().map(|it| bytes(it)).collect();
    json!({
        "definition": definition, "database": db, "key": bytes(key), "in": place, "removed": found,
    })
}

fn text(reply: &Reply) -> Value {
    match reply {
        Reply::Bytes(value) => bytes(value),
        Reply::Integer(number) => json!(number),
        Reply::Status(text) => json!(text),
        Reply::Array(items) => Value::Array(items.iter().map(text).collect()),
        _ => Value::Null,
    }
}

/// A text, or the hex digits of what is not one.
fn bytes(bytes: &[u8]) -> Value {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return json!(text);
    }
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // A text takes whatever is written to it.
        let _ = write!(hex, "{byte:02x}");
    }
    json!({ "hex": hex })
}
