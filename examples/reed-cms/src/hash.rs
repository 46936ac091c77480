//! SHA-256, for what is too long for a key or must not be in one.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The hash of a text, as 64 hex digits.
pub fn sha256(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing to a text cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
