//! Two hashes: a fixed one for sketches, and a salted one for whatever a report shows.

use siphasher::sip::SipHasher13;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// A hash that is the same on every machine and in every version: sketches of two shards are merged by
/// it. Two multiplications for a short text; it resists accidents, not attackers.
#[inline]
pub(crate) fn fixed(bytes: &[u8]) -> u64 {
    const A: u64 = 0x9e37_79b9_7f4a_7c15;
    const B: u64 = 0xe703_7ed1_a0b4_28db;
    const C: u64 = 0x8ebc_6af0_9c88_c6e3;
    let mut state = A ^ (bytes.len() as u64).wrapping_mul(C);
    let mut rest = bytes;
    while let Some((chunk, behind)) = rest.split_first_chunk::<16>()
        && !behind.is_empty()
    {
        state = fold(eight(chunk) ^ B, eight(&chunk[8..]) ^ state);
        rest = behind;
    }
    let (first, last) = match rest {
        [_, _, _, _, _, _, _, _, ..] => (eight(rest), eight(&rest[rest.len() - 8..])),
        [_, _, _, _, ..] => (four(rest), four(&rest[rest.len() - 4..])),
        [first, .., last] => {
            (u64::from(*first) << 8 | u64::from(*last), u64::from(rest[rest.len() / 2]))
        }
        [only] => (u64::from(*only), 0),
        [] => (0, 0),
    };
    fold(fold(first ^ B, last ^ state) ^ C, A)
}

#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the two halves of the product")]
fn fold(left: u64, right: u64) -> u64 {
    let wide = u128::from(left) * u128::from(right);
    (wide as u64) ^ (wide >> 64) as u64
}

#[inline]
fn eight(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[inline]
fn four(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from(u32::from_le_bytes(*chunk)))
}

/// See [`Salt::rarity`].
pub(crate) type Rarity = u8;

/// The secret of a run, without which nobody can find out what a mark in a report stands for.
#[derive(Clone, Copy)]
pub struct Salt {
    keys: (u64, u64),
}

impl Salt {
    /// A new one.
    pub fn random() -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Salt { keys: (random(), random()) }
    }

    /// The same for the same text: reports of shards that were made with one salt have the same marks.
    pub fn of(text: &str) -> Self {
        let half = |number: u64| {
            let mut hasher = SipHasher13::new_with_keys(number, 0);
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        Salt { keys: (half(1), half(2)) }
    }

    /// The salted hash of some bytes.
    pub(crate) fn hash(self, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.keys.0, self.keys.1);
        hasher.write(bytes);
        hasher.finish()
    }

    /// How rare some bytes are: half of all are at least of rarity 1, a quarter of 2. It is cheap to
    /// know, and says which are worth a salted hash; without the salt nobody can compute it either.
    #[inline]
    pub(crate) fn rarity(self, bytes: &[u8]) -> Rarity {
        let mixed = fold(fixed(bytes) ^ self.keys.0, self.keys.1 | 1);
        u8::try_from(mixed.leading_zeros()).unwrap_or(0)
    }

    /// The order in which keys are chosen as examples, the least first: by how rare they are, then by a
    /// salted hash of the key in its database.
    pub(crate) fn order(self, db: u64, key: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.keys.0, self.keys.1);
        hasher.write_u64(db);
        hasher.write(key);
        self.least_order(key) | hasher.finish() >> 8
    }

    /// What the order of a key is at least, without its hash.
    #[inline]
    pub(crate) fn least_order(self, key: &[u8]) -> u64 {
        u64::from(64 - self.rarity(key)) << 56
    }

    /// Tells salts apart without telling them.
    pub(crate) fn fingerprint(self) -> String {
        format!("{:016x}", self.hash(b"keyward"))
    }
}

/// Nothing of it is shown.
impl std::fmt::Debug for Salt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Salt")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Sketches in reports that were written before would mean something else.
    #[test]
    fn the_fixed_hash_never_changes() {
        let texts = ["", "4", "42", "12345", "123456789", "550e8400-e29b-41d4-a716-446655440000"];
        let hashes = texts.map(|text| format!("{:016x}", fixed(text.as_bytes())));
        let expected = [
            "1e0d8e2fd31ff5c4",
            "d6aa7ab5c15125fe",
            "5c2687a19c122e1e",
            "e7a67a9e38676991",
            "94dc813cd46dbe99",
            "11a1af9b5f70c9b3",
        ];
        assert_eq!(hashes, expected);
    }

    #[test]
    fn the_fixed_hash_spreads_numbers_over_all_bits() {
        let hashes: HashSet<u64> =
            (0..100_000).map(|n: u32| fixed(n.to_string().as_bytes())).collect();
        assert_eq!(hashes.len(), 100_000);
        for bit in 0..64 {
            let set = hashes.iter().filter(|hash| *hash >> bit & 1 == 1).count();
            assert!((49_000..51_000).contains(&set), "bit {bit} is set {set} times");
        }
    }

    #[test]
    fn a_salt_is_made_of_its_text() {
        assert_eq!(Salt::of("a").hash(b"x"), Salt::of("a").hash(b"x"));
        assert_ne!(Salt::of("a").hash(b"x"), Salt::of("b").hash(b"x"));
        assert_ne!(Salt::random().hash(b"x"), Salt::random().hash(b"x"));
    }
}
