//! Other ways to write a value: an IPv6 address with its colons, a UUID in capitals, a ULID in small letters.
//!
//! A key holds one spelling of each value, so these forms are rewritten when a key is built. What
//! stands in a key is never read this way.

use crate::Value;
use std::net::{IpAddr, Ipv6Addr};

/// Which forms a parameter takes besides its own spelling, as bits that generated code carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Forms(u8);

impl Forms {
    /// An IPv6 address such as `2001:db8::1`
    pub(crate) const ADDRESS: u8 = 2;
    /// A UUID with capitals
    pub(crate) const UUID: u8 = 4;
    /// A ULID with small letters
    pub(crate) const ULID: u8 = 8;
    /// An IPv6 address in another spelling than that of RFC 5952
    pub(crate) const RAW_ADDRESS: u8 = 16;
    const ALL: u8 = Forms::ADDRESS | Forms::UUID | Forms::ULID | Forms::RAW_ADDRESS;

    #[cfg(feature = "compile")]
    pub(crate) fn of(ty: &crate::Type) -> Self {
        use crate::Type;
        match ty {
            Type::Ip => Forms(Forms::ADDRESS),
            Type::RawIp => Forms(Forms::RAW_ADDRESS),
            Type::Uuid => Forms(Forms::UUID),
            Type::Ulid => Forms(Forms::ULID),
            Type::Any(types) => {
                types.iter().fold(Forms(0), |all, ty| Forms(all.0 | Forms::of(ty).0))
            }
            _ => Forms(0),
        }
    }

    pub(crate) fn from_bits(bits: u8) -> Self {
        Forms(bits & Forms::ALL)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// The spelling of a text that is written in one of these forms.
    pub(crate) fn canonical(self, text: &str) -> Option<String> {
        if self.0 & Forms::ADDRESS != 0
            && let Ok(address) = text.parse::<Ipv6Addr>()
        {
            let mut spelled = String::with_capacity(32);
            Value::Ip(IpAddr::V6(address)).write(&mut spelled);
            return Some(spelled);
        }
        if self.0 & Forms::RAW_ADDRESS != 0
            && let Ok(address) = text.parse::<Ipv6Addr>()
        {
            // As RFC 5952 writes it.
            return Some(address.to_string());
        }
        if self.0 & Forms::ULID != 0 && is_ulid(text) {
            return Some(text.to_ascii_uppercase());
        }
        (self.0 & Forms::UUID != 0 && is_uuid(text)).then(|| text.to_ascii_lowercase())
    }
}

/// A UUID in either case.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// A ULID in either case: no `I`, `L`, `O` and `U`, and no more than 128 bits.
fn is_ulid(text: &str) -> bool {
    let is_digit = |byte: u8| {
        byte.is_ascii_alphanumeric()
            && !matches!(byte.to_ascii_uppercase(), b'I' | b'L' | b'O' | b'U')
    };
    text.len() == 26 && text.as_bytes()[0] <= b'7' && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;

    #[test]
    fn an_ipv6_address_becomes_its_digits() {
        let ip = Forms::of(&Type::Ip);
        let digits = "20010db8000000000000000000000001";
        assert_eq!(ip.canonical("2001:db8::1").as_deref(), Some(digits));
        assert_eq!(ip.canonical("2001:DB8::1").as_deref(), Some(digits));
        assert_eq!(ip.canonical("::ffff:192.168.1.1").as_deref(), Some("192.168.1.1"));
        for other in ["192.168.1.1", digits, "fe80::1%eth0", "[::1]", "1::2::3", "::ffff:01.2.3.4"]
        {
            assert_eq!(ip.canonical(other), None, "{other}");
        }
        assert_eq!(Forms::of(&Type::Text).canonical("2001:db8::1"), None);
        let any = Forms::of(&Type::Any(vec![Type::Uuid, Type::Ip]));
        assert_eq!(any.canonical("2001:db8::1").as_deref(), Some(digits));
    }

    #[test]
    fn a_uuid_in_capitals_becomes_lower_case() {
        let uuid = Forms::of(&Type::Uuid);
        let spelled = uuid.canonical("550E8400-E29B-41D4-A716-446655440000");
        assert_eq!(spelled.as_deref(), Some("550e8400-e29b-41d4-a716-446655440000"));
        assert_eq!(uuid.canonical("550E8400E29B41D4A716446655440000"), None);
        assert_eq!(Forms::of(&Type::Ip).canonical("550E8400-E29B-41D4-A716-446655440000"), None);
    }

    #[test]
    fn an_address_in_another_spelling_becomes_that_of_rfc_5952() {
        let raw = Forms::of(&Type::Any(vec![Type::RawIp, Type::Uuid]));
        for (other, spelling) in [
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("0:0:0:0:0:0:0:0", "::"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"),
            ("::1.2.3.4", "::102:304"),
            ("::FFFF:102:304", "::ffff:1.2.3.4"),
        ] {
            assert_eq!(raw.canonical(other).as_deref(), Some(spelling), "{other}");
        }
        assert_eq!(raw.canonical("fe80::1%eth0"), None);
    }

    #[test]
    fn a_ulid_in_small_letters_becomes_capitals() {
        let ulid = Forms::of(&Type::Any(vec![Type::Ulid, Type::Uuid]));
        let spelled = ulid.canonical("01arz3ndektsv4rrffq69g5fav");
        assert_eq!(spelled.as_deref(), Some("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
        for other in ["81arz3ndektsv4rrffq69g5fav", "01arz3ndektsv4rrffq69g5fai", "01arz3"] {
            assert_eq!(ulid.canonical(other), None, "{other}");
        }
        assert_eq!(Forms::of(&Type::Uuid).canonical("01arz3ndektsv4rrffq69g5fav"), None);
    }
}
