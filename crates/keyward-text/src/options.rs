//! What a pipeline is made from.

/// What a [`Pipeline`](crate::Pipeline) does. The default has no dictionary and no limit.
///
/// Dictionaries are written as people write them: `VaR` and `für` are found in any case, and as `fuer`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// Abbreviations with their long forms.
    pub abbreviations: &'a [(&'a str, &'a str)],
    /// The language in which numbers are spelled. Without it, digits stay.
    pub numbers: Option<Numbers>,
    /// Symbols with the words that stand for them. Others are removed.
    pub symbols: &'a [(char, &'a str)],
    /// Words that are left out, except in the long forms of abbreviations and in the words for symbols.
    pub stop_words: &'a [&'a str],
    /// How many words stay: the first that are not stop words.
    pub words: Option<usize>,
    /// The longest identifier, in characters. At least [`Options::MIN_LEN`].
    pub max_len: Option<usize>,
    /// How a longer identifier is shortened to `max_len`.
    pub shorten: Shorten,
    /// Whether a text that already has the form of a result stays as it is.
    ///
    /// A result of two characters is then named by the clock, since as a text it would be too short.
    pub idempotent: bool,
}

impl Options<'_> {
    /// The lowest `max_len`: a letter, `_`, and a time such as `20240101_120000`.
    pub const MIN_LEN: usize = 17;
}

/// A language in which numbers are spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `2024` is `zweitausendvierundzwanzig`.
    German,
    /// `2024` is `two thousand twenty four`.
    English,
}

/// How a long identifier is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shorten {
    /// The first characters stay.
    #[default]
    Cut,
    /// All vowels go except at the beginning. If that is still too long, it is cut with its vowels.
    Vowels,
}
