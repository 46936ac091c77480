//! Keys as they may be shown: words stay, values become marks such as `<uuid#a3f9>`.

use crate::hash::Salt;
use crate::segment::{Kind, pieces};
use std::fmt::Write as _;
use std::ops::Range;

/// How many bytes of a key are shown.
const SHOWN: usize = 200;

/// Masks keys with the salt of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mask {
    pub(crate) salt: Salt,
    /// Whether keys are shown as they are
    pub(crate) reveal: bool,
}

/// How a definition's parameter is masked.
#[derive(Debug, Clone)]
pub(crate) struct MaskedParam {
    /// What stands before the `#`: the parameter's type, in a word
    pub(crate) word: String,
    /// Whether it may be shown
    pub(crate) reveal: bool,
}

impl Mask {
    /// A key of a definition, whose parameters lie at these places.
    pub(crate) fn defined(
        self,
        key: &[u8],
        places: &[Range<usize>],
        params: &[MaskedParam],
    ) -> String {
        if self.reveal {
            return readable(key);
        }
        let mut order: Vec<usize> = (0..places.len().min(params.len())).collect();
        order.sort_by_key(|at| places[*at].start);
        let mut text = String::new();
        let mut end = 0;
        for at in order {
            let place = places[at].clone();
            if place.start < end || place.end > key.len() {
                continue;
            }
            text.push_str(&readable(&key[end..place.start]));
            let value = &key[place.clone()];
            match &params[at] {
                MaskedParam { reveal: true, .. } => text.push_str(&readable(value)),
                MaskedParam { word, .. } => self.mark(word, value, &mut text),
            }
            end = place.end;
        }
        text.push_str(&readable(&key[end..]));
        text
    }

    /// A key that no definition has: words stay, whatever looks like a value is masked.
    pub(crate) fn unknown(self, key: &[u8]) -> String {
        if self.reveal {
            return readable(key);
        }
        let mut text = String::new();
        let shown = &key[..key.len().min(SHOWN)];
        for piece in pieces(shown) {
            match piece.kind {
                Kind::Literal => text.push_str(&readable(piece.bytes)),
                kind => self.mark(kind.word(), piece.bytes, &mut text),
            }
        }
        if shown.len() < key.len() {
            text.push('…');
        }
        text
    }

    /// The name of a field that is not declared.
    pub(crate) fn field(self, name: &[u8]) -> String {
        self.unknown(name)
    }

    fn mark(self, word: &str, value: &[u8], out: &mut String) {
        let _ = write!(out, "<{word}#{:04x}>", self.salt.hash(value) >> 48);
    }
}

/// Bytes as text: what is not printable is escaped, what is too long is cut.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes[..bytes.len().min(SHOWN)].utf8_chunks() {
        for char in chunk.valid().chars() {
            if char.is_control() {
                text.extend(char.escape_debug());
            } else {
                text.push(char);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    if bytes.len() > SHOWN {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> Mask {
        Mask { salt: Salt::of("test"), reveal: false }
    }

    #[test]
    fn parameters_are_masked_and_words_are_not() {
        let key = b"xc:folder:550e8400-e29b-41d4-a716-446655440000:listing";
        let params = [MaskedParam { word: "uuid".into(), reveal: false }];
        let places = std::slice::from_ref(&(10..46));
        let masked = mask().defined(key, places, &params);
        assert_eq!(masked, "xc:folder:<uuid#36ec>:listing");
        let shown = [MaskedParam { word: "uuid".into(), reveal: true }];
        assert_eq!(mask().defined(key, places, &shown).as_bytes(), key);
    }

    #[test]
    fn unknown_keys_keep_their_words() {
        let uuid = b"sess:550e8400-e29b-41d4-a716-446655440000:data";
        assert_eq!(mask().unknown(uuid), "sess:<uuid#36ec>:data");
        let mail = mask().unknown(b"user:ann@example.org/7");
        assert!(mail.starts_with("user:<email#") && mail.contains(">/<number#"), "{mail}");
        let shown = Mask { reveal: true, ..mask() };
        assert_eq!(shown.unknown(b"\xff:\x1b[31m"), "\\xff:\\u{1b}[31m");
    }
}
