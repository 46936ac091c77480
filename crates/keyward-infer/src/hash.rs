//! A hash that is the same on every machine and in every version, so that what was kept of two shards can be merged.

/// The hash of some bytes: FNV-1a over eight bytes at a time, mixed at the end. It resists accidents, not attackers.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut state =
        0xcbf2_9ce4_8422_2325 ^ (bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        state = mix(state ^ word);
    }
    for byte in chunks.remainder() {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(state)
}

/// The hash of two hashes, in this order.
#[inline]
pub(crate) fn join(left: u64, right: u64) -> u64 {
    mix(left.rotate_left(23) ^ right.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The finalizer of `splitmix64`.
#[inline]
fn mix(mut state: u64) -> u64 {
    state ^= state >> 30;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 27;
    state = state.wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}
