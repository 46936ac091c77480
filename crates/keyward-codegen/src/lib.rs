//! A schema as code: the [`model`] that generators and templates see, and what they write.
//!
//! A generator returns [`Files`]; [`Plan`] compares them with a folder and writes only what differs.
//! [`Templates`] are the user's to replace.
#![deny(missing_docs)]

mod files;
pub mod model;
mod templates;

pub use files::{Change, Files, Plan, PlanError};
pub use templates::{TemplateError, Templates};
