//! Reads RDB snapshots.
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
mod rax;
mod reader;
mod sight;
mod stream;
mod string;
mod summary;
mod value;
mod version;
pub mod wire;
pub mod writer;

pub use allocator::Allocator;
pub use entry::{
    Element, Extra, FieldTtls, Key, Piece, Show, StreamId, StreamInfo, Value, Visitor,
};
pub use error::{Error, ErrorKind};
pub use reader::{Options, Reader};
pub use summary::{Checksum, Modules, Summary};
pub use version::{Family, Version};
