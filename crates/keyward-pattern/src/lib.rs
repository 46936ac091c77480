//! Redis key patterns.
mod automaton;
mod codec;
mod definition;
mod derived;
mod keyspace;
mod language;
mod lower;
mod nearest;
mod param;
mod path;
#[cfg(feature = "prove")]
pub mod prove;
mod slot;
mod template;
mod trie;
mod value;

pub use definition::{BuildError, BuildErrorKind, Definition};
pub use derived::{derived, owner_of};
pub use keyspace::{
    Builder, DefineError, DefineErrorKind, DefinitionId, Keyspace, Parsed, SeparatorError,
};
pub use language::LanguageError;
pub use lower::{UNICODE_VERSION, lower};
pub use nearest::nearest;
pub use param::{Normalize, Param, Type, UnknownType};
pub use slot::{hash_tag, slot};
pub use template::{GrammarError, GrammarErrorKind, Hole, Part, Template};
pub use value::Value;
