//! What a journal consists of.

use std::io::{self, ErrorKind, Read};

/// The longest part of a record: as long as a value can be.
const LONGEST: u32 = 512 * 1024 * 1024;

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// A key was to be renamed, in this database
    Moved { db: u64, from: Vec<u8>, to: Vec<u8> },
    /// A key was to be copied; `new_counts` where the new name counted
    Copied { db: u64, from: Vec<u8>, to: Vec<u8>, new_counts: bool },
    /// A key was to be copied from one slot or database to another, and with `renamed` to be removed then
    Placed { db: u64, home: u64, from: Vec<u8>, to: Vec<u8>, new_counts: bool, renamed: bool },
    /// A converted value was to be put there: what it holds, by a digest, and when it ends
    Making { db: u64, key: Vec<u8>, ends: i64, holds: Vec<u8> },
    /// It was, with this digest
    Made { db: u64, key: Vec<u8>, digest: Vec<u8> },
    /// A value was to be replaced
    Replaced { db: u64, key: Vec<u8>, ends: i64, dump: Vec<u8> },
    /// A value was to be removed, with `under` because it was under that name as well
    Saved { db: u64, key: Vec<u8>, ends: i64, dump: Vec<u8>, under: Option<Vec<u8>> },
    /// A key was to end at another time: when it ended before, and when from then on
    Shortened { db: u64, key: Vec<u8>, ends: i64, at: u64 },
    /// These entries of a collection were to go, so many to stay: known again by the digest of their ends
    Trimmed {
        db: u64,
        key: Vec<u8>,
        kind: Vec<u8>,
        kept_first: bool,
        left: u64,
        edges: Vec<u8>,
        gone: Vec<Vec<u8>>,
    },
    /// A member of a set was to go: with its score in a sorted one, and when the set ended
    Pruned { db: u64, key: Vec<u8>, ends: i64, member: Vec<u8>, score: Vec<u8> },
    /// A dead letter was to leave the list of this key, with its note if it had one; when the list ended
    Letter { db: u64, dead: Vec<u8>, ends: i64, letter: Vec<u8>, note: Option<Note> },
    /// So much of a row was erased on a server; what it was is not kept
    Erased { row: u64, server: Vec<u8>, count: u64 },
    /// The record of this number, counted from 0, did not happen
    Not(u64),
    /// An undo has settled the records of these numbers: they were taken back, or needed nothing
    Settled { first: u64, last: u64 },
    /// Everything before this was taken back, but for conflicts
    Left,
    /// Everything before this was taken back, or is not any more
    Undone,
}

/// What was noted about a dead letter, and in which hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) key: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

impl Record {
    /// Whether it is of a key that kept its name.
    pub(crate) fn is_repair(&self) -> bool {
        matches!(self, Record::Shortened { .. } | Record::Trimmed { .. } | Record::Pruned { .. })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let start = out.len();
        match self {
            Record::Moved { db, from, to } => return write_move(out, *db, from, to),
            Record::Copied { db, from, to, new_counts } => {
                out.push(if *new_counts { b'n' } else { b'c' });
                out.extend_from_slice(&db.to_le_bytes());
                write_part(out, from)?;
                write_part(out, to)?;
            }
            Record::Placed { db, home, from, to, new_counts, renamed } => {
                let kind = if *renamed { b'r' } else { b'p' };
                out.push(if *new_counts { kind.to_ascii_uppercase() } else { kind });
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&home.to_le_bytes());
                write_part(out, from)?;
                write_part(out, to)?;
            }
            Record::Making { db, key, ends, holds } => {
                out.push(b'a');
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                write_part(out, key)?;
                write_part(out, holds)?;
            }
            Record::Made { db, key, digest } => {
                out.push(b'b');
                out.extend_from_slice(&db.to_le_bytes());
                write_part(out, key)?;
                write_part(out, digest)?;
            }
            Record::Saved { db, key, ends, dump, under } => {
                out.push(if under.is_some() { b'S' } else { b's' });
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                for part in [key, dump].into_iter().chain(under) {
                    write_part(out, part)?;
                }
            }
            Record::Replaced { db, key, ends, dump } => {
                out.push(b'o');
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                write_part(out, key)?;
                write_part(out, dump)?;
            }
            Record::Shortened { db, key, ends, at } => {
                out.push(b't');
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                out.extend_from_slice(&at.to_le_bytes());
                write_part(out, key)?;
            }
            Record::Trimmed { db, key, kind, kept_first, left, edges, gone } => {
                out.push(if *kept_first { b'f' } else { b'l' });
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&left.to_le_bytes());
                out.extend_from_slice(&(gone.len() as u64).to_le_bytes());
                for part in [key, kind, edges].into_iter().chain(gone) {
                    write_part(out, part)?;
                }
            }
            Record::Pruned { db, key, ends, member, score } => {
                out.push(b'e');
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                for part in [key, member, score] {
                    write_part(out, part)?;
                }
            }
            Record::Letter { db, dead, ends, letter, note } => {
                out.push(if note.is_some() { b'D' } else { b'd' });
                out.extend_from_slice(&db.to_le_bytes());
                out.extend_from_slice(&ends.to_le_bytes());
                write_part(out, dead)?;
                write_part(out, letter)?;
                if let Some(note) = note {
                    write_part(out, &note.key)?;
                    write_part(out, &note.text)?;
                }
            }
            Record::Erased { row, server, count } => {
                out.push(b'z');
                out.extend_from_slice(&row.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
                write_part(out, server)?;
            }
            Record::Not(before) => {
                out.push(b'x');
                out.extend_from_slice(&before.to_le_bytes());
            }
            Record::Settled { first, last } => {
                out.push(b'w');
                out.extend_from_slice(&first.to_le_bytes());
                out.extend_from_slice(&last.to_le_bytes());
            }
            Record::Left => out.push(b'v'),
            Record::Undone => out.push(b'u'),
        }
        let sum = checksum(&out[start..]);
        out.extend_from_slice(&sum);
        Ok(())
    }

    /// The next record and how long it is; `None` at the end, or where the file is torn.
    pub(super) fn read(file: &mut impl Read) -> io::Result<Option<(Self, u64)>> {
        let mut seen = Vec::new();
        let mut read = || -> io::Result<(Self, [u8; 4])> {
            let record = Self::read_body(&mut Tee { file, seen: &mut seen })?;
            Ok((record, read_bytes(file)?))
        };
        match read() {
            Ok((record, sum)) if sum == checksum(&seen) => {
                Ok(Some((record, seen.len() as u64 + 4)))
            }
            Ok(_) => Ok(None),
            Err(error) => match error.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::InvalidData => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn read_body(file: &mut impl Read) -> io::Result<Self> {
        let [kind] = read_bytes::<1>(file)?;
        Ok(match kind {
            b'x' => Record::Not(number(file)?),
            b'u' => Record::Undone,
            b'v' => Record::Left,
            b'w' => Record::Settled { first: number(file)?, last: number(file)? },
            b'm' => Record::Moved { db: number(file)?, from: part(file)?, to: part(file)? },
            b'n' | b'c' => Record::Copied {
                db: number(file)?,
                from: part(file)?,
                to: part(file)?,
                new_counts: kind == b'n',
            },
            b'p' | b'r' | b'P' | b'R' => Record::Placed {
                db: number(file)?,
                home: number(file)?,
                from: part(file)?,
                to: part(file)?,
                new_counts: kind.is_ascii_uppercase(),
                renamed: kind.eq_ignore_ascii_case(&b'r'),
            },
            b'a' => Record::Making {
                db: number(file)?,
                ends: number(file)?.cast_signed(),
                key: part(file)?,
                holds: part(file)?,
            },
            b'b' => Record::Made { db: number(file)?, key: part(file)?, digest: part(file)? },
            b's' | b'S' | b'o' => {
                let (db, ends) = (number(file)?, number(file)?.cast_signed());
                let (key, dump) = (part(file)?, part(file)?);
                match kind {
                    b's' => Record::Saved { db, key, ends, dump, under: None },
                    b'S' => Record::Saved { db, key, ends, dump, under: Some(part(file)?) },
                    _ => Record::Replaced { db, key, ends, dump },
                }
            }
            b'f' | b'l' => {
                let (db, left, count) = (number(file)?, number(file)?, number(file)?);
                let kept_first = kind == b'f';
                let (key, kind, edges) = (part(file)?, part(file)?, part(file)?);
                let gone = (0..count).map(|_| part(file)).collect::<io::Result<_>>()?;
                Record::Trimmed { db, key, kind, kept_first, left, edges, gone }
            }
            b'e' => Record::Pruned {
                db: number(file)?,
                ends: number(file)?.cast_signed(),
                key: part(file)?,
                member: part(file)?,
                score: part(file)?,
            },
            b't' => Record::Shortened {
                db: number(file)?,
                ends: number(file)?.cast_signed(),
                at: number(file)?,
                key: part(file)?,
            },
            b'z' => {
                Record::Erased { row: number(file)?, count: number(file)?, server: part(file)? }
            }
            b'd' | b'D' => Record::Letter {
                db: number(file)?,
                ends: number(file)?.cast_signed(),
                dead: part(file)?,
                letter: part(file)?,
                note: match kind {
                    b'D' => Some(Note { key: part(file)?, text: part(file)? }),
                    _ => None,
                },
            },
            _ => return Err(ErrorKind::InvalidData.into()),
        })
    }
}

/// A [`Record::Moved`] of these names.
pub(super) fn write_move(out: &mut Vec<u8>, db: u64, from: &[u8], to: &[u8]) -> io::Result<()> {
    let start = out.len();
    out.push(b'm');
    out.extend_from_slice(&db.to_le_bytes());
    write_part(out, from)?;
    write_part(out, to)?;
    let sum = checksum(&out[start..]);
    out.extend_from_slice(&sum);
    Ok(())
}

/// Reads, and remembers what it read.
struct Tee<'a, R> {
    file: &'a mut R,
    seen: &'a mut Vec<u8>,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.seen.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = sha1_smol::Sha1::from(bytes).digest().bytes();
    [a, b, c, d]
}

pub(super) fn read_bytes<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn number(file: &mut impl Read) -> io::Result<u64> {
    read_bytes(file).map(u64::from_le_bytes)
}

pub(super) fn write_part(out: &mut impl io::Write, part: &[u8]) -> io::Result<()> {
    let length = u32::try_from(part.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or(ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(part)
}

/// A part of a record. Nothing is allocated because a file claims a length.
pub(super) fn part(file: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = u32::from_le_bytes(read_bytes(file)?);
    if length > LONGEST {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut part = Vec::new();
    file.take(length.into()).read_to_end(&mut part)?;
    if part.len() as u64 != u64::from(length) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(part)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any record.
    pub(crate) fn record() -> impl Strategy<Value = Record> {
        let part = || proptest::collection::vec(any::<u8>(), 0..20);
        prop_oneof![
            (any::<u64>(), part(), part()).prop_map(|(db, from, to)| Record::Moved {
                db,
                from,
                to
            }),
            (any::<u64>(), part(), part(), any::<bool>())
                .prop_map(|(db, from, to, new_counts)| Record::Copied { db, from, to, new_counts }),
            (any::<u64>(), part(), any::<i64>(), part(), proptest::option::of(part())).prop_map(
                |(db, key, ends, dump, under)| Record::Saved { db, key, ends, dump, under }
            ),
            (any::<u64>(), part(), any::<i64>(), any::<u64>())
                .prop_map(|(db, key, ends, at)| Record::Shortened { db, key, ends, at }),
            (any::<[u64; 2]>(), part(), part(), any::<[bool; 2]>()).prop_map(
                |([db, home], from, to, [new_counts, renamed])| {
                    Record::Placed { db, home, from, to, new_counts, renamed }
                }
            ),
            (any::<u64>(), part(), any::<i64>(), part())
                .prop_map(|(db, key, ends, holds)| Record::Making { db, key, ends, holds }),
            (any::<u64>(), part(), part()).prop_map(|(db, key, digest)| Record::Made {
                db,
                key,
                digest
            }),
            (
                [part(), part(), part()],
                any::<[u64; 2]>(),
                any::<bool>(),
                proptest::collection::vec(part(), 0..5)
            )
                .prop_map(|([key, kind, edges], [db, left], kept_first, gone)| {
                    Record::Trimmed { db, key, kind, kept_first, left, edges, gone }
                }),
            (any::<u64>(), any::<i64>(), [part(), part(), part()]).prop_map(
                |(db, ends, [key, member, score])| Record::Pruned { db, key, ends, member, score }
            ),
            (any::<u64>(), part(), any::<i64>(), part())
                .prop_map(|(db, key, ends, dump)| Record::Replaced { db, key, ends, dump }),
            Just(Record::Undone),
            Just(Record::Left),
            (any::<u64>(), [part(), part()], any::<i64>(), proptest::option::of([part(), part()]))
                .prop_map(|(db, [dead, letter], ends, note)| {
                    let note = note.map(|[key, text]| Note { key, text });
                    Record::Letter { db, dead, ends, letter, note }
                }),
            (any::<[u64; 2]>(), part()).prop_map(|([row, count], server)| Record::Erased {
                row,
                server,
                count
            }),
            any::<[u64; 2]>().prop_map(|[first, last]| Record::Settled { first, last }),
            any::<u64>().prop_map(Record::Not),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(one in record(), other in record()) {
            let mut bytes = Vec::new();
            one.write(&mut bytes).unwrap();
            let length = bytes.len() as u64;
            other.write(&mut bytes).unwrap();
            let mut file = &bytes[..];
            prop_assert_eq!(Record::read(&mut file).unwrap(), Some((one, length)));
            prop_assert_eq!(Record::read(&mut file).unwrap().map(|it| it.0), Some(other));
            prop_assert_eq!(Record::read(&mut file).unwrap(), None);
        }
    }
}
