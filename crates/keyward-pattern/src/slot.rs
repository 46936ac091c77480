//! Redis Cluster hash slots.

/// The part of a key that decides its slot: what is in the first `{…}`, unless that is empty;
/// otherwise the whole key.
pub fn hash_tag(key: &[u8]) -> &[u8] {
    let Some(open) = key.iter().position(|&byte| byte == b'{') else { return key };
    let inside = &key[open + 1..];
    match inside.iter().position(|&byte| byte == b'}') {
        Some(len) if len > 0 => &inside[..len],
        _ => key,
    }
}

/// The Redis Cluster slot of a key, from 0 to 16,383.
///
/// ```
/// assert_eq!(keyward_pattern::slot(b"123456789"), 12739);
/// assert_eq!(keyward_pattern::slot(b"cart:{42}"), keyward_pattern::slot(b"order:{42}:lines"));
/// ```
pub fn slot(key: &[u8]) -> u16 {
    let mut crc = 0u16;
    for byte in hash_tag(key) {
        crc = (crc << 8) ^ CRC16[usize::from((crc >> 8) as u8 ^ byte)];
    }
    crc % 16384
}

/// CRC-16/XMODEM: polynomial 0x1021, no reflection, starts at zero.
const CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u16;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        assert_eq!(slot(b"123456789"), 0x31C3);
        assert_eq!(slot(b""), 0);
        assert_eq!(slot(b"foo"), 12182);
    }

    #[test]
    fn the_first_tag_that_is_not_empty_decides() {
        assert_eq!(hash_tag(b"{user1000}.following"), b"user1000");
        assert_eq!(hash_tag(b"foo{}{bar}"), b"foo{}{bar}");
        assert_eq!(hash_tag(b"foo{{bar}}zap"), b"{bar");
        assert_eq!(hash_tag(b"foo{bar}{zap}"), b"bar");
        assert_eq!(hash_tag(b"foo{bar"), b"foo{bar");
    }
}
