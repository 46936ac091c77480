//! Zipmaps, in which Redis 2.4 keeps small hashes.

use super::{Atom, Packed};
use crate::error::Error;
use crate::input::Input;

const END: u8 = 0xff;
/// Four bytes of length follow.
const LONG: u8 = 0xfe;
/// From here on the header does not count.
const UNCOUNTED: u8 = 254;

pub(crate) struct Zipmap {
    left: u64,
    claimed: u8,
    seen: u64,
    /// Unused bytes behind a value.
    free: u64,
}

impl Packed for Zipmap {
    fn open<I: Input>(input: &mut I, length: u64) -> Result<Self, Error> {
        if length < 2 {
            return Err(Error::corrupt(input.offset(), "a zipmap is shorter than its header"));
        }
        Ok(Zipmap { left: length - 1, claimed: input.byte()?, seen: 0, free: 0 })
    }

    fn next<I: Input>(&mut self, input: &mut I) -> Result<Option<Atom>, Error> {
        let is_value = self.seen % 2 == 1;
        let (length, mut size) = match input.byte()? {
            END if is_value => {
                return Err(Error::corrupt(input.offset(), "a zipmap ends behind a field's name"));
            }
            END => return self.end(input).map(|()| None),
            LONG => (u64::from(u32::from_le_bytes(input.array()?)), 5),
            short => (u64::from(short), 1),
        };
        self.free = 0;
        if is_value {
            self.free = u64::from(input.byte()?);
            size += 1;
        }
        self.left = self.left.checked_sub(size + length + self.free).ok_or_else(|| {
            Error::corrupt(input.offset(), "a zipmap element is longer than its zipmap")
        })?;
        self.seen += 1;
        Ok(Some(Atom::Bytes(length)))
    }

    fn behind<I: Input>(&mut self, input: &mut I) -> Result<(), Error> {
        input.skip(self.free)
    }
}

impl Zipmap {
    fn end<I: Input>(&self, input: &mut I) -> Result<(), Error> {
        if self.left != 1 {
            return Err(Error::corrupt(input.offset(), "a zipmap ends before its last byte"));
        }
        if self.claimed < UNCOUNTED && u64::from(self.claimed) != self.seen / 2 {
            return Err(Error::corrupt(input.offset(), "a zipmap counts its fields wrong"));
        }
        Ok(())
    }
}
