//! The limit of an identifier, and its ends.

use crate::Shorten;

/// Writes the identifier within the limit.
pub(crate) fn apply(identifier: &str, max_len: usize, shorten: Shorten, out: &mut String) {
    if identifier.len() <= max_len {
        out.push_str(identifier);
        return;
    }
    if shorten == Shorten::Vowels {
        without_vowels(identifier, out);
        if out.len() <= max_len {
            return;
        }
        out.clear();
    }
    // Only ASCII comes here, so that every byte is a character.
    out.extend(identifier.chars().take(max_len));
}

/// Whether the identifier is above the limit whatever follows it, so that nothing that follows changes the result.
pub(crate) fn is_decided(identifier: &str, max_len: usize, shorten: Shorten) -> bool {
    if identifier.len() <= max_len {
        return false;
    }
    match shorten {
        Shorten::Cut => true,
        Shorten::Vowels => {
            let mut short = String::new();
            without_vowels(identifier, &mut short);
            // A `_` at its end may be followed by another one.
            short.trim_end_matches('_').len() > max_len
        }
    }
}

/// Writes the identifier without vowels, except at its beginning.
fn without_vowels(identifier: &str, out: &mut String) {
    for (at, c) in identifier.char_indices() {
        let is_left_out =
            matches!(c, 'a' | 'e' | 'i' | 'o' | 'u') || (c == '_' && out.ends_with('_'));
        if at == 0 || !is_left_out {
            out.push(c);
        }
    }
}

/// Writes what begins with a letter and does not end in `_`.
pub(crate) fn trim(identifier: &str, out: &mut String) {
    let begin = identifier.find(|c: char| c.is_ascii_lowercase()).unwrap_or(identifier.len());
    out.push_str(identifier[begin..].trim_end_matches('_'));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vowels_go_only_if_that_is_enough() {
        for (identifier, max_len, short) in [
            ("asset", 5, "asset"),
            ("assets", 5, "assts"),
            ("a_ie_eau_b_cd", 6, "a_b_cd"),
            (
                "portfolio_management_risk_assessment_strategies",
                31,
                "prtfl_mngmnt_rsk_ssssmnt_strtgs",
            ),
            (
                "portfolio_management_risk_assessment_strategies",
                30,
                "portfolio_management_risk_asse",
            ),
        ] {
            let mut out = String::new();
            apply(identifier, max_len, Shorten::Vowels, &mut out);
            assert_eq!(out, short);
        }
    }
}
