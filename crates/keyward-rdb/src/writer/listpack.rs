//! Listpacks, written.

use crate::number;

/// Packs elements into a listpack, numbers as numbers: for the bytes of
/// [`Content::Raw`](super::Content::Raw).
pub fn listpack<'a>(elements: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = vec![0; 6];
    let mut count: u16 = 0;
    for element in elements {
        let start = bytes.len();
        match std::str::from_utf8(element).ok().filter(|_| number::is_int(element)) {
            Some(text) => integer(text.parse().unwrap_or(0), &mut bytes),
            None => string(element, &mut bytes),
        }
        backwards(bytes.len() - start, &mut bytes);
        count = count.saturating_add(1);
    }
    bytes.push(0xff);
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes[4..6].copy_from_slice(&count.to_le_bytes());
    bytes
}

fn integer(number: i64, out: &mut Vec<u8>) {
    let bytes = number.to_le_bytes();
    let fits = |bits: u32| number >> (bits - 1) == number >> 63;
    match number {
        0..128 => out.push(bytes[0]),
        -4096..4096 => out.extend([0xc0 | bytes[1] & 0x1f, bytes[0]]),
        _ if fits(16) => out.extend([0xf1, bytes[0], bytes[1]]),
        _ if fits(24) => out.extend([0xf2, bytes[0], bytes[1], bytes[2]]),
        _ if fits(32) => out.extend([0xf3, bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => {
            out.push(0xf4);
            out.extend(bytes);
        }
    }
}

fn string(text: &[u8], out: &mut Vec<u8>) {
    match u32::try_from(text.len()).unwrap_or(u32::MAX) {
        short @ ..64 => out.push(0x80 | short.to_le_bytes()[0]),
        medium @ ..4096 => out.extend([0xe0 | medium.to_le_bytes()[1], medium.to_le_bytes()[0]]),
        long => {
            out.push(0xf0);
            out.extend(long.to_le_bytes());
        }
    }
    out.extend_from_slice(text);
}

/// An element's length, to be read from behind.
fn backwards(length: usize, out: &mut Vec<u8>) {
    let bytes = match length {
        ..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    };
    for place in (0..bytes).rev() {
        let seven = (length >> (7 * place)).to_le_bytes()[0] & 0x7f;
        out.push(if place + 1 == bytes { seven } else { seven | 0x80 });
    }
}
