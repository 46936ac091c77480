//! The fields of a hash: from bytes and to bytes.

use crate::kind::Plain;
use crate::{Date, FieldError, FieldErrorKind, Key, ParamValue, Timestamp, Unix, UnixMs, Uuid};
use std::fmt;
use std::marker::PhantomData;

/// What a field of a hash can hold.
pub trait FieldValue: Sized {
    /// The bytes that stand in the hash.
    fn to_bytes(&self) -> Vec<u8>;

    /// What the bytes mean; `None` if they are not a value of this type.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;

    /// The same from bytes that need not be copied.
    fn from_owned(bytes: Vec<u8>) -> Option<Self> {
        Self::from_bytes(&bytes)
    }
}

impl FieldValue for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    }

    fn from_owned(bytes: Vec<u8>) -> Option<Self> {
        String::from_utf8(bytes).ok()
    }
}

impl FieldValue for Vec<u8> {
    fn to_bytes(&self) -> Vec<u8> {
        self.clone()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }

    fn from_owned(bytes: Vec<u8>) -> Option<Self> {
        Some(bytes)
    }
}

/// Types whose text is stored in the hash.
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

/// The fields of a hash as a struct: `fields::FileMeta`.
pub trait Fields: Sized {
    /// The definition that has them.
    const DEFINITION: &'static str;

    /// The names of the fields in the hash.
    const FIELDS: &'static [&'static str];

    /// Those that must be there.
    #[doc(hidden)]
    const REQUIRED: &'static [&'static str];

    /// Those that have a TTL of their own, in milliseconds.
    #[doc(hidden)]
    const TTLS: &'static [(&'static str, u64)] = &[];

    /// Those whose write leaves a TTL of the key that is running.
    #[doc(hidden)]
    const KEEPS_TTL: &'static [&'static str] = &[];

    /// Whether others are admitted.
    #[doc(hidden)]
    const OPEN: bool = false;

    #[doc(hidden)]
    fn read(hash: &mut Hash) -> Option<Self>;

    #[doc(hidden)]
    fn write(&self, hash: &mut Pairs);

    /// The fields that are set, each with its bytes.
    ///
    /// # Errors
    /// If a field cannot be written: JSON has no map whose keys are not text.
    fn to_pairs(&self) -> Result<Vec<Pair>, FieldError> {
        let mut pairs = Pairs { pairs: Vec::with_capacity(Self::FIELDS.len()), wrong: None };
        self.write(&mut pairs);
        match pairs.wrong {
            None => Ok(pairs.pairs),
            Some((field, why)) => {
                let kind = FieldErrorKind::Unwritable(why);
                Err(FieldError { definition: Self::DEFINITION, field, kind })
            }
        }
    }

    /// The fields from a hash as it was read.
    fn from_pairs<N: AsRef<[u8]>, V: AsRef<[u8]>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, FieldError> {
        let owned = pairs
            .into_iter()
            .map(|(name, value)| (name.as_ref().to_vec(), value.as_ref().to_vec()));
        Self::from_owned_pairs(owned)
    }

    /// The same from bytes that are ours.
    #[doc(hidden)]
    fn from_owned_pairs(
        pairs: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> Result<Self, FieldError> {
        let (names, mut others) = (Self::FIELDS, Vec::new());
        let mut values = vec![None; names.len()];
        for (name, value) in pairs {
            match names.iter().position(|known| known.as_bytes() == name) {
                Some(at) => values[at] = Some(value),
                None => others.push((name, value)),
            }
        }
        let error = |field: &str, kind| {
            Err(FieldError { definition: Self::DEFINITION, field: field.to_owned(), kind })
        };
        if let (false, Some((name, _))) = (Self::OPEN, others.first()) {
            return error(&String::from_utf8_lossy(name), FieldErrorKind::Unknown);
        }
        let mut hash = Hash { values, others, wrong: None, names };
        match (Self::read(&mut hash), hash.wrong) {
            (Some(fields), _) => Ok(fields),
            (None, Some((field, kind))) => error(&field, kind),
            (None, None) => error("", FieldErrorKind::Malformed),
        }
    }
}

/// Fields of a hash that may have others besides those that the schema names, each of which is an `Other`.
pub trait OpenFields: Fields {
    /// What such a field holds; its bytes where the schema does not say.
    type Other: FieldValue;
}

impl OpenFields for AnyFields {
    type Other = Vec<u8>;
}

/// The name of a field and its bytes.
type Pair = (Vec<u8>, Vec<u8>);

/// Says what something is about, and holds nothing of it.
type Of<T> = PhantomData<fn() -> T>;

/// A field of a hash by its name, with its type `V` and its spelling `C`: `FileMeta::SIZE`.
pub struct Field<F, V, C = Plain> {
    name: &'static str,
    of: Of<(F, V, C)>,
}

impl<F, V, C> Field<F, V, C> {
    #[doc(hidden)]
    pub const fn new(name: &'static str) -> Self {
        Field { name, of: PhantomData }
    }

    /// Its name in the hash.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The change that sets it.
    #[cfg(feature = "store")]
    pub fn to(self, value: &V) -> Change<F>
    where
        C: crate::Codec<V>,
    {
        Change { name: self.name, value: C::encode(value).map(Some), of: PhantomData }
    }

    /// The change that removes it. A field that must be there cannot be removed: the update fails.
    #[cfg(feature = "store")]
    pub fn removed(self) -> Change<F> {
        Change { name: self.name, value: Ok(None), of: PhantomData }
    }
}

impl<F, V, C> Clone for Field<F, V, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, V, C> Copy for Field<F, V, C> {}

impl<F, V, C> fmt::Debug for Field<F, V, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Field({})", self.name)
    }
}

/// What becomes of a field.
#[cfg(feature = "store")]
pub struct Change<F> {
    pub(crate) name: &'static str,
    pub(crate) value: Result<Option<Vec<u8>>, String>,
    of: PhantomData<fn() -> F>,
}

#[cfg(feature = "store")]
impl<F> fmt::Debug for Change<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Change({})", self.name)
    }
}

/// What a field can be added up in: `i64`, `u64` and `f64`.
pub trait Number: sealed::Sealed {
    /// The server's command.
    #[doc(hidden)]
    const INCREMENT: &'static str;
}

impl Number for i64 {
    const INCREMENT: &'static str = "HINCRBY";
}

impl Number for u64 {
    const INCREMENT: &'static str = "HINCRBY";
}

impl Number for f64 {
    const INCREMENT: &'static str = "HINCRBYFLOAT";
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for i64 {}
    impl Sealed for u64 {}
    impl Sealed for f64 {}
}

/// The fields of a hash of which the schema names none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnyFields(pub Vec<(Vec<u8>, Vec<u8>)>);

impl Fields for AnyFields {
    const DEFINITION: &'static str = "";
    const FIELDS: &'static [&'static str] = &[];
    const REQUIRED: &'static [&'static str] = &[];
    const OPEN: bool = true;

    fn read(hash: &mut Hash) -> Option<Self> {
        hash.others().map(AnyFields)
    }

    fn write(&self, pairs: &mut Pairs) {
        pairs.others(&self.0);
    }
}

/// A hash on its way into a struct. Remembers the first field that is wrong.
#[doc(hidden)]
#[derive(Debug)]
pub struct Hash {
    values: Vec<Option<Vec<u8>>>,
    others: Vec<(Vec<u8>, Vec<u8>)>,
    wrong: Option<(String, FieldErrorKind)>,
    names: &'static [&'static str],
}

#[doc(hidden)]
impl Hash {
    pub fn required<T: FieldValue>(&mut self, at: usize) -> Option<T> {
        self.optional(at)?.or_else(|| self.wrong(at, FieldErrorKind::Missing))
    }

    pub fn optional<T: FieldValue>(&mut self, at: usize) -> Option<Option<T>> {
        let Some(bytes) = &self.values[at] else { return Some(None) };
        let value = T::from_bytes(bytes);
        value.map(Some).or_else(|| self.wrong(at, FieldErrorKind::Malformed))
    }

    #[cfg(feature = "json")]
    pub fn required_json<T: serde::de::DeserializeOwned>(&mut self, at: usize) -> Option<T> {
        self.optional_json(at)?.or_else(|| self.wrong(at, FieldErrorKind::Missing))
    }

    #[cfg(feature = "json")]
    pub fn optional_json<T: serde::de::DeserializeOwned>(
        &mut self,
        at: usize,
    ) -> Option<Option<T>> {
        let Some(bytes) = &self.values[at] else { return Some(None) };
        let value = serde_json::from_slice(bytes).ok();
        value.map(Some).or_else(|| self.wrong(at, FieldErrorKind::Malformed))
    }

    #[cfg(not(feature = "json"))]
    pub fn required_json<T>(&mut self, at: usize) -> Option<T> {
        self.wrong(at, FieldErrorKind::Malformed)
    }

    #[cfg(not(feature = "json"))]
    pub fn optional_json<T>(&mut self, at: usize) -> Option<Option<T>> {
        self.wrong(at, FieldErrorKind::Malformed)
    }

    /// The fields that the schema does not name.
    pub fn others<T: FieldValue>(&mut self) -> Option<Vec<(Vec<u8>, T)>> {
        let mut others = Vec::with_capacity(self.others.len());
        for (name, bytes) in std::mem::take(&mut self.others) {
            let Some(value) = T::from_owned(bytes) else {
                let name = String::from_utf8_lossy(&name).into_owned();
                self.wrong.get_or_insert((name, FieldErrorKind::Malformed));
                return None;
            };
            others.push((name, value));
        }
        Some(others)
    }

    fn wrong<T>(&mut self, at: usize, kind: FieldErrorKind) -> Option<T> {
        self.wrong.get_or_insert((self.names[at].to_owned(), kind));
        None
    }
}

/// Generated code calls these methods all the same, so that its one error is the one that names the
/// feature: see `__needs_json`.
#[cfg(not(feature = "json"))]
const NO_JSON: &str = "enable the feature `json` of keyward";

/// A struct on its way into a hash. Remembers the first field that cannot be written.
#[doc(hidden)]
#[derive(Debug)]
pub struct Pairs {
    pairs: Vec<Pair>,
    wrong: Option<(String, String)>,
}

#[doc(hidden)]
impl Pairs {
    pub fn required(&mut self, name: &str, value: &impl FieldValue) {
        self.pairs.push((name.as_bytes().to_vec(), value.to_bytes()));
    }

    pub fn optional(&mut self, name: &str, value: &Option<impl FieldValue>) {
        if let Some(value) = value {
            self.required(name, value);
        }
    }

    #[cfg(feature = "json")]
    pub fn required_json(&mut self, name: &str, value: &impl serde::Serialize) {
        match serde_json::to_vec(value) {
            Ok(bytes) => self.pairs.push((name.as_bytes().to_vec(), bytes)),
            Err(error) => _ = self.wrong.get_or_insert((name.to_owned(), error.to_string())),
        }
    }

    #[cfg(feature = "json")]
    pub fn optional_json(&mut self, name: &str, value: &Option<impl serde::Serialize>) {
        if let Some(value) = value {
            self.required_json(name, value);
        }
    }

    #[cfg(not(feature = "json"))]
    pub fn required_json<T>(&mut self, name: &str, _: &T) {
        self.wrong.get_or_insert((name.to_owned(), NO_JSON.to_owned()));
    }

    #[cfg(not(feature = "json"))]
    pub fn optional_json<T>(&mut self, name: &str, _: &Option<T>) {
        self.wrong.get_or_insert((name.to_owned(), NO_JSON.to_owned()));
    }

    pub fn others(&mut self, others: &[(Vec<u8>, impl FieldValue)]) {
        let pairs = others.iter().map(|(name, value)| (name.clone(), value.to_bytes()));
        self.pairs.extend(pairs);
    }
}
