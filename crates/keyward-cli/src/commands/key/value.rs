//! What a person types for a parameter, in the spelling of its type.

use crate::args::Binding;
use keyward_pattern::{Definition, Param, Type, Value};
use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};

/// Hands on the values by parameter; where the type leaves no doubt about what is meant, in its
/// spelling.
pub(super) fn spelled<'a, R>(
    definition: Option<Definition<'_>>,
    bindings: impl IntoIterator<Item = &'a Binding>,
    use_them: impl FnOnce(&[(&str, &str)]) -> R,
) -> R {
    let params = definition.map_or(&[][..], |definition| definition.params());
    let values: Vec<(&str, Cow<'_, str>)> = bindings
        .into_iter()
        .map(|Binding { param, value }| {
            let declared = params.iter().find(|(name, _)| name == param);
            let spelled = declared.and_then(|(_, declared)| spell(declared, value));
            (param.as_str(), spelled.map_or(Cow::Borrowed(value.as_str()), Cow::Owned))
        })
        .collect();
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, &**value)).collect();
    use_them(&values)
}

/// The spelling of a value that is written in another way; `None` if it is not.
fn spell(param: &Param, value: &str) -> Option<String> {
    let has = |wanted: &Type| match &param.ty {
        Type::Any(types) => types.contains(wanted),
        ty => ty == wanted,
    };
    if has(&Type::Ip)
        && let Ok(address) = value.parse::<Ipv6Addr>()
    {
        let mut spelled = String::new();
        Value::from(IpAddr::from(address)).write(&mut spelled);
        return Some(spelled);
    }
    if has(&Type::Uuid) && is_uuid(value) {
        return Some(value.to_ascii_lowercase());
    }
    None
}

/// A UUID in capitals is the same UUID.
fn is_uuid(value: &str) -> bool {
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_becomes_its_digits() {
        let ip = Param::from(Type::Ip);
        let digits = "20010db8000000000000000000000001";
        assert_eq!(spell(&ip, "2001:db8::1").as_deref(), Some(digits));
        assert_eq!(spell(&ip, "::ffff:192.168.1.1").as_deref(), Some("192.168.1.1"));
        assert_eq!(spell(&ip, "192.168.1.1"), None);
        assert_eq!(spell(&ip, digits), None);
        assert_eq!(spell(&Param::from(Type::Text), "2001:db8::1"), None);
        let any = Param::from(Type::Any(vec![Type::Uuid, Type::Ip]));
        assert_eq!(spell(&any, "2001:db8::1").as_deref(), Some(digits));
    }

    #[test]
    fn a_uuid_in_capitals_becomes_lower_case() {
        let uuid = Param::from(Type::Uuid);
        let spelled = spell(&uuid, "550E8400-E29B-41D4-A716-446655440000");
        assert_eq!(spelled.as_deref(), Some("550e8400-e29b-41d4-a716-446655440000"));
        assert_eq!(spell(&uuid, "550E8400E29B41D4A716446655440000"), None);
    }
}
