//! Ziplists, in which servers before Redis 7.0 keep small collections.

use super::{Atom, Packed};
use crate::error::Error;
use crate::input::Input;

/// Total bytes, the last element's place, the number of elements.
const HEADER: u64 = 10;
const END: u8 = 0xff;
/// Four bytes of length follow.
const LONG: u8 = 0xfe;
const UNCOUNTED: u16 = u16::MAX;

pub(crate) struct Ziplist {
    left: u64,
    claimed: u16,
    seen: u64,
    /// The last element's length, which the next one repeats.
    element: u64,
}

impl Packed for Ziplist {
    fn open<I: Input>(input: &mut I, length: u64) -> Result<Self, Error> {
        let at = input.offset();
        if length < HEADER + 1 {
            return Err(Error::corrupt(at, "a ziplist is shorter than its header"));
        }
        if u64::from(u32::from_le_bytes(input.array()?)) != length {
            return Err(Error::corrupt(at, "a ziplist claims another length than its string"));
        }
        input.skip(4)?;
        let claimed = u16::from_le_bytes(input.array()?);
        Ok(Ziplist { left: length - HEADER, claimed, seen: 0, element: 0 })
    }

    fn next<I: Input>(&mut self, input: &mut I) -> Result<Option<Atom>, Error> {
        let (previous, previous_size) = match input.byte()? {
            END => return self.end(input).map(|()| None),
            LONG => (u64::from(u32::from_le_bytes(input.array()?)), 5),
            short => (u64::from(short), 1),
        };
        if previous != self.element {
            let why = "a ziplist element gives the length before it wrong";
            return Err(Error::corrupt(input.offset(), why));
        }
        let first = input.byte()?;
        let (header, atom) = match first {
            0..0x40 => (1, Atom::Bytes(u64::from(first))),
            0x40..0x80 => {
                (2, Atom::Bytes(u64::from(u16::from_be_bytes([first & 0x3f, input.byte()?]))))
            }
            0x80..0xc0 => (5, Atom::Bytes(u64::from(u32::from_be_bytes(input.array()?)))),
            0xc0 => (3, Atom::Int(i64::from(i16::from_le_bytes(input.array()?)))),
            0xd0 => (5, Atom::Int(i64::from(i32::from_le_bytes(input.array()?)))),
            0xe0 => (9, Atom::Int(i64::from_le_bytes(input.array()?))),
            0xf0 => {
                let [a, b, c] = input.array()?;
                (4, Atom::Int(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)))
            }
            0xfe => (2, Atom::Int(i64::from(i8::from_le_bytes(input.array()?)))),
            0xf1..=0xfd => (1, Atom::Int(i64::from(first - 0xf1))),
            _ => return Err(Error::corrupt(input.offset(), "this byte begins no ziplist element")),
        };
        self.element = previous_size
            + match atom {
                Atom::Int(_) => header,
                Atom::Bytes(length) => header + length,
            };
        self.left = self.left.checked_sub(self.element).ok_or_else(|| {
            Error::corrupt(input.offset(), "a ziplist element is longer than its ziplist")
        })?;
        self.seen += 1;
        Ok(Some(atom))
    }

    fn behind<I: Input>(&mut self, _: &mut I) -> Result<(), Error> {
        Ok(())
    }
}

impl Ziplist {
    fn end<I: Input>(&self, input: &mut I) -> Result<(), Error> {
        if self.left != 1 {
            return Err(Error::corrupt(input.offset(), "a ziplist ends before its last byte"));
        }
        if self.claimed != UNCOUNTED && u64::from(self.claimed) != self.seen {
            return Err(Error::corrupt(input.offset(), "a ziplist counts its elements wrong"));
        }
        Ok(())
    }
}
