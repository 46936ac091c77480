//! `/`: the servers, with the definitions of each.

use crate::state::Shared;
use axum::extract::State;
use axum::response::Html;
use keyward_fact::{escape_html, thousands};

pub(super) async fn page(State(shared): State<Shared>) -> Html<String> {
    let mut text = String::from("<!doctype html><meta charset=\"utf-8\"><title>Keyward</title>");
    for server in &shared.servers {
        text.push_str(&format!("<h1>{}</h1><ul>", escape_html(&server.name)));
        let current = server.current();
        for definition in current.audit.iter().flat_map(|it| &it.report.definitions) {
            let keys = thousands(definition.facts.keys);
            let name = escape_html(&definition.name);
            text.push_str(&format!("<li>{name}: {keys} keys</li>"));
        }
        text.push_str("</ul>");
    }
    Html(text)
}
