//! Intsets, in which servers keep small sets of numbers.

use super::{Atom, Packed};
use crate::error::Error;
use crate::input::Input;

/// The width of the numbers, then how many there are.
const HEADER: u64 = 8;

pub(crate) struct Intset {
    width: u32,
    left: u32,
}

impl Packed for Intset {
    fn open<I: Input>(input: &mut I, length: u64) -> Result<Self, Error> {
        let at = input.offset();
        if length < HEADER {
            return Err(Error::corrupt(at, "an intset is shorter than its header"));
        }
        let width = u32::from_le_bytes(input.array()?);
        let left = u32::from_le_bytes(input.array()?);
        if !matches!(width, 2 | 4 | 8) {
            return Err(Error::corrupt(at, "the width of an intset's numbers is not known"));
        }
        if HEADER + u64::from(width) * u64::from(left) != length {
            return Err(Error::corrupt(at, "an intset claims another length than its string"));
        }
        Ok(Intset { width, left })
    }

    #[inline]
    fn next<I: Input>(&mut self, input: &mut I) -> Result<Option<Atom>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let number = match self.width {
            2 => i64::from(i16::from_le_bytes(input.array()?)),
            4 => i64::from(i32::from_le_bytes(input.array()?)),
            _ => i64::from_le_bytes(input.array()?),
        };
        Ok(Some(Atom::Int(number)))
    }

    #[inline]
    fn behind<I: Input>(&mut self, _: &mut I) -> Result<(), Error> {
        Ok(())
    }
}
