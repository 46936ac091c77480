//! Where bytes come from: a slice, a reader, or a part of either.
//!
//! The formats are read through [`Input`], so that the same code serves a file that is mapped whole
//! and a pipe that is seen through a window.

use std::io::{ErrorKind, Read};

use crate::crc64;
use crate::error::Error;

/// The most that may be asked for in one piece.
pub(crate) const WINDOW: usize = 64 * 1024;

pub(crate) trait Input {
    /// Bytes consumed so far, from the start of the file.
    fn offset(&self) -> u64;

    /// Whether all bytes are in memory, so that any number of them can be had in one piece.
    const ALL: bool = false;

    /// Whether so many bytes may be asked for in one piece.
    #[inline]
    fn fits(&self, count: u64) -> Option<usize> {
        usize::try_from(count).ok().filter(|count| Self::ALL || *count <= WINDOW)
    }

    /// Consumes `count` bytes, which must fit.
    fn take(&mut self, count: usize) -> Result<&[u8], Error>;

    /// Consumes at least one byte and at most `limit`.
    fn some(&mut self, limit: u64) -> Result<&[u8], Error>;

    /// The same input at the same place, for bytes that must outlast what is read behind them.
    type Fork: Input;

    /// Forks, where all bytes are in memory.
    fn fork(&self) -> Option<Self::Fork> {
        None
    }

    /// Consumes `count` bytes unseen.
    fn skip(&mut self, count: u64) -> Result<(), Error>;

    #[inline]
    fn byte(&mut self) -> Result<u8, Error> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }
}

/// An [`Input`] that knows the checksum of what was consumed.
pub(crate) trait Checked: Input {
    /// Called between records, so that the checksum follows while the bytes are still in the cache.
    fn settle(&mut self) {}

    /// The checksum of all bytes consumed so far.
    fn checksum(&mut self) -> u64;

    /// How many bytes follow, if that can be known without reading them; at least one, if `None`.
    fn rest(&mut self) -> Result<Option<u64>, Error>;
}

/// All bytes at once.
pub(crate) struct Slice<'a> {
    bytes: &'a [u8],
    at: usize,
    origin: Origin,
    checked: usize,
    crc: u64,
}

/// What an offset in a slice means.
#[derive(Clone, Copy)]
enum Origin {
    /// The slice is the file.
    File,
    /// It is a part of the file, from here on.
    Within(u64),
    /// It was decompressed from what stands here.
    Unpacked(u64),
}

impl<'a> Slice<'a> {
    pub(crate) fn file(bytes: &'a [u8]) -> Self {
        Slice { bytes, at: 0, origin: Origin::File, checked: 0, crc: 0 }
    }

    /// The file from a place on; the checksum too begins there.
    pub(crate) fn file_from(bytes: &'a [u8], at: usize) -> Self {
        Slice { at, checked: at, ..Slice::file(bytes) }
    }

    pub(crate) fn part(bytes: &'a [u8], start: u64) -> Self {
        Slice { origin: Origin::Within(start), ..Slice::file(bytes) }
    }

    pub(crate) fn unpacked(bytes: &'a [u8], start: u64) -> Self {
        Slice { origin: Origin::Unpacked(start), ..Slice::file(bytes) }
    }

    /// Bytes of the slice consumed so far.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn advance(&mut self, count: usize) -> Result<&'a [u8], Error> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(bytes) => {
                self.at += count;
                Ok(bytes)
            }
            None => Err(self.too_short()),
        }
    }

    #[cold]
    fn too_short(&self) -> Error {
        let end = self.bytes.len() as u64;
        match self.origin {
            Origin::File => Error::truncated(end),
            Origin::Within(start) => Error::corrupt(start + end, ENDS_EARLY),
            Origin::Unpacked(start) => Error::corrupt(start, ENDS_EARLY),
        }
    }
}

const ENDS_EARLY: &str = "a packed value ends in the middle of an element";

impl<'a> Input for Slice<'a> {
    const ALL: bool = true;
    type Fork = Slice<'a>;

    #[inline]
    fn fork(&self) -> Option<Slice<'a>> {
        // Not a copy of all: loading at once what was stored in parts costs a tenth of the whole walk.
        Some(Slice { at: self.at, ..Slice::file(self.bytes) })
    }

    #[inline]
    fn offset(&self) -> u64 {
        match self.origin {
            Origin::File => self.at as u64,
            Origin::Within(start) => start + self.at as u64,
            Origin::Unpacked(start) => start,
        }
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        self.advance(count)
    }

    #[inline]
    fn some(&mut self, limit: u64) -> Result<&[u8], Error> {
        let rest = (self.bytes.len() - self.at) as u64;
        if rest == 0 {
            return Err(self.too_short());
        }
        #[expect(clippy::cast_possible_truncation, reason = "no more than is in memory")]
        self.advance(limit.min(rest) as usize)
    }

    #[inline]
    fn skip(&mut self, count: u64) -> Result<(), Error> {
        match usize::try_from(count) {
            Ok(count) => self.advance(count).map(drop),
            Err(_) => Err(self.too_short()),
        }
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Error> {
        match self.bytes.get(self.at) {
            Some(byte) => {
                self.at += 1;
                Ok(*byte)
            }
            None => Err(self.too_short()),
        }
    }
}

impl Checked for Slice<'_> {
    #[inline]
    fn settle(&mut self) {
        const BLOCK: usize = 32 * 1024;
        if self.at - self.checked >= BLOCK {
            self.checksum();
        }
    }

    fn checksum(&mut self) -> u64 {
        self.crc = crc64::update(self.crc, &self.bytes[self.checked..self.at]);
        self.checked = self.at;
        self.crc
    }

    fn rest(&mut self) -> Result<Option<u64>, Error> {
        Ok(Some((self.bytes.len() - self.at) as u64))
    }
}

/// A reader, seen through a window.
pub(crate) struct Stream<'a> {
    reader: Box<dyn Read + 'a>,
    buffer: Box<[u8]>,
    /// Consumed up to here.
    at: usize,
    /// Filled up to here.
    end: usize,
    /// The offset of the buffer's first byte.
    start: u64,
    /// In the checksum up to here.
    checked: usize,
    crc: u64,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(reader: Box<dyn Read + 'a>) -> Self {
        let buffer = vec![0; 4 * WINDOW].into_boxed_slice();
        Stream { reader, buffer, at: 0, end: 0, start: 0, checked: 0, crc: 0 }
    }

    /// Reads until `count` bytes are there; fewer only at the end of the input.
    fn fill(&mut self, count: usize) -> Result<usize, Error> {
        debug_assert!(count <= WINDOW);
        if self.buffer.len() - self.at < count {
            self.checksum();
            self.buffer.copy_within(self.at..self.end, 0);
            self.start += self.at as u64;
            self.end -= self.at;
            self.at = 0;
            self.checked = 0;
        }
        while self.end - self.at < count {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                // A reader that claims more than there was room for is broken.
                Ok(more) => self.end = (self.end + more).min(self.buffer.len()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(self.start + self.end as u64, error)),
            }
        }
        Ok(self.end - self.at)
    }

    #[cold]
    fn refill(&mut self, count: usize) -> Result<(), Error> {
        if self.fill(count)? < count {
            return Err(Error::truncated(self.start + self.end as u64));
        }
        Ok(())
    }

    #[inline]
    fn consume(&mut self, count: usize) -> &[u8] {
        self.at += count;
        &self.buffer[self.at - count..self.at]
    }
}

impl Input for Stream<'_> {
    type Fork = Slice<'static>;

    fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.end - self.at < count {
            self.refill(count)?;
        }
        Ok(self.consume(count))
    }

    fn some(&mut self, limit: u64) -> Result<&[u8], Error> {
        if self.at == self.end {
            self.refill(1)?;
        }
        let count = usize::try_from(limit).unwrap_or(WINDOW).min(self.end - self.at);
        Ok(self.consume(count))
    }

    fn skip(&mut self, mut count: u64) -> Result<(), Error> {
        while count > 0 {
            count -= self.some(count)?.len() as u64;
        }
        Ok(())
    }
}

impl Checked for Stream<'_> {
    fn checksum(&mut self) -> u64 {
        self.crc = crc64::update(self.crc, &self.buffer[self.checked..self.at]);
        self.checked = self.at;
        self.crc
    }

    fn rest(&mut self) -> Result<Option<u64>, Error> {
        Ok((self.fill(1)? == 0).then_some(0))
    }
}

/// The next bytes of another input.
pub(crate) struct Limited<'i, I> {
    input: &'i mut I,
    left: u64,
}

impl<'i, I: Input> Limited<'i, I> {
    pub(crate) fn new(input: &'i mut I, length: u64) -> Self {
        Limited { input, left: length }
    }

    fn claim(&mut self, count: u64) -> Result<(), Error> {
        match self.left.checked_sub(count) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::corrupt(self.input.offset() + self.left, ENDS_EARLY)),
        }
    }
}

impl<I: Input> Input for Limited<'_, I> {
    type Fork = Slice<'static>;

    fn offset(&self) -> u64 {
        self.input.offset()
    }

    fn take(&mut self, count: usize) -> Result<&[u8], Error> {
        self.claim(count as u64)?;
        self.input.take(count)
    }

    fn some(&mut self, limit: u64) -> Result<&[u8], Error> {
        let limit = limit.min(self.left);
        if limit == 0 {
            self.claim(1)?;
        }
        let bytes = self.input.some(limit)?;
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }

    fn skip(&mut self, count: u64) -> Result<(), Error> {
        self.claim(count)?;
        self.input.skip(count)
    }
}
