//! Numbers as servers print and read them.

/// How many characters a number has in decimal.
#[inline]
pub(crate) fn digits(number: i64) -> u64 {
    let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
    u64::from(digits) + u64::from(number < 0)
}

/// Writes a number in decimal.
pub(crate) fn write(number: i64, scratch: &mut Vec<u8>) -> &[u8] {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).expect("a digit fits");
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    scratch.clear();
    if number < 0 {
        scratch.push(b'-');
    }
    scratch.extend_from_slice(&digits[at..]);
    scratch
}

/// Whether a server keeps this string as a number: the canonical decimal of an `i64`.
pub(crate) fn is_int(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let negative = digits.len() < text.len();
    match digits {
        [b'0'] => !negative,
        [] | [b'0', ..] => false,
        _ => {
            let largest = i64::MAX.cast_unsigned() + u64::from(negative);
            digits
                .iter()
                .try_fold(0u64, |number, digit| {
                    if !digit.is_ascii_digit() {
                        return None;
                    }
                    number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
                })
                .is_some_and(|number| number <= largest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_canonical_numbers_of_64_bits_are_kept_as_numbers() {
        for text in ["0", "-1", "10", "9223372036854775807", "-9223372036854775808"] {
            assert!(is_int(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "-",
            "-0",
            "01",
            "+1",
            " 1",
            "1 ",
            "1.0",
            "9223372036854775808",
            "-9223372036854775809",
        ] {
            assert!(!is_int(text.as_bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn numbers_are_written_as_rust_writes_them(number: i64) {
            let mut scratch = Vec::new();
            let text = number.to_string();
            prop_assert_eq!(write(number, &mut scratch), text.as_bytes());
            prop_assert_eq!(digits(number), text.len() as u64);
            prop_assert!(is_int(text.as_bytes()));
        }
    }
}
