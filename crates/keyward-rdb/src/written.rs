//! The types of values that the format knows, by their codes.

use std::sync::LazyLock;

use keyward_fact::KeyType;

use crate::error::{Error, ErrorKind};
use crate::version::{Family, Version};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    String,
    List,
    Set,
    Hash,
    HashWithTtls(TtlForm),
    Zset { text_scores: bool },
    Module,
    HashZipmap,
    ListZiplist,
    SetIntset,
    ZsetZiplist,
    HashZiplist,
    Quicklist,
    Quicklist2,
    HashListpack,
    HashListpackEx { minimum: bool },
    ZsetListpack,
    SetListpack,
    Stream { generation: u8 },
    Array,
}

/// Where the TTL of a hash's field stands, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TtlForm {
    /// Redis 7.4 before its release: before the field, absolute
    Absolute,
    /// Redis 7.4: before the field, from the hash's minimum on
    Relative,
    /// Valkey 9.0: behind the value, absolute
    Behind,
}

impl Written {
    /// By the byte that stands before the key.
    #[inline]
    pub(crate) fn of(code: u8, version: Version, offset: u64) -> Result<Self, Error> {
        let table = match version.family {
            Family::Redis => &REDIS,
            Family::Valkey => &VALKEY,
        };
        match table.get(usize::from(code)) {
            Some(Some(written)) => Ok(*written),
            _ => Err(Written::unknown(code, version, offset)),
        }
    }

    #[cold]
    fn unknown(code: u8, version: Version, offset: u64) -> Error {
        match code {
            6 => Error::corrupt(
                offset,
                "a module's value from before Redis 4.0 was released cannot be skipped",
            ),
            _ => Error::new(offset, ErrorKind::UnknownType { code, version }),
        }
    }

    const fn by_code(code: u8, family: Family) -> Option<Self> {
        let redis = matches!(family, Family::Redis);
        Some(match code {
            0 => Written::String,
            1 => Written::List,
            2 => Written::Set,
            3 => Written::Zset { text_scores: true },
            4 => Written::Hash,
            5 => Written::Zset { text_scores: false },
            7 => Written::Module,
            9 => Written::HashZipmap,
            10 => Written::ListZiplist,
            11 => Written::SetIntset,
            12 => Written::ZsetZiplist,
            13 => Written::HashZiplist,
            14 => Written::Quicklist,
            15 => Written::Stream { generation: 1 },
            16 => Written::HashListpack,
            17 => Written::ZsetListpack,
            18 => Written::Quicklist2,
            19 => Written::Stream { generation: 2 },
            20 => Written::SetListpack,
            21 => Written::Stream { generation: 3 },
            22 if redis => Written::HashWithTtls(TtlForm::Absolute),
            22 => Written::HashWithTtls(TtlForm::Behind),
            23 if redis => Written::HashListpackEx { minimum: false },
            24 if redis => Written::HashWithTtls(TtlForm::Relative),
            25 if redis => Written::HashListpackEx { minimum: true },
            26 if redis => Written::Stream { generation: 4 },
            27 if redis => Written::Stream { generation: 5 },
            28 if redis => Written::Array,
            _ => return None,
        })
    }

    /// The type of the key; a module's is told apart by its name.
    #[inline]
    pub(crate) fn key_type(self) -> &'static KeyType {
        match self {
            // A module's value has a name of its own, which is read later.
            Written::String | Written::Module => &KeyType::String,
            Written::List | Written::ListZiplist | Written::Quicklist | Written::Quicklist2 => {
                &KeyType::List
            }
            Written::Set | Written::SetIntset | Written::SetListpack => &KeyType::Set,
            Written::Zset { .. } | Written::ZsetZiplist | Written::ZsetListpack => &KeyType::Zset,
            Written::Hash
            | Written::HashWithTtls(_)
            | Written::HashZipmap
            | Written::HashZiplist
            | Written::HashListpack
            | Written::HashListpackEx { .. } => &KeyType::Hash,
            Written::Stream { .. } => &KeyType::Stream,
            Written::Array => &ARRAY,
        }
    }
}

/// Tables rather than branches: keys of many types stand in random order, and every jump that the
/// processor guesses wrong costs as much as a short key.
static REDIS: [Option<Written>; 32] = by_code(Family::Redis);
static VALKEY: [Option<Written>; 32] = by_code(Family::Valkey);

const fn by_code(family: Family) -> [Option<Written>; 32] {
    let mut table = [None; 32];
    let mut code = 0;
    while code < 32 {
        table[code as usize] = Written::by_code(code, family);
        code += 1;
    }
    table
}

/// Redis 8.8's own type, which no schema can name yet; TYPE answers `array`.
static ARRAY: LazyLock<KeyType> = LazyLock::new(|| KeyType::Module("array".to_owned()));
