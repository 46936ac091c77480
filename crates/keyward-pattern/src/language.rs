//! From a parameter's declaration to the exact bytes that may stand for it in a key.
//!
//! Every language is built the same way: the values an application may give, as an automaton;
//! narrowed to what `normalize` leaves alone; then spelled byte by byte as the codec says.

use crate::automaton::{Dfa, Meeting, Nfa, TooLarge, chars, meet_dfa};
use crate::codec::Codec;
use crate::{Normalize, Param, Type, lower};
use std::fmt;

/// The most states a regular expression may have.
pub(crate) const MAX_REGEX_STATES: usize = 4096;
/// The most states of any language; a long enum of long words has many.
pub(crate) const MAX_STATES: usize = 65_536;

/// What may stand for a parameter in a key, and how it gets there.
#[derive(Debug)]
pub(crate) struct Language {
    /// The bytes in the key
    pub(crate) spelling: Dfa,
    /// The application's values, where they differ from their spelling
    pub(crate) values: Option<Dfa>,
    pub(crate) codec: Codec,
    pub(crate) lower: bool,
    pub(crate) min_len: usize,
    pub(crate) max_len: Option<usize>,
    shortcut: Shortcut,
}

/// Types that are checked faster than by walking their automaton; a test holds the two together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortcut {
    None,
    Uuid,
    Text,
}

impl Language {
    /// The language of a parameter that stands in one segment.
    pub(crate) fn of(param: &Param, separator: u8) -> Result<Self, LanguageError> {
        let values = values(&param.ty, separator)?;
        Language::spelled(param, values, separator)
    }

    /// The language of `{name...}`: text that may contain the separator.
    pub(crate) fn of_rest(param: &Param) -> Result<Self, LanguageError> {
        if param.ty != Type::Text {
            return Err(LanguageError::TypedRest);
        }
        if !param.encode.is_empty() {
            return Err(LanguageError::EncodedRest);
        }
        let values = text(None)?;
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
            if spelling.uses(byte) {
                return Err(LanguageError::Forbidden(byte as char));
            }
        }
        Ok(language)
    }

    fn build(param: &Param, values: Dfa, codec: Codec) -> Result<Self, LanguageError> {
        let lower = param.normalize == Some(Normalize::Lower);
        let values = if lower { values.intersect(&small(&param.ty)?, MAX_STATES)? } else { values };
        let (spelling, values) = match &codec {
            Codec::Plain => (values, None),
            codec => {
                let spelled = Nfa::spelled(&values, |byte| codec.spell(byte));
                (spelled.determinize(MAX_STATES)?, Some(values))
            }
        };
        let shortcut = match &param.ty {
            _ if lower || codec != Codec::Plain => Shortcut::None,
            Type::Uuid => Shortcut::Uuid,
            Type::Text => Shortcut::Text,
            _ => Shortcut::None,
        };
        let (min_len, max_len) = (spelling.min_len(), spelling.max_len());
        Ok(Language { spelling, values, codec, lower, min_len, max_len, shortcut })
    }

    /// The application's values.
    #[cfg(feature = "prove")]
    pub(crate) fn values(&self) -> &Dfa {
        self.values.as_ref().unwrap_or(&self.spelling)
    }

    /// Whether a whole segment, known to be free of separators, spells a value.
    #[inline]
    pub(crate) fn matches(&self, segment: &[u8]) -> bool {
        match self.shortcut {
            Shortcut::Uuid => is_uuid(segment),
            Shortcut::Text if is_plain_ascii(segment) => true,
            _ => self.spelling.matches(segment),
        }
    }

    /// Whether the bytes spell a value, wherever they come from.
    #[inline]
    pub(crate) fn matches_any(&self, bytes: &[u8], separator: u8) -> bool {
        match self.shortcut {
            Shortcut::Text if is_plain_ascii(bytes) => !bytes.contains(&separator),
            _ => self.matches(bytes),
        }
    }
}

/// Lower-case hex digits with hyphens at their four places. Measured at a third of the automaton's time.
#[inline]
fn is_uuid(segment: &[u8]) -> bool {
    const HEX: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            table[byte] = matches!(byte as u8, b'0'..=b'9' | b'a'..=b'f');
            byte += 1;
        }
        table
    };
    let Ok(segment) = <&[u8; 36]>::try_from(segment) else { return false };
    let mut good = true;
    let mut at = 0;
    while at < 36 {
        good &= match at {
            8 | 13 | 18 | 23 => segment[at] == b'-',
            _ => HEX[segment[at] as usize],
        };
        at += 1;
    }
    good
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

/// The values of a type, before normalisation and encoding.
fn values(ty: &Type, separator: u8) -> Result<Dfa, LanguageError> {
    let digits = || Nfa::bytes(&[(b'0', b'9')]);
    let hex = || Nfa::bytes(&[(b'0', b'9'), (b'a', b'f')]);
    let many = |nfa: Nfa| nfa.repeat(1, None);
    let exactly = |nfa: Nfa, count: u32| nfa.repeat(count, Some(count));
    let nfa = match ty {
        Type::Text => return text(Some(separator)),
        Type::Encoded => return Ok(many(chars(&[('\0', char::MAX)])?)?.determinize(MAX_STATES)?),
        Type::Uuid => {
            let hyphen = || Nfa::literal(b"-");
            Nfa::concat([
                exactly(hex(), 8)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 4)?,
                hyphen(),
                exactly(hex(), 12)?,
            ])?
        }
        Type::Int => Nfa::any([
            up_to(i64::MAX as u64)?,
            Nfa::literal(b"-").then(positive_up_to(i64::MIN.unsigned_abs())?)?,
        ])?,
        Type::Uint => up_to(u64::MAX)?,
        Type::Unix => up_to(253_402_300_799)?,
        Type::UnixMs => up_to(253_402_300_799_999)?,
        Type::Digits(count) => exactly(digits(), u32::from(*count))?,
        Type::Hex(None) => many(hex())?,
        Type::Hex(Some(count)) => exactly(hex(), u32::from(*count))?,
        Type::Word => many(Nfa::bytes(&[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')]))?,
        Type::Slug => {
            let run = || many(Nfa::bytes(&[(b'0', b'9'), (b'a', b'z')]));
            run()?.then(Nfa::literal(b"-").then(run()?)?.repeat(0, None)?)?
        }
        Type::Locale => locale()?,
        Type::Date => date()?,
        Type::Ip => Nfa::any([ipv4()?, exactly(hex(), 32)?])?,
        Type::Enum(words) => enumeration(words)?,
        Type::Regex(regex) => return regex_values(regex),
        Type::Any(types) => return union(types, separator),
        Type::Key(_) => return Err(LanguageError::KeyInside),
    };
    Ok(nfa.determinize(MAX_STATES)?)
}

/// Text, with or without a separator that it must not contain.
fn text(separator: Option<u8>) -> Result<Dfa, LanguageError> {
    let mut ranges = Vec::new();
    let mut first = ' ';
    for byte in 0x21..=0x7fu8 {
        let char = byte as char;
        if matches!(char, '{' | '}' | '\x7f') || Some(byte) == separator {
            if first < char {
                ranges.push((first, (byte - 1) as char));
            }
            first = (byte + 1) as char;
        }
    }
    ranges.push(('\u{a0}', char::MAX));
    Ok(chars(&ranges)?.repeat(1, None)?.determinize(MAX_STATES)?)
}

/// What `lower` leaves alone. For a type of ASCII words, bytes are enough and far smaller.
fn small(ty: &Type) -> Result<Dfa, LanguageError> {
    if !matches!(ty, Type::Text | Type::Encoded | Type::Enum(_)) {
        let bytes = Nfa::bytes(&[(0, b'A' - 1), (b'Z' + 1, 0xff)]);
        return Ok(bytes.repeat(0, None)?.determinize(MAX_STATES)?);
    }
    let mut ranges = Vec::new();
    let mut first = '\0';
    for capital in lower::capitals() {
        if first < capital {
            ranges.extend(char::from_u32(capital as u32 - 1).map(|last| (first, last)));
        }
        first = char::from_u32(capital as u32 + 1).unwrap_or(capital);
    }
    ranges.push((first, char::MAX));
    Ok(chars(&ranges)?.repeat(0, None)?.determinize(MAX_STATES)?)
}

fn enumeration(words: &[String]) -> Result<Nfa, LanguageError> {
    if words.is_empty() {
        return Err(LanguageError::Nothing);
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = words.iter().find(|word| !seen.insert(word.as_str())) {
        return Err(LanguageError::WordTwice(twice.clone()));
    }
    Ok(Nfa::any(words.iter().map(|word| Nfa::literal(word.as_bytes())))?)
}

fn union(types: &[Type], separator: u8) -> Result<Dfa, LanguageError> {
    let mut members: Vec<(&Type, Dfa)> = Vec::new();
    for ty in types {
        if *ty == Type::Encoded {
            return Err(LanguageError::EncodedInside);
        }
        let dfa = values(ty, separator)?;
        for (other, earlier) in &members {
            if let Meeting::At(witness) = meet_dfa(earlier, &dfa)? {
                return Err(LanguageError::NotDisjoint {
                    left: other.to_string(),
                    right: ty.to_string(),
                    witness: String::from_utf8_lossy(&witness).into_owned(),
                });
            }
        }
        members.push((ty, dfa));
    }
    if members.is_empty() {
        return Err(LanguageError::Nothing);
    }
    Ok(Nfa::any(members.iter().map(|(_, dfa)| Nfa::from_dfa(dfa)))?.determinize(MAX_STATES)?)
}

/// Canonical decimal numbers from 0.
fn up_to(max: u64) -> Result<Nfa, TooLarge> {
    Nfa::any([Nfa::literal(b"0"), positive_up_to(max)?])
}

/// Canonical decimal numbers from 1: shorter ones, and those as long that are no greater.
fn positive_up_to(max: u64) -> Result<Nfa, TooLarge> {
    let digits = max.to_string().into_bytes();
    let any = |count: usize| {
        let count = u32::try_from(count).map_err(|_| TooLarge)?;
        Nfa::bytes(&[(b'0', b'9')]).repeat(count, Some(count))
    };
    let mut ways = vec![Nfa::literal(&digits)];
    for shorter in 1..digits.len() {
        ways.push(Nfa::bytes(&[(b'1', b'9')]).then(any(shorter - 1)?)?);
    }
    for (at, &digit) in digits.iter().enumerate() {
        let first = if at == 0 { b'1' } else { b'0' };
        if first < digit {
            let smaller = Nfa::bytes(&[(first, digit - 1)]).then(any(digits.len() - at - 1)?)?;
            ways.push(Nfa::literal(&digits[..at]).then(smaller)?);
        }
    }
    Nfa::any(ways)
}

fn ipv4() -> Result<Nfa, TooLarge> {
    let octet = || up_to(255);
    let dot = || Nfa::literal(b".");
    Nfa::concat([octet()?, dot(), octet()?, dot(), octet()?, dot(), octet()?])
}

/// Language, script and region with the same joint throughout.
fn locale() -> Result<Nfa, TooLarge> {
    let small = || Nfa::bytes(&[(b'a', b'z')]);
    let capital = || Nfa::bytes(&[(b'A', b'Z')]);
    let mut ways = Vec::new();
    for joint in [b"_", b"-"] {
        let script = Nfa::concat([Nfa::literal(joint), capital(), small().repeat(3, Some(3))?])?;
        let region = Nfa::any([
            capital().repeat(2, Some(2))?,
            Nfa::bytes(&[(b'0', b'9')]).repeat(3, Some(3))?,
        ])?;
        let region = Nfa::literal(joint).then(region)?;
        ways.push(script.repeat(0, Some(1))?.then(region.repeat(0, Some(1))?)?);
    }
    small().repeat(2, Some(3))?.then(Nfa::any(ways)?)
}

/// The days of the Gregorian calendar, years 1 to 9999.
fn date() -> Result<Nfa, TooLarge> {
    let words = |range: std::ops::RangeInclusive<u32>, keep: &dyn Fn(u32) -> bool, width: usize| {
        let words =
            range.filter(|&n| keep(n)).map(|n| Nfa::literal(format!("{n:0width$}").as_bytes()));
        Nfa::any(words.collect::<Vec<_>>())
    };
    let leap = |year: u32| {
        (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
    };
    let days = |last: u32| words(1..=last, &|_| true, 2);
    let long = words(1..=12, &|month| matches!(month, 1 | 3 | 5 | 7 | 8 | 10 | 12), 2)?;
    let short = words(1..=12, &|month| matches!(month, 4 | 6 | 9 | 11), 2)?;
    let hyphen = || Nfa::literal(b"-");
    let of_any_year = Nfa::any([
        Nfa::concat([long, hyphen(), days(31)?])?,
        Nfa::concat([short, hyphen(), days(30)?])?,
        Nfa::concat([Nfa::literal(b"02-"), days(28)?])?,
    ])?;
    // Ten thousand words would be a large automaton on the way to a small one: centuries first.
    let pair = |keep: &dyn Fn(u32) -> bool| words(0..=99, keep, 2);
    let year = Nfa::any([
        pair(&|century| century > 0)?.then(pair(&|_| true)?)?,
        Nfa::literal(b"00").then(pair(&|year| year > 0)?)?,
    ])?;
    let leap_year = Nfa::any([
        pair(&|_| true)?.then(pair(&|year| year > 0 && leap(year))?)?,
        pair(&|century| century > 0 && leap(century * 100))?.then(Nfa::literal(b"00"))?,
    ])?;
    Nfa::any([
        Nfa::concat([year, hyphen(), of_any_year])?,
        Nfa::concat([leap_year, Nfa::literal(b"-02-29")])?,
    ])
}

#[cfg(feature = "prove")]
fn regex_values(regex: &str) -> Result<Dfa, LanguageError> {
    crate::prove::regex(regex)
}

#[cfg(not(feature = "prove"))]
fn regex_values(_: &str) -> Result<Dfa, LanguageError> {
    Err(LanguageError::Regex("regular expressions need the feature `prove`".to_owned()))
}

/// Why a declaration is not a language that can stand in a key.
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
            LanguageError::NotDisjoint { left, right, witness } => {
                write!(f, "`{witness}` is both {left} and {right}")
            }
            LanguageError::Regex(message) => f.write_str(message),
            LanguageError::TooLarge => {
                write!(f, "the type needs more than {MAX_REGEX_STATES} states")
            }
            LanguageError::EncodedInside => f.write_str("`encoded` cannot be part of `any`"),
            LanguageError::EncodedTwice => f.write_str("`encoded` cannot be encoded again"),
            LanguageError::Encode(message) => f.write_str(message),
            LanguageError::KeyInside => {
                f.write_str("`key` cannot be part of `any`, normalised or encoded")
            }
            LanguageError::TypedRest => {
                f.write_str("a parameter that takes the rest of the key is text")
            }
            LanguageError::EncodedRest => {
                f.write_str("a parameter that takes the rest of the key cannot be encoded")
            }
        }
    }
}

impl std::error::Error for LanguageError {}
