//! `jsonl` and `csv`: every key, as it is read.

use crate::failure::{Failure, Result};
use keyward_audit::{Listener, Row};
use keyward_fact::{visible, visible_json};
use serde_json::json;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where every key is written to.
pub(super) struct List {
    shared: Arc<Mutex<Sink>>,
    path: Option<PathBuf>,
    line: Line,
}

/// Writes one key.
type Line = fn(&Row<'_>, &mut Vec<u8>) -> io::Result<()>;

struct Sink {
    out: BufWriter<Box<dyn Write + Send>>,
    /// The first thing that went wrong; after it nothing is written.
    failed: Option<io::Error>,
}

const COLUMNS: &str =
    "db,key,key_hex,schema,definition,class,type,encoding,ttl_ms,expired,length,bytes,findings\n";

impl List {
    /// One object a line.
    pub(super) fn json(path: Option<&Path>) -> Result<Self> {
        List::open(path, object, "")
    }

    /// One row each, below the names of the columns.
    pub(super) fn csv(path: Option<&Path>) -> Result<Self> {
        List::open(path, row, COLUMNS)
    }

    fn open(path: Option<&Path>, line: Line, head: &str) -> Result<Self> {
        let out: Box<dyn Write + Send> = match path {
            None => Box::new(io::stdout()),
            Some(path) => {
                Box::new(File::create(path).map_err(|error| Failure::file("write", path, &error))?)
            }
        };
        let mut sink = Sink { out: BufWriter::new(out), failed: None };
        sink.write(head.as_bytes());
        Ok(List { shared: Arc::new(Mutex::new(sink)), path: path.map(Path::to_owned), line })
    }

    /// Writes a line for every key that it is told of.
    pub(super) fn listener(&self) -> Listener {
        let (shared, line) = (self.shared.clone(), self.line);
        let mut text = Vec::new();
        Box::new(move |row| {
            text.clear();
            match line(row, &mut text) {
                Ok(()) => lock(&shared).write(&text),
                Err(error) => lock(&shared).fail(error),
            }
        })
    }

    /// Writes what is left, and says whether all was written. A reader that has seen enough is no failure.
    pub(super) fn finish(self) -> Result<()> {
        let mut sink = lock(&self.shared);
        let flushed = sink.out.flush();
        match sink.failed.take().map_or(flushed, Err) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(match &self.path {
                Some(path) => Failure::file("write", path, &error),
                None => Failure::from(error),
            }),
            _ => Ok(()),
        }
    }
}

impl Sink {
    fn write(&mut self, text: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text).err();
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.failed.get_or_insert(error);
    }
}

fn lock(shared: &Mutex<Sink>) -> MutexGuard<'_, Sink> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key as it is where that is asked for, and its bytes where they are not UTF-8.
fn object(row: &Row<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let exact = row.exact.and_then(|key| str::from_utf8(key).ok());
    let mut object = json!({
        "db": row.db,
        "key": exact.unwrap_or(row.key.as_str()),
        "schema": row.schema,
        "definition": row.definition,
        "class": row.class,
        "type": row.key_type,
        "encoding": row.observed.encoding.map(keyward_fact::Encoding::name),
        "ttl_ms": row.ttl,
        "expired": row.expired,
        "length": row.observed.length,
        "bytes": row.observed.bytes,
        "findings": row.findings,
    });
    if let Some(hex) = hex(row) {
        object["key_hex"] = hex.into();
    }
    writeln!(out, "{}", visible_json(object.to_string()))
}

fn row(row: &Row<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let exact = row.exact.and_then(|key| str::from_utf8(key).ok());
    let key = exact.map(|key| visible(&key.replace('\\', "\\\\")).into_owned());
    let cells = [
        row.db.to_string(),
        defused(key.as_deref().unwrap_or(row.key.as_str())),
        hex(row).unwrap_or_default(),
        defused(row.schema.unwrap_or_default()),
        defused(row.definition.unwrap_or_default()),
        row.class.to_owned(),
        defused(row.key_type),
        row.observed.encoding.map_or_else(String::new, |it| it.name().to_owned()),
        number(row.ttl),
        row.expired.to_string(),
        number(row.observed.length),
        number(row.observed.bytes),
        row.findings.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(" "),
    ];
    let mut writer = csv::WriterBuilder::new().buffer_capacity(256).from_writer(out);
    writer.write_record(&cells)?;
    writer.flush()
}

/// The bytes of a key that is shown and is not UTF-8.
fn hex(row: &Row<'_>) -> Option<String> {
    let bytes = row.exact.filter(|key| str::from_utf8(key).is_err())?;
    Some(bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// A cell that a spreadsheet does not take for a formula: what begins one is escaped, as control characters are.
fn defused(text: &str) -> String {
    match text.chars().next() {
        Some(first @ ('=' | '+' | '-' | '@')) => {
            format!("\\x{:02x}{}", first as u32, &text[first.len_utf8()..])
        }
        Some(_) | None => visible(text).into_owned(),
    }
}
