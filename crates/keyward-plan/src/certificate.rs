//! What was erased, what could not be searched, and what is kept elsewhere: for whoever must prove it.

use crate::document::{Plan, Row};
use crate::error::Error;
use crate::subject::Subject;
use crate::work::Work;
use keyward_audit::live::{Primary, Reply};
use keyward_audit::{now, rfc3339};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// What was erased, what could not be searched, and what is kept elsewhere. No key and no value is part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Certificate {
    /// The version of the document
    pub keyward_certificate: u32,
    /// The plan
    pub plan: String,
    /// The keyspace
    pub keyspace: String,
    /// Who was forgotten: the parameter, and a salted hash of its value
    pub subject: Subject,
    /// When the last pass ended: RFC 3339, UTC
    pub at: String,
    /// Whether the last pass over all keys found nothing any more
    pub complete: bool,
    /// What was erased, by definition and server, by all runs of the plan
    pub erased: Vec<Erased>,
    /// What could not be searched
    pub not_searched: Vec<NotSearched>,
    /// What keeps data of which nothing was erased
    pub not_erased: Vec<String>,
}

/// What was erased of one kind on one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Erased {
    /// The definition
    pub definition: String,
    /// The pattern
    pub keys: String,
    /// `erase` for whole keys, `erase parts` for members, entries and fields
    pub action: String,
    /// The server
    pub server: String,
    /// How many
    pub count: u64,
}

/// What could not be searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotSearched {
    /// What
    pub what: String,
    /// Why
    pub why: String,
    /// How many keys, where that is known
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
}

impl Certificate {
    /// Of a plan that was applied, before the servers were asked.
    pub(crate) fn new(
        plan: &Plan,
        subject: &Subject,
        work: &dyn Work,
        erased: &BTreeMap<(u64, String), u64>,
        complete: bool,
    ) -> Self {
        let rows = work.rows();
        let line = |((row, server), count): (&(u64, String), &u64)| {
            let row: &Row = rows.get(usize::try_from(*row).ok()?)?;
            Some(Erased {
                definition: row.definition.clone(),
                keys: row.keys.clone(),
                action: row.action.clone(),
                server: server.clone(),
                count: *count,
            })
        };
        let declared = work.unsearched().into_iter();
        let mut not_searched: Vec<NotSearched> =
            declared.map(|(what, why)| NotSearched { what, why, keys: None }).collect();
        for (name, count) in work.strange() {
            let (what, why) = match &*name {
                "" => ("keys of no definition".to_owned(), "the schema does not know them"),
                name => (format!("foreign keys `{name}`"), "they belong to other software"),
            };
            not_searched.push(NotSearched { what, why: why.to_owned(), keys: Some(count) });
        }
        Certificate {
            keyward_certificate: 1,
            plan: plan.id.clone(),
            keyspace: plan.schema.keyspace.clone(),
            subject: subject.clone(),
            at: rfc3339(now()),
            complete,
            erased: erased.iter().filter_map(line).collect(),
            not_searched,
            not_erased: Vec::new(),
        }
    }

    /// Asks the servers what else they keep.
    pub(crate) fn ask(&mut self, primaries: &mut [Primary], work: &dyn Work) -> Result<(), Error> {
        for primary in primaries {
            let searched = work.databases(primary.db());
            let info = info(primary)?;
            for (db, keys) in databases(&info).filter(|(db, _)| !searched.contains(db)) {
                let what = format!("database {db} of {}", primary.name);
                let why = "it is not the keyspace's".to_owned();
                self.not_searched.push(NotSearched { what, why, keys: Some(keys) });
            }
            self.not_erased.extend(kept(&primary.name, &info));
        }
        let elsewhere = [
            "replicas that were not connected, and snapshots or disks that were copied",
            "backups",
            "journals of earlier plans, which hold what those removed",
            "exports, logs, SLOWLOG and MONITOR output, and what applications keep in memory",
        ];
        self.not_erased.extend(elsewhere.map(str::to_owned));
        Ok(())
    }

    /// Writes it to a file that only its owner can read.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |error| Error::file("write", path, error);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))?;
        text.push('\n');
        let beside = path.with_extension(format!("{}.new", self.plan));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let write = || {
            let mut file = options.open(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&beside, path)
        };
        write().map_err(failed)
    }
}

fn info(primary: &mut Primary) -> Result<String, Error> {
    Ok(match primary.command(&[b"INFO"])? {
        Reply::Bytes(info) => String::from_utf8_lossy(&info).into_owned(),
        _ => String::new(),
    })
}

fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':'))
}

/// The databases that have keys, with how many.
fn databases(info: &str) -> impl Iterator<Item = (u64, u64)> + '_ {
    info.lines().filter_map(|line| {
        let (db, rest) = line.trim_end().strip_prefix("db")?.split_once(":keys=")?;
        Some((db.parse().ok()?, rest.split(',').next()?.parse().ok()?))
    })
}

/// What a server keeps besides its keys.
fn kept(server: &str, info: &str) -> Vec<String> {
    let mut all = Vec::new();
    if field(info, "aof_enabled") != Some("0") {
        all.push(format!("{server}: the append-only file, until BGREWRITEAOF has ended"));
    }
    let saved = field(info, "rdb_last_save_time").and_then(|it| it.parse::<u64>().ok());
    let saved =
        saved.map_or_else(String::new, |it| format!(", the last of {}", rfc3339(it * 1000)));
    all.push(format!("{server}: RDB files that were written before{saved}"));
    let replicas = field(info, "connected_slaves").unwrap_or("an unknown number");
    let (are, remove) = if replicas == "1" { ("is", "removes") } else { ("are", "remove") };
    all.push(format!(
        "{server}: files of its replicas ({replicas} {are} connected and {remove} the same keys)"
    ));
    all
}
