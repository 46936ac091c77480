//! Files and streams, compressed or not.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};

use memmap2::Mmap;

use crate::error::Error;

/// Where a snapshot comes from.
pub(crate) enum Opened<'a> {
    Slice(&'a [u8]),
    Mapped(Mmap),
    Stream(Box<dyn Read + 'a>),
}

/// Maps a file; reads it as a stream if it cannot be mapped or is compressed.
pub(crate) fn file(file: File) -> Result<Opened<'static>, Error> {
    let metadata = file.metadata().map_err(|error| Error::io(0, error))?;
    if metadata.is_dir() {
        return Err(Error::io(0, ErrorKind::IsADirectory.into()));
    }
    if metadata.is_file()
        && metadata.len() > 0
        && let Ok(map) = map(&file)
        && Packing::of(&map).is_none()
    {
        return Ok(Opened::Mapped(map));
    }
    stream(file)
}

fn map(file: &File) -> std::io::Result<Mmap> {
    #[expect(unsafe_code, reason = "there is no other way to map a file")]
    // SAFETY: the map is only read. Its bytes are untrusted data to this crate, so another process
    // that writes to the file can make the snapshot wrong, but nothing that relies on it unsound;
    // that it must not be shortened is said where the file is opened.
    let map = unsafe { Mmap::map(file) }?;
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

/// Looks at the first bytes, and decompresses if they say so.
pub(crate) fn stream<'a>(mut reader: impl Read + 'a) -> Result<Opened<'a>, Error> {
    let mut begins = Vec::with_capacity(Packing::MAGIC);
    let mut first = [0; Packing::MAGIC];
    while begins.len() < Packing::MAGIC {
        match reader.read(&mut first[begins.len()..]) {
            Ok(0) => break,
            Ok(more) => {
                let from = begins.len();
                begins.extend_from_slice(&first[from..from + more]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(0, error)),
        }
    }
    let packing = Packing::of(&begins);
    let reader = Cursor::new(begins).chain(reader);
    Ok(Opened::Stream(match packing {
        None => Box::new(reader),
        #[cfg(feature = "gzip")]
        Some(Packing::Gzip) => Box::new(flate2::read::MultiGzDecoder::new(reader)),
        #[cfg(feature = "zstd")]
        Some(Packing::Zstd) => {
            Box::new(zstd::Decoder::new(reader).map_err(|error| Error::io(0, error))?)
        }
    }))
}

/// How a whole file is compressed.
enum Packing {
    #[cfg(feature = "gzip")]
    Gzip,
    #[cfg(feature = "zstd")]
    Zstd,
}

impl Packing {
    /// As many bytes as it takes to know.
    const MAGIC: usize = 4;

    fn of(begins: &[u8]) -> Option<Self> {
        match begins {
            #[cfg(feature = "gzip")]
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            #[cfg(feature = "zstd")]
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ => None,
        }
    }
}
