//! What of a key may be shown. This is the one place that decides it.
//!
//! A text that was masked is a [`Masked`], which nobody else can make. Without `--show-keys` it holds
//!
//! - words that a schema declares: literals of patterns, values of an enum, and names of fields;
//! - values of parameters that are declared with `pii = false`, where they are of their type;
//! - of keys that nobody declared, words that many keys share: see [`shared`];
//! - and marks for everything else: `<uuid#a3f9>` is a UUID, and another UUID has another mark.
//!
//! Values, members and fields are never shown.

pub(crate) mod shared;

use crate::hash::Salt;
use crate::segment::{self, Kind, SEPARATORS};
use keyward_fact::is_unseen;
use keyward_pattern::Type;
use keyward_schema::model::{ParamDeclaration, Schema, Value};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::{self, Write as _};
use std::ops::Range;

/// How many bytes of a key are shown.
const SHOWN: usize = 200;

/// A text that may be shown: masked, unless keys were to be revealed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Masked(Box<str>);

impl Masked {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A pattern of undeclared keys, of segments that [`shared`] lets be shown.
    pub(crate) fn pattern(segments: &[String]) -> Masked {
        let text =
            if segments.is_empty() { "(an empty key)".to_owned() } else { segments.concat() };
        Masked(text.into())
    }

    /// A pattern of undeclared keys in which no word is left that [`shared`] hides.
    pub(crate) fn drafted(pattern: &str) -> Masked {
        Masked(pattern.into())
    }

    /// The key with the words that all keys of its pattern have, and its own marks for the rest.
    pub(crate) fn within(&self, pattern: &[String]) -> Masked {
        let mut text = String::new();
        let mut marks = self.0.split_inclusive(SEPARATORS_CHARS);
        for segment in pattern {
            if segment::is_anything(segment) || segment.starts_with('{') {
                text.push_str(marks.next().unwrap_or_default());
            } else {
                fill(segment, marks.next().unwrap_or_default(), &mut text);
            }
        }
        text.extend(marks);
        Masked(text.into())
    }
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

const SEPARATORS_CHARS: [char; 3] =
    [SEPARATORS[0] as char, SEPARATORS[1] as char, SEPARATORS[2] as char];

/// A segment of a pattern, with a key's marks in the place of its kinds: `cart_<number>:` and
/// `<word#77aa>_<number#b41c>:` make `cart_<number#b41c>:`.
fn fill(pattern: &str, marks: &str, out: &mut String) {
    let own = format!("<{}#", Kind::Literal.word());
    let mut marks = marks.split_inclusive('>').filter_map(|mark| Some(&mark[mark.find('<')?..]));
    let mut rest = pattern;
    while let Some((before, kind)) = rest.split_once('<') {
        out.push_str(before);
        let (kind, behind) = kind.split_once('>').unwrap_or((kind, ""));
        match marks.find(|mark| !mark.starts_with(&own)) {
            Some(mark) => out.push_str(mark),
            None => {
                let _ = write!(out, "<{kind}>");
            }
        }
        rest = behind;
    }
    out.push_str(rest);
}

/// Masks keys with the salt of a run: what a schema declares stays, everything else becomes a mark such as
/// `<uuid#a3f9>`.
#[derive(Debug)]
pub struct Mask {
    pub(crate) salt: Salt,
    /// Whether keys are shown as they are
    pub(crate) reveal: bool,
    /// Words that schemas declare
    declared: HashSet<String>,
}

/// How a definition's parameter is masked.
#[derive(Debug, Clone)]
pub(crate) struct MaskedParam {
    /// What stands before the `#`: the parameter's type, in a word
    kind: String,
    /// Whether any value of it may be shown
    reveal: bool,
    /// The words that its type declares
    words: Vec<String>,
}

impl MaskedParam {
    /// A parameter of this name and type; those of the prefix are not among the definition's own.
    pub(crate) fn new(params: &[ParamDeclaration], name: &str, ty: &Type) -> Self {
        let declared = params.iter().find(|param| *param.name == name);
        let kind = ty.to_string();
        let kind: String = kind.chars().take_while(char::is_ascii_alphanumeric).collect();
        let mut words = Vec::new();
        words_of(ty, &mut words);
        MaskedParam {
            kind: if kind.is_empty() { "value".to_owned() } else { kind },
            reveal: declared.is_some_and(|param| !param.pii),
            words,
        }
    }
}

impl Mask {
    /// A mask that keeps the words of these schemas; with `reveal`, keys are shown as they are.
    pub fn new(salt: Salt, reveal: bool, schemas: &[Schema]) -> Self {
        Mask { salt, reveal, declared: schemas.iter().flat_map(words).collect() }
    }

    /// Whether a schema declares a word.
    pub(crate) fn declares(&self, word: &str) -> bool {
        self.declared.contains(word)
    }

    /// A key of a definition, whose parameters lie at these places.
    pub(crate) fn defined(
        &self,
        key: &[u8],
        places: &[Range<usize>],
        params: &[MaskedParam],
    ) -> Masked {
        self.between(key, places, params, |_| true)
    }

    /// A key that a definition would have if all its parameters were of their types; `fits` says which are.
    pub(crate) fn misfit(
        &self,
        key: &[u8],
        places: &[Range<usize>],
        params: &[MaskedParam],
        fits: impl Fn(usize) -> bool,
    ) -> Masked {
        self.between(key, places, params, fits)
    }

    fn between(
        &self,
        key: &[u8],
        places: &[Range<usize>],
        params: &[MaskedParam],
        fits: impl Fn(usize) -> bool,
    ) -> Masked {
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
            push_readable(&key[end..place.start], &mut text);
            let (value, param) = (&key[place.clone()], &params[at]);
            let is_word = || param.words.iter().any(|word| word.as_bytes() == value);
            let fits = fits(at);
            if fits && param.reveal || is_word() {
                push_readable(value, &mut text);
            } else if fits {
                self.mark(&param.kind, value, &mut text);
            } else {
                self.mark(segment::kind(value).word(), value, &mut text);
            }
            end = place.end;
        }
        push_readable(&key[end..], &mut text);
        Masked(text.into())
    }

    /// A key that no definition has: what a schema does not declare is masked. Words that many keys share come
    /// back by `Masked::within`.
    pub fn unknown(&self, key: &[u8]) -> Masked {
        if self.reveal {
            return readable(key);
        }
        let mut text = String::new();
        let shown = &key[..key.len().min(SHOWN)];
        for segment in segment::segments(shown) {
            let (inside, separator) = segment::split_separator(segment);
            match str::from_utf8(inside) {
                Ok(word) if self.declares(word) => text.push_str(word),
                _ => segment::tokens(inside).iter().for_each(|token| self.token(*token, &mut text)),
            }
            text.extend(separator.iter().map(|byte| char::from(*byte)));
        }
        if shown.len() < key.len() {
            text.push('…');
        }
        Masked(text.into())
    }

    fn token(&self, token: segment::Token<'_>, text: &mut String) {
        let is_joint = token.bytes.iter().all(|byte| !byte.is_ascii_alphanumeric());
        match (token.kind, str::from_utf8(token.bytes)) {
            (Kind::Literal, Ok(word)) if is_joint || self.declares(word) => text.push_str(word),
            (kind, _) => self.mark(kind.word(), token.bytes, text),
        }
    }

    /// A text that is not a key: nothing of it is shown, but equal ones have the same mark.
    pub(crate) fn text(&self, text: &[u8]) -> Masked {
        if self.reveal {
            return readable(text);
        }
        let mut marked = String::new();
        self.mark("text", text, &mut marked);
        Masked(marked.into())
    }

    /// The name of a field that its definition does not declare.
    pub(crate) fn field(&self, name: &[u8]) -> Masked {
        self.unknown(name)
    }

    /// A key as it is, for lists of every key: nothing is cut, and each key has another text.
    pub(crate) fn whole(key: &[u8]) -> Masked {
        let mut text = String::with_capacity(key.len());
        for chunk in key.utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    '\\' => text.push_str("\\\\"),
                    char if is_unseen(char) => {
                        let _ = write!(text, "\\u{{{:x}}}", u32::from(char));
                    }
                    char => text.push(char),
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        Masked(text.into())
    }

    fn mark(&self, kind: &str, value: &[u8], out: &mut String) {
        let _ = write!(out, "<{kind}#{:04x}>", self.salt.hash(value) >> 48);
    }
}

/// The words that a schema declares: of patterns, former ones included, of types and of values, and fields.
fn words(schema: &Schema) -> Vec<String> {
    let prefix = schema.keyspace.prefix.iter().map(|prefix| &prefix.value);
    let own = schema.keys.iter().map(|definition| &definition.pattern.value);
    let renames = || schema.migrations.iter().flat_map(|it| &it.renames);
    let old = renames().map(|rename| &rename.from.value);
    let texts = prefix.chain(own).chain(old).flat_map(keyward_pattern::Template::parts);
    let texts = texts.filter_map(|part| match part {
        keyward_pattern::Part::Literal(text) => Some(text),
        keyward_pattern::Part::Hole(_) => None,
    });
    let literals = texts.flat_map(|text| text.split(*schema.keyspace.separator));
    let mut words: Vec<String> = literals.map(str::to_owned).collect();
    let params =
        schema.keys.iter().flat_map(|it| &it.params).chain(renames().flat_map(|it| &it.params));
    params.for_each(|param| words_of(&param.param.ty, &mut words));
    for field in schema.keys.iter().flat_map(|it| &it.fields) {
        words.push(field.name.value.clone());
        if let Value::Enum(values) = &field.value.value {
            words.extend(values.iter().cloned());
        }
    }
    // What stands for the values of the prefix in the patterns of undeclared keys.
    let holes = schema.keyspace.prefix.iter().flat_map(|prefix| prefix.holes());
    words.extend(holes.map(|hole| format!("{{{}}}", hole.name)));
    words.retain(|word| !word.is_empty());
    words
}

/// The words that a type declares.
fn words_of(ty: &Type, words: &mut Vec<String>) {
    match ty {
        Type::Enum(values) => words.extend(values.iter().cloned()),
        Type::Any(types) => types.iter().for_each(|ty| words_of(ty, words)),
        _ => {}
    }
}

/// Bytes as text, for those who asked for keys as they are.
fn readable(bytes: &[u8]) -> Masked {
    let mut text = String::new();
    push_readable(bytes, &mut text);
    Masked(text.into())
}

/// Bytes as text: what is not printable is escaped, what is too long is cut.
fn push_readable(bytes: &[u8], text: &mut String) {
    for chunk in bytes[..bytes.len().min(SHOWN)].utf8_chunks() {
        for char in chunk.valid().chars() {
            if is_unseen(char) {
                text.extend(char.escape_unicode());
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(reveal: bool) -> Mask {
        let schema = keyward_schema::read(
            "version = 1\n[keyspace]\nname = \"a\"\n[keys.b]\npattern = \"sess:{c:uuid}:data\"\n\
             fields = { colour = \"text\" }",
        );
        Mask::new(Salt::of("test"), reveal, &[schema.schema.expect("a schema without errors")])
    }

    fn param(kind: &str, reveal: bool, words: &[&str]) -> MaskedParam {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        MaskedParam { kind: kind.to_owned(), reveal, words }
    }

    #[test]
    fn parameters_are_masked_unless_they_are_declared_words() {
        let key = b"xc:folder:550e8400-e29b-41d4-a716-446655440000:listing";
        let places = std::slice::from_ref(&(10..46));
        let masked = |param| mask(false).defined(key, places, &[param]).to_string();
        assert_eq!(masked(param("uuid", false, &[])), "xc:folder:<uuid#36ec>:listing");
        assert_eq!(masked(param("uuid", true, &[])).as_bytes(), key);
        let misfit = mask(false).misfit(key, places, &[param("uuid", true, &[])], |_| false);
        assert_eq!(misfit.as_str(), "xc:folder:<uuid#36ec>:listing");
        let number = mask(false).misfit(
            b"xc:42",
            std::slice::from_ref(&(3..5)),
            &[param("uuid", true, &[])],
            |_| false,
        );
        assert!(number.as_str().starts_with("xc:<number#"), "{number}");
        let word = |value: &[u8]| {
            let whole = 0..value.len();
            let places = std::slice::from_ref(&whole);
            mask(false).defined(value, places, &[param("css", false, &["css", "js"])])
        };
        assert_eq!(word(b"js").as_str(), "js");
        assert!(word(b"jsx").as_str().starts_with("<css#"));
    }

    #[test]
    fn undeclared_keys_keep_declared_words_only() {
        let uuid = b"sess:550e8400-e29b-41d4-a716-446655440000:data";
        assert_eq!(mask(false).unknown(uuid).as_str(), "sess:<uuid#36ec>:data");
        let mail = mask(false).unknown(b"alice:ann@example.org/7_bob").to_string();
        assert!(mail.starts_with("<word#") && mail.contains(":<email#"), "{mail}");
        assert!(mail.contains("/<number#") && mail.contains(">_<word#"), "{mail}");
        assert_eq!(mask(false).field(b"colour").as_str(), "colour");
        assert!(mask(false).field(b"color").as_str().starts_with("<word#"));
        assert_eq!(mask(true).unknown(b"\xff:\x1b[31m").as_str(), "\\xff:\\u{1b}[31m");
    }

    #[test]
    fn keys_in_a_list_are_told_apart() {
        let whole = |key: &[u8]| Mask::whole(key).to_string();
        assert_eq!(whole(b"\\x00"), r"\\x00");
        assert_eq!(whole(b"\xff\x00"), r"\xff\u{0}");
        assert_eq!(whole("a\u{202e}b".as_bytes()), r"a\u{202e}b");
        assert_eq!(whole(&[b'a'; 999]).len(), 999);
    }

    #[test]
    fn shared_words_come_back_and_marks_stay() {
        let within = |key: &str, pattern: &[&str]| {
            let pattern: Vec<String> = pattern.iter().map(|it| (*it).to_owned()).collect();
            let masked = mask(false).unknown(key.as_bytes());
            let text = masked.within(&pattern).to_string();
            let mut bare = String::new();
            let mut inside = false;
            for char in text.chars() {
                inside |= char == '#';
                inside &= char != '>';
                if !inside {
                    bare.push(char);
                }
            }
            bare
        };
        assert_eq!(within("cart:7:x", &["cart:", "<number>:", "<text>"]), "cart:<number>:<word>");
        assert_eq!(within("cart_7:alice", &["cart_<number>:", "<word>"]), "cart_<number>:<word>");
        assert_eq!(within("a/b/c", &["a/", "<rest>"]), "a/<word>/<word>");
    }
}
