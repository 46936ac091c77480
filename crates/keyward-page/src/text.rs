//! The width of texts, in columns of a terminal or of a fixed-width font.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// As much of a text as fits into so many columns, with an ellipsis if that is not all.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |char: &char| {
        taken += char.width().unwrap_or(0);
        taken < columns
    };
    let mut shown: String = text.chars().take_while(fits).collect();
    if columns > 0 {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_its_columns() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(cut("京京京", 5), "京京…");
        assert_eq!(cut("京京京", 4), "京…");
        assert_eq!(cut("abc", 0), "");
    }
}
