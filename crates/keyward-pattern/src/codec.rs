//! How a value's bytes are spelled in a key, and read back.

use crate::automaton::Dfa;
use crate::language::LanguageError;
use std::borrow::Cow;

/// The longest replacement of one character.
const MAX_REPLACEMENT: usize = 16;

/// A spelling for each byte of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Codec {
    /// As it is
    Plain,
    /// `encoded`: all but these bytes as `%XX`
    Percent { separator: u8 },
    /// `encode = { … }`: some ASCII characters otherwise
    Mapped(Box<[Option<Box<str>>; 128]>),
}

impl Codec {
    pub(crate) fn percent(separator: u8) -> Self {
        Codec::Percent { separator }
    }

    pub(crate) fn mapped(mapping: &[(char, String)]) -> Result<Self, LanguageError> {
        let mut table: Box<[Option<Box<str>>; 128]> = Box::new([const { None }; 128]);
        for (char, replacement) in mapping {
            let bad = |why: &str| Err(LanguageError::Encode(format!("`{char}` {why}")));
            if !char.is_ascii() || char.is_control() {
                return bad("is not a printable ASCII character, so it cannot be encoded here");
            }
            let slot = &mut table[*char as usize];
            if slot.is_some() {
                return bad("is encoded twice");
            }
            if replacement.is_empty() {
                return bad("would be dropped: replace it with at least one character");
            }
            if replacement.len() > MAX_REPLACEMENT
                || !replacement.bytes().all(|b| b.is_ascii_graphic())
            {
                return bad("must become 1 to 16 printable ASCII characters");
            }
            *slot = Some(replacement.as_str().into());
        }
        Ok(Codec::Mapped(table))
    }

    /// The spelling of one byte; `None` if it stays.
    pub(crate) fn spell(&self, byte: u8) -> Option<Vec<u8>> {
        match self {
            Codec::Plain => None,
            Codec::Percent { separator } if is_bare(byte, *separator) => None,
            Codec::Percent { .. } => Some(percent(byte).to_vec()),
            Codec::Mapped(table) => {
                table.get(usize::from(byte))?.as_ref().map(|word| word.as_bytes().to_vec())
            }
        }
    }

    /// How long the spelling of a value is.
    pub(crate) fn spelled_len(&self, value: &str) -> usize {
        match self {
            Codec::Plain => value.len(),
            Codec::Percent { separator } => {
                value.bytes().map(|byte| if is_bare(byte, *separator) { 1 } else { 3 }).sum()
            }
            Codec::Mapped(table) => value
                .bytes()
                .map(|byte| match table.get(usize::from(byte)) {
                    Some(Some(word)) => word.len(),
                    _ => 1,
                })
                .sum(),
        }
    }

    /// Writes the spelling of a value.
    pub(crate) fn write(&self, value: &str, out: &mut String) {
        match self {
            Codec::Plain => out.push_str(value),
            Codec::Percent { separator } => {
                for char in value.chars() {
                    if char.is_ascii() && is_bare(char as u8, *separator) {
                        out.push(char);
                        continue;
                    }
                    for &byte in char.encode_utf8(&mut [0; 4]).as_bytes() {
                        out.extend(percent(byte).map(char::from));
                    }
                }
            }
            Codec::Mapped(table) => {
                for char in value.chars() {
                    match table.get(char as usize) {
                        Some(Some(word)) => out.push_str(word),
                        _ => out.push(char),
                    }
                }
            }
        }
    }

    /// The value that is spelled so; the spelling is known to be one.
    pub(crate) fn read<'k>(&self, spelling: &'k str, values: Option<&Dfa>) -> Option<Cow<'k, str>> {
        match self {
            Codec::Plain => Some(Cow::Borrowed(spelling)),
            Codec::Percent { .. } if !spelling.contains('%') => Some(Cow::Borrowed(spelling)),
            Codec::Percent { .. } => unpercent(spelling).map(Cow::Owned),
            Codec::Mapped(table) => unmap(table, spelling, values?).map(Cow::Owned),
        }
    }
}

fn is_bare(byte: u8, separator: u8) -> bool {
    byte != separator && (byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

fn percent(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]
}

fn unpercent(spelling: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(spelling.len());
    let mut rest = spelling.as_bytes();
    while let [first, tail @ ..] = rest {
        if let [b'%', high, low, tail @ ..] = rest {
            let digit = |byte: u8| (byte as char).to_digit(16);
            bytes.push(u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()?);
            rest = tail;
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// The one value that `encode` spells so. Follows all readings at once; two that meet in the same
/// state at the same place would be two values with one spelling, which the prover rules out.
fn unmap(table: &[Option<Box<str>>; 128], spelling: &str, values: &Dfa) -> Option<String> {
    let bytes = spelling.as_bytes();
    // For each place, the states reached there, each with the step that led to it.
    let mut reached: Vec<Vec<Arrival>> = vec![Vec::new(); bytes.len() + 1];
    reached[0].push(Arrival { state: values.start(), byte: 0, from: (0, 0) });
    for at in 0..bytes.len() {
        for index in 0..reached[at].len() {
            let state = reached[at][index].state;
            let mut step = |byte: u8, len: usize| {
                let next = values.next(state, byte);
                let seen = reached[at + len].iter().any(|arrival| arrival.state == next);
                if !Dfa::is_dead(next) && !seen {
                    reached[at + len].push(Arrival { state: next, byte, from: (at, index) });
                }
            };
            let replaced = table.get(usize::from(bytes[at])).is_some_and(Option::is_some);
            if !replaced {
                step(bytes[at], 1);
            }
            for (byte, word) in (0..=127u8).zip(table) {
                if let Some(word) = word
                    && bytes[at..].starts_with(word.as_bytes())
                {
                    step(byte, word.len());
                }
            }
        }
    }
    let (mut at, mut index) = (bytes.len(), None);
    for (number, arrival) in reached[at].iter().enumerate() {
        if values.accepting(arrival.state) {
            index = Some(number);
        }
    }
    let mut index = index?;
    let mut value = Vec::new();
    while at > 0 {
        let arrival = &reached[at][index];
        value.push(arrival.byte);
        (at, index) = arrival.from;
    }
    value.reverse();
    String::from_utf8(value).ok()
}

#[derive(Clone)]
struct Arrival {
    state: u32,
    byte: u8,
    from: (usize, usize),
}
