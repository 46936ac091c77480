//! Redis key patterns, typed and exact.
//!
//! A key convention says `folder:{folder_id}:listing`. This crate makes that line a thing a program
//! can hold to: it builds keys from typed values, reads keys back into values, writes the glob that
//! finds them, computes their cluster slot, and says for any key which pattern of a whole keyspace
//! it belongs to, in one pass.
//!
//! ```
//! use keyward_pattern::{Keyspace, Template};
//!
//! let mut builder = Keyspace::builder(':')?;
//! builder.prefix(&Template::parse("xc:")?, |_| None);
//! builder.define("listing", &Template::parse("folder:{folder_id:uuid}:listing")?, |_| None);
//! builder.define("meta", &Template::parse("file:{file_id:uint}:meta")?, |_| None);
//! let keyspace = builder.finish().map_err(|mut errors| errors.remove(0))?;
//!
//! let meta = keyspace.definition(keyspace.find("meta").unwrap());
//! assert_eq!(meta.build_named(&[("file_id", "7")])?, "xc:file:7:meta");
//! assert_eq!(meta.glob_named(&[])?, "xc:file:*:meta");
//! assert!(meta.build_named(&[("file_id", "7:x")]).is_err());
//!
//! let parsed = keyspace.parse(b"xc:file:7:meta").unwrap();
//! assert_eq!(keyspace.definition(parsed.definition).name(), "meta");
//! assert_eq!(parsed.values, ["7"]);
//! assert_eq!(keyspace.classify(b"xc:file:007:meta"), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Patterns
//!
//! | written | means |
//! |---|---|
//! | `folder:` | these bytes |
//! | `{name}` | a parameter: one segment, or part of one, never the separator |
//! | `{name:type}` | with its type in place, see [`Type`] |
//! | `{#name}` | a parameter in braces that are part of the key: a Redis Cluster hash tag |
//! | `{name...}` | any number of segments, separators included: in last place the rest of the key |
//! | `{{`, `}}` | literal braces |
//!
//! # Guarantees
//!
//! Every type is an exact language of bytes with one spelling for each value, held as a minimal
//! automaton. From that follow:
//!
//! - [`Keyspace::classify`] names a definition if and only if that definition's
//!   [`parse`](Definition::parse) succeeds.
//! - What [`build`](Definition::build) writes, `parse` reads back, up to the declared
//!   normalisation. A value outside its type is an error, never another key.
//! - No value contains a brace or a control character, and none but a `{name...}` and a raw address the separator.
//!   None can produce another definition's key or choose its slot; in globs everything is escaped.
//! - Keys are valid UTF-8. Any bytes may be classified and parsed.
//!
//! The feature `prove` adds the module `prove`, which decides whether definitions overlap, whether
//! a key has two readings and whether an encoding loses anything, each with a shortest witness. It
//! also brings the `regex` type. Without it the crate has no dependencies. The feature `compile`, which it
//! implies, brings everything but [`Tables`], [`slot`], globs and derived keys: an application that reads
//! keys by exported tables does without.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "compile"),
    allow(dead_code, unreachable_pub, unused_imports, reason = "for what is compiled")
)]

mod address;
mod automaton;
#[cfg(feature = "compile")]
mod builder;
mod codec;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod define_error;
#[cfg(feature = "compile")]
mod definition;
mod definition_id;
mod derived;
mod ends;
mod forms;
mod glob;
#[cfg(feature = "compile")]
mod keyspace;
mod language;
mod lower;
mod nearest;
#[cfg(feature = "compile")]
mod owners;
#[cfg(feature = "compile")]
mod param;
mod path;
#[cfg(feature = "prove")]
pub mod prove;
mod recase;
#[cfg(feature = "compile")]
mod segment;
mod slot;
mod tables;
#[cfg(feature = "compile")]
mod template;
mod trie;
#[cfg(feature = "compile")]
mod type_values;
mod value;

pub use address::raw_ipv6;
#[cfg(feature = "compile")]
pub use builder::{Builder, SeparatorError};
#[cfg(feature = "compile")]
pub use define_error::{DefineError, DefineErrorKind};
#[cfg(feature = "compile")]
pub use definition::{BuildError, BuildErrorKind, Definition};
pub use definition_id::DefinitionId;
pub use derived::{derived, is_plan_marker, owner_of, plan_marker};
pub use glob::{Glob, escape_glob};
#[cfg(feature = "compile")]
pub use keyspace::{Keyspace, Parsed};
#[cfg(feature = "compile")]
pub use language::LanguageError;
pub use lower::{UNICODE_VERSION, lower};
pub use nearest::nearest;
#[cfg(feature = "compile")]
pub use owners::Owners;
#[cfg(feature = "compile")]
pub use param::{Normalize, Param, Type, UnknownType};
pub use recase::Recase;
#[cfg(feature = "compile")]
pub use segment::{Content, Segment};
pub use slot::{hash_tag, slot};
#[cfg(feature = "compile")]
pub use tables::Export;
pub use tables::{Found, Tables};
#[cfg(feature = "compile")]
pub use template::{GrammarError, GrammarErrorKind, Hole, Part, Template};
pub use value::Value;
