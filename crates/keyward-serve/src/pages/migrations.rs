//! `/s/{server}/migrations`: how far each change of names is, and what is left of it.

use super::frame::{Visit, answer, definition_of};
use super::words::{UNKNOWN, counted, number_if_known, size_if_known};
use crate::state::{Current, MigrationState, Server};
use axum::extract::Path;
use axum::response::Response;
use keyward_fact::thousands;
use minijinja::context;
use serde::Serialize;

/// A migration, in words.
#[derive(Debug, Serialize)]
pub(super) struct Migration {
    server: String,
    href: String,
    name: String,
    schema: String,
    doc: Option<String>,
    phase: String,
    started: String,
    remove_after: String,
    days: String,
    class: &'static str,
    keys: String,
    old_names: Vec<OldName>,
}

#[derive(Debug, Serialize)]
struct OldName {
    pattern: String,
    definition: String,
    href: String,
    keys: String,
    bytes: String,
}

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, move |at| {
        let rows = Migration::all(at.server, &at.current);
        let command = format!("keyward migrate {}", at.server.url);
        at.page("migrations.html", "/migrations", "Migrations", context! { rows, command })
    })
    .await
}

impl Migration {
    /// The migrations of a server.
    pub(super) fn all(server: &Server, current: &Current) -> Vec<Self> {
        current.migrations.iter().map(|it| Migration::new(server, it)).collect()
    }

    fn new(server: &Server, it: &MigrationState) -> Self {
        let unknown = || UNKNOWN.to_owned();
        let (days, class) = match it.days_left {
            _ if it.keys_left == Some(0) => ("no old name is left".to_owned(), "ok"),
            None => (unknown(), ""),
            Some(days) if days < 0 => {
                (format!("overdue by {}", counted(days.unsigned_abs(), "day")), "bad")
            }
            Some(days) => (counted(days.unsigned_abs(), "day"), ""),
        };
        let old = |old: &crate::state::OldNameState| OldName {
            pattern: old.pattern.clone(),
            definition: old.definition.clone(),
            href: definition_of(&server.name, &it.schema, &old.definition),
            keys: number_if_known(old.keys),
            bytes: size_if_known(old.bytes),
        };
        Migration {
            server: server.name.clone(),
            href: format!("/s/{}/migrations", super::frame::encoded(&server.name)),
            name: it.name.clone(),
            schema: it.schema.clone(),
            doc: it.doc.clone(),
            phase: it.phase.clone(),
            started: it.started.clone().unwrap_or_else(unknown),
            remove_after: it.remove_after.clone().unwrap_or_else(unknown),
            days,
            class,
            keys: it.keys_left.map_or_else(unknown, thousands),
            old_names: it.old_names.iter().map(old).collect(),
        }
    }
}
