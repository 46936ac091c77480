//! `temp:{operation}:{id}`: how far an export is, and its result for ten minutes.

use crate::app::App;
use crate::entities::AT_ONCE;
use crate::model::{Intermediate, Task};
use crate::problem::Problem;
use crate::reed_cms::keys;
use crate::reed_cms::values::{EntityType, Id, Operation};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::queue::Failure;
use keyward::random_id;
use serde_json::{Value, json};

/// Starts an export of all entities of a type.
pub async fn start(
    State(app): State<App>,
    _: Editor,
    Path(of): Path<String>,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let of = EntityType::new(of)?.to_string();
    let id: Id = random_id()?;
    app.push(&Task::Export { of, id: id.to_string() }).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id.as_str() }))))
}

/// How far an export is; at the end with all entities.
pub async fn show(
    State(app): State<App>,
    _: Editor,
    Path(id): Path<String>,
) -> Result<Json<Intermediate>, Problem> {
    app.site.at(result(&id)?).get().await?.map(Json).ok_or(Problem::NotFound)
}

impl App {
    /// The worker's part. A second attempt begins again.
    pub async fn export(&self, of: &str, id: &str) -> Result<(), Failure> {
        let index = self.site.at(keys::TypeIndex { entity_type: EntityType::new(of)? });
        let members = index.get().await?;
        if members.is_empty() {
            return Err(Failure::fatal(format!("there is no entity of type `{of}`")));
        }
        let result = self.site.at(result(id)?);
        let (mut done, total, mut entities) = (0, members.len(), Vec::new());
        for some in members.chunks(AT_ONCE) {
            result.set(&Intermediate { done, total, entities: Vec::new() }).await?;
            entities.extend(self.listed(some).await?);
            done += some.len();
        }
        result.set(&Intermediate { done, total, entities }).await?;
        Ok(())
    }
}

fn result(id: &str) -> Result<keys::Temp, Problem> {
    Ok(keys::Temp { operation: Operation::new("export")?, id: Id::new(id)? })
}
