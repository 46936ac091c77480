//! What an application gives for a parameter.

use std::net::IpAddr;

/// A value for a parameter. Everything but text has one spelling and needs no conversion before.
///
/// ```
/// use keyward_pattern::Value;
/// assert_eq!(Value::from(42u64), Value::Uint(42));
/// assert_eq!(Value::from("de_DE"), Value::Str("de_DE"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// Text in the parameter's own spelling
    Str(&'a str),
    /// A signed number
    Int(i64),
    /// An unsigned number
    Uint(u64),
    /// The sixteen bytes of a UUID
    Uuid([u8; 16]),
    /// An address
    Ip(IpAddr),
}

impl Value<'_> {
    /// Appends the value's spelling.
    ///
    /// ```
    /// use keyward_pattern::Value;
    /// let mut key = String::from("rl:");
    /// Value::Ip([192, 0, 2, 1].into()).write(&mut key);
    /// assert_eq!(key, "rl:192.0.2.1");
    /// ```
    #[inline]
    pub fn write(&self, out: &mut String) {
        self.with_text(|text| out.push_str(text));
    }

    /// Hands the value's spelling to `use_it`, without an allocation.
    pub(crate) fn with_text<R>(&self, use_it: impl FnOnce(&str) -> R) -> R {
        let mut scratch = Scratch { bytes: [0; 40], len: 0 };
        match self {
            Value::Str(text) => return use_it(text),
            Value::Int(number) => {
                if *number < 0 {
                    scratch.push(b'-');
                }
                scratch.decimal(number.unsigned_abs());
            }
            Value::Uint(number) => scratch.decimal(*number),
            Value::Uuid(bytes) => return use_it(ascii(&hyphenated(*bytes))),
            // One client, one spelling: a listener for both families reports `::ffff:192.0.2.1`.
            Value::Ip(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
                return Value::Ip(IpAddr::from(*address).to_canonical()).with_text(use_it);
            }
            Value::Ip(IpAddr::V4(address)) => {
                for (at, octet) in address.octets().into_iter().enumerate() {
                    if at > 0 {
                        scratch.push(b'.');
                    }
                    scratch.decimal(u64::from(octet));
                }
            }
            Value::Ip(IpAddr::V6(address)) => {
                for byte in address.octets() {
                    scratch.hex(byte);
                }
            }
        }
        use_it(ascii(&scratch.bytes[..scratch.len]))
    }

    /// How long the spelling is, at most.
    pub(crate) fn len_hint(&self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Int(_) | Value::Uint(_) => 20,
            Value::Uuid(_) => 36,
            Value::Ip(_) => 32,
        }
    }
}

/// Text out of bytes that are all ASCII.
#[inline]
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// A UUID as it is written. Two digits at a time, each at a place that is known: measured at half the
/// time of one digit after the other.
#[inline]
fn hyphenated(bytes: [u8; 16]) -> [u8; 36] {
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let mut text = [b'-'; 36];
    for (place, byte) in PLACES.into_iter().zip(bytes) {
        [text[place], text[place + 1]] = HEX[usize::from(byte)];
    }
    text
}

/// The two digits of each byte.
const HEX: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut table = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    table
};

struct Scratch {
    bytes: [u8; 40],
    len: usize,
}

impl Scratch {
    fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    fn hex(&mut self, byte: u8) {
        for digit in HEX[usize::from(byte)] {
            self.push(digit);
        }
    }

    fn decimal(&mut self, mut number: u64) {
        let mut digits = [0; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        let len = digits.len() - at;
        self.bytes[self.len..][..len].copy_from_slice(&digits[at..]);
        self.len += len;
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Str(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Str(text)
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u64> for Value<'_> {
    fn from(number: u64) -> Self {
        Value::Uint(number)
    }
}

impl From<IpAddr> for Value<'_> {
    fn from(address: IpAddr) -> Self {
        Value::Ip(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value<'_>) -> String {
        value.with_text(str::to_owned)
    }

    #[test]
    fn values_have_one_spelling() {
        assert_eq!(text(Value::Int(i64::MIN)), "-9223372036854775808");
        assert_eq!(text(Value::Uint(u64::MAX)), "18446744073709551615");
        assert_eq!(text(Value::Uint(0)), "0");
        assert_eq!(
            text(Value::Uuid(0x550e_8400_e29b_41d4_a716_4466_5544_0000_u128.to_be_bytes())),
            "550e8400-e29b-41d4-a716-446655440000"
        );
        assert_eq!(text(Value::Ip([192, 168, 1, 1].into())), "192.168.1.1");
        assert_eq!(text(Value::Ip("::ffff:192.0.2.1".parse().unwrap())), "192.0.2.1");
        assert_eq!(
            text(Value::Ip("2001:db8::1".parse().unwrap())),
            "20010db8000000000000000000000001"
        );
    }
}
