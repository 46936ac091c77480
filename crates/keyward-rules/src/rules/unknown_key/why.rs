//! Why a key belongs to no definition, in words: with what the key has, and without it.

use keyward_fact::thousands;
use keyward_pattern::nearest;
use keyward_schema::Parting;
#[cfg(feature = "exchange")]
use serde::{Deserialize, Serialize};

/// How a key parts from a pattern, without what the key has: that may not be shown everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "exchange", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Why {
    /// Another word stands where the pattern has this one
    Word(String),
    /// This word stands there, in other capitals
    Capitals(String),
    /// This word stands there, misspelt
    Misspelt(String),
    /// An IPv6 address as it is, colons included
    RawAddress,
    /// A hash tag without its braces
    Braces,
    /// Not a value of this type
    Type(String),
    /// Nothing that fits this segment
    Value(String),
    /// The key ends where the pattern has this segment
    Short(String),
    /// The key goes on where the pattern ends
    Long,
    /// Every segment fits, but not all of them together
    Together,
}

impl Why {
    /// The same as a parting, without what the key has.
    pub fn new(parting: &Parting) -> Self {
        match parting {
            Parting::Word { found, expected } if found.eq_ignore_ascii_case(expected) => {
                Why::Capitals(expected.clone())
            }
            Parting::Word { found, expected } => match nearest(found, [expected.as_str()]) {
                Some(_) => Why::Misspelt(expected.clone()),
                None => Why::Word(expected.clone()),
            },
            Parting::RawAddress { .. } => Why::RawAddress,
            Parting::Braces { .. } => Why::Braces,
            Parting::Value { ty: Some(ty), .. } => Why::Type(ty.clone()),
            Parting::Value { expected, .. } => Why::Value(expected.clone()),
            Parting::Short { expected } => Why::Short(expected.clone()),
            Parting::Long { .. } => Why::Long,
            _ => Why::Together,
        }
    }

    /// What is wrong with a segment, counted from 1; `found` is what it holds, where that may be shown.
    pub fn describe(&self, segment: usize, found: Option<&str>) -> String {
        match (self, found) {
            (Why::Word(expected) | Why::Misspelt(expected), Some(found)) => {
                format!("segment {segment} is `{found}`, not `{expected}`")
            }
            (Why::Word(expected), None) => format!("segment {segment} is not `{expected}`"),
            (Why::Misspelt(expected), None) => {
                format!("segment {segment} looks like `{expected}`, misspelt")
            }
            (Why::Capitals(expected), _) => {
                format!("segment {segment} is `{expected}` in other capitals")
            }
            (Why::RawAddress, _) => {
                format!(
                    "segment {segment} begins a raw IPv6 address, which is 32 hex digits in a key"
                )
            }
            (Why::Braces, _) => format!("segment {segment} lacks the braces of its hash tag"),
            (Why::Type(ty), _) => format!("segment {segment} is not of type {ty}"),
            (Why::Value(expected), _) => format!("segment {segment} does not fit `{expected}`"),
            (Why::Short(expected), _) => format!("it ends where `{expected}` is expected"),
            (Why::Long, _) => format!("segment {segment} is one too many"),
            (Why::Together, _) => "every segment fits, but not all of them together".to_owned(),
        }
    }
}

/// What is wrong with a segment, counted from 1, in clear. `shown` makes what the key has fit for a message.
pub fn describe(segment: usize, parting: &Parting, shown: impl Fn(&str) -> String) -> String {
    match parting {
        Parting::Word { found, expected } => {
            format!("segment {segment} is `{}`, not `{expected}`", shown(found))
        }
        Parting::RawAddress { address } => {
            let digits = address.to_bits();
            format!("`{address}` is a raw IPv6 address: in a key, write `{digits:032x}`")
        }
        Parting::Braces { tagged } => {
            format!("the braces of the hash tag are missing: write `{}`", shown(tagged))
        }
        Parting::Value { why: Some(why), .. } => why.clone(),
        Parting::Value { expected, found, .. } => {
            format!("segment {segment}, `{}`, does not fit `{expected}`", shown(found))
        }
        Parting::Long { found } => {
            format!("segment {segment}, `{}`, is one too many", shown(found))
        }
        Parting::TooLong { len, max } => {
            let (len, max) = (thousands(*len as u64), thousands(*max));
            format!("it has {len} bytes, but `max_key_len` allows {max}")
        }
        other => Why::new(other).describe(segment, None),
    }
}
