//! Umlauts and other scripts, in Latin letters.

/// Writes the text with letters and digits in ASCII. Symbols stay.
pub(crate) fn apply(text: &str, out: &mut String) {
    if text.is_ascii() {
        out.push_str(text);
        return;
    }
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if c.is_ascii() || !c.is_alphanumeric() {
            continue;
        }
        out.push_str(&text[run..at]);
        run = at + c.len_utf8();
        match c {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'ß' => out.push_str("ss"),
            // A syllable such as `Bei ` ends in a space. Some letters are written with symbols, which nobody wrote.
            _ => out.extend(
                deunicode::deunicode_char(c)
                    .unwrap_or_default()
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || *c == ' ')
                    .map(|c| c.to_ascii_lowercase()),
            ),
        }
    }
    out.push_str(&text[run..]);
}

#[cfg(test)]
mod tests {
    #[test]
    fn letters_become_latin_and_symbols_stay() {
        for (text, latin) in [
            ("größe über straße", "groesse ueber strasse"),
            ("crème brûlée", "creme brulee"),
            ("łódź", "lodz"),
            ("привет", "privet"),
            ("αβγ", "abg"),
            ("北京", "bei jing "),
            ("5 € & „🦄“", "5 € & „🦄“"),
            ("ə", ""),
        ] {
            let mut out = String::new();
            super::apply(text, &mut out);
            assert_eq!(out, latin, "{text}");
        }
    }
}
