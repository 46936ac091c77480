//! A library of Markdown documents whose only database is Redis or Valkey.
//!
//! A document becomes chapters, paragraphs, subparagraphs and chunks. Each of them has a key that is made from its own
//! words, and sets and links between the keys let a reader walk the document. `keyward.toml` declares all keys;
//! `README.md` says how the program `library` is used.
//!
//! From file to key: [`mod@file`] reads, [`tree`] parses, [`naming`] names, [`import`] writes. [`convention`] has the
//! functions of the document that the library follows.

pub mod convention;
pub mod file;
pub mod front_matter;
pub mod import;
pub mod keyspace;
pub mod kind;
pub mod naming;
mod numbers;
pub mod quality;
pub mod query;
pub mod search;
pub mod server;
pub mod tree;
pub mod verify;

#[allow(missing_docs, reason = "the schema documents it")]
mod generated {
    keyward::keyspace!("keyward.toml");
}
pub use generated::document_library;
