//! Values and notes of modules, which are passed over by their own marks.

use keyward_fact::Encoding;

use crate::error::Error;
use crate::input::Input;
use crate::memory::Memory;
use crate::string::{Form, length};
use crate::value::Found;

/// Passes over a module's value; its name was read before.
pub(crate) fn read<I: Input>(input: &mut I) -> Result<Found, Error> {
    let start = input.offset();
    skip(input)?;
    let serialized = input.offset() - start;
    Ok(Found::new(Encoding::Raw, 0, Memory::module(serialized)))
}

/// Passes over parts, each with its kind, up to their end.
pub(crate) fn skip<I: Input>(input: &mut I) -> Result<(), Error> {
    loop {
        let at = input.offset();
        match length(input)? {
            0 => return Ok(()),
            1 | 2 => drop(length(input)?),
            3 => input.skip(4)?,
            4 => input.skip(8)?,
            5 => Form::read(input)?.skip(input)?,
            _ => return Err(Error::corrupt(at, "a part of a module's value is of no known kind")),
        }
    }
}

/// The name in a module's number: nine characters of six bits, above ten bits of version.
pub(crate) fn name(id: u64) -> String {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (0..9)
        .map(|place| {
            let index = id >> (10 + 6 * (8 - place)) & 0x3f;
            char::from(CHARACTERS[usize::try_from(index).unwrap_or(0)])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_numbers() {
        assert_eq!(name(0x45e2_5238_df91_2c03), "ReJSON-RL");
        assert_eq!(name(0), "AAAAAAAAA");
        assert_eq!(name(u64::MAX), "_________");
    }
}
