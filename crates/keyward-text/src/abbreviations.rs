//! Abbreviations, written in full.

use crate::OptionsError;
use crate::normal::{compose, lower_case};
use crate::words::{kept, pieces, set_apart};
use std::collections::{HashMap, VecDeque};

const OPTION: &str = "abbreviations";

/// Abbreviations in lower case, with their long forms.
#[derive(Debug, Default)]
pub(crate) struct Abbreviations {
    long_forms: HashMap<String, LongForm>,
    /// The length of the longest abbreviation: most words are longer and need no look-up.
    longest: usize,
    /// The number of words of the longest long form.
    most_words: usize,
}

#[derive(Debug)]
struct LongForm {
    text: String,
    words: Vec<String>,
}

impl Abbreviations {
    pub(crate) fn new(entries: &[(&str, &str)]) -> Result<Self, OptionsError> {
        let mut all = Abbreviations::default();
        for (abbreviation, long) in entries {
            let wrong = |reason: &str| Err(OptionsError::entry(OPTION, abbreviation, reason));
            let [short, text] = [abbreviation, long].map(|text| {
                let mut lower = String::new();
                lower_case(&compose(text), &mut lower);
                lower
            });
            if short.is_empty() || !short.chars().all(char::is_alphanumeric) {
                return wrong("an abbreviation has letters and digits only");
            }
            let words = pieces(&text).filter(|(is_word, _)| *is_word);
            let words: Vec<String> = words.map(|(_, word)| word.to_owned()).collect();
            if words.is_empty() {
                return wrong("its long form needs a letter or a digit");
            }
            if text.contains(|c: char| c.is_control() && !c.is_whitespace()) {
                return wrong("its long form has a control character");
            }
            all.longest = all.longest.max(short.len());
            all.most_words = all.most_words.max(words.len());
            if all.long_forms.insert(short, LongForm { text, words }).is_some() {
                return wrong("upper and lower case are the same here, so this is declared twice");
            }
        }
        Ok(all)
    }

    /// The same, with long forms that stop words leave whole.
    #[must_use]
    pub(crate) fn kept(mut self) -> Self {
        self.long_forms.values_mut().for_each(|long| long.text = kept(&long.text));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.long_forms.is_empty()
    }

    /// Writes the text with long forms. An abbreviation directly after its long form stays: `value at risk (var)`.
    pub(crate) fn apply(&self, text: &str, out: &mut String) {
        let mut recent: VecDeque<&str> = VecDeque::with_capacity(self.most_words + 1);
        let mut rest = text;
        for (is_word, piece) in pieces(text) {
            rest = &rest[piece.len()..];
            if !is_word {
                out.push_str(piece);
                continue;
            }
            let long = self.find(piece).filter(|long| !ends_with(&recent, &long.words));
            if let Some(long) = long {
                set_apart(out, &long.text, rest);
                recent.extend(long.words.iter().map(String::as_str));
            } else {
                out.push_str(piece);
                recent.push_back(piece);
            }
            recent.drain(..recent.len().saturating_sub(self.most_words));
        }
    }

    fn find(&self, word: &str) -> Option<&LongForm> {
        if word.len() > self.longest { None } else { self.long_forms.get(word) }
    }
}

fn ends_with(recent: &VecDeque<&str>, words: &[String]) -> bool {
    recent.len() >= words.len() && recent.iter().rev().zip(words.iter().rev()).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> String {
        let entries = [
            ("VaR", "value at risk"),
            ("ROI", "return on investment"),
            ("KI", "Künstliche Intelligenz"),
        ];
        let mut out = String::new();
        Abbreviations::new(&entries).unwrap().apply(text, &mut out);
        out
    }

    #[test]
    fn an_abbreviation_is_expanded_unless_its_long_form_precedes_it() {
        for (text, full) in [
            ("var berechnung", "value at risk berechnung"),
            ("value at risk (var) berechnungen", "value at risk (var) berechnungen"),
            ("hoher value_at_risk_var", "hoher value_at_risk_var"),
            ("at risk (var)", "at risk ( value at risk )"),
            ("value at risk (roi)", "value at risk ( return on investment )"),
            ("var-berechnung", "value at risk -berechnung"),
            ("variante roi", "variante return on investment"),
            ("ki", "künstliche intelligenz"),
            ("api", "api"),
        ] {
            assert_eq!(expand(text), full, "{text}");
        }
    }

    #[test]
    fn a_bad_entry_is_named() {
        for (entries, message) in [
            (
                &[("z. B.", "zum beispiel")][..],
                "`z. B.` in `abbreviations`: an abbreviation has letters and digits only",
            ),
            (&[("", "x")], "`` in `abbreviations`: an abbreviation has letters and digits only"),
            (&[("ki", "…")], "`ki` in `abbreviations`: its long form needs a letter or a digit"),
            (
                &[("ki", "a\u{2}b")],
                "`ki` in `abbreviations`: its long form has a control character",
            ),
            (
                &[("VaR", "a"), ("VAR", "b")],
                "`VAR` in `abbreviations`: upper and lower case are the same here, so this is declared twice",
            ),
        ] {
            assert_eq!(Abbreviations::new(entries).unwrap_err().to_string(), message);
        }
    }
}
