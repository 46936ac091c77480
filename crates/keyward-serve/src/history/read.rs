//! What charts and comparisons are made of.

use super::write::int;
use super::{Error, History, Result};
use keyward_audit::Report;
use rusqlite::{OptionalExtension as _, Row, ToSql, params};
use serde::Serialize;
use std::io::Read as _;
use utoipa::ToSchema;

/// The largest report that is unpacked.
const MAX_REPORT: u64 = 256 * 1024 * 1024;

/// One audit in a few numbers.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditRow {
    /// When it ended, in milliseconds since 1970
    pub at: u64,
    /// How long it took, in milliseconds
    pub took: u64,
    /// Whether everything was seen
    pub complete: bool,
    /// Keys
    pub keys: u64,
    /// Their bytes
    pub bytes: Option<u64>,
    /// The share of judged keys that are as declared, from 0 to 1; `null` where none was judged
    pub compliance: Option<f64>,
    /// Keys that no definition has
    pub unknown_keys: u64,
    /// Their bytes
    pub unknown_bytes: Option<u64>,
    /// Keys of other software
    pub foreign_keys: u64,
    /// Keys without a TTL
    pub no_ttl: u64,
    /// Findings that are errors
    pub errors: u64,
    /// Findings that are warnings
    pub warnings: u64,
    /// Whether the whole report is kept, to compare with
    pub whole: bool,
}

/// A definition in one audit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DefinitionRow {
    /// When the audit ended, in milliseconds since 1970
    pub at: u64,
    /// Keys
    pub keys: u64,
    /// Their bytes
    pub bytes: Option<u64>,
    /// Keys without a TTL
    pub no_ttl: u64,
    /// Findings
    pub findings: u64,
    /// Half of the keys have at most so many bytes
    pub p50: Option<u64>,
    /// 99 % have at most so many
    pub p99: Option<u64>,
}

/// What a server said about itself. Counters are since the server was started.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PollRow {
    /// When, in milliseconds since 1970
    pub at: u64,
    /// Bytes in use
    pub used_memory: Option<u64>,
    /// The bound; `null` where there is none
    pub maxmemory: Option<u64>,
    /// Commands a second
    pub ops: Option<u64>,
    /// Connected clients
    pub clients: Option<u64>,
    /// Reads that found their key
    pub hits: Option<u64>,
    /// Reads that did not
    pub misses: Option<u64>,
    /// Evicted keys
    pub evicted: Option<u64>,
    /// Expired keys
    pub expired: Option<u64>,
}

/// The schemas changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SchemaChange {
    /// When the first audit with them ended, in milliseconds since 1970
    pub at: u64,
    /// What changed: `added cart, token; removed basket`
    pub text: String,
}

impl History {
    /// The audits of a server between two moments, in their order.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn audits(&self, server: &str, (from, to): (u64, u64)) -> Result<Vec<AuditRow>> {
        let sql = "SELECT at, took, complete, keys, bytes, judged, compliant, unknown_keys, unknown_bytes,
                foreign_keys, no_ttl, errors, warnings,
                EXISTS(SELECT 1 FROM reports WHERE audit = audits.id)
            FROM audits JOIN servers ON servers.id = server
            WHERE servers.name = ? AND at BETWEEN ? AND ? ORDER BY at";
        self.rows(sql, params![server, int(from), int(to)], |row| {
            let (judged, compliant) = (number(row, 5)?, number(row, 6)?);
            #[allow(clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
            let compliance = (judged > 0).then(|| compliant as f64 / judged as f64);
            Ok(AuditRow {
                at: number(row, 0)?,
                took: number(row, 1)?,
                complete: row.get(2)?,
                keys: number(row, 3)?,
                bytes: perhaps(row, 4)?,
                compliance,
                unknown_keys: number(row, 7)?,
                unknown_bytes: perhaps(row, 8)?,
                foreign_keys: number(row, 9)?,
                no_ttl: number(row, 10)?,
                errors: number(row, 11)?,
                warnings: number(row, 12)?,
                whole: row.get(13)?,
            })
        })
    }

    /// A definition in the audits of a server between two moments, in their order.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn definition(
        &self,
        server: &str,
        (schema, name): (&str, &str),
        (from, to): (u64, u64),
    ) -> Result<Vec<DefinitionRow>> {
        let sql =
            "SELECT audits.at, counted.keys, counted.bytes, counted.no_ttl, findings, p50, p99
            FROM audits JOIN servers ON servers.id = server
                JOIN counted ON counted.audit = audits.id
            WHERE servers.name = ?1 AND audits.at BETWEEN ?2 AND ?3 AND counted.definition =
                (SELECT id FROM definitions WHERE schema = ?4 AND definitions.name = ?5)
            ORDER BY audits.at";
        self.rows(sql, params![server, int(from), int(to), schema, name], |row| {
            Ok(DefinitionRow {
                at: number(row, 0)?,
                keys: number(row, 1)?,
                bytes: perhaps(row, 2)?,
                no_ttl: number(row, 3)?,
                findings: number(row, 4)?,
                p50: perhaps(row, 5)?,
                p99: perhaps(row, 6)?,
            })
        })
    }

    /// What a server said about itself between two moments, in their order.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn polls(&self, server: &str, (from, to): (u64, u64)) -> Result<Vec<PollRow>> {
        let sql = "SELECT at, used_memory, maxmemory, ops, clients, hits, misses, evicted, expired
            FROM polls WHERE server = (SELECT id FROM servers WHERE name = ?)
                AND at BETWEEN ? AND ? ORDER BY at";
        self.rows(sql, params![server, int(from), int(to)], |row| {
            Ok(PollRow {
                at: number(row, 0)?,
                used_memory: perhaps(row, 1)?,
                maxmemory: perhaps(row, 2)?,
                ops: perhaps(row, 3)?,
                clients: perhaps(row, 4)?,
                hits: perhaps(row, 5)?,
                misses: perhaps(row, 6)?,
                evicted: perhaps(row, 7)?,
                expired: perhaps(row, 8)?,
            })
        })
    }

    /// When the schemas of a server changed, in order.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn changes(&self, server: &str, (from, to): (u64, u64)) -> Result<Vec<SchemaChange>> {
        let sql =
            "SELECT at, text FROM changes WHERE server = (SELECT id FROM servers WHERE name = ?)
                AND at BETWEEN ? AND ? ORDER BY at";
        self.rows(sql, params![server, int(from), int(to)], |row| {
            Ok(SchemaChange { at: number(row, 0)?, text: row.get(1)? })
        })
    }

    /// All rows of a query.
    fn rows<T>(
        &self,
        sql: &str,
        wanted: &[&dyn ToSql],
        of: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        self.reading(|connection| {
            let mut query = connection.prepare_cached(sql)?;
            let rows = query.query_map(wanted, &of)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The last whole report of a server at or before a moment: when its audit ended, how long it took, and the report.
    ///
    /// # Errors
    /// If the history cannot be read.
    pub fn report(&self, server: &str, at: u64) -> Result<Option<(u64, u64, Report)>> {
        let found = self.reading(|connection| {
            let mut query = connection.prepare_cached(
                "SELECT at, took, packed FROM audits JOIN servers ON servers.id = server
                     JOIN reports ON reports.audit = audits.id
                 WHERE servers.name = ? AND at <= ? ORDER BY at DESC LIMIT 1",
            )?;
            let found = query.query_row(params![server, int(at)], |row| {
                Ok((number(row, 0)?, number(row, 1)?, row.get::<_, Vec<u8>>(2)?))
            });
            Ok(found.optional()?)
        })?;
        let Some((at, took, packed)) = found else { return Ok(None) };
        let unreadable = |why: String| Error::Report(why);
        let mut json = Vec::new();
        zstd::stream::read::Decoder::new(packed.as_slice())
            .and_then(|decoder| decoder.take(MAX_REPORT).read_to_end(&mut json))
            .map_err(|error| unreadable(error.to_string()))?;
        let report: Report =
            serde_json::from_slice(&json).map_err(|error| unreadable(error.to_string()))?;
        report.check().map_err(unreadable)?;
        Ok(Some((at, took, report)))
    }
}

/// A number that was kept by [`int`].
fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|number| u64::try_from(number).unwrap_or(0))
}

fn perhaps(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(at)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
}
