//! Which keys are looked up when only some are.

/// Whether a key belongs to a sample of so many per cent. The same key does, wherever and whenever it
/// is asked, and those of 1 % are among those of 2 %.
///
/// ```
/// use keyward_audit::live::is_sampled;
///
/// let keys = (0..10_000).map(|number| format!("user:{number}"));
/// let count = keys.filter(|key| is_sampled(key.as_bytes(), 5.0)).count();
/// assert!((400..600).contains(&count));
/// ```
pub fn is_sampled(key: &[u8], percent: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "a share of all hashes")]
    let place = hash(key) as f64 / u64::MAX as f64;
    percent >= 100.0 || place * 100.0 < percent
}

/// FNV-1a, with its bits mixed once more: it differs little between keys that differ at their ends.
fn hash(key: &[u8]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in key {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_sample_is_part_of_a_larger_one() {
        for number in 0..10_000 {
            let key = format!("key:{number}").into_bytes();
            assert!(!is_sampled(&key, 1.0) || is_sampled(&key, 2.0));
            assert!(is_sampled(&key, 100.0) && !is_sampled(&key, 0.0));
        }
    }
}
