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
    // The first byte of U+0300 is 0xCC; below it, nothing combines. In blocks, which the compiler makes one comparison of.
    text.as_bytes()
        .chunks(64)
        .all(|block| block.iter().fold(0, |most, byte| most.max(*byte)) < 0xCC)
        || text.chars().all(|c| c < '\u{300}' || is_punctuation(c))
}

/// Writes the text in lower case.
pub(crate) fn lower_case(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.push_str(text);
        out.make_ascii_lowercase();
    } else if text.chars().all(|c| c < '\u{100}' || is_punctuation(c)) {
        // Letters of Western Europe, each of which has one small letter.
        out.extend(text.chars().map(|c| match c {
            'À'..='Ö' | 'Ø'..='Þ' => char::from(c as u8 + 0x20),
            c => c.to_ascii_lowercase(),
        }));
    } else {
        out.push_str(&text.to_lowercase());
    }
}

/// Dashes, quotation marks and the euro sign: they neither combine nor have a small form.
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{205E}' | '€')
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

    #[test]
    fn lower_case_of_western_europe_is_that_of_the_table() {
        let all: String = ('\u{0}'..='\u{ff}').chain(['–', '“', '€', '\u{205e}']).collect();
        let mut out = String::new();
        lower_case(&all, &mut out);
        assert_eq!(out, all.to_lowercase());
    }
}
