//! `jsonl` and `csv`: every key, as it is read.

use crate::failure::{Failure, Result};
use crate::output::check_open;
use keyward_audit::{Listener, Row};
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
    line: fn(&Row<'_>, &mut String),
}

struct Sink {
    out: BufWriter<Box<dyn Write + Send>>,
    /// The first thing that went wrong; after it nothing is written.
    failed: Option<io::Error>,
}

const COLUMNS: &str =
    "db,key,schema,definition,class,type,encoding,ttl_ms,expired,length,bytes,findings,key_hex\n";

impl List {
    /// One object a line.
    pub(super) fn json(path: Option<&Path>) -> Result<Self> {
        List::open(path, object, "")
    }

    /// One row each, below the names of the columns.
    pub(super) fn csv(path: Option<&Path>) -> Result<Self> {
        List::open(path, row, COLUMNS)
    }

    fn open(path: Option<&Path>, line: fn(&Row<'_>, &mut String), head: &str) -> Result<Self> {
        let out: Box<dyn Write + Send> = match path {
            None => {
                check_open()?;
                Box::new(io::stdout())
            }
            Some(path) => {
                Box::new(File::create(path).map_err(|error| Failure::file("write", path, &error))?)
            }
        };
        let mut sink = Sink { out: BufWriter::new(out), failed: None };
        sink.write(head);
        Ok(List { shared: Arc::new(Mutex::new(sink)), path: path.map(Path::to_owned), line })
    }

    /// Writes a line for every key that it receives.
    pub(super) fn listener(&self) -> Listener {
        let (shared, line) = (self.shared.clone(), self.line);
        let mut text = String::new();
        Box::new(move |row| {
            text.clear();
            line(row, &mut text);
            lock(&shared).write(&text);
        })
    }

    /// Writes what is left, and says whether all was written. A reader that has seen enough is not a failure.
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
    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }
}

fn lock(shared: &Mutex<Sink>) -> MutexGuard<'_, Sink> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn object(row: &Row<'_>, out: &mut String) {
    let object = json!({
        "db": row.db,
        "key": row.key,
        "schema": row.schema,
        "definition": row.definition,
        "class": row.class,
        "type": row.key_type,
        "encoding": row.encoding.map(keyward_fact::Encoding::name),
        "ttl_ms": row.ttl,
        "expired": row.expired,
        "length": row.length,
        "bytes": row.bytes,
        "findings": row.findings,
        "key_hex": row.hex,
    });
    let _ = writeln!(out, "{object}");
}

fn row(row: &Row<'_>, out: &mut String) {
    let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let cells = [
        row.db.to_string(),
        defused(row.key.as_str()),
        defused(row.schema.unwrap_or_default()),
        defused(row.definition.unwrap_or_default()),
        row.class.to_owned(),
        defused(row.key_type),
        row.encoding.map_or_else(String::new, |it| it.name().to_owned()),
        number(row.ttl),
        row.expired.to_string(),
        number(row.length),
        number(row.bytes),
        row.findings.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(" "),
        row.hex.clone().unwrap_or_default(),
    ];
    let mut writer = csv::WriterBuilder::new().buffer_capacity(512).from_writer(Vec::new());
    // Writing to memory cannot fail, and all cells are text.
    let line = writer.write_record(&cells).ok().and_then(|()| writer.into_inner().ok());
    out.push_str(&String::from_utf8_lossy(&line.unwrap_or_default()));
}

/// A cell that no spreadsheet takes for a formula.
fn defused(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
