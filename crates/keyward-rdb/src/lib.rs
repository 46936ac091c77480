//! Reads RDB snapshots of Redis up to version 14 and of Valkey up to version 80: every type and
//! encoding, in constant memory.
//!
//! A [`Visitor`] receives what a snapshot contains: every key with its type, expiry and use, then as
//! much of its value as it asks for, then the value's encoding, length and memory. Nothing is copied
//! that can be lent.
//!
//! ```
//! use keyward_rdb::{Element, Key, Reader, Show, Value, Visitor};
//!
//! #[derive(Default)]
//! struct Report {
//!     lines: Vec<String>,
//! }
//!
//! impl Visitor for Report {
//!     fn key(&mut self, key: &Key<'_>) -> Show {
//!         // The fields of hashes, each up to 40 bytes; nothing of other values.
//!         if key.key_type.name() == "hash" { Show::up_to(40) } else { Show::NOTHING }
//!     }
//!
//!     fn element(&mut self, element: &Element<'_>) {
//!         if let Element::Field { name, .. } = element {
//!             self.lines.push(format!("  {}", name.bytes.escape_ascii()));
//!         }
//!     }
//!
//!     fn value(&mut self, key: &Key<'_>, value: &Value) {
//!         let name = key.name.escape_ascii();
//!         self.lines.push(format!("{name}: {}, {} of them", value.encoding, value.length));
//!     }
//! }
//!
//! # use keyward_rdb::{Version, writer::{Attributes, Content, Writer}};
//! # let mut writer = Writer::new(Vec::new(), Version::redis(10))?;
//! # let fields: [(&[u8], &[u8]); 2] = [(b"user", b"42"), (b"ip", b"10.0.0.1")];
//! # writer.key(b"session:1", &Attributes::default(), &Content::Hash(&fields))?;
//! # let bytes = writer.finish()?;
//! let mut report = Report::default();
//! // Or `Reader::open("dump.rdb")`, which maps the file, or `Reader::from_read(stdin)`.
//! let summary = Reader::from_slice(&bytes).read(&mut report)?;
//! assert_eq!(report.lines, ["  user", "  ip", "session:1: listpack, 2 of them"]);
//! assert_eq!(summary.keys, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is read
//!
//! - Versions 1 to 14 of Redis (2.0 to 8.8) and 80 of Valkey (9.0). A newer one is read for as long
//!   as its structure is understood, and [`Version::is_newer`] says so.
//! - Strings, lists, sets, sorted sets, hashes, streams and arrays in every encoding: plain, zipmap,
//!   ziplist, listpack, intset, both quicklists, all five generations of streams, hash fields with
//!   TTLs of Redis and of Valkey. Modules' values are passed over by their own marks and counted by
//!   name; of streams, entries are counted and groups described.
//! - Functions, notes of the server, sizes of databases and slots: [`Extra`].
//! - Files, mapped; anything that implements [`Read`](std::io::Read); both also compressed with gzip
//!   or zstd; and what a primary sends to a replica: [`wire`].
//!
//! # What is promised
//!
//! - **Memory is constant**: a window of 256 KiB, and the excerpts that the visitor asked for. A key's
//!   name is kept up to [`Options::max_key`]. Nothing is allocated because a file claims a length.
//! - **No panic**, whatever the bytes are: an [`Error`] with the place.
//! - **Nothing partial looks whole**: `Ok` means that the file was read to its end and its checksum
//!   was right, or that it has none, which [`Summary::checksum`] says. What a visitor gathered before
//!   an error is to be thrown away.
//! - **Packed collections are walked** element by element, and lengths, counts and ends must agree.
//!   Strings that were compressed by the server are decompressed only where they are shown; for the
//!   others the checksum must do.
//!
//! # Memory
//!
//! [`Value::memory`] is what MEMORY USAGE with SAMPLES 0 answers on Redis 7.0, from the sizes of its
//! structures and of its allocator's classes: exact for most values; within some per cent for sorted
//! sets, whose levels are random, and for hash tables that are being resized. For other servers it is
//! an estimate, and [`Summary::memory_checked`] is false.
#![deny(missing_docs)]

mod allocator;
mod crc64;
mod entry;
mod error;
mod input;
mod lzf;
mod memory;
mod module;
mod number;
mod open;
mod packed;
mod parallel;
mod rax;
mod reader;
mod sight;
mod snapshot;
mod stream;
mod string;
mod summary;
mod value;
mod version;
pub mod wire;
pub mod writer;
mod written;

pub use allocator::Allocator;
pub use entry::{
    Element, Excerpt, Expiry, Extra, FieldTtls, Key, Show, StreamId, StreamInfo, Value, Visitor,
};
pub use error::{Error, ErrorKind};
pub use reader::{Options, Reader};
pub use summary::{Checksum, Modules, Summary};
pub use version::{Family, Version};
