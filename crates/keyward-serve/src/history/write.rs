//! What is added after each audit and each poll.

use super::{Error, History, Result, thin};
use crate::forecast;
use crate::state::Audited;
use keyward_audit::Report;
use keyward_audit::report::{Finding, Severity};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::collections::{BTreeSet, HashMap};

/// How reports are packed.
const LEVEL: i32 = 3;
/// Names that a schema's change lists.
const LISTED: usize = 5;

/// What a server said about itself, as it is kept once a minute. Counters are since the server was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Poll {
    pub(crate) at: u64,
    pub(crate) used_memory: Option<u64>,
    pub(crate) maxmemory: Option<u64>,
    pub(crate) ops: Option<u64>,
    pub(crate) clients: Option<u64>,
    pub(crate) hits: Option<u64>,
    pub(crate) misses: Option<u64>,
    pub(crate) evicted: Option<u64>,
    pub(crate) expired: Option<u64>,
}

impl History {
    /// Adds an audit, and thins out what is old.
    pub(crate) fn add_audit(&self, server: &str, audited: &Audited, schemas: &str) -> Result<()> {
        let json = serde_json::to_vec(&audited.report);
        let json = json.map_err(|error| Error::Report(error.to_string()))?;
        let packed = zstd::stream::encode_all(json.as_slice(), LEVEL);
        let packed = packed.map_err(|error| Error::Report(error.to_string()))?;
        self.writing(|connection| {
            let change = connection.transaction()?;
            let server = id_of_server(&change, server)?;
            note_change(&change, server, &audited.report, audited.at, schemas)?;
            let audit = insert(&change, server, audited, schemas)?;
            change.execute("INSERT INTO reports VALUES (?, ?)", params![audit, packed])?;
            change.commit()?;
            Ok(())
        })?;
        self.thin(audited.at)
    }

    /// Adds what a server said about itself.
    pub(crate) fn add_poll(&self, server: &str, poll: &Poll) -> Result<()> {
        self.writing(|connection| {
            let change = connection.transaction()?;
            let server = id_of_server(&change, server)?;
            change
                .prepare_cached(
                    "INSERT OR REPLACE INTO polls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(params![
                    server,
                    int(poll.at),
                    poll.used_memory.map(int),
                    poll.maxmemory.map(int),
                    poll.ops.map(int),
                    poll.clients.map(int),
                    poll.hits.map(int),
                    poll.misses.map(int),
                    poll.evicted.map(int),
                    poll.expired.map(int),
                ])?;
            change.commit()?;
            Ok(())
        })
    }

    /// Removes what is too old or too much.
    pub(crate) fn thin(&self, now: u64) -> Result<()> {
        self.writing(|connection| thin::thin(connection, &self.retention, now))
    }
}

/// What SQLite can keep of a number.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn id_of_server(connection: &Connection, name: &str) -> Result<i64> {
    connection.execute("INSERT OR IGNORE INTO servers(name) VALUES (?)", [name])?;
    Ok(connection.query_row("SELECT id FROM servers WHERE name = ?", [name], |row| row.get(0))?)
}

fn insert(change: &Transaction<'_>, server: i64, audited: &Audited, schemas: &str) -> Result<i64> {
    let Report { summary, definitions, findings, source, .. } = &audited.report;
    let of = |severity| findings.iter().filter(|it| it.severity == severity).count() as u64;
    let no_ttl = forecast::without_ttl(&audited.report);
    change.execute(
        "INSERT OR REPLACE INTO audits(server, at, took, schemas, complete, keys, bytes, judged, compliant,
             unknown_keys, unknown_bytes, foreign_keys, no_ttl, errors, warnings)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            server,
            int(audited.at),
            int(audited.took),
            schemas,
            source.complete,
            int(summary.keys),
            summary.bytes.map(int),
            int(summary.judged),
            int(summary.compliant),
            int(summary.unknown.keys),
            summary.unknown.bytes.map(int),
            int(summary.foreign.keys),
            int(no_ttl),
            int(of(Severity::Error)),
            int(of(Severity::Warning)),
        ],
    )?;
    let audit = change.last_insert_rowid();
    let mut add_name =
        change.prepare("INSERT OR IGNORE INTO definitions(schema, name) VALUES (?, ?)")?;
    let mut find_name =
        change.prepare("SELECT id FROM definitions WHERE schema = ? AND name = ?")?;
    let mut add = change.prepare("INSERT INTO counted VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut broken: HashMap<(&str, &str), u64> = HashMap::new();
    for Finding { schema, definition, .. } in findings {
        if let (Some(schema), Some(definition)) = (schema, definition) {
            *broken.entry((schema, definition)).or_default() += 1;
        }
    }
    for it in definitions {
        add_name.execute([&it.schema, &it.name])?;
        let id: i64 = find_name.query_row([&it.schema, &it.name], |row| row.get(0))?;
        let findings = broken.get(&(it.schema.as_str(), it.name.as_str())).copied().unwrap_or(0);
        let sizes = it.facts.sizes.as_ref();
        add.execute(params![
            audit,
            id,
            int(it.facts.keys),
            it.facts.bytes.map(int),
            int(it.facts.ttl.none),
            int(findings),
            sizes.map(|it| int(it.p50)),
            sizes.map(|it| int(it.p99)),
        ])?;
    }
    Ok(audit)
}

/// Notes that the schemas have changed since the last audit, and which definitions came and went.
fn note_change(
    change: &Transaction<'_>,
    server: i64,
    report: &Report,
    at: u64,
    schemas: &str,
) -> Result<()> {
    let last = change
        .query_row(
            "SELECT id, schemas FROM audits WHERE server = ? ORDER BY at DESC LIMIT 1",
            [server],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
        )
        .optional()?;
    let Some((audit, _)) = last.filter(|(_, before)| before != schemas) else { return Ok(()) };
    let mut names = change.prepare(
        "SELECT schema, name FROM counted JOIN definitions ON id = definition WHERE audit = ?",
    )?;
    let names = names.query_map([audit], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let old: BTreeSet<(String, String)> = names.collect::<rusqlite::Result<_>>()?;
    let new = report.definitions.iter().map(|it| (it.schema.clone(), it.name.clone()));
    let new: BTreeSet<(String, String)> = new.collect();
    let mut parts = Vec::new();
    parts.extend(listed("added", new.difference(&old)));
    parts.extend(listed("removed", old.difference(&new)));
    let text = if parts.is_empty() { "schema changed".to_owned() } else { parts.join("; ") };
    change.execute(
        "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?)",
        params![server, int(at), schemas, text],
    )?;
    Ok(())
}

fn listed<'n>(verb: &str, names: impl Iterator<Item = &'n (String, String)>) -> Option<String> {
    let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
    let shown = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1..=LISTED => Some(format!("{verb} {shown}")),
        len => Some(format!("{verb} {shown} and {} more", len - LISTED)),
    }
}
