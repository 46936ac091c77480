//! The versions of the format.

use std::fmt;

use crate::error::ErrorKind;

/// Which server's line of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Redis, and Valkey before 9.0: `REDIS0011`
    Redis,
    /// Valkey from 9.0: `VALKEY080`
    Valkey,
}

/// The version in a snapshot's first nine bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version {
    /// Whose version
    pub family: Family,
    /// Its number
    pub number: u16,
}

impl Version {
    /// The first version with a checksum at the end.
    pub(crate) const CHECKSUM: u16 = 5;

    /// Whether it is newer than what this reader was written for. Reading continues for as long as the
    /// structure is understood.
    pub fn is_newer(self) -> bool {
        self.number > self.newest_known().number
    }

    /// The newest version of the same family that this reader was written for.
    #[must_use]
    pub fn newest_known(self) -> Version {
        let number = match self.family {
            Family::Redis => 14,
            Family::Valkey => 80,
        };
        Version { number, ..self }
    }

    /// Reads `REDIS0011` or `VALKEY080`.
    pub(crate) fn parse(header: &[u8]) -> Result<Self, ErrorKind> {
        let (family, digits) = if let Some(digits) = header.strip_prefix(b"REDIS") {
            (Family::Redis, digits)
        } else if let Some(digits) = header.strip_prefix(b"VALKEY") {
            (Family::Valkey, digits)
        } else {
            return Err(ErrorKind::NotRdb { begins: header.to_vec() });
        };
        let number = digits.iter().try_fold(0, |number: u16, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u16::from(digit - b'0'))
        });
        match number {
            Some(number @ 1..) => Ok(Version { family, number }),
            _ => Err(ErrorKind::BadVersion { begins: header.to_vec() }),
        }
    }

    /// Whether lists of one node are listpacks in memory, as from Redis 7.2.
    pub(crate) fn has_listpack_lists(self) -> bool {
        self.number >= 11
    }

    /// Whether ziplists became listpacks in memory, as from Redis 7.0.
    pub(crate) fn has_listpacks(self) -> bool {
        self.number >= 10
    }
}

/// As in the file.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.family {
            Family::Redis => write!(f, "REDIS{:04}", self.number),
            Family::Valkey => write!(f, "VALKEY{:03}", self.number),
        }
    }
}
