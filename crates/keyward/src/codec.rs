//! How a value stands under a key.

use crate::FieldValue;
use crate::kind::Plain;

mod sealed {
    pub trait Sealed {}

    impl Sealed for crate::kind::Plain {}
    impl Sealed for crate::kind::Json {}
    impl Sealed for crate::kind::Entry {}
    impl<C> Sealed for crate::kind::Zstd<C> {}
}

/// Spells values of type `V` as bytes: the spellings in [`kind`](crate::kind), and no others.
pub trait Codec<V>: sealed::Sealed {
    /// The bytes of a value.
    ///
    /// # Errors
    /// If the value cannot be written: JSON cannot hold a map whose keys are not text.
    fn encode(value: &V) -> Result<Vec<u8>, String>;

    /// The value that the bytes spell.
    ///
    /// # Errors
    /// If they spell none.
    fn decode(bytes: &[u8]) -> Result<V, String>;

    /// The same from bytes that need not be copied.
    ///
    /// # Errors
    /// If they spell none.
    fn decode_owned(bytes: Vec<u8>) -> Result<V, String> {
        Self::decode(&bytes)
    }
}

/// Why a value cannot be read. The value is not shown: an error may be logged.
pub(crate) const NOT_OF_ITS_TYPE: &str = "the bytes are not a value of its type";

impl<V: FieldValue> Codec<V> for Plain {
    fn encode(value: &V) -> Result<Vec<u8>, String> {
        Ok(value.to_bytes())
    }

    fn decode(bytes: &[u8]) -> Result<V, String> {
        V::from_bytes(bytes).ok_or_else(|| NOT_OF_ITS_TYPE.to_owned())
    }

    fn decode_owned(bytes: Vec<u8>) -> Result<V, String> {
        V::from_owned(bytes).ok_or_else(|| NOT_OF_ITS_TYPE.to_owned())
    }
}

#[cfg(feature = "json")]
impl<V: serde::Serialize + serde::de::DeserializeOwned> Codec<V> for crate::kind::Json {
    fn encode(value: &V) -> Result<Vec<u8>, String> {
        serde_json::to_vec(value).map_err(|error| error.to_string())
    }

    fn decode(bytes: &[u8]) -> Result<V, String> {
        // What the library says may repeat the value, and an error may be logged.
        serde_json::from_slice(bytes).map_err(|error| {
            let what = match error.classify() {
                serde_json::error::Category::Data => "the JSON is not of its type",
                _ => "it is not JSON",
            };
            format!("{what}, at line {}, column {}", error.line(), error.column())
        })
    }
}

impl<F: crate::Fields> Codec<F> for crate::kind::Entry {
    fn encode(fields: &F) -> Result<Vec<u8>, String> {
        Ok(crate::entry::spell(fields.to_pairs().map_err(|error| error.to_string())?))
    }

    fn decode(bytes: &[u8]) -> Result<F, String> {
        let pairs = crate::entry::read(bytes).ok_or_else(|| NOT_OF_ITS_TYPE.to_owned())?;
        F::from_pairs(pairs).map_err(|error| error.to_string())
    }
}

/// The most that a compressed value may grow to, whatever it claims.
#[cfg(feature = "zstd")]
const MAX_DECOMPRESSED: usize = 64 << 20;

#[cfg(feature = "zstd")]
impl<V, C: Codec<V>> Codec<V> for crate::kind::Zstd<C> {
    fn encode(value: &V) -> Result<Vec<u8>, String> {
        zstd::bulk::compress(&C::encode(value)?, 0).map_err(|error| error.to_string())
    }

    fn decode(bytes: &[u8]) -> Result<V, String> {
        use std::io::Read as _;
        let mut plain = Vec::new();
        let mut decoder = zstd::Decoder::new(bytes).map_err(|error| error.to_string())?;
        // A few bytes may claim to be gigabytes.
        decoder.window_log_max(26).map_err(|error| error.to_string())?;
        let read = decoder.take(MAX_DECOMPRESSED as u64 + 1).read_to_end(&mut plain);
        read.map_err(|error| format!("it is not zstd: {error}"))?;
        if plain.len() > MAX_DECOMPRESSED {
            return Err("it grows to more than 64 MiB".to_owned());
        }
        C::decode(&plain)
    }
}
