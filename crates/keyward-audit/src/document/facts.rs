//! What was counted of some keys, as a report says it.

use crate::counts::{KeyCounts, Ranked, TTL_BOUNDS};
use crate::histogram::Histogram;
use crate::mask::Masked;
use crate::report::{Big, BytesKind, Facts, Ttl, TtlBucket};
use crate::share::share;

/// The facts of some keys; `all` is the bytes of the whole keyspace, `shown` how a key is shown.
pub(super) fn facts(
    keys: &KeyCounts,
    declared: Option<String>,
    known: BytesKind,
    all: Option<u64>,
    shown: impl Fn(&Masked) -> Masked,
) -> Facts {
    let some = |histogram: &Histogram| (!histogram.is_empty()).then(|| histogram.distribution());
    let big =
        |it: &Ranked| Big { key: shown(&it.key), bytes: it.bytes, length: it.length, db: it.db };
    let biggest = keys.biggest.iter().filter(|_| known.is_known());
    Facts {
        keys: keys.amount.keys,
        bytes: known.of(keys.amount.bytes),
        share: all.map(|all| share(keys.amount.bytes, all)),
        types: keys.types(),
        encodings: keys.encodings(),
        ttl: ttl(keys, declared),
        sizes: known.is_known().then(|| keys.sizes.distribution()),
        lengths: keys.lengths.distribution(),
        key_lengths: keys.names.lengths(),
        idle: some(&keys.idle),
        freq: some(&keys.freq),
        biggest: biggest.map(big).collect(),
    }
}

fn ttl(keys: &KeyCounts, declared: Option<String>) -> Ttl {
    let bounds = TTL_BOUNDS.into_iter().map(Some).chain([None]);
    let buckets = bounds.zip(keys.buckets).map(|(up_to, keys)| TtlBucket { up_to, keys });
    Ttl {
        declared,
        none: keys.persistent,
        expiring: keys.buckets.iter().sum(),
        expired: keys.expired,
        too_long: keys.too_long,
        buckets: buckets.collect(),
        remaining: keys.remaining.distribution(),
    }
}
