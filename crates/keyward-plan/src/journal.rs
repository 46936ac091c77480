//! What apply was about to change, in a file beside the plan: so that it can be undone.
//!
//! A batch is written before the server is asked to change its keys, and what did not happen is written behind
//! it. Where the program was killed between the two, the batch counts as done: undo asks the server in any case.
//! The end of the file may be torn; everything before it is whole. The head of the file says how long it was after the
//! last batch, so that a file that was cut is known from one that was torn.

mod batch;
mod record;

use crate::error::Error;
pub(crate) use batch::Batch;
pub(crate) use record::{Note, Record};
use record::{number, part, write_part};
use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MAGIC: &[u8; 16] = b"keyward journal2";

/// A journal that is written.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Dead letters that had left their lists when it was opened
    pub(crate) letters: u64,
    /// Whether the last thing that was done was an undo that left conflicts
    pub(crate) is_left: bool,
    path: PathBuf,
    file: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: BufWriter<File>,
    /// The same file, for its head
    head: File,
    /// How long it is
    length: u64,
    /// The number of the next record
    next: u64,
}

impl Writing {
    fn write(&mut self, bytes: &[u8], durable: bool) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.flush()?;
        self.length += bytes.len() as u64;
        self.head.write_all_at(&self.length.to_le_bytes(), MAGIC.len() as u64)?;
        if durable { self.file.get_ref().sync_data() } else { Ok(()) }
    }
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
        let (mut next, mut letters, mut is_left) = (0, HashSet::new(), false);
        if file.metadata().map_err(failed)?.len() == 0 {
            let mut head = [&MAGIC[..], &0_u64.to_le_bytes()].concat();
            write_part(&mut head, plan.as_bytes()).map_err(failed)?;
            file.write_all(&head).map_err(failed)?;
            file.sync_all().map_err(failed)?;
        } else {
            let mut reader = Reader::open(path, plan)?;
            while let Some(record) = reader.next().transpose()? {
                is_left = record == Record::Left;
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
        let length = file.metadata().map_err(failed)?.len();
        let head = OpenOptions::new().write(true).open(path).map_err(failed)?;
        let file = Mutex::new(Writing { file: BufWriter::new(file), head, length, next });
        Ok(Journal { letters: letters.len() as u64, is_left, path: path.to_owned(), file })
    }

    /// Writes records, and returns when the system has them; with `durable`, when the disk has them. Returns
    /// the number of the first.
    pub(crate) fn write(&self, records: &[Record], durable: bool) -> Result<u64, Error> {
        let mut batch = Batch::default();
        for record in records {
            batch.add(record);
        }
        self.write_batch(batch, durable)
    }

    /// The same of records that are encoded already.
    pub(crate) fn write_batch(&self, batch: Batch, durable: bool) -> Result<u64, Error> {
        let failed = |error| Error::file("write", &self.path, error);
        let (bytes, count) = batch.finish().map_err(failed)?;
        let mut writing = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let first = writing.next;
        if count > 0 {
            writing.next += count;
            writing.write(&bytes, durable).map_err(failed)?;
        }
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
            let shown = path.display();
            let help = if is_link || !is_mine {
                "name another place: what it holds was written by somebody else".to_owned()
            } else {
                format!(
                    "`chmod 600 {shown}` takes it from all others, and the command can be run again"
                )
            };
            return Err(Error::refused(
                format!("`{shown}` is not a file that only you can read"),
                help,
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
    /// How long it was after the last batch
    length: u64,
}

impl Reader {
    /// Opens the journal of a plan.
    pub(crate) fn open(path: &Path, plan: &str) -> Result<Self, Error> {
        let failed = |error| Error::file("read", path, error);
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let mut head = || -> io::Result<([u8; 16], u64, Vec<u8>)> {
            let magic = record::read_bytes(&mut file)?;
            Ok((magic, number(&mut file)?, part(&mut file)?))
        };
        let is_ours = |(magic, _, of): &([u8; 16], u64, Vec<u8>)| {
            magic == MAGIC && of[..] == *plan.as_bytes()
        };
        match head() {
            Ok(head) if is_ours(&head) => {
                let whole = file.stream_position().map_err(failed)?;
                Ok(Reader { path: path.to_owned(), file, whole, length: head.1 })
            }
            Err(error)
                if !matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) =>
            {
                Err(failed(error))
            }
            _ => Err(Error::Document {
                why: format!("`{}` is not the journal of this plan", path.display()),
                help: "name the journal that `plan apply` wrote for this plan with `--journal`",
            }),
        }
    }

    /// Whether it was longer, or a record follows what cannot be read: then it was not torn, and something was lost.
    fn is_damaged(&mut self) -> io::Result<bool> {
        const LOOKED_AT: u64 = 1024 * 1024;
        self.file.seek(SeekFrom::Start(self.whole))?;
        let mut rest = Vec::new();
        (&mut self.file).take(LOOKED_AT).read_to_end(&mut rest)?;
        let is_record = |at: usize| {
            matches!(Record::read(&mut rest.get(at..).unwrap_or_default()), Ok(Some(_)))
        };
        Ok(self.whole < self.length || (1..rest.len()).any(is_record))
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
        match Record::read(&mut self.file) {
            Ok(Some((record, length))) => {
                self.whole += length;
                Some(Ok(record))
            }
            Ok(None) => match self.is_damaged() {
                Ok(true) => Some(Err(Error::unfinished(
                    format!(
                        "`{}` is damaged or was cut at byte {}",
                        self.path.display(),
                        self.whole
                    ),
                    "nothing was changed: use a whole copy of the journal, with `--journal`",
                ))),
                // Torn: what follows was never acted upon.
                Ok(false) => None,
                Err(error) => Some(Err(Error::file("read", &self.path, error))),
            },
            Err(error) => Some(Err(Error::file("read", &self.path, error))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::record::tests::record;
    use super::*;
    use proptest::prelude::*;

    fn read(path: &Path) -> Vec<Record> {
        Reader::open(path, "p").unwrap().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_however_it_is_torn(
            records in proptest::collection::vec(record(), 1..8),
            (torn, cut) in (record(), 0_usize..1000),
            more in record(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            Journal::append(&path, "p").unwrap().write(&records, false).unwrap();
            prop_assert_eq!(&read(&path), &records);

            // A kill in the midst of a write loses no record before it, and none after it.
            let mut bytes = Vec::new();
            torn.write(&mut bytes).unwrap();
            let kept = cut % bytes.len();
            OpenOptions::new().append(true).open(&path).unwrap().write_all(&bytes[..kept]).unwrap();
            prop_assert_eq!(&read(&path), &records);
            Journal::append(&path, "p").unwrap().write(std::slice::from_ref(&more), true).unwrap();
            let all: Vec<Record> = records.into_iter().chain([more]).collect();
            prop_assert_eq!(read(&path), all);
        }

        #[test]
        fn a_journal_that_was_cut_is_refused_wherever_that_was(
            records in proptest::collection::vec(record(), 2..6),
            cut in 0_usize..5,
            more in 0_u64..3,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            let journal = Journal::append(&path, "p").unwrap();
            let mut ends = vec![std::fs::metadata(&path).unwrap().len()];
            for record in &records {
                journal.write(std::slice::from_ref(record), false).unwrap();
                ends.push(std::fs::metadata(&path).unwrap().len());
            }
            drop(journal);
            // Exactly between two records, or a little further.
            let left = ends[cut.min(records.len() - 1)] + more;
            OpenOptions::new().write(true).open(&path).unwrap().set_len(left).unwrap();
            prop_assert!(Reader::open(&path, "p").unwrap().any(|it| it.is_err()));
            prop_assert!(Journal::append(&path, "p").is_err());
            prop_assert_eq!(std::fs::metadata(&path).unwrap().len(), left, "it stays as it is");
        }

        #[test]
        fn no_file_makes_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("journal");
            let mut file = [&MAGIC[..], &[0; 8], &[1, 0, 0, 0, b'p']].concat();
            file.extend(bytes);
            std::fs::write(&path, file).unwrap();
            for record in Reader::open(&path, "p").unwrap() {
                if record.is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn what_is_damaged_in_the_middle_is_neither_read_on_nor_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let records: Vec<Record> = (0..20).map(Record::Not).collect();
        Journal::append(&path, "p").unwrap().write(&records, false).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[68] ^= 0xff;
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
        assert!(error.help().starts_with(&format!("`chmod 600 {}`", path.display())));
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
