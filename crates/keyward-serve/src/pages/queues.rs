//! `/s/{server}/queues`: how many jobs wait, run and died, as of the last audit.

use super::frame::{Visit, answer, definition_of, encoded};
use super::words::{Moment, number_if_known};
use crate::state::{Current, Server};
use axum::extract::Path;
use axum::response::Response;
use keyward_audit::queues::QueueStats;
use minijinja::context;
use serde::Serialize;

/// Queues on one page.
const MOST: usize = 500;

/// A queue, in words.
#[derive(Debug, Serialize)]
pub(super) struct Queue {
    server: String,
    href: String,
    key: String,
    definition: String,
    definition_href: Option<String>,
    waiting: String,
    due: String,
    running: String,
    ended: String,
    dead: String,
    has_dead: bool,
    paused: bool,
    wrong_type: Vec<String>,
    command: String,
}

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, move |at| {
        let queues = &at.current.queues;
        let rows = Queue::all(at.server, &at.current);
        let left_out = queues.each.len().saturating_sub(rows.len());
        let counted = (queues.at > 0).then(|| Moment::new(queues.at));
        let error = queues.error.clone();
        let page = context! { rows, left_out, counted, error };
        at.page("queues.html", "/queues", "Queues", page)
    })
    .await
}

impl Queue {
    /// The queues of a server, those with the most dead letters first.
    pub(super) fn all(server: &Server, current: &Current) -> Vec<Self> {
        let mut queues: Vec<&QueueStats> = current.queues.each.iter().collect();
        queues.sort_by_key(|it| std::cmp::Reverse((it.dead, it.waiting)));
        queues.into_iter().take(MOST).map(|it| Queue::new(server, current, it)).collect()
    }

    fn new(server: &Server, current: &Current, it: &QueueStats) -> Self {
        let has = |schema: &&keyward_schema::Schema| {
            schema.keys.iter().any(|key| *key.name == *it.definition)
        };
        let schema = current.schemas.each.iter().find(has);
        let schema = schema.map(|it| it.keyspace.name.as_str());
        Queue {
            server: server.name.clone(),
            href: format!("/s/{}/queues", encoded(&server.name)),
            key: it.queue.to_string(),
            definition: it.definition.clone(),
            definition_href: schema
                .map(|schema| definition_of(&server.name, schema, &it.definition)),
            waiting: number_if_known(it.waiting),
            due: number_if_known(it.due),
            running: number_if_known(it.running),
            ended: number_if_known(it.ended),
            dead: number_if_known(it.dead),
            has_dead: it.dead.is_some_and(|dead| dead > 0),
            paused: it.paused,
            wrong_type: it.wrong_type.clone(),
            command: format!("keyward queue dead {} {}", server.url, it.definition),
        }
    }
}
