//! Keys that are made to hurt.

mod support;

use support::{Dump, audit, messages, report, shop};

const ACCESS: &str = "[keys.access]\npattern = \"access:{ip:ip}:{path:text}\"\nttl = \"none\"\n";

#[test]
fn an_address_is_looked_for_in_short_keys_only() {
    let audit = audit(vec![shop(ACCESS)]);
    let of = |key: &str| messages(&report(&audit, &Dump::of(&format!("SET {key} x")).bytes()));
    let short = of(&format!("shop:access:2001:db8::1:{}", "x".repeat(900)));
    assert!(short[0].contains("a raw IPv6 address as `ip`: 1 of 1"), "{short:?}");
    let long = of(&format!("shop:access:2001:db8::1:{}", "x".repeat(1100)));
    assert!(long.iter().all(|it| !it.contains("IPv6")), "{long:?}");
    // Each of its parts may begin an address.
    let endless = of(&format!("shop:access:{}", "a:".repeat(100_000)));
    assert!(endless[0].starts_with("unknown-key"), "{endless:?}");
}
