//! What reading a value carries along.

use crate::entry::FieldTtls;
use crate::error::Error;

/// The visitor, how much of the value it wants to see, and memory to show it in.
pub(crate) struct Sight<'v, V> {
    pub(crate) visitor: &'v mut V,
    pub(crate) limit: Option<usize>,
    pub(crate) name: &'v mut Vec<u8>,
    pub(crate) value: &'v mut Vec<u8>,
}

/// Gathers the TTLs of a hash's fields.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ttls(Option<FieldTtls>);

impl Ttls {
    /// Adds a field's expiry as Redis writes it: 0 is none.
    pub(crate) fn add(&mut self, expires_at: u64, offset: u64) -> Result<Option<u64>, Error> {
        /// Redis keeps them in 48 bits.
        const LATEST: u64 = (1 << 48) - 1;
        match expires_at {
            0 => Ok(None),
            1..=LATEST => {
                self.count(expires_at);
                Ok(Some(expires_at))
            }
            _ => Err(Error::corrupt(offset, "a field expires later than the server can say")),
        }
    }

    /// Adds a field's expiry.
    pub(crate) fn count(&mut self, expires_at: u64) {
        let ttls =
            self.0.get_or_insert(FieldTtls { count: 0, earliest: expires_at, latest: expires_at });
        ttls.count += 1;
        ttls.earliest = ttls.earliest.min(expires_at);
        ttls.latest = ttls.latest.max(expires_at);
    }

    pub(crate) fn get(self) -> Option<FieldTtls> {
        self.0
    }
}
