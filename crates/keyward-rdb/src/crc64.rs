//! The checksum of RDB files: CRC-64 with Jones' polynomial, reflected, from zero.
//!
//! Own code, since the crates that know this polynomial walk it a byte at a time (0.4 GB/s) or need a
//! newer compiler than the rest of Keyward. With carry-less multiplication it is several times as fast
//! as with tables, which stay as the portable way and for the ends of the data.

/// Goes on with a checksum over more bytes.
pub(crate) fn update(crc: u64, bytes: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= 128 && std::arch::is_x86_feature_detected!("pclmulqdq") {
        let (crc, rest) = folded(crc, bytes);
        return by_table(crc, rest);
    }
    by_table(crc, bytes)
}

/// The checksum of some bytes and `length` more behind them, from the checksums of both.
pub(crate) fn combine(first: u64, second: u64, length: u64) -> u64 {
    times(first, times_x_to(length.saturating_mul(8))) ^ second
}

/// x to a power, modulo the polynomial.
fn times_x_to(mut power: u64) -> u64 {
    let (mut product, mut square) = (1 << 63, 1 << 62);
    while power > 0 {
        if power & 1 == 1 {
            product = times(product, square);
        }
        square = times(square, square);
        power >>= 1;
    }
    product
}

/// A product modulo the polynomial.
fn times(left: u64, right: u64) -> u64 {
    let (mut product, mut left) = (0, left);
    for bit in (0..64).rev() {
        if right >> bit & 1 == 1 {
            product ^= left;
        }
        left = times_x(left);
    }
    product
}

/// The polynomial, reflected: bit 63 is x⁰.
const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;

/// `TABLES[k][b]` is the checksum of byte `b` with `k` zero bytes behind it.
static TABLES: [[u64; 256]; 16] = tables();

#[expect(clippy::large_stack_arrays, reason = "it is computed by the compiler")]
const fn tables() -> [[u64; 256]; 16] {
    let mut tables = [[0; 256]; 16];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = times_x(crc);
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut zeros = 1;
    while zeros < 16 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[zeros - 1][byte];
            tables[zeros][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        zeros += 1;
    }
    tables
}

const fn times_x(polynomial: u64) -> u64 {
    (polynomial >> 1) ^ (if polynomial & 1 == 1 { POLYNOMIAL } else { 0 })
}

fn by_table(mut crc: u64, bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        let (first, second) = halves(block);
        let first = (first ^ crc).to_le_bytes();
        let second = second.to_le_bytes();
        crc = 0;
        for index in 0..8 {
            crc ^= TABLES[15 - index][usize::from(first[index])];
            crc ^= TABLES[7 - index][usize::from(second[index])];
        }
    }
    for byte in rest {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc.to_le_bytes()[0] ^ byte)];
    }
    crc
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*block);
    #[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
    (both as u64, (both >> 64) as u64)
}

/// The checksum of whole blocks of 64 bytes, and the bytes behind them.
#[cfg(target_arch = "x86_64")]
fn folded(crc: u64, bytes: &[u8]) -> (u64, &[u8]) {
    let (blocks, rest) = bytes.as_chunks::<64>();
    #[expect(unsafe_code, reason = "a function with target features can be called in no other way")]
    // SAFETY: the caller has seen that the processor has `pclmulqdq`; every x86-64 has `sse2`.
    let state = unsafe { clmul::fold(crc, blocks) };
    (by_table(0, &state), rest)
}

/// Folding as in Intel's paper "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ": four
/// lanes of 128 bits, each multiplied by x⁵¹² for every 64 bytes, so that what is left is a message
/// of 16 bytes with the same checksum.
#[cfg(target_arch = "x86_64")]
mod clmul {
    use std::arch::x86_64::{
        __m128i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_unpackhi_epi64,
        _mm_xor_si128,
    };

    /// x^n modulo the polynomial.
    const fn power(n: u32) -> u64 {
        let mut power = 1 << 63;
        let mut done = 0;
        while done < n {
            power = super::times_x(power);
            done += 1;
        }
        power
    }

    /// The factors that move 128 bits over `distance` bits. A product of two reflected numbers comes
    /// out with one x too many.
    const fn factors(distance: u32) -> (u64, u64) {
        (power(distance + 63), power(distance - 1))
    }

    const OVER_512: (u64, u64) = factors(512);
    const OVER_128: (u64, u64) = factors(128);

    #[target_feature(enable = "pclmulqdq,sse2")]
    pub(super) fn fold(crc: u64, blocks: &[[u8; 64]]) -> [u8; 16] {
        let Some((first, blocks)) = blocks.split_first() else { return [0; 16] };
        let mut lanes = load(first);
        lanes[0] = _mm_xor_si128(lanes[0], pair(crc, 0));
        let factor = pair(OVER_512.0, OVER_512.1);
        for block in blocks {
            let next = load(block);
            for (lane, next) in lanes.iter_mut().zip(next) {
                *lane = _mm_xor_si128(moved(*lane, factor), next);
            }
        }
        let factor = pair(OVER_128.0, OVER_128.1);
        let [state, others @ ..] = lanes;
        let state =
            others.into_iter().fold(state, |state, lane| _mm_xor_si128(moved(state, factor), lane));
        let low = _mm_cvtsi128_si64(state).cast_unsigned();
        let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(state, state)).cast_unsigned();
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }

    #[target_feature(enable = "pclmulqdq,sse2")]
    fn moved(lane: __m128i, factor: __m128i) -> __m128i {
        _mm_xor_si128(
            _mm_clmulepi64_si128::<0x00>(lane, factor),
            _mm_clmulepi64_si128::<0x11>(lane, factor),
        )
    }

    #[target_feature(enable = "sse2")]
    fn load(block: &[u8; 64]) -> [__m128i; 4] {
        let (lanes, _) = block.as_chunks::<16>();
        std::array::from_fn(|lane| {
            let (low, high) = super::halves(&lanes[lane]);
            pair(low, high)
        })
    }

    #[target_feature(enable = "sse2")]
    fn pair(low: u64, high: u64) -> __m128i {
        _mm_set_epi64x(high.cast_signed(), low.cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit_by_bit(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |crc, byte| (0..8).fold(crc ^ u64::from(*byte), |crc, _| times_x(crc)))
    }

    #[test]
    fn the_check_value_is_that_of_the_servers() {
        assert_eq!(update(0, b"123456789"), 0xe9c6_d914_c4b8_d9ca);
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..2_000), cut: prop::sample::Index) {
            let expected = bit_by_bit(&bytes);
            prop_assert_eq!(by_table(0, &bytes), expected);
            let (first, second) = bytes.split_at(cut.index(bytes.len() + 1));
            prop_assert_eq!(update(update(0, first), second), expected);
            prop_assert_eq!(combine(update(0, first), update(0, second), second.len() as u64), expected);
        }
    }
}
