//! Redis key patterns.
mod nearest;
mod param;
mod slot;
mod template;

pub use nearest::nearest;
pub use param::{Normalize, Param, Type, UnknownType};
pub use slot::{hash_tag, slot};
pub use template::{GrammarError, GrammarErrorKind, Hole, Part, Template};
