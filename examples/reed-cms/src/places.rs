//! `assoc:{path}`: the entity at a place of the site, such as `content.1.1` or `nav.2`.

use crate::app::App;
use crate::model::Reference;
use crate::problem::Problem;
use crate::reed_cms::values;
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;

/// How many places `{{places nav}}` looks at: `nav.1` to `nav.9`.
const PLACES: u8 = 9;

/// The entity at a place.
pub async fn show(
    State(app): State<App>,
    _: Editor,
    Path(path): Path<String>,
) -> Result<Json<Reference>, Problem> {
    let entity = app.site.at(association(path)?).get().await?.ok_or(Problem::NotFound)?;
    Ok(Json((&entity).into()))
}

/// Puts an entity at a place, instead of what was there.
pub async fn put(
    State(app): State<App>,
    _: Editor,
    Path(path): Path<String>,
    Json(entity): Json<Reference>,
) -> Result<StatusCode, Problem> {
    let (place, entity) = (app.site.at(association(path)?), entity.key()?);
    app.change(&entity, async { Ok(place.set(&entity).await?) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Clears a place.
pub async fn clear(
    State(app): State<App>,
    _: Editor,
    Path(path): Path<String>,
) -> Result<StatusCode, Problem> {
    if !app.site.at(association(path)?).delete().await? {
        return Err(Problem::NotFound);
    }
    app.tell(events::EntityChanged).await;
    Ok(StatusCode::NO_CONTENT)
}

fn association(path: impl AsRef<str>) -> Result<keys::Association, Problem> {
    Ok(keys::Association { path: values::Path::new(path)? })
}

impl App {
    /// The entities at the places below a path, in order, in one round trip.
    pub async fn places(&self, below: &str) -> Result<Vec<keys::Entity>, Problem> {
        let paths = (1..=PLACES).map(|place| association(format!("{below}.{place}")));
        let found = self.site.get_many(paths.collect::<Result<Vec<_>, _>>()?).await?;
        Ok(found.into_iter().flatten().collect())
    }
}
