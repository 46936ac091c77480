mod misfit;

pub use misfit::{Misfit, Misfits};

use crate::live::{Case, RAW_IPV6, Wording};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports keys that would belong to a definition if one of their parameters were valid: a
    /// number where a UUID is declared, or a raw IPv6 address.
    ///
    /// ## Why is this bad
    /// No definition matches such a key, so nothing else about it is checked. A raw IPv6 address
    /// contains colons: it looks like several segments, and the text after it can be mistaken for
    /// something else.
    ///
    /// ## Example
    /// ```toml
    /// [keys.login_limit]
    /// pattern = "login:{ip:ip}:limit"
    /// rate_limit = { limit = 10, window = "1m" }
    /// ```
    /// ```redis
    /// SET login:2001:db8::1:limit 3 EX 60
    /// SET login:localhost:limit 3 EX 60
    /// ```
    ///
    /// ## Use instead
    /// In a key, an IPv6 address is 32 hexadecimal digits; `keyward key build` writes them.
    /// ```redis
    /// SET login:20010db8000000000000000000000001:limit 3 EX 60
    /// ```
    live Soundness, Error, Recommended
}

fn word(case: &Case<'_>) -> Wording {
    let (name, param) = (case.name(), case.subject.unwrap_or("a parameter"));
    match case.detail {
        Some(RAW_IPV6) => {
            Wording::new(format!("keys of `{name}` contain a raw IPv6 address as `{param}`"))
                .help("write the address as 32 hexadecimal digits: its colons split the key")
        }
        ty => {
            let ty = ty.unwrap_or("its type");
            Wording::new(format!("keys of `{name}` have an invalid `{param}` (expected {ty})")).help(
                "build keys with `keyward key build` or generated code, which refuse such values",
            )
        }
    }
}
