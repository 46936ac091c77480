//! From a parameter's declaration to the exact bytes it may have in a key.
//!
//! Every language is built the same way: the values an application may give, as an automaton;
//! narrowed to what `normalize` leaves alone; then spelled byte by byte as the codec says.

use crate::automaton::{Dfa, Nfa, TooLarge};
use crate::codec::Codec;
use crate::forms::Forms;
#[cfg(feature = "compile")]
use crate::type_values::{free_of, raw, small, text, values};
#[cfg(feature = "compile")]
use crate::{Normalize, Param, Type};
use crate::{Value, lower};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// The most states a regular expression may have.
pub(crate) const MAX_REGEX_STATES: usize = 4096;
/// The most states of any language; a long enum of long words has many.
pub(crate) const MAX_STATES: usize = 65_536;

/// What a parameter may be in a key, and how it is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Language {
    /// The bytes in the key
    pub(crate) spelling: Dfa,
    /// The application's values, where they differ from their spelling
    pub(crate) values: Option<Dfa>,
    pub(crate) codec: Codec,
    pub(crate) lower: bool,
    /// Other ways to write a value
    pub(crate) forms: Forms,
    pub(crate) min_len: usize,
    pub(crate) max_len: Option<usize>,
    shortcut: Shortcut,
}

/// Languages that are checked faster than by walking their automaton, where each byte waits for
/// the one before it; a test holds the two together.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shortcut {
    None,
    Uuid,
    Text,
    /// A canonical decimal number; up to so many digits none is out of range
    Number {
        digits: usize,
        signed: bool,
    },
    /// So many bytes, each out of one set
    Run {
        set: Box<[bool; 256]>,
        lengths: std::ops::RangeInclusive<usize>,
    },
}

#[cfg(feature = "compile")]
impl Language {
    /// The language of a parameter, which may take the rest of the key.
    ///
    /// A program compiles a keyspace several times, and several that use the same types: whoever still has
    /// a language shares it.
    pub(crate) fn shared(
        param: &Param,
        rest: bool,
        separator: u8,
    ) -> Result<Arc<Self>, LanguageError> {
        type Shared = Mutex<HashMap<(Param, bool, u8), Weak<Language>>>;
        static SHARED: LazyLock<Shared> = LazyLock::new(Mutex::default);
        let lock = || SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (param.clone(), rest, separator);
        if let Some(known) = lock().get(&key).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let made = if rest { Language::of_rest(param) } else { Language::of(param, separator) };
        let made = Arc::new(made?);
        let mut shared = lock();
        if shared.len().is_power_of_two() {
            shared.retain(|_, language| language.strong_count() > 0);
        }
        shared.insert(key, Arc::downgrade(&made));
        Ok(made)
    }

    /// The language of a parameter that stands in one segment.
    pub(crate) fn of(param: &Param, separator: u8) -> Result<Self, LanguageError> {
        let values = match &param.ty {
            // What `encode` takes out of a value may stand in it.
            Type::Text => {
                let kept = [separator, b'{', b'}'].into_iter().chain(param.without.bytes());
                text(&kept.filter(|byte| !param.encodes(*byte)).collect::<Vec<_>>())?
            }
            ty => values(ty, separator)?,
        };
        let values = Language::without(param, values, separator)?;
        if let Some((char, _)) =
            param.encode.iter().find(|(char, _)| char.is_ascii() && !values.uses(*char as u8))
        {
            let message = format!("no value contains `{char}`, so encoding it has no effect");
            return Err(LanguageError::Encode(message));
        }
        let letters = || (b'a'..=b'z').chain(b'A'..=b'Z').chain(0x80..=0xff);
        if param.normalize.is_some() && !letters().any(|byte| values.uses(byte)) {
            return Err(LanguageError::NoLetters);
        }
        if let (Type::Enum(words), Some(Normalize::Lower)) = (&param.ty, param.normalize)
            && let Some(word) = words.iter().find(|word| word.chars().any(lower::is_capital))
        {
            return Err(LanguageError::Capital(word.clone()));
        }
        Language::spelled(param, values, separator)
    }

    /// The values without the characters that the parameter excludes; those that it encodes may stand in a value.
    fn without(param: &Param, values: Dfa, separator: u8) -> Result<Dfa, LanguageError> {
        if param.without.is_empty() {
            return Ok(values);
        }
        if matches!(param.ty, Type::Enum(_) | Type::Encoded) {
            return Err(LanguageError::WithoutNothing(param.ty.to_string()));
        }
        let of_type = match &param.ty {
            Type::Text => text(&[separator, b'{', b'}'])?,
            _ => values.clone(),
        };
        if let Some(mark) = param.without.chars().find(|mark| {
            !mark.is_ascii() || !of_type.uses(*mark as u8) && !param.encodes(*mark as u8)
        }) {
            return Err(LanguageError::WithoutEffect(mark));
        }
        let excluded: Vec<u8> =
            param.without.bytes().filter(|byte| !param.encodes(*byte)).collect();
        Ok(values.intersect(&free_of(&excluded)?, MAX_STATES)?)
    }

    /// The language of `{name...}`: text that may contain the separator.
    pub(crate) fn of_rest(param: &Param) -> Result<Self, LanguageError> {
        if !matches!(param.ty, Type::Text | Type::Raw) {
            return Err(LanguageError::TypedRest);
        }
        if !param.encode.is_empty() {
            return Err(LanguageError::EncodedRest);
        }
        let kept: Vec<u8> = b"{}".iter().copied().chain(param.without.bytes()).collect();
        let values =
            if param.ty == Type::Raw { raw(param.without.as_bytes())? } else { text(&kept)? };
        let mut language = Language::build(param, values, Codec::Plain)?;
        language.shortcut = Shortcut::None;
        Ok(language)
    }

    fn spelled(param: &Param, values: Dfa, separator: u8) -> Result<Self, LanguageError> {
        let codec = match (&param.ty, param.encode.as_slice()) {
            (Type::Encoded, []) => Codec::percent(separator),
            (Type::Encoded, _) => return Err(LanguageError::EncodedTwice),
            (_, []) => Codec::Plain,
            (_, mapping) => Codec::mapped(mapping)?,
        };
        let language = Language::build(param, values, codec)?;
        let spelling = &language.spelling;
        if spelling.is_empty() {
            return Err(LanguageError::Nothing);
        }
        if spelling.accepting(spelling.start()) {
            return Err(LanguageError::Empty);
        }
        for byte in (0..=0x1f).chain([0x7f, b'{', b'}', separator]) {
            let allowed = match byte {
                _ if byte == separator => param.ty.spans(),
                _ => param.ty == Type::Raw,
            };
            if spelling.uses(byte) && !allowed {
                return Err(LanguageError::Forbidden(byte as char));
            }
        }
        if let Some(mark) = param.without.chars().find(|mark| spelling.uses(*mark as u8)) {
            let message = format!("a replacement contains `{mark}`, which `without` excludes");
            return Err(LanguageError::Encode(message));
        }
        Ok(language)
    }

    fn build(param: &Param, values: Dfa, codec: Codec) -> Result<Self, LanguageError> {
        let lower = param.normalize == Some(Normalize::Lower);
        let values = if lower { values.intersect(&small(&param.ty)?, MAX_STATES)? } else { values };
        let values = if param.except.is_empty() {
            values
        } else {
            let words = param.except.iter().map(|word| Nfa::literal(word.as_bytes()));
            values.without(&Nfa::any(words)?.determinize(MAX_STATES)?, MAX_STATES)?
        };
        let (spelling, values) = match &codec {
            Codec::Plain => (values, None),
            codec => {
                let spelled = Nfa::spelled(&values, |byte| codec.spell(byte));
                (spelled.determinize(MAX_STATES)?, Some(values))
            }
        };
        let shortcut = match &param.ty {
            _ if codec != Codec::Plain || !param.except.is_empty() || !param.without.is_empty() => {
                Shortcut::run(&spelling)
            }
            Type::Uuid => Shortcut::Uuid,
            Type::Text if !lower => Shortcut::Text,
            Type::Int => Shortcut::INT,
            Type::Uint => Shortcut::UINT,
            Type::Unix => Shortcut::UNIX,
            Type::UnixMs => Shortcut::UNIX_MS,
            _ => Shortcut::run(&spelling),
        };
        let (min_len, max_len) = (spelling.min_len(), spelling.max_len());
        let forms = Forms::of(&param.ty);
        Ok(Language { spelling, values, codec, lower, forms, min_len, max_len, shortcut })
    }
}

impl Language {
    /// A language that was written into a block, see [`crate::Tables`].
    pub(crate) fn from_parts(
        spelling: Dfa,
        values: Option<Dfa>,
        codec: Codec,
        lower: bool,
        forms: Forms,
        hint: u8,
    ) -> Self {
        let known = Shortcut::HINTS.iter().find(|(known, _)| *known == hint);
        let shortcut =
            known.map_or_else(|| Shortcut::run(&spelling), |(_, shortcut)| shortcut.clone());
        let (min_len, max_len) = (spelling.min_len(), spelling.max_len());
        Language { spelling, values, codec, lower, forms, min_len, max_len, shortcut }
    }

    /// What [`Language::from_parts`] needs to know besides the automata.
    pub(crate) fn hint(&self) -> u8 {
        let known = Shortcut::HINTS.iter().find(|(_, known)| *known == self.shortcut);
        known.map_or(0, |(hint, _)| *hint)
    }

    /// The application's values.
    #[cfg(feature = "prove")]
    pub(crate) fn values(&self) -> &Dfa {
        self.values.as_ref().unwrap_or(&self.spelling)
    }

    /// Whether a whole segment, known to be free of separators, spells a value.
    #[inline]
    pub(crate) fn matches(&self, segment: &[u8]) -> bool {
        match &self.shortcut {
            Shortcut::Uuid => segment.try_into().is_ok_and(is_uuid),
            Shortcut::Text if is_plain_ascii(segment) => true,
            Shortcut::Run { set, lengths } => {
                lengths.contains(&segment.len())
                    && segment.iter().all(|&byte| set[usize::from(byte)])
            }
            Shortcut::Number { digits, signed } => match segment {
                [b'1'..=b'9', rest @ ..] if rest.len() < *digits => {
                    rest.iter().all(u8::is_ascii_digit)
                }
                [b'0'] => true,
                [b'0', ..] => false,
                [b'-', ..] if !signed => false,
                _ => self.spelling.matches(segment),
            },
            _ => self.spelling.matches(segment),
        }
    }

    /// Whether it is that of uuids, see [`is_uuid`].
    pub(crate) fn is_uuid(&self) -> bool {
        self.shortcut == Shortcut::Uuid
    }

    /// Whether a value is spelled as it is.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.lower && self.values.is_none()
    }

    /// The value that an application means by a text: in lower case where that is declared, and in
    /// its one spelling if it is written in another form. `None` if it is not a value.
    pub(crate) fn value<'t>(&self, text: &'t str, separator: u8) -> Option<Cow<'t, str>> {
        let value: Cow<'t, str> = if self.lower && text.chars().any(lower::is_capital) {
            text.chars().map(lower::lower).collect::<String>().into()
        } else {
            text.into()
        };
        let good = |value: &str| match &self.values {
            Some(values) => values.matches(value.as_bytes()),
            None => self.matches_any(value.as_bytes(), separator),
        };
        if good(&value) {
            return Some(value);
        }
        self.forms.canonical(text).filter(|canonical| good(canonical)).map(Cow::Owned)
    }

    /// Whether it is a value, as it is.
    pub(crate) fn holds(&self, value: &str) -> bool {
        self.values.as_ref().unwrap_or(&self.spelling).matches(value.as_bytes())
    }

    /// Whether a value needs no look: its own type makes it one of the language.
    #[inline]
    pub(crate) fn holds_every(&self, value: &Value<'_>) -> bool {
        matches!(
            (value, &self.shortcut),
            (Value::Uuid(_), Shortcut::Uuid)
                | (Value::Int(_), Shortcut::Number { digits: 18, .. })
                | (Value::Uint(_), Shortcut::Number { digits: 19, .. })
        )
    }

    /// Whether the bytes spell a value, wherever they come from.
    #[inline]
    pub(crate) fn matches_any(&self, bytes: &[u8], separator: u8) -> bool {
        match &self.shortcut {
            Shortcut::Text if is_plain_ascii(bytes) => !bytes.contains(&separator),
            _ => self.matches(bytes),
        }
    }
}

impl Shortcut {
    const UNIX: Self = Shortcut::Number { digits: 11, signed: false };
    const UNIX_MS: Self = Shortcut::Number { digits: 14, signed: false };
    const INT: Self = Shortcut::Number { digits: 18, signed: true };
    const UINT: Self = Shortcut::Number { digits: 19, signed: false };

    /// Those that an automaton does not show, with the number that stands for each in a block.
    const HINTS: [(u8, Shortcut); 6] = [
        (1, Shortcut::Uuid),
        (2, Shortcut::Text),
        (3, Shortcut::INT),
        (4, Shortcut::UINT),
        (5, Shortcut::UNIX),
        (6, Shortcut::UNIX_MS),
    ];

    /// Recognises an automaton that only counts bytes out of one set: a chain, or a state that
    /// leads to itself.
    fn run(dfa: &Dfa) -> Self {
        let mut set = Box::new([false; 256]);
        for byte in 0..=u8::MAX {
            set[usize::from(byte)] = !Dfa::is_dead(dfa.next(dfa.start(), byte));
        }
        let Some(sample) = set.iter().position(|&member| member) else { return Shortcut::None };
        let sample = u8::try_from(sample).unwrap_or_default();
        let (mut at, mut len) = (dfa.start(), 0);
        let mut first_accepting = None;
        loop {
            let next = dfa.next(at, sample);
            let uniform = (0..=u8::MAX).all(|byte| {
                let expected = if set[usize::from(byte)] { next } else { 0 };
                dfa.next(at, byte) == expected
            });
            match (dfa.accepting(at), first_accepting) {
                (true, None) => first_accepting = Some(len),
                (false, Some(_)) => return Shortcut::None,
                _ => {}
            }
            if Dfa::is_dead(next) || next == at {
                let lengths =
                    first_accepting.map(|min| min..=if next == at { usize::MAX } else { len });
                return match lengths {
                    Some(lengths) if uniform || Dfa::is_dead(next) => {
                        Shortcut::Run { set, lengths }
                    }
                    _ => Shortcut::None,
                };
            }
            if !uniform || len > dfa.states() {
                return Shortcut::None;
            }
            (at, len) = (next, len + 1);
        }
    }
}

/// Lower-case hex digits with hyphens at their four places, eight bytes at a time: three quarters of
/// the instructions that a look at a table for each byte takes.
pub(crate) fn is_uuid(segment: &[u8; 36]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The hyphens of the second and the third word, all bits of their places, and what makes each
    // a zero, so that the whole word is digits.
    const HYPHENS: [u64; 2] = [0x0000_2d00_0000_002d, 0x2d00_0000_002d_0000];
    const PLACES: [u64; 2] = [0x0000_ff00_0000_00ff, 0xff00_0000_00ff_0000];
    const TO_ZEROS: [u64; 2] = [0x0000_1d00_0000_001d, 0x1d00_0000_001d_0000];
    // Each byte's high bit says whether it is a digit: the sums' bits tell `0` and above, past `9`,
    // `a` and above, past `f`. Only exact where all are below 0x80, which the last term makes sure of.
    let digits = |word: u64| {
        let from = |byte: u64| word.wrapping_add(ONES * (0x80 - byte));
        (from(0x30) ^ from(0x3a) ^ from(0x61) ^ from(0x67)) & !word
    };
    let word = |at: usize| segment[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let (second, third) = (word(8), word(16));
    if second & PLACES[0] != HYPHENS[0] || third & PLACES[1] != HYPHENS[1] {
        return false;
    }
    let all = digits(word(0))
        & digits(second ^ TO_ZEROS[0])
        & digits(third ^ TO_ZEROS[1])
        & digits(word(24))
        & digits(word(28));
    all & HIGH == HIGH
}

/// Not empty, printable ASCII, no braces: text without looking further, eight bytes at a time.
#[inline]
fn is_plain_ascii(segment: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Each byte's high bit says whether it is out of line. Only exact where all are below 0x80,
    // which the last term makes sure of.
    let odd = |word: u64| {
        let below_space = word.wrapping_sub(ONES * 0x20);
        let is = |byte: u64| {
            let x = word ^ (ONES * byte);
            x.wrapping_sub(ONES) & !x
        };
        (below_space | is(0x7b) | is(0x7d) | is(0x7f) | word) & HIGH != 0
    };
    let (words, tail) = segment.as_chunks::<8>();
    if words.iter().any(|word| odd(u64::from_le_bytes(*word))) {
        return false;
    }
    !segment.is_empty() && tail.iter().all(|&byte| matches!(byte, 0x20..=0x7a | 0x7c | 0x7e))
}

/// Why a declaration is not a language that can be part of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LanguageError {
    /// No value at all: an empty enum, a regular expression that matches nothing
    Nothing,
    /// The empty string would be a value
    Empty,
    /// A value could contain this character: the separator, a brace or a control character
    Forbidden(char),
    /// The same word twice in an enum
    WordTwice(String),
    /// A word of an enum that `normalize = "lower"` would change
    Capital(String),
    /// `normalize` where no value has a letter
    NoLetters,
    /// Two members of `any` share a value
    NotDisjoint {
        /// One member
        left: String,
        /// The other
        right: String,
        /// What they share
        witness: String,
    },
    /// Not a regular expression that can be a language
    Regex(String),
    /// More states than are allowed
    TooLarge,
    /// `encoded` inside `any`
    EncodedInside,
    /// `encoded` with an `encode` of its own
    EncodedTwice,
    /// A bad entry of `encode`
    Encode(String),
    /// `key` inside `any`, or normalised, or encoded
    KeyInside,
    /// `{name...}` with another type than text
    TypedRest,
    /// `{name...}` with `encode`
    EncodedRest,
    /// `without` a character that no value contains
    WithoutEffect(char),
    /// `without` for a type that says its characters itself
    WithoutNothing(String),
}

impl From<TooLarge> for LanguageError {
    fn from(_: TooLarge) -> Self {
        LanguageError::TooLarge
    }
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LanguageError::Nothing => f.write_str("no value has this type"),
            LanguageError::Empty => f.write_str("the empty string would be a value"),
            LanguageError::Forbidden(char @ ('{' | '}')) => {
                write!(f, "a value could contain `{char}` and choose its hash slot")
            }
            LanguageError::Forbidden(char) if char.is_control() => {
                write!(f, "a value could contain the control character U+{:04X}", *char as u32)
            }
            LanguageError::Forbidden(char) => {
                write!(f, "a value could contain the separator `{char}`")
            }
            LanguageError::WordTwice(word) => write!(f, "the word `{word}` is listed twice"),
            LanguageError::Capital(word) => {
                write!(
                    f,
                    "`{word}` has upper-case letters, and `normalize` makes values lower case"
                )
            }
            LanguageError::NoLetters => {
                f.write_str("no value has letters, so `normalize` has no effect")
            }
            LanguageError::NotDisjoint { left, right, witness } => {
                write!(f, "`{witness}` is both {left} and {right}")
            }
            LanguageError::TooLarge => {
                write!(f, "the type needs more than {MAX_REGEX_STATES} states")
            }
            LanguageError::EncodedInside => f.write_str("`encoded` cannot be part of `any`"),
            LanguageError::EncodedTwice => f.write_str("`encoded` cannot be encoded again"),
            LanguageError::Regex(message) | LanguageError::Encode(message) => f.write_str(message),
            LanguageError::KeyInside => {
                f.write_str("`key` cannot be part of `any`, normalised or encoded")
            }
            LanguageError::TypedRest => {
                f.write_str("a parameter that takes several segments must be text")
            }
            LanguageError::EncodedRest => {
                f.write_str("a parameter that takes several segments cannot be encoded")
            }
            LanguageError::WithoutEffect(mark) => {
                write!(f, "no value contains `{mark}`, so excluding it has no effect")
            }
            LanguageError::WithoutNothing(ty) => write!(f, "`without` cannot narrow {ty}"),
        }
    }
}

impl std::error::Error for LanguageError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
        let mut params: Vec<Param> = Type::NAMES
            .iter()
            .map(|name| Param::from(Type::named(&name.replace("(n)", "(5)")).unwrap()))
            .collect();
        for regex in ["[ab]{2,4}", "[ab]+", "a|bb", "[ab]{0,3}c", "x"] {
            params.push(Type::Regex(regex.to_owned()).into());
        }
        params.push(Type::Enum(vec!["a".to_owned(), "b".to_owned()]).into());
        for ty in [Type::Text, Type::Word, Type::Uint, Type::Hex(None)] {
            let except = ["a", "ab", "10", "é"].map(str::to_owned).to_vec();
            params.push(Param { except, ..Param::from(ty) });
        }
        for ty in [Type::Text, Type::Slug, Type::Base64Url(None), Type::Int] {
            params.push(Param { without: "-".to_owned(), ..Param::from(ty) });
        }
        for ty in [Type::Text, Type::Uuid, Type::Word] {
            params.push(Param { normalize: Some(Normalize::Lower), ..Param::from(ty) });
        }
        for ty in [Type::Text, Type::Uuid, Type::Uint, Type::Word] {
            params.push(Param { encode: vec![('1', "x".to_owned())], ..Param::from(ty) });
        }
        params.iter().map(|param| Language::of(param, b':').unwrap()).collect()
    });

    proptest! {
        #[test]
        fn shortcuts_agree_with_their_automata(
            random in prop::collection::vec(any::<u8>(), 0..40),
            likely in "[0-9a-cxA-B_{}~ -]{0,24}|-?[0-9]{1,21}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-g]{12}",
        ) {
            for language in LANGUAGES.iter() {
                for segment in [random.as_slice(), likely.as_bytes()] {
                    // Segments are cut at the separator before they are matched.
                    if !segment.contains(&b':') {
                        prop_assert_eq!(language.matches(segment), language.spelling.matches(segment));
                    }
                    prop_assert_eq!(
                        language.matches_any(segment, b':'),
                        language.spelling.matches(segment)
                    );
                }
            }
        }
    }

    #[test]
    fn a_word_that_is_excepted_is_no_value_and_every_other_is() {
        let except = vec!["active".to_owned(), "all".to_owned()];
        for ty in [Type::Text, Type::Word, Type::Slug, Type::Encoded] {
            let language =
                Language::of(&Param { except: except.clone(), ..ty.into() }, b':').unwrap();
            for refused in ["active", "all"] {
                assert!(!language.holds(refused) && !language.matches(refused.as_bytes()));
            }
            for kept in ["activ", "actives", "al", "alla", "x"] {
                assert!(language.holds(kept) && language.matches(kept.as_bytes()), "{kept}");
            }
        }
        let all = Param { except, ..Type::Regex("all|active".to_owned()).into() };
        assert_eq!(Language::of(&all, b':'), Err(LanguageError::Nothing));
    }

    #[test]
    fn what_is_excluded_stands_in_no_spelling() {
        let without = |ty: Type, marks: &str| Param { without: marks.to_owned(), ..ty.into() };
        let text = Language::of(&without(Type::Text, "/."), b':').unwrap();
        for (value, holds) in [("a-b", true), ("a/b", false), ("a.b", false), ("ü|", true)] {
            assert_eq!(text.matches(value.as_bytes()), holds, "{value}");
        }
        let slug = Language::of(&without(Type::Slug, "-"), b':').unwrap();
        assert!(slug.holds("ab1") && !slug.holds("a-b"));
        let encode = vec![('/', "%2F".to_owned()), ('%', "%25".to_owned())];
        let path = Param { encode, ..without(Type::Text, "/") };
        let path = Language::of(&path, b':').unwrap();
        assert!(path.holds("a/b") && path.matches(b"a%2Fb") && !path.matches(b"a/b"));

        let error = |param: &Param| Language::of(param, b':').unwrap_err();
        assert_eq!(error(&without(Type::Text, ":")), LanguageError::WithoutEffect(':'));
        assert_eq!(error(&without(Type::Word, "/")), LanguageError::WithoutEffect('/'));
        assert_eq!(error(&without(Type::Text, "ü")), LanguageError::WithoutEffect('ü'));
        assert_eq!(error(&without(Type::Uuid, "-")), LanguageError::Nothing);
        let of_enum = without(Type::Enum(vec!["a-b".to_owned()]), "-");
        assert_eq!(error(&of_enum).to_string(), "`without` cannot narrow one of `a-b`");
        let encode = vec![('.', "/".to_owned())];
        let back = Param { encode, ..without(Type::Text, "/") };
        let message = "a replacement contains `/`, which `without` excludes";
        assert_eq!(error(&back).to_string(), message);
    }

    #[test]
    fn languages_are_as_small_as_they_can_be() {
        let states = |name: &str| {
            Language::of(&Type::named(name).unwrap().into(), b':').unwrap().spelling.states() - 1
        };
        assert_eq!(states("uuid"), 37);
        assert_eq!(states("uint"), 39);
        assert_eq!(states("hex(1024)"), 1025);
        assert!(states("text") <= 17, "{}", states("text"));
    }
}
