//! Lengths and strings as every part of the format writes them.

use crate::entry::Excerpt;
use crate::error::Error;
use crate::input::{Input, Limited, Slice, WINDOW};
use crate::lzf::{self, Unpacked};
use crate::number;

/// Reads a length.
#[inline]
pub(crate) fn length<I: Input>(input: &mut I) -> Result<u64, Error> {
    match length_or_form(input)? {
        Ok(length) => Ok(length),
        Err(_) => {
            Err(Error::corrupt(input.offset() - 1, "a special string stands where a length must"))
        }
    }
}

/// A length, or the code of a special form of string.
#[inline]
fn length_or_form<I: Input>(input: &mut I) -> Result<Result<u64, u8>, Error> {
    let first = input.byte()?;
    if first < 0x40 {
        return Ok(Ok(u64::from(first)));
    }
    longer_or_form(input, first)
}

fn longer_or_form<I: Input>(input: &mut I, first: u8) -> Result<Result<u64, u8>, Error> {
    let low = first & 0x3f;
    Ok(Ok(match first >> 6 {
        1 => u64::from(u16::from_be_bytes([low, input.byte()?])),
        3 => return Ok(Err(low)),
        _ => match first {
            0x80 => u64::from(u32::from_be_bytes(input.array()?)),
            0x81 => u64::from_be_bytes(input.array()?),
            _ => return Err(Error::corrupt(input.offset() - 1, "this byte begins no length")),
        },
    }))
}

/// How a string is written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// As a number
    Int(i32),
    /// As it is
    Plain(u64),
    /// Compressed
    Packed { packed: u64, length: u64 },
}

impl Form {
    /// Reads what stands before a string's bytes.
    #[inline]
    pub(crate) fn read<I: Input>(input: &mut I) -> Result<Self, Error> {
        let first = input.byte()?;
        if first < 0x40 {
            return Ok(Form::Plain(u64::from(first)));
        }
        Form::read_longer(input, first)
    }

    #[inline(never)]
    fn read_longer<I: Input>(input: &mut I, first: u8) -> Result<Self, Error> {
        let code = match longer_or_form(input, first)? {
            Ok(length) => return Ok(Form::Plain(length)),
            Err(code) => code,
        };
        Ok(match code {
            0 => Form::Int(i32::from(i8::from_le_bytes(input.array()?))),
            1 => Form::Int(i32::from(i16::from_le_bytes(input.array()?))),
            2 => Form::Int(i32::from_le_bytes(input.array()?)),
            3 => {
                let at = input.offset();
                let (packed, length) = (length(input)?, length(input)?);
                if !lzf::is_plausible(packed, length) {
                    return Err(Error::corrupt(
                        at,
                        "a compressed string claims an impossible length",
                    ));
                }
                Form::Packed { packed, length }
            }
            _ => return Err(Error::corrupt(input.offset() - 1, "this byte begins no string")),
        })
    }

    /// How many bytes the string has.
    #[inline]
    pub(crate) fn length(self) -> u64 {
        match self {
            Form::Int(number) => number::digits(i64::from(number)),
            Form::Plain(length) | Form::Packed { length, .. } => length,
        }
    }

    /// Passes over the string's bytes.
    #[inline]
    pub(crate) fn skip<I: Input>(self, input: &mut I) -> Result<(), Error> {
        match self {
            Form::Int(_) => Ok(()),
            Form::Plain(length) => input.skip(length),
            Form::Packed { packed, .. } => input.skip(packed),
        }
    }

    /// Reads the string, and gives its first bytes, `limit` at most.
    #[inline]
    pub(crate) fn excerpt<'p, I: Input>(
        self,
        input: &'p mut I,
        limit: usize,
        scratch: &'p mut Vec<u8>,
    ) -> Result<Excerpt<'p>, Error> {
        match self {
            Form::Int(value) => Ok(Excerpt::up_to(limit, number::write(i64::from(value), scratch))),
            Form::Plain(length) => plain(input, length, limit, scratch),
            Form::Packed { packed, length } => {
                let start = input.offset();
                if let (Some(small), Some(packed)) = (small(length), small(packed)) {
                    let bytes = lzf::unpack(input.take(packed)?, small, scratch)
                        .map_err(|why| Error::corrupt(start, why))?;
                    return Ok(Excerpt { bytes: &bytes[..limit.min(small)], len: length });
                }
                let mut unpacked = Unpacked::new(input, packed, length, Vec::new());
                prefix(&mut unpacked, length, limit, scratch)?;
                unpacked.finish()?;
                Ok(Excerpt { bytes: scratch, len: length })
            }
        }
    }

    /// The same, in a form that lasts while reading goes on: in place if all bytes are in memory, and
    /// otherwise copied to `store`.
    #[inline]
    pub(crate) fn lasting<'p, I: Input>(
        self,
        input: &mut I,
        fork: &'p mut Option<I::Fork>,
        limit: usize,
        store: &'p mut Vec<u8>,
    ) -> Result<Excerpt<'p>, Error> {
        if let Form::Plain(length) = self {
            return lasting(input, fork, length, limit, store);
        }
        // Numbers and what was compressed are in the store already.
        let excerpt = self.excerpt(input, limit, store)?;
        let (shown, len) = (excerpt.bytes.len(), excerpt.len);
        Ok(Excerpt { bytes: &store[..shown], len })
    }

    /// Lets `reader` read the string as a packed value.
    pub(crate) fn within<I: Input, R: Within>(
        self,
        input: &mut I,
        scratch: &mut Vec<u8>,
        reader: &mut R,
    ) -> Result<R::Out, Error> {
        let start = input.offset();
        match self {
            Form::Int(_) => Err(Error::corrupt(start, "a number stands where a packed value must")),
            Form::Plain(length) => match input.fits(length) {
                Some(count) => {
                    let bytes = input.take(count)?;
                    match reader.read_whole(bytes) {
                        Some(out) => Ok(out),
                        None => reader.read(&mut Slice::part(bytes, start), length),
                    }
                }
                None => reader.read(&mut Limited::new(input, length), length),
            },
            Form::Packed { packed, length } => {
                if let (Some(small), Some(packed)) = (small(length), small(packed)) {
                    let bytes = lzf::unpack(input.take(packed)?, small, scratch)
                        .map_err(|why| Error::corrupt(start, why))?;
                    return match reader.read_whole(bytes) {
                        Some(out) => Ok(out),
                        None => reader.read(&mut Slice::unpacked(bytes, start), length),
                    };
                }
                let mut unpacked = Unpacked::new(input, packed, length, std::mem::take(scratch));
                let out = reader.read(&mut unpacked, length)?;
                *scratch = unpacked.finish()?;
                Ok(out)
            }
        }
    }
}

/// Reads what is packed into one string: a listpack, a ziplist, a zipmap, an intset.
pub(crate) trait Within {
    type Out;

    /// Reads exactly `length` bytes.
    fn read<I: Input>(&mut self, input: &mut I, length: u64) -> Result<Self::Out, Error>;

    /// The same, quicker, where all bytes are in memory. `None` where it is not known how, and where
    /// something is wrong: then `read` is asked, which says what.
    fn read_whole(&mut self, bytes: &[u8]) -> Option<Self::Out>;
}

/// What is unpacked at once rather than through a window.
fn small(length: u64) -> Option<usize> {
    usize::try_from(length).ok().filter(|length| *length <= WINDOW)
}

/// Reads `length` bytes and gives the first of them. Memory grows with what is read, not with what
/// is claimed.
#[inline]
pub(crate) fn plain<'p, I: Input>(
    input: &'p mut I,
    length: u64,
    limit: usize,
    scratch: &'p mut Vec<u8>,
) -> Result<Excerpt<'p>, Error> {
    if let Some(count) = input.fits(length) {
        let bytes = input.take(count)?;
        return Ok(Excerpt { bytes: &bytes[..limit.min(count)], len: length });
    }
    prefix(input, length, limit, scratch)?;
    Ok(Excerpt { bytes: scratch, len: length })
}

/// The same as [`plain`], in a form that lasts while reading goes on.
#[inline]
pub(crate) fn lasting<'p, I: Input>(
    input: &mut I,
    fork: &'p mut Option<I::Fork>,
    length: u64,
    limit: usize,
    store: &'p mut Vec<u8>,
) -> Result<Excerpt<'p>, Error> {
    if let Some(fork) = fork {
        input.skip(length)?;
        return plain(fork, length, limit, store);
    }
    prefix(input, length, limit, store)?;
    Ok(Excerpt { bytes: store, len: length })
}

fn prefix<I: Input>(
    input: &mut I,
    length: u64,
    limit: usize,
    scratch: &mut Vec<u8>,
) -> Result<(), Error> {
    scratch.clear();
    let mut left = length.min(limit as u64);
    let beyond = length - left;
    while left > 0 {
        let bytes = input.some(left)?;
        left -= bytes.len() as u64;
        scratch.extend_from_slice(bytes);
    }
    input.skip(beyond)
}
