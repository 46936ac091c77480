//! Words: where they begin, which are left out, and how many stay.

use crate::{Numbers, OptionsError, letters, normal, numbers, symbols::Symbols};
use std::collections::HashSet;

/// Stand around words that nobody wrote, those of long forms and of spoken symbols: stop words leave them. They are words
/// of their own, so that no step joins them with another, and no text has them (see [`without_marks`]).
const KEPT: [char; 2] = ['\u{2}', '\u{3}'];

pub(crate) fn is_mark(c: char) -> bool {
    KEPT.contains(&c)
}

/// The words between marks.
pub(crate) fn kept(words: &str) -> String {
    format!("{} {words} {}", KEPT[0], KEPT[1])
}

/// Removes marks that a text brings along.
pub(crate) fn without_marks(text: &mut String) {
    if text.contains(is_mark) {
        text.retain(|c| !is_mark(c));
    }
}

/// The text as a person reads it: marks and the space, or the `_`, between them and their words are not part of it.
pub(crate) fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == KEPT[0] {
            rest.next();
        } else if c == KEPT[1] {
            out.pop();
        } else {
            out.push(c);
        }
    }
    out
}

/// Words and what stands between them, in turn: whether it is a word, and its text.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((is_word, piece))
    })
}

/// Writes words that replace others, with a space on each side where there is no white space.
pub(crate) fn set_apart(out: &mut String, words: &str, after: &str) {
    if out.chars().next_back().is_some_and(|c| !c.is_whitespace()) {
        out.push(' ');
    }
    out.push_str(words);
    if after.chars().next().is_some_and(|c| !c.is_whitespace()) {
        out.push(' ');
    }
}

/// The words that are left out, as they are in an identifier.
#[derive(Debug, Default)]
pub(crate) struct StopWords {
    words: HashSet<String>,
    /// The length of the longest: most words are longer and need no look-up.
    longest: usize,
}

impl StopWords {
    pub(crate) fn new(entries: &[&str], language: Option<Numbers>) -> Result<Self, OptionsError> {
        let mut words = HashSet::new();
        for entry in entries {
            let mut text = String::new();
            let mut next = String::new();
            normal::lower_case(&normal::compose(entry), &mut text);
            if let Some(language) = language {
                numbers::apply(&text, language, &mut next);
                std::mem::swap(&mut text, &mut next);
                next.clear();
            }
            letters::apply(&text, &mut next);
            text.clear();
            Symbols::default().apply(&next, &mut text);
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                let reason = "a stop word is one word of letters and digits";
                return Err(OptionsError::entry("stop_words", entry, reason));
            }
            words.insert(text);
        }
        let longest = words.iter().map(String::len).max().unwrap_or(0);
        Ok(StopWords { words, longest })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Writes the identifier without them, and without marks.
    pub(crate) fn apply(&self, identifier: &str, out: &mut String) {
        // A long form can have a symbol that is spoken.
        let mut depth = 0_usize;
        let stays = |word: &&str| {
            if word.starts_with(KEPT[0]) {
                depth += 1;
                return false;
            }
            if word.starts_with(KEPT[1]) {
                depth = depth.saturating_sub(1);
                return false;
            }
            depth > 0 || word.len() > self.longest || !self.words.contains(*word)
        };
        join(split(identifier).filter(stays), out);
    }
}

/// Writes the first words of the identifier.
pub(crate) fn first(identifier: &str, count: usize, out: &mut String) {
    join(split(identifier).take(count), out);
}

/// How many words the identifier has.
pub(crate) fn count(identifier: &str) -> usize {
    split(identifier).count()
}

fn split(identifier: &str) -> impl Iterator<Item = &str> {
    identifier.split('_').filter(|word| !word.is_empty())
}

fn join<'a>(words: impl Iterator<Item = &'a str>, out: &mut String) {
    for word in words {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_found_as_they_are_written_in_identifiers() {
        let words = StopWords::new(&["für", "The", "für", "5"], Some(Numbers::German)).unwrap();
        let mut out = String::new();
        words.apply("_the_zins_fuer_fuenf_theorie_", &mut out);
        assert_eq!(out, "zins_theorie");
    }

    #[test]
    fn what_nobody_wrote_is_no_stop_word() {
        let words = StopWords::new(&["at", "and"], None).unwrap();
        let marked = format!("look at {} and at", kept(&format!("value at {} risk", kept("and"))));
        assert_eq!(readable(&marked), "look at value at and risk and at");
        let marked = marked.replace(' ', "_");
        assert_eq!(readable(&marked), "look_at_value_at_and_risk_and_at");
        let mut out = String::new();
        words.apply(&marked, &mut out);
        assert_eq!(out, "look_value_at_and_risk");
    }

    #[test]
    fn a_stop_word_is_one_word() {
        for entry in ["", "in der", "&"] {
            let error = StopWords::new(&[entry], None).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{entry}` in `stop_words`: a stop word is one word of letters and digits")
            );
        }
    }
}
