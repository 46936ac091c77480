//! The tables of the reference, from the same declarations as the reader.
//!
//! A page of the book holds `<!-- fields: keyspace -->` and `<!-- end -->`; what is between them
//! is written by [`fill`].

use crate::form::{Presence, Table};
use crate::generate::{FolderTable, GenerateTable, JavaTable, RustTable};
use crate::layout::{LayoutTable, WordsBy};
use crate::migration::{MigrationTable, RenameTable};
use crate::param::ParamTable;
use crate::role::{
    CounterTable, FlagTable, IndexTable, LockTable, QueueTable, QuotaTable, RankingTable,
    RateLimitTable, RefreshTokenTable, SessionTable,
};
use crate::server::ServerTable;
use crate::tables::{
    AcceptTable, AlertsTable, AllowTable, ChecklistTable, DefaultsTable, EventTable, ForeignTable,
    GroupTable, KeyTable, KeyspaceTable, OwnerTable, PlansTable, RootTable, RuleTable, RulesTable,
};
use crate::text::TextTable;
use crate::ttl::{TtlBy, TtlCaller};
use crate::value::{FieldTable, ValueTable};
use std::fmt::Write;

const START: &str = "<!-- fields: ";
const END: &str = "<!-- end -->";

/// The names that a page may ask for.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name)
}

/// A page with its tables written again; `None` if it asks for one that does not exist, or does not
/// say where one ends.
pub fn fill(page: &str) -> Option<String> {
    let mut filled = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find(START) {
        let (before, marker) = rest.split_at(at);
        let (name, _) = marker[START.len()..].split_once(" -->")?;
        let (_, table) = TABLES.iter().find(|(known, _)| *known == name)?;
        let _ = write!(filled, "{before}{START}{name} -->\n{}{END}", table());
        rest = &marker[marker.find(END)? + END.len()..];
    }
    filled.push_str(rest);
    Some(filled)
}

type Writer = fn() -> String;

const TABLES: &[(&str, Writer)] = &[
    ("root", markdown::<RootTable>),
    ("keyspace", markdown::<KeyspaceTable>),
    ("layout", markdown::<LayoutTable>),
    ("layout-words", markdown::<WordsBy>),
    ("server", markdown::<ServerTable>),
    ("alerts", markdown::<AlertsTable>),
    ("generate", markdown::<GenerateTable>),
    ("generate-folder", markdown::<FolderTable>),
    ("generate-rust", markdown::<RustTable>),
    ("generate-java", markdown::<JavaTable>),
    ("defaults", markdown::<DefaultsTable>),
    ("rules", markdown::<RulesTable>),
    ("rule", markdown::<RuleTable>),
    ("param", markdown::<ParamTable>),
    ("text", markdown::<TextTable>),
    ("key", markdown::<KeyTable>),
    ("value", markdown::<ValueTable>),
    ("field", markdown::<FieldTable>),
    ("ttl-by", markdown::<TtlBy>),
    ("ttl-caller", markdown::<TtlCaller>),
    ("counter", markdown::<CounterTable>),
    ("quota", markdown::<QuotaTable>),
    ("rate_limit", markdown::<RateLimitTable>),
    ("lock", markdown::<LockTable>),
    ("queue", markdown::<QueueTable>),
    ("session", markdown::<SessionTable>),
    ("refresh_token", markdown::<RefreshTokenTable>),
    ("index", markdown::<IndexTable>),
    ("flag", markdown::<FlagTable>),
    ("ranking", markdown::<RankingTable>),
    ("event", markdown::<EventTable>),
    ("group", markdown::<GroupTable>),
    ("owner", markdown::<OwnerTable>),
    ("foreign", markdown::<ForeignTable>),
    ("migration", markdown::<MigrationTable>),
    ("rename", markdown::<RenameTable>),
    ("plans", markdown::<PlansTable>),
    ("checklist", markdown::<ChecklistTable>),
    ("allow", markdown::<AllowTable>),
    ("accept", markdown::<AcceptTable>),
];

fn markdown<T: Table>() -> String {
    let mut text = String::from("| field | takes | meaning |\n|---|---|---|\n");
    for field in T::fields() {
        let name = match field.presence {
            Presence::Required => format!("`{}` (required)", field.key),
            Presence::Optional => format!("`{}`", field.key),
            Presence::Rest => "any other name".to_owned(),
        };
        let _ = writeln!(text, "| {name} | {} | {} |", field.what, field.doc.trim());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_filled_between_its_marks() {
        let page = "# Alerts\n<!-- fields: alerts -->\nold\n<!-- end -->\nmore";
        let filled = fill(page).unwrap();
        assert!(filled.starts_with("# Alerts\n<!-- fields: alerts -->\n| field |"), "{filled}");
        assert!(filled.ends_with("|\n<!-- end -->\nmore"), "{filled}");
        assert_eq!(fill(&filled), Some(filled));
    }

    #[test]
    fn an_unknown_table_is_refused() {
        assert_eq!(fill("<!-- fields: alarms -->\n<!-- end -->"), None);
        assert_eq!(fill("<!-- fields: alerts -->\n"), None);
    }
}
