//! Characters that a reader does not see, or that a terminal obeys, spelt out.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Control characters, and those that turn the direction of writing, part lines or have no width.
///
/// ```
/// assert!(keyward_fact::is_unseen('\u{202e}') && !keyward_fact::is_unseen('京'));
/// ```
pub fn is_unseen(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// A text for people: what cannot be seen is spelt out, as `\n` or `\u{202e}`.
///
/// ```
/// assert_eq!(keyward_fact::visible("a\u{202e}b\tc"), r"a\u{202e}b\tc");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            '\t' | '\n' | '\r' => shown.extend(char.escape_default()),
            char if is_unseen(char) => shown.extend(char.escape_unicode()),
            char => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// A JSON document that says the same, with escapes for what cannot be seen.
///
/// ```
/// assert_eq!(keyward_fact::visible_json("\"a\u{202e}b\"".to_owned()), r#""a\u202eb""#);
/// ```
pub fn visible_json(document: String) -> String {
    // Outside of strings, JSON has no other white space.
    let is_hidden = |char: char| is_unseen(char) && !matches!(char, '\t' | '\n' | '\r');
    if !document.contains(is_hidden) {
        return document;
    }
    let mut shown = String::with_capacity(document.len() + 8);
    for char in document.chars() {
        if is_hidden(char) {
            for unit in char.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(char);
        }
    }
    shown
}
