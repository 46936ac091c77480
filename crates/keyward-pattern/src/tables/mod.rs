//! A keyspace as a block of bytes that generated code carries, and reads keys by.
//!
//! Generated code in every language holds the same block and walks it in the same way, so that
//! they agree to the byte on what a key is. [`Keyspace::export`](crate::Keyspace::export) writes it,
//! [`Tables`] is the Rust that walks it.
//!
//! # The format, version 3
//!
//! Numbers are LEB128 without a sign, `bytes` is a length and so many bytes, `list(x)` a count and
//! so many `x`.
//!
//! ```text
//! block     = 3 separator:byte lower:list(range) languages:list(language) segments:list(segment)
//!             keyspace bare former
//! range     = first last step offset      characters in lower case; offset is zigzag-coded
//! language  = hint:byte codec:byte forms:byte spelling:dfa
//!             [codec > 0: values:dfa] [codec = 2: list(char:byte replacement:bytes)]
//! dfa       = classes states start map rows        state 0 is dead
//! map       = (class run)…                         until all 256 bytes have a class
//! rows      = for each state: accepting (state run)…   until all classes have a next state
//! segment   = list(piece)
//! piece     = 0 literal:bytes | 1 language
//! keyspace  = max_len paths:list(path) nodes:list(node)      max_len 0: no bound
//! path      = definition rest segments:list(segment) captures:list(capture)
//! capture   = param first_segment first_piece last_segment last_piece
//! node      = literals:list(text:bytes node) edges:list(segment node) rests:list(segment path) end
//! bare      = 0 | 1 keyspace               the keys without the prefix, if they differ
//! former    = list(count keyspace)         old names by database; the first `count` definitions are old names, which
//!                                          are numbered through all of them
//! ```
//!
//! `codec` is 0 where a value is spelled as it is, 1 where all bytes but `[A-Za-z0-9._-]` minus the
//! separator are `%XX`, 2 where some characters have their own spelling. `forms` has three bits: 1, a
//! text is made lower case before it is checked; 2, a text that is an IPv6 address with colons is
//! rewritten as 32 hex digits, or in dotted form if it maps an IPv4 address; 4, a UUID in capitals is
//! rewritten in lower case. A text is rewritten only if it is not a value as it stands. `hint` says that a
//! language is a well-known one, for shortcuts; a reader may ignore it. `end` is 0, or 1 and the path
//! that ends at the node.
//!
//! # How a key is read
//!
//! A key of more than `max_len` bytes is none. From node 0: cut the key at the first separator. Try the literal that equals the piece, then each
//! edge whose segment matches it, in order, and continue after the separator; where the key is at its
//! end, the node's `end` is the answer. If none of them comes to an end, the first of `rests`
//! whose segment matches everything that is left. A segment matches if its pieces can be laid over the
//! bytes. Then the captures say which bytes are each parameter's spelling.

mod block;
#[cfg(feature = "compile")]
mod export;
mod reader;

#[cfg(feature = "compile")]
pub use export::Export;
pub use reader::{Found, Tables};

/// The version of the format.
const VERSION: u8 = 3;
