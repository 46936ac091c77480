//! The numbers that decide. `tests/sensitivity.rs` measures what each of them changes, and the book has its table.

/// A number that decides what is drafted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Threshold {
    /// So few different values at a place stay words, unless their form says otherwise
    Fewest,
    /// The share of ids behind which a word stands, for it to be a word
    Recurs,
    /// The same, for it to be a word whatever it is like
    RecursSurely,
    /// So many ids, for words that end their keys to be choices of one parameter
    ChoiceIds,
    /// A choice stands behind fewer of the ids
    ChoiceShare,
    /// So many families with few keys each are one, whose keys may be anything
    Scattered,
    /// Fewer keys than these are few
    ScatteredKeys,
    /// The share of what follows a token that another has too, if they are alike
    Contained,
    /// The same the other way round, for a token with many keys
    Covers,
    /// So many keys for each element that follows it are many
    Settled,
    /// The share of fields that two kinds of values have in common, if they are the same kind
    SameNames,
    /// The same, of the one with fewer fields
    MostNames,
    /// With fewer keys behind each token, more tokens are to come
    Open,
    /// So many alike tokens at the beginning of keys are values, if one word at most follows
    AlikeRoot,
    /// So many alike tokens are values, if no word follows them
    Alike0,
    /// The same, if one word follows all of them
    Alike1,
    /// The same with three words
    Alike3,
    /// The same with four or more
    Alike4,
    /// One in so many ids may look like a word or a number
    Accident,
    /// The share of values that must begin, or end, with a word that others share, for it to be no part of them
    HeadsCover,
    /// More beginnings than these are values themselves
    MostHeads,
    /// Values of so many different numbers of segments are paths
    Lengths,
    /// An enum has at most so many words
    MostWords,
    /// Each word of an enum has at least so many keys
    KeysAWord,
    /// So many different values with hyphens are slugs
    Slugs,
}

/// Each number with its name, its usual value, and what it means.
const ROWS: [(Threshold, &str, f64, &str); 25] = [
    (
        Threshold::Fewest,
        "fewest",
        5.0,
        "so few different values at a place stay words, unless their form says otherwise",
    ),
    (
        Threshold::Recurs,
        "recurs",
        0.1,
        "the share of ids behind which a word stands, for it to be a word",
    ),
    (
        Threshold::RecursSurely,
        "recurs_surely",
        0.5,
        "the same, for it to be a word whatever it is like",
    ),
    (
        Threshold::ChoiceIds,
        "choice_ids",
        20.0,
        "so many ids, for words that end their keys to be choices of one parameter",
    ),
    (Threshold::ChoiceShare, "choice_share", 0.8, "a choice stands behind fewer of the ids"),
    (
        Threshold::Scattered,
        "scattered",
        12.0,
        "so many families with few keys each are one, whose keys may be anything",
    ),
    (Threshold::ScatteredKeys, "scattered_keys", 2.5, "fewer keys than these are few"),
    (
        Threshold::Contained,
        "contained",
        0.6,
        "the share of what follows a token that another has too, if they are alike",
    ),
    (Threshold::Covers, "covers", 0.4, "the same the other way round, for a token with many keys"),
    (Threshold::Settled, "settled", 4.0, "so many keys for each element that follows it are many"),
    (
        Threshold::SameNames,
        "same_names",
        0.34,
        "the share of fields that two kinds of values have in common, if they are the same kind",
    ),
    (Threshold::MostNames, "most_names", 0.5, "the same, of the one with fewer fields"),
    (Threshold::Open, "open", 8.0, "with fewer keys behind each token, more tokens are to come"),
    (
        Threshold::AlikeRoot,
        "alike_root",
        20.0,
        "so many alike tokens at the beginning of keys are values, if one word at most follows",
    ),
    (
        Threshold::Alike0,
        "alike_0",
        24.0,
        "so many alike tokens are values, if no word follows them",
    ),
    (Threshold::Alike1, "alike_1", 12.0, "the same, if one word follows all of them"),
    (Threshold::Alike3, "alike_3", 3.0, "the same with three words"),
    (Threshold::Alike4, "alike_4", 2.0, "the same with four or more"),
    (Threshold::Accident, "accident", 8.0, "one in so many ids may look like a word or a number"),
    (
        Threshold::HeadsCover,
        "heads_cover",
        0.9,
        "the share of values that must begin, or end, with a word that others share, for it to be no part of them",
    ),
    (Threshold::MostHeads, "most_heads", 12.0, "more beginnings than these are values themselves"),
    (
        Threshold::Lengths,
        "lengths",
        3.0,
        "values of so many different numbers of segments are paths",
    ),
    (Threshold::MostWords, "most_words", 12.0, "an enum has at most so many words"),
    (Threshold::KeysAWord, "keys_a_word", 20.0, "each word of an enum has at least so many keys"),
    (Threshold::Slugs, "slugs", 20.0, "so many different values with hyphens are slugs"),
];

/// A value for each number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds([f64; ROWS.len()]);

impl Threshold {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Threshold> {
        ROWS.iter().map(|(threshold, ..)| *threshold)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        ROWS[self as usize].1
    }

    /// What it means.
    pub fn about(self) -> &'static str {
        ROWS[self as usize].3
    }
}

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds(ROWS.map(|(_, _, usual, _)| usual))
    }
}

impl Thresholds {
    /// The same with another value for one number.
    #[must_use]
    pub fn with(mut self, threshold: Threshold, value: f64) -> Self {
        self.0[threshold as usize] = value;
        self
    }

    /// The value of a number.
    pub fn of(&self, threshold: Threshold) -> f64 {
        self.0[threshold as usize]
    }

    /// The value of a number that is a count.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    pub(crate) fn count(&self, threshold: Threshold) -> usize {
        self.of(threshold).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_at_its_place() {
        for (at, (threshold, ..)) in ROWS.iter().enumerate() {
            assert_eq!(*threshold as usize, at);
        }
    }
}
