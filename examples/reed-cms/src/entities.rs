//! `entity:{type}:{id}`, and the sets of all entities of a type and of a status.

use crate::app::App;
use crate::locks;
use crate::model::{Reference, Task};
use crate::problem::Problem;
use crate::reed_cms::fields::Entity;
use crate::reed_cms::values::{EntityType, Status, Type};
use crate::reed_cms::{events, keys};
use crate::sessions::Editor;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use keyward::{Fields as _, Uuid, random_id};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The status of what visitors see. Everything begins as a draft.
pub const PUBLISHED: &str = "published";
const DRAFT: &str = "draft";

/// How many entities are read in one round trip.
pub const AT_ONCE: usize = 500;

/// What an editor writes.
#[derive(Debug, Deserialize)]
pub struct Writing {
    template: String,
    title: String,
    #[serde(default)]
    fields: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
pub struct NewStatus {
    status: String,
}

/// A new entity, which nobody sees yet.
pub async fn create(
    State(app): State<App>,
    _: Editor,
    Path(type_): Path<String>,
    Json(writing): Json<Writing>,
) -> Result<(StatusCode, Json<Reference>), Problem> {
    let entity = keys::Entity { type_: Type::new(type_)?, id: random_id()? };
    app.alone(locks::of_entity(&entity)?, app.write(&entity, writing)).await?;
    Ok((StatusCode::CREATED, Json((&entity).into())))
}

/// An entity with all its fields.
pub async fn show(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
) -> Result<Json<Value>, Problem> {
    let entity = Reference { type_, id }.key()?;
    let fields = app.site.at(entity.clone()).get().await?.ok_or(Problem::NotFound)?;
    Ok(Json(shown(&entity, &fields)))
}

/// Another text for an entity. Its status stays.
pub async fn save(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
    Json(writing): Json<Writing>,
) -> Result<StatusCode, Problem> {
    let entity = Reference { type_, id }.key()?;
    Box::pin(app.change(&entity, app.write(&entity, writing))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Publishes an entity, or takes it back.
pub async fn set_status(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
    Json(NewStatus { status }): Json<NewStatus>,
) -> Result<StatusCode, Problem> {
    let entity = Reference { type_, id }.key()?;
    let moving = app.move_to_status(&entity, Status::new(status)?);
    Box::pin(app.change(&entity, moving)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes an entity and everything that names it. One that has children stays.
pub async fn remove(
    State(app): State<App>,
    _: Editor,
    Path((type_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode, Problem> {
    let entity = Reference { type_, id }.key()?;
    let forgetting = app.change(&entity, app.forget(&entity));
    app.alone(locks::named("tree")?, Box::pin(forgetting)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All entities of a type.
pub async fn of_type(
    State(app): State<App>,
    _: Editor,
    Path(type_): Path<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let members = app.site.at(keys::TypeIndex { entity_type: EntityType::new(type_)? }).get();
    app.listed(&members.await?).await.map(Json)
}

/// All entities of a status.
pub async fn of_status(
    State(app): State<App>,
    _: Editor,
    Path(status): Path<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let members = app.site.at(keys::StatusIndex { status: Status::new(status)? }).get();
    app.listed(&members.await?).await.map(Json)
}

impl App {
    /// Changes an entity that there is, or what names it, while nobody else does. What shows it is removed.
    pub async fn change(
        &self,
        entity: &keys::Entity,
        work: impl Future<Output = Result<(), Problem>>,
    ) -> Result<(), Problem> {
        let changing = async {
            self.expect(entity).await?;
            work.await
        };
        let done = self.alone(locks::of_entity(entity)?, changing).await;
        // Also after a failure: only the answer may have been lost.
        self.tell(events::EntityChanged).await;
        done
    }

    /// Writes an entity whole and in one step: nobody sees half of it. Sets list it before it is there, so that a crash
    /// leaves a member too many, which lists leave out, and never one that is missing.
    async fn write(&self, entity: &keys::Entity, writing: Writing) -> Result<(), Problem> {
        let Writing { template: type_, title, fields } = writing;
        let others = others(fields)?;
        if !self.themes.has_template(&type_) {
            return Err(Problem::Senseless(format!("no theme has the template `{type_}`")));
        }
        let handle = self.site.at(entity.clone());
        let status = handle.get_field(Entity::STATUS).await?.unwrap_or_else(|| DRAFT.to_owned());
        // The worker waits for the lock, and finds what is written below.
        self.push(&Task::Index(entity.into())).await?;
        let entity_type = EntityType::new(&entity.type_)?;
        self.site.at(keys::TypeIndex { entity_type }).put(entity).await?;
        self.site.at(keys::StatusIndex { status: Status::new(&status)? }).put(entity).await?;
        handle.set(&Entity { type_, title, status: Some(status), others }).await?;
        Ok(())
    }

    /// Moves an entity from the set of its status to another. Doing it again finishes what a crash has left.
    async fn move_to_status(&self, entity: &keys::Entity, status: Status) -> Result<(), Problem> {
        let handle = self.site.at(entity.clone());
        let before = handle.get_field(Entity::STATUS).await?;
        let after = keys::StatusIndex { status: status.clone() };
        if let Some(before) = before {
            let before = self.site.at(keys::StatusIndex { status: Status::new(before)? });
            before.move_to(entity, &after).await?;
        } else {
            self.site.at(after).put(entity).await?;
        }
        handle.set_field(Entity::STATUS, &status.to_string()).await?;
        Ok(())
    }

    /// What refers to an entity goes before the entity itself, so that nothing is left that names nothing.
    async fn forget(&self, entity: &keys::Entity) -> Result<(), Problem> {
        if self.site.at(keys::Children { parent_id: entity.id }).len().await? > 0 {
            return Err(Problem::Busy("it has children"));
        }
        self.detach(entity).await?;
        for name in self.holding::<keys::Semantic>(entity).await? {
            self.site.at(name).delete().await?;
        }
        for place in self.holding::<keys::Association>(entity).await? {
            self.site.at(place).delete().await?;
        }
        self.site.index::<keys::WordIndex>().assign(entity, []).await?;
        let entity_type = EntityType::new(&entity.type_)?;
        self.site.at(keys::TypeIndex { entity_type }).remove(entity).await?;
        if let Some(status) = self.site.at(entity.clone()).get_field(Entity::STATUS).await? {
            let status = Status::new(status)?;
            self.site.at(keys::StatusIndex { status }).remove(entity).await?;
        }
        self.site.at(entity.clone()).delete().await?;
        Ok(())
    }

    /// Fails if there is no such entity.
    pub async fn expect(&self, entity: &keys::Entity) -> Result<(), Problem> {
        let there = self.site.at(entity.clone()).exists().await?;
        if there { Ok(()) } else { Err(Problem::NotFound) }
    }

    /// Entities as a list shows them, by title. What an index has too many is left out.
    pub async fn listed(&self, entities: &[keys::Entity]) -> Result<Vec<Value>, Problem> {
        let mut found = Vec::new();
        for some in entities.chunks(AT_ONCE) {
            let read = self.site.get_many(some.to_vec()).await?;
            found.extend(some.iter().zip(read).filter_map(|(key, fields)| Some((key, fields?))));
        }
        found.sort_by(|(_, one), (_, other)| one.title.cmp(&other.title));
        Ok(found.iter().map(|(key, fields)| shown(key, fields)).collect())
    }
}

/// The fields that the schema does not name. Those that it names have their own place.
fn others(fields: BTreeMap<String, String>) -> Result<Vec<(Vec<u8>, String)>, Problem> {
    if let Some(name) = fields.keys().find(|name| Entity::FIELDS.contains(&name.as_str())) {
        return Err(Problem::Senseless(format!("`{name}` is not one of the other fields")));
    }
    Ok(fields.into_iter().map(|(name, value)| (name.into_bytes(), value)).collect())
}

fn shown(entity: &keys::Entity, fields: &Entity) -> Value {
    let others = fields.others.iter();
    let others = others.map(|(name, value)| {
        (String::from_utf8_lossy(name).into_owned(), Value::from(value.as_str()))
    });
    json!({
        "type": entity.type_.as_str(),
        "id": entity.id,
        "template": fields.type_,
        "title": fields.title,
        "status": fields.status,
        "fields": others.collect::<Map<_, _>>(),
    })
}
