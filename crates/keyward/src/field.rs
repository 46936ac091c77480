//! The fields of a hash: from bytes and to bytes.

use crate::{Date, FieldError, FieldErrorKind, Key, ParamValue, Timestamp, Unix, UnixMs, Uuid};

/// What a field of a hash can hold.
pub trait FieldValue: Sized {
    /// The bytes that stand in the hash.
    fn to_bytes(&self) -> Vec<u8>;

    /// What the bytes mean; `None` if they are no value of this type.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl FieldValue for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }
}

impl FieldValue for Vec<u8> {
    fn to_bytes(&self) -> Vec<u8> {
        self.clone()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

/// Types whose text is what stands in the hash.
macro_rules! by_text {
    ($($ty:ty),*) => {$(
        impl FieldValue for $ty {
            fn to_bytes(&self) -> Vec<u8> {
                self.to_string().into_bytes()
            }

            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                std::str::from_utf8(bytes).ok()?.parse().ok()
            }
        }
    )*};
}

by_text!(i64, u64, f64, bool, Date, Timestamp);

impl FieldValue for Uuid {
    fn to_bytes(&self) -> Vec<u8> {
        self.text().into_bytes()
    }

    /// Hyphenated; the library would take other forms too.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Uuid::try_parse_ascii(bytes).ok().filter(|_| bytes.len() == 36)
    }
}

impl FieldValue for Unix {
    fn to_bytes(&self) -> Vec<u8> {
        self.get().to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Unix::new(u64::from_bytes(bytes)?).ok()
    }
}

impl FieldValue for UnixMs {
    fn to_bytes(&self) -> Vec<u8> {
        self.get().to_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        UnixMs::new(u64::from_bytes(bytes)?).ok()
    }
}

impl FieldValue for std::net::IpAddr {
    fn to_bytes(&self) -> Vec<u8> {
        self.text().into_bytes()
    }

    /// As keys spell it, or as people do.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        text.parse().ok().or_else(|| Self::from_normal(text).filter(|_| text.len() == 32))
    }
}

/// A key in a field stands there without the prefix, as it does inside another key.
impl<K: Key> FieldValue for K {
    fn to_bytes(&self) -> Vec<u8> {
        self.text().into_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        K::from_normal(std::str::from_utf8(bytes).ok()?)
    }
}

/// A hash on its way into a struct.
#[doc(hidden)]
#[derive(Debug)]
pub struct FieldPairs {
    definition: &'static str,
    names: &'static [&'static str],
    values: Vec<Option<Vec<u8>>>,
    others: Vec<(Vec<u8>, Vec<u8>)>,
}

impl FieldPairs {
    pub fn new<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        definition: &'static str,
        names: &'static [&'static str],
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut values = vec![None; names.len()];
        let mut others = Vec::new();
        for (name, value) in pairs {
            let (name, value) = (name.as_ref(), value.as_ref().to_vec());
            match names.iter().position(|known| known.as_bytes() == name) {
                Some(at) => values[at] = Some(value),
                None => others.push((name.to_vec(), value)),
            }
        }
        FieldPairs { definition, names, values, others }
    }

    pub fn required<T: FieldValue>(&self, at: usize) -> Result<T, FieldError> {
        self.optional(at)?.ok_or_else(|| self.error(self.names[at], FieldErrorKind::Missing))
    }

    pub fn optional<T: FieldValue>(&self, at: usize) -> Result<Option<T>, FieldError> {
        let Some(bytes) = &self.values[at] else { return Ok(None) };
        let value = T::from_bytes(bytes);
        value.map(Some).ok_or_else(|| self.error(self.names[at], FieldErrorKind::Malformed))
    }

    #[cfg(feature = "json")]
    pub fn required_json<T: serde::de::DeserializeOwned>(
        &self,
        at: usize,
    ) -> Result<T, FieldError> {
        self.optional_json(at)?.ok_or_else(|| self.error(self.names[at], FieldErrorKind::Missing))
    }

    #[cfg(feature = "json")]
    pub fn optional_json<T: serde::de::DeserializeOwned>(
        &self,
        at: usize,
    ) -> Result<Option<T>, FieldError> {
        let Some(bytes) = &self.values[at] else { return Ok(None) };
        let value = serde_json::from_slice(bytes).ok();
        value.map(Some).ok_or_else(|| self.error(self.names[at], FieldErrorKind::Malformed))
    }

    /// The fields that the schema does not name, where it admits them.
    pub fn others(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.others.clone()
    }

    /// There are no others.
    pub fn closed(&self) -> Result<(), FieldError> {
        let Some((name, _)) = self.others.first() else { return Ok(()) };
        Err(self.error(&String::from_utf8_lossy(name), FieldErrorKind::Unknown))
    }

    fn error(&self, field: &str, kind: FieldErrorKind) -> FieldError {
        FieldError { definition: self.definition, field: field.to_owned(), kind }
    }
}

/// What stands in a hash for a value that is JSON.
///
/// Where serde fails, as it does for a map whose keys are no texts, nothing that could be read back.
#[cfg(feature = "json")]
#[doc(hidden)]
pub fn json_bytes(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
