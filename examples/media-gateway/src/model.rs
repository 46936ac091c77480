//! What the schema stores as JSON: it names these types.

#![allow(clippy::struct_field_names, reason = "the fields of the convention")]

use serde::{Deserialize, Serialize};

/// A title as a list of search results shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub content_id: String,
    pub title: String,
    pub content_type: String,
}

/// A title that a user may like, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContentRecommendation {
    pub content_id: String,
    pub title: String,
    pub score: f64,
    pub because: String,
}

/// What a job is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPayload {
    pub content_id: String,
    pub width: u32,
}

/// A job that failed for good, as the store writes it to the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedJob {
    pub job: JobPayload,
    pub id: Option<String>,
    pub error: String,
    pub attempts: u64,
    pub queue: String,
    pub failed_at: String,
}

/// Who gets a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlagConfig {
    /// Nobody gets it while this is off
    pub enabled: bool,
    /// Of a hundred users, so many get it
    pub percent: u8,
}
