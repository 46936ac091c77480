//! Reads a file that anybody may have named: never more than expected, and never for ever.

use crate::Size;
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Reads a regular file of at most `most` bytes. A pipe or a device is refused before it is opened, since
/// opening a pipe waits for somebody to write.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let found = fs::metadata(path)?.file_type();
    if !found.is_file() && !found.is_dir() {
        return Err(not_a_file(found));
    }
    read_stream(path, most)
}

/// Reads at most `most` bytes from a file, or from a pipe such as `<(command)`.
pub fn read_stream(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if found.len() > most {
        let size = Size::from_bytes(found.len()).human();
        return Err(too_large(&format!("it has {size}"), most));
    }
    // A pipe or a device does not know its size, so reading is bounded as well.
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large("it has more", most));
    }
    Ok(bytes)
}

fn too_large(size: &str, most: u64) -> io::Error {
    let most = Size::from_bytes(most).human();
    io::Error::new(ErrorKind::FileTooLarge, format!("{size}, and at most {most} are read"))
}

#[cfg(unix)]
fn not_a_file(found: FileType) -> io::Error {
    use std::os::unix::fs::FileTypeExt as _;
    let what = if found.is_fifo() {
        "a pipe"
    } else if found.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a file"))
}

#[cfg(not(unix))]
fn not_a_file(_: FileType) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(read: io::Result<Vec<u8>>) -> String {
        read.unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_is_too_large_or_endless_is_refused() {
        let manifest = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        assert!(read_file(manifest, 1 << 20).is_ok());
        assert!(why(read_file(manifest, 16)).ends_with("and at most 16 B are read"));
        if cfg!(unix) {
            let zero = Path::new("/dev/zero");
            assert_eq!(why(read_file(zero, 16)), "it is a device, not a file");
            assert_eq!(why(read_stream(zero, 16)), "it has more, and at most 16 B are read");
        }
    }
}
