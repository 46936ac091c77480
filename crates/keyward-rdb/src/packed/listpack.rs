//! Listpacks, in which servers from Redis 7.0 keep small collections, and from 5.0 streams.

use super::{Atom, Packed};
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
        let (trailer, matches) = if length < 128 {
            (1, u64::from(input.byte()?) == length)
        } else {
            let bytes = match length {
                ..16_383 => 2,
                16_383..2_097_151 => 3,
                2_097_151..268_435_455 => 4,
                _ => 5,
            };
            let mut read = 0;
            for byte in input.take(bytes)? {
                read = read << 7 | u64::from(byte & 0x7f);
            }
            (bytes as u64, read == length)
        };
        match self.left.checked_sub(length + trailer) {
            Some(left) if matches => {
                self.left = left;
                Ok(())
            }
            _ => Err(Error::corrupt(input.offset(), "a listpack element gives its length wrong")),
        }
    }
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
