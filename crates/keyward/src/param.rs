//! Values of parameters: how each is written as text, and in a key.

use crate::generated::read;
use crate::{Date, Key, Keyspace, Unix, UnixMs, Uuid};
use keyward_pattern::Value;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A value that a parameter can have.
///
/// Implemented by the types of this crate, by every key (a parameter of type `key` holds one), and by
/// the types that a schema declares. Whatever has one of these types is a value: building a key from
/// it cannot fail.
pub trait ParamValue: Clone + fmt::Debug + Eq + Sized + 'static {
    /// The value as text.
    fn text(&self) -> String {
        let mut text = String::with_capacity(self.spelled_len());
        self.spell(&mut text);
        text
    }

    /// Appends the value as it stands in a key.
    fn spell(&self, out: &mut String);

    /// How many bytes [`spell`](ParamValue::spell) appends, or a few more.
    fn spelled_len(&self) -> usize;

    /// The value of a text that is known to be one, in its normal form.
    #[doc(hidden)]
    fn from_normal(text: &str) -> Option<Self>;

    /// The value that stands in a key which was found.
    #[doc(hidden)]
    fn unspell(spelling: &str) -> Option<Self> {
        Self::from_normal(spelling)
    }
}

impl ParamValue for Uuid {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Uuid(*self.as_bytes()).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        36
    }

    fn from_normal(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok()
    }
}

impl ParamValue for i64 {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Int(*self).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        20
    }

    fn from_normal(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl ParamValue for u64 {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Uint(*self).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        20
    }

    fn from_normal(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl ParamValue for IpAddr {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Ip(*self).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        32
    }

    /// Dotted, or 32 hex digits: an IPv6 address in its usual form is full of separators.
    fn from_normal(text: &str) -> Option<Self> {
        if text.contains('.') {
            return text.parse().ok().map(|address: Ipv4Addr| address.into());
        }
        u128::from_str_radix(text, 16).ok().map(|bits| Ipv6Addr::from_bits(bits).into())
    }
}

impl ParamValue for Date {
    #[inline]
    fn spell(&self, out: &mut String) {
        self.write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        10
    }

    fn from_normal(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl ParamValue for Unix {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Uint(self.get()).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        12
    }

    fn from_normal(text: &str) -> Option<Self> {
        Unix::new(text.parse().ok()?).ok()
    }
}

impl ParamValue for UnixMs {
    #[inline]
    fn spell(&self, out: &mut String) {
        Value::Uint(self.get()).write(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        15
    }

    fn from_normal(text: &str) -> Option<Self> {
        UnixMs::new(text.parse().ok()?).ok()
    }
}

/// A key inside another key stands there without the prefix.
impl<K: Key> ParamValue for K {
    #[inline]
    fn spell(&self, out: &mut String) {
        self.write_bare(out);
    }

    #[inline]
    fn spelled_len(&self) -> usize {
        self.bare_len()
    }

    fn from_normal(text: &str) -> Option<Self> {
        let found = K::Keyspace::tables().find_bare(text.as_bytes())?;
        if found.definition().0 != K::DEFINITION.number {
            return None;
        }
        read(&found, 0)
    }
}
