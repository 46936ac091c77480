//! What the schema stores as JSON, since it names these types, and how requests name an entity.

use crate::problem::Problem;
use crate::reed_cms::{keys, values};
use keyward::Uuid;
use serde::{Deserialize, Serialize};

/// An entity, outside of keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    #[serde(rename = "type")]
    pub type_: String,
    pub id: Uuid,
}

/// Who is signed in, as the document has it: `{"user_id":"123"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub user_id: String,
}

/// What a search has found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryResult {
    pub found: Vec<Found>,
}

/// An entity as a list of results shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    #[serde(flatten)]
    pub entity: Reference,
    pub title: String,
}

/// What there is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// The words of an entity, put into the index
    Index(Reference),
    /// The words of all entities
    Rebuild,
    /// All entities of a type, for whoever asks for `temp:export:{id}`
    Export { of: String, id: String },
}

/// A task that failed for good, as the store writes it to the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTask {
    pub job: Task,
    pub id: Option<String>,
    pub error: String,
    pub attempts: u64,
    pub queue: String,
    pub failed_at: String,
}

/// How far an export is, and at the end what it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intermediate {
    pub done: usize,
    pub total: usize,
    pub entities: Vec<serde_json::Value>,
}

impl Reference {
    /// Its key, if the type can be one.
    pub fn key(&self) -> Result<keys::Entity, Problem> {
        Ok(keys::Entity { type_: values::Type::new(&self.type_)?, id: self.id })
    }
}

impl From<&keys::Entity> for Reference {
    fn from(entity: &keys::Entity) -> Self {
        Reference { type_: entity.type_.to_string(), id: entity.id }
    }
}
