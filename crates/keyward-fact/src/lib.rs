//! What is known about a key: a [`Fact`], as every source produces it; the names of Redis types and
//! encodings; durations and sizes as people write and read them; and, with the feature `address`, the URLs of
//! servers.
//!
//! ```
//! use keyward_fact::{Duration, KeyType, Size};
//!
//! let ttl: Duration = "90m".parse()?;
//! assert_eq!(ttl.to_string(), "1h30m");
//! assert_eq!(ttl.human(), "1 h 30 min");
//!
//! let memory: Size = "2gb".parse()?;
//! assert_eq!(memory.bytes(), 2 * 1024 * 1024 * 1024);
//!
//! let kind: KeyType = "geo".parse()?;
//! assert_eq!(kind.stored(), "zset"); // what the server's TYPE answers
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything printed by `Display` is read back by `FromStr` as the same value; `human()` is for
//! reports and is never read.
#![deny(missing_docs)]

#[cfg(feature = "address")]
pub mod address;
mod duration;
mod encoding;
mod fact;
pub mod fleet;
mod html;
mod input;
mod key_type;
mod number;
pub mod queue;
mod size;
mod visible;

pub use duration::{Duration, DurationError};
pub use encoding::{Encoding, UnknownEncoding};
pub use fact::{Element, Excerpt, Expiry, Fact, Show};
pub use html::escape_html;
pub use input::{read_file, read_stream};
pub use key_type::{KeyType, UnknownKeyType};
pub use number::thousands;
pub use size::{Size, SizeError};
pub use visible::{is_unseen, visible, visible_json};
