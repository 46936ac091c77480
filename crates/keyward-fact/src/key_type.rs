//! The types of Redis values.

use std::fmt;
use std::str::FromStr;

/// What kind of value a key holds.
///
/// Bitmaps, `HyperLogLogs` and geo sets are kept by the server as strings and sorted sets; they are
/// types of their own here because different commands work on them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyType {
    /// A string
    String,
    /// A hash
    Hash,
    /// A list
    List,
    /// A set
    Set,
    /// A sorted set
    Zset,
    /// A stream
    Stream,
    /// A string used with SETBIT and BITCOUNT
    Bitmap,
    /// A string used with PFADD and PFCOUNT
    HyperLogLog,
    /// A sorted set used with GEOADD and GEOSEARCH
    Geo,
    /// A module's type, by the name that TYPE answers: `ReJSON-RL`
    Module(String),
}

impl KeyType {
    /// The built-in types, in the order of the enum.
    pub const BUILT_IN: [KeyType; 9] = [
        KeyType::String,
        KeyType::Hash,
        KeyType::List,
        KeyType::Set,
        KeyType::Zset,
        KeyType::Stream,
        KeyType::Bitmap,
        KeyType::HyperLogLog,
        KeyType::Geo,
    ];

    /// The word in a schema; a module type's own name.
    pub fn name(&self) -> &str {
        match self {
            KeyType::String => "string",
            KeyType::Hash => "hash",
            KeyType::List => "list",
            KeyType::Set => "set",
            KeyType::Zset => "zset",
            KeyType::Stream => "stream",
            KeyType::Bitmap => "bitmap",
            KeyType::HyperLogLog => "hyperloglog",
            KeyType::Geo => "geo",
            KeyType::Module(name) => name,
        }
    }

    /// What the server's TYPE answers for such a key.
    pub fn stored(&self) -> &str {
        match self {
            KeyType::Bitmap | KeyType::HyperLogLog => "string",
            KeyType::Geo => "zset",
            other => other.name(),
        }
    }

    /// Whether it holds many entries: anything but a string, or a module's type.
    pub fn is_collection(&self) -> bool {
        matches!(
            self,
            KeyType::Hash
                | KeyType::List
                | KeyType::Set
                | KeyType::Zset
                | KeyType::Stream
                | KeyType::Geo
        )
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Reads a built-in type's name. A schema has no word for module types: they are
/// written `{ module = "ReJSON-RL" }`.
impl FromStr for KeyType {
    type Err = UnknownKeyType;

    fn from_str(text: &str) -> Result<Self, UnknownKeyType> {
        KeyType::BUILT_IN
            .into_iter()
            .find(|built_in| built_in.name() == text)
            .ok_or_else(|| UnknownKeyType { name: text.to_owned() })
    }
}

/// A name that is not a built-in type's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKeyType {
    /// The name as written
    pub name: String,
}

impl fmt::Display for UnknownKeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a type of Redis", self.name)
    }
}

impl std::error::Error for UnknownKeyType {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_built_in_type_reads_back() {
        for built_in in KeyType::BUILT_IN {
            assert_eq!(built_in.to_string().parse(), Ok(built_in));
        }
    }

    #[test]
    fn a_module_type_is_not_read_from_a_bare_name() {
        let error = "ReJSON-RL".parse::<KeyType>().unwrap_err();
        assert_eq!(error.to_string(), "`ReJSON-RL` is not a type of Redis");
    }

    proptest! {
        #[test]
        fn what_is_read_prints_as_it_was(text in "[a-z]{1,12}") {
            if let Ok(key_type) = text.parse::<KeyType>() {
                prop_assert_eq!(key_type.to_string(), text);
            }
        }
    }
}
