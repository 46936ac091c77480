//! `[server]`: the settings that the server must have.

use crate::span::Spanned;
use keyward_fact::Size;

/// `[server]`: the settings that the server must have.
#[derive(Debug, Clone, Default)]
pub struct Server {
    /// `maxmemory`
    pub maxmemory: Option<Spanned<Size>>,
    /// `maxmemory-policy`
    pub maxmemory_policy: Option<Spanned<Policy>>,
    /// `save`: the snapshot points; an empty string turns snapshots off
    pub save: Option<Spanned<String>>,
    /// `appendonly`
    pub appendonly: Option<Spanned<bool>>,
    /// Any other setting, by its name in `redis.conf`
    pub other: Vec<(Spanned<String>, Spanned<String>)>,
}

/// `maxmemory-policy`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the setting of that name")]
pub enum Policy {
    Noeviction,
    AllkeysLru,
    AllkeysLfu,
    AllkeysLrm,
    AllkeysRandom,
    VolatileLru,
    VolatileLfu,
    VolatileLrm,
    VolatileRandom,
    VolatileTtl,
}

impl Policy {
    /// All policies, in the order of the enum.
    pub const ALL: [Policy; 10] = [
        Policy::Noeviction,
        Policy::AllkeysLru,
        Policy::AllkeysLfu,
        Policy::AllkeysLrm,
        Policy::AllkeysRandom,
        Policy::VolatileLru,
        Policy::VolatileLfu,
        Policy::VolatileLrm,
        Policy::VolatileRandom,
        Policy::VolatileTtl,
    ];

    /// The name in `redis.conf`.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Noeviction => "noeviction",
            Policy::AllkeysLru => "allkeys-lru",
            Policy::AllkeysLfu => "allkeys-lfu",
            Policy::AllkeysLrm => "allkeys-lrm",
            Policy::AllkeysRandom => "allkeys-random",
            Policy::VolatileLru => "volatile-lru",
            Policy::VolatileLfu => "volatile-lfu",
            Policy::VolatileLrm => "volatile-lrm",
            Policy::VolatileRandom => "volatile-random",
            Policy::VolatileTtl => "volatile-ttl",
        }
    }

    /// Whether the server may evict a key without a TTL.
    pub fn evicts_persistent(self) -> bool {
        use Policy::{AllkeysLfu, AllkeysLrm, AllkeysLru, AllkeysRandom};
        matches!(self, AllkeysLru | AllkeysLfu | AllkeysLrm | AllkeysRandom)
    }

    /// Whether the server may evict a key with a TTL before it ends.
    pub fn evicts_expiring(self) -> bool {
        self != Policy::Noeviction
    }
}
