//! `children:{parent_id}` and `parent:{child_id}`: the tree of entities, from both sides.

use crate::app::App;
use crate::locks;
use crate::model::Reference;
use crate::problem::Problem;
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::Uuid;
use serde::Deserialize;

/// Where an entity belongs: below another one, at a place among its children.
#[derive(Debug, Deserialize)]
pub struct Position {
    #[serde(flatten)]
    parent: Reference,
    position: i64,
}

/// The children of an entity, in the order of the page.
pub async fn children(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
) -> Result<Json<Vec<Reference>>, Problem> {
    let parent = Reference { type_, id }.key()?;
    Ok(Json(app.children_of(&parent).await?.iter().map(Reference::from).collect()))
}

/// Puts an entity below another one.
pub async fn attach(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
    Json(Position { parent, position }): Json<Position>,
) -> Result<StatusCode, Problem> {
    let (child, parent) = (Reference { type_, id }.key()?, parent.key()?);
    // One change of the tree at a time: two could make a circle that neither sees.
    app.alone(locks::named("tree")?, app.attach(&child, &parent, position)).await?;
    app.tell(events::EntityChanged).await;
    Ok(StatusCode::NO_CONTENT)
}

/// Takes an entity out of its parent.
pub async fn detach(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    let child = Reference { type_, id }.key()?;
    app.alone(locks::named("tree")?, app.detach(&child)).await?;
    app.tell(events::EntityChanged).await;
    Ok(StatusCode::NO_CONTENT)
}

/// The parent of an entity, or null.
pub async fn parent(
    State(app): State<App>,
    _: Editor,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Json<Option<Reference>>, Problem> {
    let parent = app.site.at(keys::Parent { child_id: id }).get().await?;
    Ok(Json(parent.as_ref().map(Reference::from)))
}

impl App {
    /// The children of an entity, in order.
    pub async fn children_of(&self, parent: &keys::Entity) -> Result<Vec<keys::Entity>, Problem> {
        let children = self.site.at(keys::Children { parent_id: parent.id }).range(0, -1).await?;
        Ok(children.into_iter().map(|(child, _)| child).collect())
    }

    async fn attach(
        &self,
        child: &keys::Entity,
        parent: &keys::Entity,
        position: i64,
    ) -> Result<(), Problem> {
        self.expect(child).await?;
        self.expect(parent).await?;
        let mut above = Some(parent.clone());
        while let Some(entity) = above {
            if entity == *child {
                return Err(Problem::Senseless("an entity cannot be below itself".to_owned()));
            }
            above = self.site.at(keys::Parent { child_id: entity.id }).get().await?;
        }
        let before = self.site.at(keys::Parent { child_id: child.id }).get().await?;
        let mut batch = self.site.pipeline();
        let children = self.site.at(keys::Children { parent_id: parent.id });
        let added = batch.add(children.add([(child, position)]));
        let set = batch.add(self.site.at(keys::Parent { child_id: child.id }).set(parent));
        let mut results = batch.run().await?;
        results.take(added)?;
        results.take(set)?;
        if let Some(before) = before.filter(|before| before != parent) {
            self.site.at(keys::Children { parent_id: before.id }).remove([child]).await?;
        }
        Ok(())
    }

    /// Takes an entity out of its parent, if it has one.
    pub async fn detach(&self, child: &keys::Entity) -> Result<(), Problem> {
        let parent = self.site.at(keys::Parent { child_id: child.id });
        if let Some(above) = parent.get().await? {
            self.site.at(keys::Children { parent_id: above.id }).remove([child]).await?;
            parent.delete().await?;
        }
        Ok(())
    }
}
