//! Records that are written together, encoded one after the other.

use super::record::{Record, write_move};
use std::io;

/// Records that are written together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    count: u64,
    /// Why one of them cannot be written
    failed: Option<io::Error>,
}

impl Batch {
    /// Adds a record.
    pub(crate) fn add(&mut self, record: &Record) {
        let written = record.write(&mut self.bytes);
        self.added(written);
    }

    /// Adds a [`Record::Moved`], without a copy of its names.
    pub(crate) fn add_move(&mut self, db: u64, from: &[u8], to: &[u8]) {
        let written = write_move(&mut self.bytes, db, from, to);
        self.added(written);
    }

    fn added(&mut self, written: io::Result<()>) {
        match written {
            Ok(()) => self.count += 1,
            Err(error) => self.failed = Some(error),
        }
    }

    /// What is written, and how many records that is.
    pub(super) fn finish(self) -> io::Result<(Vec<u8>, u64)> {
        match self.failed {
            None => Ok((self.bytes, self.count)),
            Some(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_encoded_as_its_record_is() {
        let (from, to) = (b"User:7".to_vec(), b"user:7".to_vec());
        let (mut one, mut other) = (Batch::default(), Batch::default());
        one.add_move(3, &from, &to);
        other.add(&Record::Moved { db: 3, from, to });
        assert_eq!(one.finish().unwrap(), other.finish().unwrap());
    }
}
