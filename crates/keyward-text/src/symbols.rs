//! Symbols, white space and underscores.

use crate::words::{is_mark, kept};
use crate::{OptionsError, letters, markdown, normal};

const OPTION: &str = "symbols";

/// The symbols that are spoken, in order, with their words between spaces.
#[derive(Debug, Default)]
pub(crate) struct Symbols(Vec<(char, String)>);

impl Symbols {
    pub(crate) fn new(entries: &[(char, &str)]) -> Result<Self, OptionsError> {
        let mut spoken = Vec::new();
        for (symbol, word) in entries {
            let wrong =
                |reason: &str| Err(OptionsError::entry(OPTION, &symbol.to_string(), reason));
            if symbol.is_alphanumeric() || symbol.is_whitespace() || *symbol == '_' {
                return wrong("only a symbol can be spoken: no letter, digit, white space or `_`");
            }
            if symbol.is_control() {
                return wrong("a control character cannot be spoken");
            }
            if markdown::is_always_removed(*symbol) {
                return wrong(
                    "it is a marker of Markdown, which is removed before symbols are spoken",
                );
            }
            let mut text = String::new();
            normal::lower_case(&normal::compose(word), &mut text);
            let mut latin = String::new();
            letters::apply(&text, &mut latin);
            let is_word = |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || c == '_';
            if !latin.contains(|c: char| c.is_ascii_alphanumeric()) || !latin.chars().all(is_word) {
                return wrong("the words for it have letters, digits, spaces and `_` only");
            }
            spoken.push((*symbol, format!(" {latin} ")));
        }
        spoken.sort_unstable();
        if let Some(twice) = spoken.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(OptionsError::entry(OPTION, &twice[0].0.to_string(), "declared twice"));
        }
        Ok(Symbols(spoken))
    }

    /// The same, with words that stop words leave.
    #[must_use]
    pub(crate) fn kept(self) -> Self {
        let kept = |words: &str| format!(" {} ", kept(words.trim()));
        Symbols(self.0.into_iter().map(|(symbol, words)| (symbol, kept(&words))).collect())
    }

    /// Writes the text with spoken symbols between spaces, and without the others.
    pub(crate) fn apply(&self, text: &str, out: &mut String) {
        replace(text, out, |c| {
            if c.is_ascii_alphanumeric() || c == '_' || c.is_whitespace() || is_mark(c) {
                return None;
            }
            let found = self.0.binary_search_by_key(&c, |(symbol, _)| *symbol);
            Some(found.map_or("", |found| &self.0[found].1))
        });
    }
}

/// Writes white space as `_`.
pub(crate) fn spaces(text: &str, out: &mut String) {
    replace(text, out, |c| c.is_whitespace().then_some("_"));
}

/// Writes one `_` where there are several.
pub(crate) fn underscores(text: &str, out: &mut String) {
    let mut last = ' ';
    replace(text, out, |c| (std::mem::replace(&mut last, c) == '_' && c == '_').then_some(""));
}

/// Writes the text with some characters replaced. The others are copied in runs, not one by one.
fn replace<'r>(text: &str, out: &mut String, mut replacement: impl FnMut(char) -> Option<&'r str>) {
    let mut run = 0;
    for (at, c) in text.char_indices() {
        if let Some(written) = replacement(c) {
            out.push_str(&text[run..at]);
            out.push_str(written);
            run = at + c.len_utf8();
        }
    }
    out.push_str(&text[run..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_spoken_or_removed() {
        let symbols = Symbols::new(&[('<', "less_than"), ('€', "Euro"), ('&', "and")]).unwrap();
        let mut out = String::new();
        symbols.apply("a&b 5€ c<d!", &mut out);
        assert_eq!(out, "a and b 5 euro  c less_than d");
    }

    #[test]
    fn a_bad_entry_is_named() {
        for (entries, message) in [
            (
                &[('a', "b")][..],
                "`a` in `symbols`: only a symbol can be spoken: no letter, digit, white space or `_`",
            ),
            (&[('\u{2}', "b")], "`\u{2}` in `symbols`: a control character cannot be spoken"),
            (
                &[('[', "b")],
                "`[` in `symbols`: it is a marker of Markdown, which is removed before symbols are spoken",
            ),
            (
                &[('%', "per-cent")],
                "`%` in `symbols`: the words for it have letters, digits, spaces and `_` only",
            ),
            (
                &[('%', " ")],
                "`%` in `symbols`: the words for it have letters, digits, spaces and `_` only",
            ),
            (&[('%', "a"), ('%', "b")], "`%` in `symbols`: declared twice"),
        ] {
            assert_eq!(Symbols::new(entries).unwrap_err().to_string(), message);
        }
    }
}
