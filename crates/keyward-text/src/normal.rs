//! Unicode: composed letters (NFC), and lower case.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The text with letters and their accents composed.
pub(crate) fn compose(text: &str) -> Cow<'_, str> {
    if is_plain(text) || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// Whether nothing can be composed because no character is a combining one. Decides almost every text in German and
/// English, many times faster than the table.
fn is_plain(text: &str) -> bool {
    // The first byte of U+0300 is 0xCC; below it, nothing combines.
    text.bytes().all(|byte| byte < 0xCC)
        || text.chars().all(|c| c < '\u{300}' || matches!(c, '\u{2010}'..='\u{205E}' | '€'))
}

/// Writes the text in lower case.
pub(crate) fn lower_case(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else {
        out.push_str(&text.to_lowercase());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composed_text_is_not_copied() {
        for text in ["Risk", "Schlüssel", "„Schlüssel“ – 5 €", "日本語"] {
            assert!(matches!(compose(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(compose("Schlu\u{308}ssel"), "Schlüssel");
        assert_eq!(compose("\u{212B}"), "Å");
    }

    #[test]
    fn lower_case_knows_sharp_s_and_the_last_sigma() {
        let mut out = String::new();
        lower_case("STRAẞE ΛΟΓΟΣ", &mut out);
        assert_eq!(out, "straße λογος");
    }
}
