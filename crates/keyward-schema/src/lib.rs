//! `keyward.toml` as a checked schema: plain data in which everything knows where it was written.
//!
//! ```
//! use keyward_schema::{Style, read, render};
//!
//! let loaded = read(r#"
//! version = 1
//!
//! [keyspace]
//! name = "shop"
//! prefix = "shop:"
//!
//! [keys.cart]
//! pattern = "cart:{user_id:uuid}"
//! ttl = "2d"
//! fields = { items = "json", total = "uint" }
//! "#);
//! let schema = loaded.schema.expect("a schema without errors");
//! let cart = &schema.keys[0];
//! assert_eq!(cart.key_type.as_ref().unwrap().name(), "hash"); // fields imply it
//! assert_eq!(cart.lifecycle.name(), "cache");
//!
//! // A mistake is shown where it was made, with all others.
//! let loaded = read("version = 1\n[keyspace]\nname = \"shop\"\n[keys.cart]\npatern = \"cart\"\n");
//! let errors = loaded.schema.unwrap_err();
//! assert!(render(&loaded.sources, &errors, &Style::default()).contains("did you mean `pattern`?"));
//! ```
//!
//! # From text to schema
//!
//! 1. `syntax`: TOML → a tree with spans, all syntax errors at once.
//! 2. `tables`: each table is declared once; that declaration reads it, says what was expected,
//!    and describes it in `json_schema` and the reference.
//! 3. `lower`: files put together, parameters resolved, what is implied filled in, and all patterns
//!    compiled into one [`keyward_pattern::Keyspace`].
//!
//! A schema is hostile input: its files are bounded in size and number, nesting is bounded by the
//! TOML parser, and every automaton by the compiler. No text makes [`read`] panic.
//!
//! The feature `tools` adds what only a program for people needs: `format`, `json_schema`, `reference` and
//! `starter`. The feature `text` runs the examples of `[text]`; without it, text pipelines are read and not checked.
#![deny(missing_docs)]
#![cfg_attr(
    not(feature = "tools"),
    allow(dead_code, reason = "declarations also describe themselves")
)]

mod call;
mod compile;
mod decoder;
mod definition;
pub mod diagnostic;
mod effect;
mod file;
#[cfg(feature = "tools")]
mod fmt;
mod form;
mod generate;
#[cfg(feature = "tools")]
mod json_schema;
mod layout;
mod load;
mod lower;
mod migration;
pub mod model;
mod near;
mod old_names;
mod param;
#[cfg(feature = "tools")]
pub mod reference;
mod relation;
mod render;
mod role;
mod scalar;
mod segment;
mod separators;
mod server;
mod settings;
mod signing_in;
pub mod span;
mod spelling;
#[cfg(feature = "tools")]
mod starter;
mod syntax;
mod tables;
mod text;
mod ttl;
mod value;

pub use diagnostic::{Diagnostic, Label, Told, Touched};
pub use file::{Files, MAX_BYTES};
#[cfg(feature = "tools")]
pub use fmt::format;
pub use generate::{is_java_package, is_rust_path};
#[cfg(feature = "tools")]
pub use json_schema::json_schema;
pub use load::{Loaded, load, load_after, load_from, read};
pub use model::Schema;
pub use near::{Neighbour, Neighbours, NothingNear, Parting};
pub use old_names::{NewName, OldNames, RenameError};
pub use render::{Style, concise, render};
pub use span::{FileId, SourceFile, Sources, Span, Spanned};
#[cfg(feature = "tools")]
pub use starter::starter;
