//! Listpacks, in which servers from Redis 7.0 keep small collections, and from 5.0 streams.

use super::{Atom, Packed, Whole};
use crate::error::Error;
use crate::input::Input;

/// Total bytes, then the number of elements.
const HEADER: u64 = 6;
const END: u8 = 0xff;
/// There are more elements than the header can count.
const UNCOUNTED: u16 = u16::MAX;

pub(crate) struct Listpack {
    /// Bytes still to come.
    left: u64,
    claimed: u16,
    seen: u64,
    /// The last element's length without its trailer.
    element: u64,
}

impl Packed for Listpack {
    fn open<I: Input>(input: &mut I, length: u64) -> Result<Self, Error> {
        let at = input.offset();
        if length < HEADER + 1 {
            return Err(Error::corrupt(at, "a listpack is shorter than its header"));
        }
        if u64::from(u32::from_le_bytes(input.array()?)) != length {
            return Err(Error::corrupt(at, "a listpack claims another length than its string"));
        }
        let claimed = u16::from_le_bytes(input.array()?);
        Ok(Listpack { left: length - HEADER, claimed, seen: 0, element: 0 })
    }

    #[inline]
    fn next<I: Input>(&mut self, input: &mut I) -> Result<Option<Atom>, Error> {
        let first = input.byte()?;
        let (header, atom) = match first {
            0..0x80 => (1, Atom::Int(i64::from(first))),
            0x80..0xc0 => (1, Atom::Bytes(u64::from(first & 0x3f))),
            0xc0..0xe0 => {
                let bits = i16::from_be_bytes([first << 3, 0]) >> 3 | i16::from(input.byte()?);
                (2, Atom::Int(i64::from(bits)))
            }
            0xe0..0xf0 => {
                (2, Atom::Bytes(u64::from(u16::from_be_bytes([first & 0x0f, input.byte()?]))))
            }
            0xf0 => (5, Atom::Bytes(u64::from(u32::from_le_bytes(input.array()?)))),
            0xf1 => (3, Atom::Int(i64::from(i16::from_le_bytes(input.array()?)))),
            0xf2 => {
                let [a, b, c] = input.array()?;
                (4, Atom::Int(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)))
            }
            0xf3 => (5, Atom::Int(i64::from(i32::from_le_bytes(input.array()?)))),
            0xf4 => (9, Atom::Int(i64::from_le_bytes(input.array()?))),
            END => return self.end(input).map(|()| None),
            _ => {
                return Err(Error::corrupt(input.offset(), "this byte begins no listpack element"));
            }
        };
        self.element = match atom {
            Atom::Int(_) => header,
            Atom::Bytes(length) => header + length,
        };
        self.seen += 1;
        Ok(Some(atom))
    }

    /// The element's length once more, to be read backwards.
    #[inline]
    fn behind<I: Input>(&mut self, input: &mut I) -> Result<(), Error> {
        let length = self.element;
        let (trailer, said) = if length < 128 {
            (1, u64::from(input.byte()?))
        } else {
            let bytes = trailer(length);
            (bytes as u64, backwards(input.take(bytes)?))
        };
        match self.left.checked_sub(length + trailer) {
            Some(left) if said == length => {
                self.left = left;
                Ok(())
            }
            _ => Err(Error::corrupt(input.offset(), "a listpack element gives its length wrong")),
        }
    }

    #[inline]
    fn whole(bytes: &[u8]) -> Option<impl Iterator<Item = Option<Whole<'_>>>> {
        let (header, elements) = bytes.split_first_chunk::<6>()?;
        let [a, b, c, d, counted @ ..] = *header;
        let (elements, end) = elements.split_at_checked(elements.len().checked_sub(1)?)?;
        let fits = u32::from_le_bytes([a, b, c, d]) as usize == bytes.len() && end == [END];
        let claimed = u16::from_le_bytes(counted);
        fits.then_some(Elements { bytes: elements, claimed, seen: 0 })
    }
}

/// The elements of a listpack that is whole in memory; the last is `None` where something is wrong.
struct Elements<'b> {
    /// From the next element on, without the end
    bytes: &'b [u8],
    claimed: u16,
    seen: u64,
}

impl<'b> Iterator for Elements<'b> {
    type Item = Option<Whole<'b>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            let counted = self.claimed == UNCOUNTED || u64::from(self.claimed) == self.seen;
            return if counted { None } else { Some(None) };
        }
        self.seen += 1;
        Some(self.element())
    }
}

impl<'b> Elements<'b> {
    /// Takes off the next element.
    #[inline]
    fn element(&mut self) -> Option<Whole<'b>> {
        let (&first, rest) = self.bytes.split_first()?;
        let (header, element, rest) = match first {
            0x80..0xc0 => {
                let (text, rest) = rest.split_at_checked(usize::from(first & 0x3f))?;
                (1, Whole::Bytes(text), rest)
            }
            0..0x80 => (1, Whole::Int(i64::from(first)), rest),
            _ => longer(first, rest)?,
        };
        let length = match element {
            Whole::Bytes(text) => header + text.len(),
            Whole::Int(_) => header,
        };
        self.bytes = match rest.split_first()? {
            (&trailer, rest) if length < 128 => (usize::from(trailer) == length).then_some(rest)?,
            _ => behind_longer(length, rest)?,
        };
        Some(element)
    }
}

/// An element that needs more than a byte before it: how many, the element, and what follows.
fn longer(first: u8, rest: &[u8]) -> Option<(usize, Whole<'_>, &[u8])> {
    let number = |bits: i64, width: usize| Some((1 + width, Whole::Int(bits), &rest[width..]));
    let text = |length: usize, width: usize| {
        let (text, rest) = rest[width..].split_at_checked(length)?;
        Some((1 + width, Whole::Bytes(text), rest))
    };
    match (first, rest) {
        (0xc0..0xe0, [low, ..]) => {
            number(i64::from(i16::from_be_bytes([first << 3, 0]) >> 3 | i16::from(*low)), 1)
        }
        (0xe0..0xf0, [low, ..]) => text(usize::from(u16::from_be_bytes([first & 0x0f, *low])), 1),
        (0xf0, [a, b, c, d, ..]) => text(u32::from_le_bytes([*a, *b, *c, *d]) as usize, 4),
        (0xf1, [a, b, ..]) => number(i64::from(i16::from_le_bytes([*a, *b])), 2),
        (0xf2, [a, b, c, ..]) => number(i64::from(i32::from_le_bytes([0, *a, *b, *c]) >> 8), 3),
        (0xf3, [a, b, c, d, ..]) => number(i64::from(i32::from_le_bytes([*a, *b, *c, *d])), 4),
        (0xf4, _) => number(i64::from_le_bytes(*rest.first_chunk()?), 8),
        _ => None,
    }
}

/// What follows the length of an element that needs more than a byte to say it.
fn behind_longer(length: usize, rest: &[u8]) -> Option<&[u8]> {
    let (trailer, rest) = rest.split_at_checked(trailer(length as u64))?;
    (backwards(trailer) == length as u64).then_some(rest)
}

/// How many bytes say the length of an element once more.
fn trailer(length: u64) -> usize {
    match length {
        ..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

/// A length as it stands behind an element.
fn backwards(trailer: &[u8]) -> u64 {
    trailer.iter().fold(0, |length, byte| length << 7 | u64::from(byte & 0x7f))
}

impl Listpack {
    fn end<I: Input>(&self, input: &mut I) -> Result<(), Error> {
        if self.left != 1 {
            return Err(Error::corrupt(input.offset(), "a listpack ends before its last byte"));
        }
        if self.claimed != UNCOUNTED && u64::from(self.claimed) != self.seen {
            return Err(Error::corrupt(input.offset(), "a listpack counts its elements wrong"));
        }
        Ok(())
    }
}
