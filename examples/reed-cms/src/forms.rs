//! `csrf:{token}`: a form that may be submitted once, by the session that asked for it.

use crate::app::App;
use crate::problem::Problem;
use crate::reed_cms::keys;
use crate::reed_cms::values::Token;
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use keyward::random_id;
use serde_json::{Value, json};

/// The header that submits a form.
const HEADER: &str = "x-csrf-token";

/// A new form.
pub async fn form(State(app): State<App>, editor: Editor) -> Result<Json<Value>, Problem> {
    let token: Token = random_id()?;
    app.site.at(keys::CsrfToken { token: token.clone() }).set(&editor.session).await?;
    Ok(Json(json!({ "csrf": token.as_str() })))
}

/// Lets a change through if it submits a form of its own session. `take` reads and deletes in one step: of two who
/// submit the same form, one gets through.
pub async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let editor = request.extensions().get::<Editor>().cloned();
    let is_change = !request.method().is_safe();
    // Without a session there is nothing that another site could use.
    if let Some(editor) = editor.filter(|_| is_change) {
        let header = request.headers().get(HEADER).and_then(|it| it.to_str().ok());
        let Some(token) = header.and_then(|it| Token::new(it).ok()) else {
            return Problem::SpentForm.into_response();
        };
        match app.site.at(keys::CsrfToken { token }).take().await {
            Ok(session) if session.as_ref() == Some(&editor.session) => {}
            Ok(_) => return Problem::SpentForm.into_response(),
            Err(error) => return Problem::Redis(error).into_response(),
        }
    }
    next.run(request).await
}
