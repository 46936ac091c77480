//! `semantic:{type}:{name}`: a name for an entity, such as `about` or `$welcome_hero`.

use crate::app::App;
use crate::entities::AT_ONCE;
use crate::model::Reference;
use crate::problem::Problem;
use crate::reed_cms::values::{Name, Type};
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use futures_util::TryStreamExt as _;
use keyward::kind::{Plain, Str};
use keyward::{Key, Uuid};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Named {
    id: Uuid,
}

/// The entity of a name.
pub async fn show(
    State(app): State<App>,
    _: Editor,
    Path((type_, name)): Path<(String, String)>,
) -> Result<Json<Reference>, Problem> {
    let entity = app.site.at(semantic(&type_, &name)?).get().await?.ok_or(Problem::NotFound)?;
    Ok(Json((&entity).into()))
}

/// Names an entity. A name belongs to whoever was first, until it is given back.
pub async fn give(
    State(app): State<App>,
    _: Editor,
    Path((type_, name)): Path<(String, String)>,
    Json(Named { id }): Json<Named>,
) -> Result<StatusCode, Problem> {
    let name = app.site.at(semantic(&type_, &name)?);
    let entity = Reference { type_, id }.key()?;
    let naming = async {
        if name.set_if_absent(&entity).await? || name.get().await?.as_ref() == Some(&entity) {
            return Ok(());
        }
        Err(Problem::Busy("another entity has this name"))
    };
    app.change(&entity, naming).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Gives a name back.
pub async fn take(
    State(app): State<App>,
    _: Editor,
    Path((type_, name)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    if !app.site.at(semantic(&type_, &name)?).delete().await? {
        return Err(Problem::NotFound);
    }
    app.tell(events::EntityChanged).await;
    Ok(StatusCode::NO_CONTENT)
}

fn semantic(type_: &str, name: &str) -> Result<keys::Semantic, Problem> {
    Ok(keys::Semantic { type_: Type::new(type_)?, name: Name::new(name)? })
}

impl App {
    /// The keys of a definition whose value is this entity: its names, or its places. Looks at all keys of the server,
    /// which is fine for what is rare.
    pub async fn holding<K>(&self, entity: &keys::Entity) -> Result<Vec<K>, Problem>
    where
        K: Key<Kind = Str<keys::Entity, Plain>, Keyspace = crate::reed_cms::Key>,
    {
        let all: Vec<K> = self.site.scan().try_collect().await?;
        let mut holding = Vec::new();
        for some in all.chunks(AT_ONCE) {
            let values = self.site.get_many(some.to_vec()).await?;
            let ours = some.iter().zip(values).filter(|(_, value)| value.as_ref() == Some(entity));
            holding.extend(ours.map(|(key, _)| key.clone()));
        }
        Ok(holding)
    }
}
