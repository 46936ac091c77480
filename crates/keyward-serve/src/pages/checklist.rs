//! `/s/{server}/checklist`: the team's check-list, ticked by the schema's rules and the last audit.

use super::frame::{At, Visit, answer};
use super::words::counted;
use crate::state::Tick;
use axum::extract::Path;
use axum::response::Response;
use minijinja::context;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Item {
    text: String,
    schema: Option<String>,
    must: bool,
    rules: Vec<String>,
    class: &'static str,
    state: String,
    href: Option<String>,
}

pub(super) async fn page(visit: Visit, Path(server): Path<String>) -> Response {
    answer(visit, server, move |at| {
        let several = at.current.schemas.each.len() > 1;
        let items: Vec<Item> =
            at.current.checklist.iter().map(|it| Item::new(at, it, several)).collect();
        let hold = at.current.checklist.iter().filter(|it| it.state == "holds").count() as u64;
        let told = format!("{} of {} hold.", hold, counted(items.len() as u64, "item"));
        at.page("checklist.html", "/checklist", "Check-list", context! { items, told })
    })
    .await
}

impl Item {
    fn new(at: &At<'_>, tick: &Tick, several: bool) -> Self {
        let (class, state) = match tick.state {
            "holds" => ("ok", "holds".to_owned()),
            "broken" => ("bad", counted(tick.findings, "finding")),
            "by-audit" => ("unseen", "an audit decides it".to_owned()),
            "off" => ("unseen", "a rule is off".to_owned()),
            _ => ("unseen", "by review".to_owned()),
        };
        let rule = tick.rules.first().filter(|_| tick.state == "broken" && tick.rules.len() == 1);
        Item {
            text: tick.text.clone(),
            schema: several.then(|| tick.schema.clone()),
            must: tick.must,
            rules: tick.rules.clone(),
            class,
            state,
            href: rule.map(|rule| format!("{}/findings?rule={rule}", at.base)),
        }
    }
}
