//! How human text becomes an identifier.

use crate::span::Spanned;

/// `[text.*]`: a pipeline, with the options of the pipeline that it extends.
#[derive(Debug, Clone)]
pub struct TextPipeline {
    /// Its id
    pub name: Spanned<String>,
    /// Which texts it is for
    pub doc: Option<Spanned<String>>,
    /// The pipeline whose options it has where it sets none
    pub extends: Option<Spanned<String>>,
    /// Abbreviations with their long forms
    pub abbreviations: Vec<(Spanned<String>, Spanned<String>)>,
    /// The language in which numbers are spelled
    pub numbers: Option<Spanned<Numbers>>,
    /// Symbols with their words
    pub symbols: Vec<(Spanned<char>, Spanned<String>)>,
    /// Words that are left out
    pub stop_words: Vec<Spanned<String>>,
    /// How many words stay
    pub words: Option<Spanned<u64>>,
    /// The longest result
    pub max_len: Option<Spanned<u64>>,
    /// How a longer one is shortened
    pub shorten: Option<Spanned<Shorten>>,
    /// Whether a text that has the form of a result stays as it is
    pub idempotent: bool,
    /// Texts with their results; its own, not those of the pipeline that it extends
    pub examples: Vec<(Spanned<String>, Spanned<String>)>,
}

/// A language in which numbers are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `de`
    German,
    /// `en`
    English,
}

/// How a long identifier is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shorten {
    /// The first characters stay
    Cut,
    /// Without vowels, if that is enough
    Vowels,
}

#[cfg(feature = "text")]
impl TextPipeline {
    /// The pipeline itself. A schema without errors has no pipeline with one.
    pub fn pipeline(&self) -> Result<keyward_text::Pipeline, keyward_text::OptionsError> {
        let abbreviations = self.abbreviations.iter();
        let abbreviations: Vec<(&str, &str)> =
            abbreviations.map(|(short, long)| (short.as_str(), long.as_str())).collect();
        let symbols: Vec<(char, &str)> =
            self.symbols.iter().map(|(symbol, words)| (symbol.value, words.as_str())).collect();
        let stop_words: Vec<&str> = self.stop_words.iter().map(|word| word.as_str()).collect();
        let number = |number: &Spanned<u64>| usize::try_from(number.value).unwrap_or(usize::MAX);
        keyward_text::Pipeline::new(&keyward_text::Options {
            abbreviations: &abbreviations,
            numbers: self.numbers.as_ref().map(|language| match language.value {
                Numbers::German => keyward_text::Numbers::German,
                Numbers::English => keyward_text::Numbers::English,
            }),
            symbols: &symbols,
            stop_words: &stop_words,
            words: self.words.as_ref().map(number),
            max_len: self.max_len.as_ref().map(number),
            shorten: match self.shorten.as_ref().map(|shorten| shorten.value) {
                Some(Shorten::Vowels) => keyward_text::Shorten::Vowels,
                Some(Shorten::Cut) | None => keyward_text::Shorten::Cut,
            },
            idempotent: self.idempotent,
        })
    }
}
