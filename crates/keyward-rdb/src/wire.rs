//! Snapshots as a primary sends them to a replica.
//!
//! A primary announces a snapshot by `$<length>`, or, when it sends it before it knows its length, by
//! `$EOF:` and forty random characters that stand at its end again.

use std::io::{self, BufRead, ErrorKind, Read};

/// How many characters mark the end.
const MARK: usize = 40;

/// The snapshot in what a primary sends, as something to read up to its end.
///
/// ```
/// use keyward_rdb::{Reader, Version};
/// use keyward_rdb::wire::Payload;
/// use keyward_rdb::writer::Writer;
///
/// let snapshot = Writer::new(Vec::new(), Version::redis(10))?.finish()?;
/// let sent = [b"\n\n$18\r\n", &snapshot[..], b"*1\r\n$4\r\nPING\r\n"].concat();
/// let payload = Payload::new(&sent[..])?;
/// assert_eq!(payload.length(), Some(18));
/// assert_eq!(Reader::from_read(payload)?.read(&mut ())?.keys, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Payload<R> {
    reader: R,
    length: Option<u64>,
    end: End,
}

#[derive(Debug)]
enum End {
    /// So many bytes are left.
    After(u64),
    /// It ends where this mark is all that was read last.
    Mark {
        mark: [u8; MARK],
        /// What was read and not yet given, the possible mark at its end.
        held: Vec<u8>,
        given: usize,
        over: bool,
    },
}

impl<R: BufRead> Payload<R> {
    /// Reads the announcement, after the reply to PSYNC. Newlines before it are the primary's way to
    /// say that it is still preparing.
    pub fn new(mut reader: R) -> io::Result<Self> {
        const LONGEST: u64 = 64;
        let mut line = Vec::new();
        while line.is_empty() {
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if line.last() != Some(&b'\n') {
                return Err(refused(&line));
            }
            line.pop();
            line.pop_if(|last| *last == b'\r');
        }
        if let Some(mark) = line.strip_prefix(b"$EOF:") {
            let mark = mark.try_into().map_err(|_| refused(&line))?;
            let end = End::Mark { mark, held: Vec::new(), given: 0, over: false };
            return Ok(Payload { reader, length: None, end });
        }
        let length = line
            .strip_prefix(b"$")
            .and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok())
            .ok_or_else(|| refused(&line))?;
        Ok(Payload { reader, length: Some(length), end: End::After(length) })
    }

    /// How many bytes the snapshot has, if the primary knew.
    pub fn length(&self) -> Option<u64> {
        self.length
    }
}

fn refused(line: &[u8]) -> io::Error {
    let line = line.escape_ascii();
    io::Error::new(ErrorKind::InvalidData, format!("`{line}` announces no snapshot"))
}

impl<R: Read> Read for Payload<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.end {
            End::After(left) => {
                let room = usize::try_from(*left).unwrap_or(usize::MAX).min(buffer.len());
                let read = self.reader.read(&mut buffer[..room])?;
                *left -= read as u64;
                Ok(read)
            }
            End::Mark { mark, held, given, over } => {
                let ready = |held: &[u8], given: usize| held.len().saturating_sub(given + MARK);
                while ready(held, *given) == 0 && !*over && !buffer.is_empty() {
                    held.drain(..*given);
                    *given = 0;
                    let mut more = [0; 16 * 1024];
                    match self.reader.read(&mut more)? {
                        0 => return Err(ErrorKind::UnexpectedEof.into()),
                        read => held.extend_from_slice(&more[..read]),
                    }
                    *over = held.ends_with(mark);
                }
                let count = ready(held, *given).min(buffer.len());
                buffer[..count].copy_from_slice(&held[*given..*given + count]);
                *given += count;
                Ok(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    const MARKED: &[u8] = b"$EOF:0123456789abcdef0123456789abcdef01234567\r\nREDIS data 01234\
                            0123456789abcdef0123456789abcdef01234567";

    fn read_all(payload: &mut impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        payload.read_to_end(&mut bytes).map(|_| bytes)
    }

    #[test]
    fn a_marked_snapshot_ends_before_its_mark() {
        for capacity in [1, 7, 40, 8192] {
            let reader = BufReader::with_capacity(capacity, MARKED);
            let mut payload = Payload::new(reader).unwrap();
            assert_eq!(read_all(&mut payload).unwrap(), b"REDIS data 01234");
        }
    }

    #[test]
    fn a_connection_that_breaks_is_an_error() {
        for end in 1..MARKED.len() {
            let failed =
                Payload::new(&MARKED[..end]).and_then(|mut payload| read_all(&mut payload));
            assert!(failed.is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_no_announcement_is_shown() {
        for line in ["-ERR no\r\n", "$x\r\n", "$EOF:short\r\n"] {
            let error = Payload::new(line.as_bytes()).unwrap_err();
            let expected = format!("`{}` announces no snapshot", line.trim_end());
            assert_eq!(error.to_string(), expected);
        }
    }
}
