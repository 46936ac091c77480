//! SHA-256, for what must not be in a key or is too long for one, and HMAC-SHA-256, which signs.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The hash of a text, as 64 hex digits.
pub fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// What only somebody with the secret can make of a text, as 64 hex digits.
pub fn hmac(secret: &str, text: &str) -> String {
    let mut hmac =
        Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length is a key");
    hmac.update(text.as_bytes());
    hex(&hmac.finalize().into_bytes())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
