//! LZF, with which servers compress strings, decompressed within bounds.
//!
//! Own code: the `lzf` crate allocates what the file claims and knows no streaming, and a value of
//! gigabytes must pass through a window.

use crate::error::Error;
use crate::input::{Input, Slice, WINDOW};

/// The farthest that a back reference reaches.
const REACH: usize = 8 * 1024;
/// The longest run that one instruction makes.
const LONGEST: usize = 264;

/// Whether so many packed bytes could possibly give so many: three bytes make a run of 264 at most.
pub(crate) fn is_plausible(packed: u64, length: u64) -> bool {
    packed > 0 && length > 0 && length <= packed.saturating_mul(LONGEST as u64 / 3)
}

/// So many bytes are copied at a time, even if fewer are wanted: one instruction of a few bytes is no work
/// for a call.
const STEP: usize = 32;
/// The same for a back reference.
const WIDE: usize = 16;

/// Decompresses exactly `length` bytes, which the caller has found plausible. What `out` held is overwritten;
/// it only grows.
pub(crate) fn unpack<'o>(
    packed: &[u8],
    length: usize,
    out: &'o mut Vec<u8>,
) -> Result<&'o [u8], &'static str> {
    if out.len() < length + STEP {
        out.resize(length + STEP, 0);
    }
    let bytes = out.as_mut_slice();
    let (mut at, mut made) = (0, 0);
    while let Some(&control) = packed.get(at) {
        at += 1;
        let control = usize::from(control);
        if control < 32 {
            let literal = control + 1;
            match (packed.get(at..at + STEP), bytes.get_mut(made..made + STEP)) {
                (Some(step), Some(to)) if length - made >= literal => to.copy_from_slice(step),
                _ => {
                    let step = packed.get(at..at + literal).ok_or(CUT_OFF)?;
                    if length - made < literal {
                        return Err(TOO_LONG);
                    }
                    bytes[made..made + literal].copy_from_slice(step);
                }
            }
            at += literal;
            made += literal;
            continue;
        }
        let mut run = (control >> 5) + 2;
        if run == 9 {
            run += usize::from(*packed.get(at).ok_or(CUT_OFF)?);
            at += 1;
        }
        let back = ((control & 0x1f) << 8 | usize::from(*packed.get(at).ok_or(CUT_OFF)?)) + 1;
        at += 1;
        if length - made < run {
            return Err(TOO_LONG);
        }
        let from = made.checked_sub(back).ok_or(BEFORE)?;
        // Most runs are short, and do not overlap what they make.
        if run <= WIDE.min(back) {
            let mut wide = [0; WIDE];
            wide.copy_from_slice(&bytes[from..from + WIDE]);
            bytes[made..made + WIDE].copy_from_slice(&wide);
        } else {
            copy_back(bytes, from, made, run);
        }
        made += run;
    }
    if made == length { Ok(&bytes[..length]) } else { Err(TOO_SHORT) }
}

/// Copies from where something was made to where it is made now; what overlaps repeats itself. Up to `STEP`
/// bytes behind the end are overwritten.
fn copy_back(bytes: &mut [u8], from: usize, to: usize, run: usize) {
    const NARROW: usize = 8;
    let back = to - from;
    if back >= WIDE {
        for at in (0..run).step_by(WIDE) {
            let mut wide = [0; WIDE];
            wide.copy_from_slice(&bytes[from + at..from + at + WIDE]);
            bytes[to + at..to + at + WIDE].copy_from_slice(&wide);
        }
    } else if back >= NARROW {
        for at in (0..run).step_by(NARROW) {
            let mut narrow = [0; NARROW];
            narrow.copy_from_slice(&bytes[from + at..from + at + NARROW]);
            bytes[to + at..to + at + NARROW].copy_from_slice(&narrow);
        }
    } else if back == 1 {
        let byte = bytes[from];
        bytes[to..to + run].fill(byte);
    } else {
        for at in 0..run {
            bytes[to + at] = bytes[from + at];
        }
    }
}

const CUT_OFF: &str = "a compressed string ends in the middle of an instruction";
const TOO_LONG: &str = "a compressed string is longer than it claims";
const TOO_SHORT: &str = "a compressed string is shorter than it claims";
const BEFORE: &str = "a compressed string refers to what is before its start";

fn repeat(out: &mut Vec<u8>, back: usize, run: usize) -> Result<(), &'static str> {
    let from = out.len().checked_sub(back).ok_or(BEFORE)?;
    if back >= run {
        out.extend_from_within(from..from + run);
    } else if back == 1 {
        let byte = out[from];
        out.resize(out.len() + run, byte);
    } else {
        for index in from..from + run {
            out.push(out[index]);
        }
    }
    Ok(())
}

/// A compressed string as an input, decompressed as it is read.
pub(crate) struct Unpacked<'i, I> {
    input: &'i mut I,
    /// Compressed bytes still to be read.
    packed: u64,
    /// Bytes still to be made.
    left: u64,
    /// What was made: up to `REACH` bytes that were consumed, then those that were not.
    made: Vec<u8>,
    at: usize,
    start: u64,
}

impl<'i, I: Input> Unpacked<'i, I> {
    /// `made` lends its memory, which grows to about three windows.
    pub(crate) fn new(input: &'i mut I, packed: u64, length: u64, mut made: Vec<u8>) -> Self {
        let start = input.offset();
        made.clear();
        Unpacked { input, packed, left: length, made, at: 0, start }
    }

    /// Checks that nothing is left on either side, and gives the memory back.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, Error> {
        while self.left > 0 {
            self.at = self.made.len();
            self.fill(1)?;
        }
        if self.packed > 0 {
            return Err(Error::corrupt(self.start, TOO_LONG));
        }
        Ok(self.made)
    }

    /// Makes bytes until `count` can be consumed, or there are no more.
    fn fill(&mut self, count: usize) -> Result<usize, Error> {
        if self.made.len() - self.at < count {
            let gone = self.at.saturating_sub(REACH);
            self.made.drain(..gone);
            self.at -= gone;
            while self.made.len() - self.at < WINDOW && self.left > 0 {
                self.step()?;
            }
        }
        Ok(self.made.len() - self.at)
    }

    /// Follows one instruction.
    fn step(&mut self) -> Result<(), Error> {
        let before = self.made.len();
        let control = usize::from(self.packed_byte()?);
        if control < 32 {
            let literal = control + 1;
            self.packed = self
                .packed
                .checked_sub(literal as u64)
                .ok_or_else(|| Error::corrupt(self.start, CUT_OFF))?;
            self.made.extend_from_slice(self.input.take(literal)?);
        } else {
            let mut run = control >> 5;
            if run == 7 {
                run += usize::from(self.packed_byte()?);
            }
            let back = ((control & 0x1f) << 8 | usize::from(self.packed_byte()?)) + 1;
            repeat(&mut self.made, back, run + 2).map_err(|why| Error::corrupt(self.start, why))?;
        }
        let made = (self.made.len() - before) as u64;
        self.left =
            self.left.checked_sub(made).ok_or_else(|| Error::corrupt(self.start, TOO_LONG))?;
        Ok(())
    }

    fn packed_byte(&mut self) -> Result<u8, Error> {
        if self.packed == 0 {
            let why = if self.left > 0 { TOO_SHORT } else { CUT_OFF };
            return Err(Error::corrupt(self.start, why));
        }
        self.packed -= 1;
        self.input.byte()
    }
}

impl<I: Input> Input for Unpacked<'_, I> {
    type Fork = Slice<'static>;

    fn offset(&self) -> u64 {
        self.start
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.fill(count)? < count {
            return Err(Error::corrupt(
                self.start,
                "a packed value ends in the middle of an element",
            ));
        }
        self.at += count;
        Ok(&self.made[self.at - count..self.at])
    }

    fn some(&mut self, limit: u64) -> Result<&[u8], Error> {
        let there = self.fill(1)?;
        self.take(usize::try_from(limit).unwrap_or(WINDOW).min(there.max(1)))
    }

    fn skip(&mut self, mut count: u64) -> Result<(), Error> {
        while count > 0 {
            count -= self.some(count)?.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Stream;
    use proptest::prelude::*;

    /// Finds repetitions in the dullest way.
    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let mut literal: Vec<u8> = Vec::new();
        let flush = |literal: &mut Vec<u8>, packed: &mut Vec<u8>| {
            for part in literal.chunks(32) {
                packed.push(u8::try_from(part.len() - 1).unwrap());
                packed.extend_from_slice(part);
            }
            literal.clear();
        };
        let mut at = 0;
        while at < bytes.len() {
            let run_from = |from: usize| {
                let longest = LONGEST.min(bytes.len() - at);
                (0..longest).take_while(|i| bytes[from + i] == bytes[at + i]).count()
            };
            let nearest = at.saturating_sub(REACH);
            let best = (nearest..at).map(|from| (run_from(from), at - from)).max();
            match best {
                Some((run, back)) if run >= 3 => {
                    flush(&mut literal, &mut packed);
                    let [.., high, low] = (back - 1).to_be_bytes();
                    if run - 2 < 7 {
                        packed.push(u8::try_from(run - 2).unwrap() << 5 | high);
                    } else {
                        packed.extend([7 << 5 | high, u8::try_from(run - 9).unwrap()]);
                    }
                    packed.push(low);
                    at += run;
                }
                _ => {
                    literal.push(bytes[at]);
                    at += 1;
                }
            }
        }
        flush(&mut literal, &mut packed);
        packed
    }

    fn unpacked(packed: &[u8], length: usize) -> Result<Vec<u8>, &'static str> {
        let mut out = Vec::new();
        unpack(packed, length, &mut out).map(<[u8]>::to_vec)
    }

    fn streamed(input: &mut impl Input, packed: usize, length: usize) -> Result<Vec<u8>, Error> {
        let mut unpacked = Unpacked::new(input, packed as u64, length as u64, Vec::new());
        let mut out = Vec::new();
        while out.len() < length {
            out.extend_from_slice(unpacked.some((length - out.len()) as u64)?);
        }
        unpacked.finish().map(|_| out)
    }

    #[test]
    fn a_string_that_claims_another_length_is_refused() {
        let packed = pack(b"abcabcabcabcabc");
        assert_eq!(unpacked(&packed, 14), Err(TOO_LONG));
        assert_eq!(unpacked(&packed, 16), Err(TOO_SHORT));
        assert_eq!(unpacked(&packed[..packed.len() - 1], 15), Err(CUT_OFF));
        assert_eq!(unpacked(b"\x20\x00", 3), Err(BEFORE));
        for length in [14, 16] {
            assert!(streamed(&mut Slice::file(&packed), packed.len(), length).is_err());
        }
    }

    #[test]
    fn a_claim_beyond_every_run_is_implausible() {
        assert!(is_plausible(3, 264));
        assert!(!is_plausible(3, 265));
        assert!(!is_plausible(0, 1));
        assert!(!is_plausible(u64::MAX, 0));
    }

    proptest! {
        #[test]
        fn what_was_packed_unpacks(parts in proptest::collection::vec(("[ab]{0,9}", 0usize..99), 0..6)) {
            let bytes: Vec<u8> = parts.iter().flat_map(|(text, times)| text.repeat(*times).into_bytes()).collect();
            prop_assume!(!bytes.is_empty());
            let packed = pack(&bytes);
            prop_assert!(is_plausible(packed.len() as u64, bytes.len() as u64));
            prop_assert_eq!(&unpacked(&packed, bytes.len()).unwrap(), &bytes);
            prop_assert_eq!(&streamed(&mut Slice::file(&packed), packed.len(), bytes.len()).unwrap(), &bytes);
            let mut stream = Stream::new(Box::new(&packed[..]));
            prop_assert_eq!(&streamed(&mut stream, packed.len(), bytes.len()).unwrap(), &bytes);
        }

        #[test]
        fn garbage_is_refused_or_unpacked_but_never_panics(packed: Vec<u8>, length in 0usize..10_000) {
            let whole = unpacked(&packed, length);
            let stream = streamed(&mut Slice::file(&packed), packed.len(), length);
            prop_assert_eq!(whole.ok(), stream.ok());
        }
    }
}
