//! `/login`: for people with a browser, who cannot send a bearer token.

use super::Guard;
use axum::Form;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// What whoever guesses waits.
const PENALTY: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
pub(super) struct Given {
    token: String,
}

pub(super) async fn form() -> Html<String> {
    page("")
}

pub(super) async fn enter(State(guard): State<Arc<Guard>>, Form(given): Form<Given>) -> Response {
    if guard.is_token(given.token.trim()) {
        return ([(header::SET_COOKIE, guard.cookie())], Redirect::to("/")).into_response();
    }
    sleep(PENALTY).await;
    (StatusCode::UNAUTHORIZED, page("This is not the token.")).into_response()
}

fn page(message: &str) -> Html<String> {
    Html(crate::pages::sign_in(message))
}
