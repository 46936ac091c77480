//! From a schema to text: typed keys in every language, and the documentation.
//!
//! A generator fills a model of the schema into templates and returns [`Files`]; [`Plan`] compares
//! them with a folder and writes only what differs. The [`Templates`] are the user's to replace.
#![deny(missing_docs)]

pub mod docs;
mod files;
mod language;
pub mod model;
mod templates;
pub mod vectors;

pub use files::{Change, Files, Plan, PlanError};
pub use language::{Language, Settings, rust_module};
pub use templates::{TemplateError, Templates};
