//! Finite automata over bytes: how Keyward holds a type's language exactly.
//!
//! Own code, because a language must be a value that can be joined, intersected, compared and
//! written into generated code as a table, with a bound on every step; the regex crates offer
//! searching. An [`Nfa`] is put together from pieces, then made deterministic and minimal.

#[cfg(feature = "prove")]
mod cover;
mod dfa;
mod nfa;
mod product;
mod utf8;

#[cfg(feature = "prove")]
pub(crate) use cover::uncovered;
pub(crate) use dfa::Dfa;
pub(crate) use nfa::Nfa;
#[cfg(feature = "prove")]
pub(crate) use product::search;
pub(crate) use product::{Meeting, meet, meet_dfa, subset};
pub(crate) use utf8::chars;

/// A construction grew past its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The bytes in the order in which a witness prefers them: what people read most easily first.
pub(crate) fn preference(byte: u8) -> u16 {
    let class = match byte {
        b'a'..=b'z' => 0,
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b'_' | b'-' | b'.' => 3,
        0x21..=0x7e => 4,
        b' ' => 5,
        0x80.. => 6,
        _ => 7,
    };
    class << 8 | u16::from(byte)
}
