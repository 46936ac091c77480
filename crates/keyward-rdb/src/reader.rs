//! Opens snapshots and reads them.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::path::Path;

use crate::allocator::Allocator;
use crate::entry::Visitor;
use crate::error::Error;
use crate::input::{Slice, Stream};
use crate::open::{self, Opened};
use crate::parallel;
use crate::snapshot::Snapshot;
use crate::summary::Summary;

/// A snapshot that is about to be read.
///
/// ```no_run
/// use keyward_rdb::Reader;
///
/// let summary = Reader::open("dump.rdb")?.read(&mut ())?;
/// println!("{} keys, written by {}", summary.keys, summary.version);
/// # Ok::<(), keyward_rdb::Error>(())
/// ```
pub struct Reader<'a> {
    source: Opened<'a>,
    options: Options,
}

/// How a snapshot is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The most bytes of a key's name that are kept; of longer names, the beginning and
    /// the length are reported. 1 MiB, unless set otherwise.
    pub max_key: usize,
    /// The allocator of the server, for estimates of memory.
    pub allocator: Allocator,
    /// Whether the server links the keys of each slot of a cluster, for estimates of memory: the nodes of
    /// Redis 4.0 to 7.2 and of Valkey 7.2 do.
    pub links_slots: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { max_key: 1024 * 1024, allocator: Allocator::default(), links_slots: false }
    }
}

impl<'a> Reader<'a> {
    /// Opens a file, which may be compressed with gzip or zstd. A regular file is mapped into memory:
    /// it must not be shortened while it is read (servers replace their snapshots, they do not
    /// rewrite them).
    pub fn open(path: impl AsRef<Path>) -> Result<Reader<'static>, Error> {
        let file = File::open(path).map_err(|error| Error::io(0, error))?;
        Ok(Reader { source: open::file(file)?, options: Options::default() })
    }

    /// Reads from memory. What is compressed is not recognised.
    pub fn from_slice(bytes: &'a [u8]) -> Reader<'a> {
        Reader { source: Opened::Slice(bytes), options: Options::default() }
    }

    /// Reads from anything: standard input, a pipe, a socket. What is compressed with gzip or zstd is
    /// recognised.
    pub fn from_read(reader: impl Read + 'a) -> Result<Reader<'a>, Error> {
        Ok(Reader { source: open::stream(reader)?, options: Options::default() })
    }

    /// Sets how it is read.
    #[must_use]
    pub fn with(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How many bytes there are to read, where that is known: for a progress bar.
    pub fn size(&self) -> Option<u64> {
        match &self.source {
            Opened::Slice(bytes) => Some(bytes.len() as u64),
            Opened::Mapped(map) => Some(map.len() as u64),
            Opened::Stream(_) => None,
        }
    }

    /// When it was written, in seconds since 1970, where all its bytes are in memory and they say so:
    /// for those who must know it before the first key.
    pub fn created_at(&self) -> Option<u64> {
        match &self.source {
            Opened::Slice(bytes) => Snapshot::new(&self.options).created_at(Slice::file(bytes)),
            Opened::Mapped(map) => Snapshot::new(&self.options).created_at(Slice::file(map)),
            Opened::Stream(_) => None,
        }
    }

    /// Reads it with several threads where all its bytes are in memory, as those of a mapped file are.
    ///
    /// Each thread has its own visitor, which sees whole records in the order of the file, but
    /// not all of them: what they gather is merged by the caller. There may be more visitors than
    /// threads. Every thread but the first begins where it guesses that a record begins; what it has
    /// read from a wrong guess is dropped, visitor and all, and read again.
    ///
    /// ```
    /// use std::num::NonZero;
    /// use keyward_rdb::{Key, Reader, Value, Visitor};
    ///
    /// #[derive(Default)]
    /// struct Memory(u64);
    ///
    /// impl Visitor for Memory {
    ///     fn value(&mut self, _: &Key<'_>, value: &Value) {
    ///         self.0 += value.memory;
    ///     }
    /// }
    ///
    /// # let bytes = keyward_rdb::writer::Writer::new(Vec::new(), keyward_rdb::Version::redis(10))?.finish()?;
    /// let threads = NonZero::new(4).expect("4 is not 0");
    /// let (_, visitors) = Reader::from_slice(&bytes).read_parallel(threads, Memory::default)?;
    /// let memory: u64 = visitors.iter().map(|visitor| visitor.0).sum();
    /// # assert_eq!(memory, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_parallel<V: Visitor + Send>(
        self,
        threads: NonZero<usize>,
        visitor: impl Fn() -> V + Sync,
    ) -> Result<(Summary, Vec<V>), Error> {
        let bytes: &[u8] = match &self.source {
            Opened::Slice(bytes) if threads.get() > 1 => bytes,
            Opened::Mapped(map) if threads.get() > 1 => map,
            _ => {
                let mut visitor = visitor();
                let summary = self.read(&mut visitor)?;
                return Ok((summary, vec![visitor]));
            }
        };
        parallel::read(bytes, &self.options, threads.get(), parallel::CHUNK, &visitor)
    }

    /// Reads it to its end, and checks the checksum.
    pub fn read<V: Visitor>(self, visitor: &mut V) -> Result<Summary, Error> {
        match self.source {
            Opened::Slice(bytes) => Snapshot::new(&self.options).read(Slice::file(bytes), visitor),
            Opened::Mapped(map) => Snapshot::new(&self.options).read(Slice::file(&map), visitor),
            Opened::Stream(reader) => {
                Snapshot::new(&self.options).read(Stream::new(reader), visitor)
            }
        }
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("size", &self.size()).finish_non_exhaustive()
    }
}
