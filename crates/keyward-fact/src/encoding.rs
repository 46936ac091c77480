//! The ways in which servers keep values.

use std::fmt;
use std::str::FromStr;

/// How a server keeps a value in memory, by the name that OBJECT ENCODING answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Encoding {
    /// A string that is a number of 64 bits
    Int,
    /// A short string in one allocation with its object
    Embstr,
    /// A string in its own allocation; modules' values report it too
    Raw,
    /// A small hash of Redis 2.4
    Zipmap,
    /// A small collection of Redis before 7.0
    Ziplist,
    /// A small collection in one allocation
    Listpack,
    /// A small hash whose fields have TTLs, from Redis 7.4
    ListpackEx,
    /// A small set of integers
    Intset,
    /// A hash or a set of any size
    Hashtable,
    /// A sorted set of any size
    Skiplist,
    /// A list of Redis before 3.2
    Linkedlist,
    /// A list of any size
    Quicklist,
    /// A stream
    Stream,
    /// An array of Redis 8.8
    SlicedArray,
}

impl Encoding {
    /// All of them, in the order of the enum.
    pub const ALL: [Encoding; 14] = [
        Encoding::Int,
        Encoding::Embstr,
        Encoding::Raw,
        Encoding::Zipmap,
        Encoding::Ziplist,
        Encoding::Listpack,
        Encoding::ListpackEx,
        Encoding::Intset,
        Encoding::Hashtable,
        Encoding::Skiplist,
        Encoding::Linkedlist,
        Encoding::Quicklist,
        Encoding::Stream,
        Encoding::SlicedArray,
    ];

    /// What OBJECT ENCODING answers.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            Encoding::Zipmap => "zipmap",
            Encoding::Ziplist => "ziplist",
            Encoding::Listpack => "listpack",
            Encoding::ListpackEx => "listpackex",
            Encoding::Intset => "intset",
            Encoding::Hashtable => "hashtable",
            Encoding::Skiplist => "skiplist",
            Encoding::Linkedlist => "linkedlist",
            Encoding::Quicklist => "quicklist",
            Encoding::Stream => "stream",
            Encoding::SlicedArray => "sliced-array",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    fn from_str(text: &str) -> Result<Self, UnknownEncoding> {
        Encoding::ALL
            .into_iter()
            .find(|encoding| encoding.name() == text)
            .ok_or_else(|| UnknownEncoding { name: text.to_owned() })
    }
}

/// A name that is not an encoding's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEncoding {
    /// The name as the server gave it
    pub name: String,
}

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not an encoding of Redis", self.name)
    }
}

impl std::error::Error for UnknownEncoding {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_reads_back() {
        for encoding in Encoding::ALL {
            assert_eq!(encoding.to_string().parse(), Ok(encoding));
        }
    }

    #[test]
    fn an_unknown_encoding_is_named() {
        let error = "btree".parse::<Encoding>().unwrap_err();
        assert_eq!(error.to_string(), "`btree` is not an encoding of Redis");
    }
}
