//! Ranges of characters as sequences of byte ranges.

use super::{Nfa, TooLarge};

/// One character out of these ranges, in UTF-8.
pub(crate) fn chars(ranges: &[(char, char)]) -> Result<Nfa, TooLarge> {
    let mut sequences = Vec::new();
    for &(first, last) in ranges {
        split(first as u32, last as u32, &mut sequences);
    }
    Nfa::tree(&sequences)
}

/// Splits a range where the length of the encoding changes, at the surrogates, and until all
/// continuation bytes but the first that differs run through their whole range.
fn split(first: u32, last: u32, out: &mut Vec<Vec<(u8, u8)>>) {
    if first > last {
        return;
    }
    for bound in [0x7f, 0x7ff, 0xffff] {
        if first <= bound && bound < last {
            split(first, bound, out);
            return split(bound + 1, last, out);
        }
    }
    if first <= 0xdfff && last >= 0xd800 {
        if first < 0xd800 {
            split(first, 0xd7ff, out);
        }
        return split(0xe000.max(first), last, out);
    }
    for shift in [6, 12, 18] {
        let low = (1 << shift) - 1;
        if first & !low != last & !low {
            if first & low != 0 {
                split(first, first | low, out);
                return split((first | low) + 1, last, out);
            }
            if last & low != low {
                split(first, (last & !low) - 1, out);
                return split(last & !low, last, out);
            }
        }
    }
    out.push(encode(first).into_iter().zip(encode(last)).collect());
}

fn encode(scalar: u32) -> Vec<u8> {
    let char = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
    char.encode_utf8(&mut [0; 4]).as_bytes().to_vec()
}
