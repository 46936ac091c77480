//! Typed keys for Redis and Valkey.

mod date;
mod definition;
mod error;
mod field;
#[doc(hidden)]
#[allow(missing_docs, reason = "no promise is made about it")]
pub mod generated;
mod key;
mod param;
mod timestamp;
mod unix;

pub use date::Date;
pub use definition::{Definition, Lifecycle, Param, Ttl};
pub use error::{BuildError, FieldError, FieldErrorKind, Reserved, ValueError};
pub use field::FieldValue;
pub use key::{Event, Fixed, Key, Keyspace, Prefix};
#[cfg(feature = "macros")]
pub use keyward_macros::keyspace;
pub use keyward_pattern::slot;
pub use param::ParamValue;
pub use timestamp::Timestamp;
pub use unix::{Unix, UnixMs};
pub use uuid::Uuid;
