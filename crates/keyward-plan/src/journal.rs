//! What apply was about to change, in a file beside the plan: so that it can be undone.
//!
//! A batch is written before the server is asked to change its keys, and what did not happen is written behind
//! it. Where the program was killed between the two, the batch counts as done: undo asks the server in any case.
//! The end of the file may be torn; everything before it is whole.

use crate::error::Error;
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MAGIC: &[u8; 16] = b"keyward journal1";

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
    /// A converted value was to be put there
    Making { db: u64, key: Vec<u8> },
    /// It was, with this digest
    Made { db: u64, key: Vec<u8>, digest: Vec<u8> },
    /// A value was to be replaced
    Replaced { db: u64, key: Vec<u8>, ends: i64, dump: Vec<u8> },
    /// A value was to be removed
    Saved { db: u64, key: Vec<u8>, ends: i64, dump: Vec<u8> },
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
    /// Everything before this was taken back
    Undone,
}

/// What was noted about a dead letter, and in which hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) key: Vec<u8>,
    pub(crate) text: Vec<u8>,
}

/// A journal that is written.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Dead letters that had left their lists when it was opened
    pub(crate) letters: u64,
    path: PathBuf,
    file: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: BufWriter<File>,
    /// The number of the next record
    next: u64,
}

impl Journal {
    /// Opens the journal of a plan, to write behind what it has.
    pub(crate) fn append(path: &Path, plan: &str) -> Result<Self, Error> {
        let failed = |error| Error::file("write", path, error);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        expect_own(path, &file)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(Error::refused(
                "the plan is being applied or undone by another process",
                "wait until it has ended; `keyward plan status` shows how far it is",
            ));
        }
        let (mut next, mut letters) = (0, HashSet::new());
        if file.metadata().map_err(failed)?.len() == 0 {
            file.write_all(MAGIC).map_err(failed)?;
            write_part(&mut file, plan.as_bytes()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        } else {
            let mut reader = Reader::open(path, plan)?;
            while let Some(record) = reader.next().transpose()? {
                match record {
                    Record::Letter { .. } => _ = letters.insert(next),
                    Record::Not(which) => _ = letters.remove(&which),
                    _ => {}
                }
                next += 1;
            }
            // A torn end would hide what is written behind it.
            file.set_len(reader.whole).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
        }
        let file = Mutex::new(Writing { file: BufWriter::new(file), next });
        Ok(Journal { letters: letters.len() as u64, path: path.to_owned(), file })
    }

    /// Writes records, and returns when the system has them; with `durable`, when the disk has them. Returns
    /// the number of the first.
    pub(crate) fn write(&self, records: &[Record], durable: bool) -> Result<u64, Error> {
        let mut writing = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let first = writing.next;
        if records.is_empty() {
            return Ok(first);
        }
        let mut write = || {
            let mut bytes = Vec::new();
            for record in records {
                record.write(&mut bytes)?;
            }
            writing.file.write_all(&bytes)?;
            writing.file.flush()?;
            writing.next += records.len() as u64;
            if durable { writing.file.get_ref().sync_data() } else { Ok(()) }
        };
        write().map_err(|error| Error::file("write", &self.path, error))?;
        Ok(first)
    }
}

/// A journal holds values: nobody else may have made it, or can read it.
pub(crate) fn expect_own(path: &Path, file: &File) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let failed = |error| Error::file("write", path, error);
        let found = file.metadata().map_err(failed)?;
        let is_link = std::fs::symlink_metadata(path).map_err(failed)?.is_symlink();
        let is_mine = found.uid() == rustix::process::geteuid().as_raw();
        if is_link || !is_mine || found.mode() & 0o077 != 0 {
            return Err(Error::refused(
                format!("`{}` is not a file that only you can read", path.display()),
                "remove it if it is not the journal of this plan, or name another place with `--journal`",
            ));
        }
    }
    Ok(())
}

/// Reads a journal, record by record.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    file: BufReader<File>,
    /// How far it is whole
    whole: u64,
}

impl Reader {
    /// Opens the journal of a plan.
    pub(crate) fn open(path: &Path, plan: &str) -> Result<Self, Error> {
        let failed = |error| Error::file("read", path, error);
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let mut magic = [0; MAGIC.len()];
        let mut whole = MAGIC.len() as u64;
        let is_ours = match file.read_exact(&mut magic) {
            Ok(()) => magic == *MAGIC,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(failed(error)),
        };
        let of = if is_ours { read_part(&mut file, &mut whole).map_err(failed)? } else { None };
        if of.as_deref() != Some(plan.as_bytes()) {
            return Err(Error::Document {
                why: format!("`{}` is not the journal of this plan", path.display()),
                help: "name the journal that `plan apply` wrote for this plan with `--journal`",
            });
        }
        Ok(Reader { path: path.to_owned(), file, whole })
    }

    /// Whether a record follows what cannot be read: then it was not torn, and something was lost.
    fn is_damaged(&mut self) -> std::io::Result<bool> {
        const LOOKED_AT: u64 = 1024 * 1024;
        self.file.seek(SeekFrom::Start(self.whole))?;
        let mut rest = Vec::new();
        (&mut self.file).take(LOOKED_AT).read_to_end(&mut rest)?;
        let is_record = |at: usize| {
            matches!(Record::read(&mut rest.get(at..).unwrap_or_default(), &mut 0), Ok(Some(_)))
        };
        Ok((1..rest.len()).any(is_record))
    }

    /// Where the next record begins.
    pub(crate) fn position(&self) -> u64 {
        self.whole
    }

    /// The record that begins there.
    pub(crate) fn at(&mut self, position: u64) -> Option<Result<Record, Error>> {
        if let Err(error) = self.file.seek(SeekFrom::Start(position)) {
            return Some(Err(Error::file("read", &self.path, error)));
        }
        self.whole = position;
        self.next()
    }
}

/// How much was erased of each row on each server, by all runs.
pub(crate) fn erased(path: &Path, plan: &str) -> Result<BTreeMap<(u64, String), u64>, Error> {
    let mut all = BTreeMap::new();
    for record in Reader::open(path, plan)? {
        if let Record::Erased { row, server, count } = record? {
            let server = String::from_utf8_lossy(&server).into_owned();
            let sum: &mut u64 = all.entry((row, server)).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    Ok(all)
}

impl Iterator for Reader {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut end = self.whole;
        match Record::read(&mut self.file, &mut end) {
            Ok(Some(record)) => {
                self.whole = end;
                Some(Ok(record))
            }
            Ok(None) => match self.is_damaged() {
                Ok(true) => Some(Err(Error::unfinished(
                    format!("`{}` is damaged at byte {}", self.path.display(), self.whole),
                    "nothing was changed: use a copy of the journal from before, with `--journal`",
                ))),
                // Torn: what follows was never acted upon.
                Ok(false) => None,
                Err(error) => Some(Err(Error::file("read", &self.path, error))),
            },
            Err(error) => Some(Err(Error::file("read", &self.path, error))),
        }
    }
}

impl Record {
    /// Whether it is of a key that kept its name.
    pub(crate) fn is_repair(&self) -> bool {
        matches!(self, Record::Shortened { .. } | Record::Trimmed { .. } | Record::Pruned { .. })
    }

    fn write(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let start = out.len();
        match self {
            Record::Moved { db, from, to } => {
                out.push(b'm');
                out.extend_from_slice(&db.to_le_bytes());
                write_part(out, from)?;
                write_part(out, to)?;
            }
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
            Record::Making { db, key } => {
                out.push(b'a');
                out.extend_from_slice(&db.to_le_bytes());
                write_part(out, key)?;
            }
            Record::Made { db, key, digest } => {
                out.push(b'b');
                out.extend_from_slice(&db.to_le_bytes());
                write_part(out, key)?;
                write_part(out, digest)?;
            }
            Record::Saved { db, key, ends, dump } | Record::Replaced { db, key, ends, dump } => {
                out.push(if matches!(self, Record::Saved { .. }) { b's' } else { b'o' });
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
            Record::Undone => out.push(b'u'),
        }
        let sum = checksum(&out[start..]);
        out.extend_from_slice(&sum);
        Ok(())
    }

    /// The next record; `None` at the end, or where the file is torn.
    fn read(file: &mut impl Read, end: &mut u64) -> std::io::Result<Option<Self>> {
        let mut seen = Vec::new();
        let mut read = Tee { file, seen: &mut seen };
        let Some(record) = Self::read_body(&mut read)? else { return Ok(None) };
        let length = seen.len() as u64;
        let mut sum = [0; 4];
        match file.read_exact(&mut sum) {
            Ok(()) if sum == checksum(&seen) => {
                *end += length + 4;
                Ok(Some(record))
            }
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_body(file: &mut impl Read) -> std::io::Result<Option<Self>> {
        let mut read = || -> std::io::Result<Option<Self>> {
            let [kind] = read_bytes::<1>(file)?;
            let mut number = || Ok::<_, std::io::Error>(u64::from_le_bytes(read_bytes(file)?));
            Ok(Some(match kind {
                b'x' => Record::Not(number()?),
                b'u' => Record::Undone,
                b'm' | b'n' | b'c' => {
                    let db = number()?;
                    let (Some(from), Some(to)) =
                        (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                    else {
                        return Ok(None);
                    };
                    match kind {
                        b'm' => Record::Moved { db, from, to },
                        kind => Record::Copied { db, from, to, new_counts: kind == b'n' },
                    }
                }
                b'p' | b'r' | b'P' | b'R' => {
                    let (db, home) = (number()?, number()?);
                    let (Some(from), Some(to)) =
                        (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                    else {
                        return Ok(None);
                    };
                    let new_counts = kind.is_ascii_uppercase();
                    let renamed = kind.eq_ignore_ascii_case(&b'r');
                    Record::Placed { db, home, from, to, new_counts, renamed }
                }
                b'a' => {
                    let db = number()?;
                    let Some(key) = read_part(file, &mut 0)? else { return Ok(None) };
                    Record::Making { db, key }
                }
                b'b' => {
                    let db = number()?;
                    let (Some(key), Some(digest)) =
                        (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                    else {
                        return Ok(None);
                    };
                    Record::Made { db, key, digest }
                }
                b's' | b'o' => {
                    let (db, ends) = (number()?, number()?.cast_signed());
                    let (Some(key), Some(dump)) =
                        (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                    else {
                        return Ok(None);
                    };
                    match kind {
                        b's' => Record::Saved { db, key, ends, dump },
                        _ => Record::Replaced { db, key, ends, dump },
                    }
                }
                b'f' | b'l' => {
                    let first = kind == b'f';
                    let (db, left, count) = (number()?, number()?, number()?);
                    let (Some(key), Some(kind), Some(edges)) = (
                        read_part(file, &mut 0)?,
                        read_part(file, &mut 0)?,
                        read_part(file, &mut 0)?,
                    ) else {
                        return Ok(None);
                    };
                    let mut gone = Vec::new();
                    for _ in 0..count {
                        let Some(part) = read_part(file, &mut 0)? else { return Ok(None) };
                        gone.push(part);
                    }
                    Record::Trimmed { db, key, kind, kept_first: first, left, edges, gone }
                }
                b'e' => {
                    let (db, ends) = (number()?, number()?.cast_signed());
                    let (Some(key), Some(member), Some(score)) = (
                        read_part(file, &mut 0)?,
                        read_part(file, &mut 0)?,
                        read_part(file, &mut 0)?,
                    ) else {
                        return Ok(None);
                    };
                    Record::Pruned { db, key, ends, member, score }
                }
                b't' => {
                    let (db, ends, at) = (number()?, number()?.cast_signed(), number()?);
                    let Some(key) = read_part(file, &mut 0)? else { return Ok(None) };
                    Record::Shortened { db, key, ends, at }
                }
                b'z' => {
                    let (row, count) = (number()?, number()?);
                    let Some(server) = read_part(file, &mut 0)? else { return Ok(None) };
                    Record::Erased { row, server, count }
                }
                b'd' | b'D' => {
                    let (db, ends) = (number()?, number()?.cast_signed());
                    let (Some(dead), Some(letter)) =
                        (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                    else {
                        return Ok(None);
                    };
                    let mut note = None;
                    if kind == b'D' {
                        let (Some(key), Some(text)) =
                            (read_part(file, &mut 0)?, read_part(file, &mut 0)?)
                        else {
                            return Ok(None);
                        };
                        note = Some(Note { key, text });
                    }
                    Record::Letter { db, dead, ends, letter, note }
                }
                _ => return Ok(None),
            }))
        };
        match read() {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            record => record,
        }
    }
}

/// Reads, and remembers what it read.
struct Tee<'a, R> {
    file: &'a mut R,
    seen: &'a mut Vec<u8>,
}

impl<R: Read> Read for Tee<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.seen.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

fn checksum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = sha1_smol::Sha1::from(bytes).digest().bytes();
    [a, b, c, d]
}

fn read_bytes<const N: usize>(file: &mut impl Read) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn write_part(out: &mut impl std::io::Write, part: &[u8]) -> std::io::Result<()> {
    let length = u32::try_from(part.len()).ok().filter(|length| *length <= LONGEST);
    let length = length.ok_or(ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(part)
}

/// A part of a record; `None` if its length cannot be.
fn read_part(file: &mut impl Read, end: &mut u64) -> std::io::Result<Option<Vec<u8>>> {
    let length = u32::from_le_bytes(read_bytes(file)?);
    if length > LONGEST {
        return Ok(None);
    }
    let mut part = Vec::new();
    file.take(length.into()).read_to_end(&mut part)?;
    if part.len() as u64 != u64::from(length) {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    *end += 4 + u64::from(length);
    Ok(Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record() -> impl Strategy<Value = Record> {
        let part = || proptest::collection::vec(any::<u8>(), 0..20);
        prop_oneof![
            (any::<u64>(), part(), part()).prop_map(|(db, from, to)| Record::Moved {
                db,
                from,
                to
            }),
            (any::<u64>(), part(), part(), any::<bool>())
                .prop_map(|(db, from, to, new_counts)| Record::Copied { db, from, to, new_counts }),
            (any::<u64>(), part(), any::<i64>(), part())
                .prop_map(|(db, key, ends, dump)| Record::Saved { db, key, ends, dump }),
            (any::<u64>(), part(), any::<i64>(), any::<u64>())
                .prop_map(|(db, key, ends, at)| Record::Shortened { db, key, ends, at }),
            (any::<[u64; 2]>(), part(), part(), any::<[bool; 2]>()).prop_map(
                |([db, home], from, to, [new_counts, renamed])| {
                    Record::Placed { db, home, from, to, new_counts, renamed }
                }
            ),
            (any::<u64>(), part()).prop_map(|(db, key)| Record::Making { db, key }),
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
            any::<u64>().prop_map(Record::Not),
        ]
    }

    fn read(path: &Path) -> Vec<Record> {
        Reader::open(path, "p").unwrap().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_however_it_is_torn(
            records in proptest::collection::vec(record(), 1..8),
            more in record(),
            cut in 1_usize..30,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            Journal::append(&path, "p").unwrap().write(&records, false).unwrap();
            prop_assert_eq!(&read(&path), &records);

            // A kill in the midst of a write loses no record before it, and none after it.
            let length = std::fs::metadata(&path).unwrap().len();
            let header = 16 + 4 + 1;
            let left = length.saturating_sub(cut as u64).max(header);
            OpenOptions::new().write(true).open(&path).unwrap().set_len(left).unwrap();
            let mut kept = read(&path);
            prop_assert_eq!(&kept[..], &records[..kept.len()]);
            Journal::append(&path, "p").unwrap().write(std::slice::from_ref(&more), true).unwrap();
            kept.push(more);
            prop_assert_eq!(read(&path), kept);
        }

        #[test]
        fn no_file_makes_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            let mut file = MAGIC.to_vec();
            file.extend_from_slice(&[1, 0, 0, 0, b'p']);
            file.extend(bytes);
            std::fs::write(&path, file).unwrap();
            let _ = read(&path);
        }
    }

    #[test]
    fn what_is_damaged_in_the_middle_is_neither_read_on_nor_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let records: Vec<Record> = (0..20).map(Record::Not).collect();
        Journal::append(&path, "p").unwrap().write(&records, false).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[60] ^= 0xff;
        std::fs::write(&path, &bytes).unwrap();
        let last = Reader::open(&path, "p").unwrap().find(Result::is_err);
        assert!(last.is_some_and(|it| it.unwrap_err().to_string().contains("is damaged")));
        assert!(Journal::append(&path, "p").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn a_journal_belongs_to_one_process_and_one_user() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let held = Journal::append(&path, "p").unwrap();
        let error = Journal::append(&path, "p").unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        drop(held);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Journal::append(&path, "p").unwrap_err();
        assert!(error.to_string().contains("only you can read"), "{error}");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(Journal::append(&path, "p").is_err());
    }

    #[test]
    fn the_journal_of_another_plan_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        drop(Journal::append(&path, "p").unwrap());
        assert!(Reader::open(&path, "q").is_err());
        assert!(Journal::append(&path, "q").is_err());
        std::fs::write(&path, "something else").unwrap();
        assert!(Journal::append(&path, "p").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "something else");
    }
}
