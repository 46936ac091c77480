//! Numbers, spelled in German and English.
//!
//! Our own: `num-to-words-de` ends at `u32` and compiles a regular expression for each number, `whoa-german-numbers`
//! was last touched in 2022, and `num2words2-core` brings 120 languages and big integers.

use crate::Numbers;
use crate::words::set_apart;
use std::borrow::Cow;

/// The greatest number that is spelled.
const GREATEST: u64 = 1_000_000_000_000_000;
/// The most digits that are read as a number. More than `GREATEST` has, so that zeros in front count.
const MOST_DIGITS: usize = 16;

/// Writes the text with numbers as words. Longer numbers keep their digits.
pub(crate) fn apply(text: &str, language: Numbers, out: &mut String) {
    let text = &ascii_digits(text);
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (digits, length) = read(rest, language);
        let (number, after) = rest.split_at(length);
        match spell(&digits, language) {
            Some(words) => set_apart(out, &words, after),
            None => out.push_str(number),
        }
        rest = after;
    }
    out.push_str(rest);
}

/// The text with the digits of other scripts as ASCII.
fn ascii_digits(text: &str) -> Cow<'_, str> {
    let digit = |c: char| {
        let is_other = !c.is_ascii() && c.is_numeric();
        let written = is_other.then(|| deunicode::deunicode_char(c)).flatten()?;
        written.parse::<u8>().is_ok_and(|digit| digit < 10).then_some(written)
    };
    if text.is_ascii() || !text.chars().any(|c| digit(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match digit(c) {
            Some(written) => out.push_str(written),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The digits of the number that the text begins with, and its length with separators of thousands.
fn read(text: &str, language: Numbers) -> (Cow<'_, str>, usize) {
    let separator = match language {
        Numbers::German => b'.',
        Numbers::English => b',',
    };
    let bytes = text.as_bytes();
    let count = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = count(0);
    let mut digits = Cow::Borrowed(&text[..length]);
    if length <= 3 && bytes[0] != b'0' {
        while bytes.get(length) == Some(&separator) && count(length + 1) == 3 {
            digits.to_mut().push_str(&text[length + 1..length + 4]);
            length += 4;
        }
    }
    (digits, length)
}

/// The number in words, and each zero in front of it.
fn spell(digits: &str, language: Numbers) -> Option<String> {
    if digits.len() > MOST_DIGITS {
        return None;
    }
    let number: u64 = digits.parse().ok().filter(|number| *number <= GREATEST)?;
    let zeros = digits.len() - digits.trim_start_matches('0').len();
    let zeros = if number == 0 { zeros - 1 } else { zeros };
    let (zero, words) = match language {
        Numbers::German => ("null ", german(number)),
        Numbers::English => ("zero ", english(number)),
    };
    Some(zero.repeat(zeros) + &words)
}

const GERMAN: [&str; 20] = [
    "null",
    "ein",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
];
const GERMAN_TENS: [&str; 10] = [
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig",
];
const GERMAN_GREAT: [(u64, &str, &str); 4] = [
    (1_000_000_000_000_000, "eine billiarde", "billiarden"),
    (1_000_000_000_000, "eine billion", "billionen"),
    (1_000_000_000, "eine milliarde", "milliarden"),
    (1_000_000, "eine million", "millionen"),
];

fn german(mut number: u64) -> String {
    if number == 0 {
        return GERMAN[0].to_owned();
    }
    let mut words = Vec::new();
    for (unit, one, many) in GERMAN_GREAT {
        match number / unit {
            0 => {}
            1 => words.push(one.to_owned()),
            count => words.push(format!("{} {many}", german_below_million(count))),
        }
        number %= unit;
    }
    if number > 0 {
        let mut last = german_below_million(number);
        // `eins` at the end, `ein` in front of something.
        if number % 100 == 1 {
            last.push('s');
        }
        words.push(last);
    }
    words.join(" ")
}

fn german_below_million(number: u64) -> String {
    let mut word = String::new();
    let (thousands, rest) = (number / 1000, number % 1000);
    if thousands > 0 {
        word += &german_below_million(thousands);
        word += "tausend";
    }
    let (hundreds, rest) = (rest / 100, rest % 100);
    if hundreds > 0 {
        word += at(&GERMAN, hundreds);
        word += "hundert";
    }
    match (rest / 10, rest % 10) {
        (0, 0) => {}
        (0 | 1, _) => word += at(&GERMAN, rest),
        (tens, 0) => word += at(&GERMAN_TENS, tens),
        (tens, ones) => {
            word += at(&GERMAN, ones);
            word += "und";
            word += at(&GERMAN_TENS, tens);
        }
    }
    word
}

const ENGLISH: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ENGLISH_TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ENGLISH_GREAT: [(u64, &str); 5] = [
    (1_000_000_000_000_000, "quadrillion"),
    (1_000_000_000_000, "trillion"),
    (1_000_000_000, "billion"),
    (1_000_000, "million"),
    (1_000, "thousand"),
];

fn english(mut number: u64) -> String {
    if number == 0 {
        return ENGLISH[0].to_owned();
    }
    let mut words = Vec::new();
    for (unit, name) in ENGLISH_GREAT {
        if number >= unit {
            english_below_thousand(number / unit, &mut words);
            words.push(name);
        }
        number %= unit;
    }
    english_below_thousand(number, &mut words);
    words.join(" ")
}

fn english_below_thousand(number: u64, words: &mut Vec<&'static str>) {
    let (hundreds, rest) = (number / 100, number % 100);
    if hundreds > 0 {
        words.extend([at(&ENGLISH, hundreds), "hundred"]);
    }
    match (rest / 10, rest % 10) {
        (0, 0) => {}
        (0 | 1, _) => words.push(at(&ENGLISH, rest)),
        (tens, 0) => words.push(at(&ENGLISH_TENS, tens)),
        (tens, ones) => words.extend([at(&ENGLISH_TENS, tens), at(&ENGLISH, ones)]),
    }
}

/// Each caller's index is below the table's length.
fn at(words: &[&'static str], index: u64) -> &'static str {
    usize::try_from(index).ok().and_then(|index| words.get(index)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str, language: Numbers) -> String {
        let mut out = String::new();
        apply(text, language, &mut out);
        out
    }

    #[test]
    fn german_cardinals_are_spelled_as_duden_does() {
        for (number, word) in [
            (0, "null"),
            (1, "eins"),
            (12, "zwölf"),
            (16, "sechzehn"),
            (17, "siebzehn"),
            (21, "einundzwanzig"),
            (30, "dreißig"),
            (66, "sechsundsechzig"),
            (77, "siebenundsiebzig"),
            (100, "einhundert"),
            (101, "einhunderteins"),
            (111, "einhundertelf"),
            (1_000, "eintausend"),
            (1_001, "eintausendeins"),
            (1_100, "eintausendeinhundert"),
            (2_024, "zweitausendvierundzwanzig"),
            (21_000, "einundzwanzigtausend"),
            (100_000, "einhunderttausend"),
            (101_101, "einhunderteintausendeinhunderteins"),
            (1_000_000, "eine million"),
            (1_000_001, "eine million eins"),
            (
                2_345_678,
                "zwei millionen dreihundertfünfundvierzigtausendsechshundertachtundsiebzig",
            ),
            (21_000_000, "einundzwanzig millionen"),
            (1_000_000_000, "eine milliarde"),
            (3_000_000_000_000, "drei billionen"),
            (GREATEST, "eine billiarde"),
        ] {
            assert_eq!(german(number), word);
        }
    }

    #[test]
    fn english_cardinals_are_spelled_without_hyphens() {
        for (number, words) in [
            (0, "zero"),
            (13, "thirteen"),
            (42, "forty two"),
            (100, "one hundred"),
            (115, "one hundred fifteen"),
            (2_024, "two thousand twenty four"),
            (1_000_001, "one million one"),
            (90_000_000_000, "ninety billion"),
            (GREATEST, "one quadrillion"),
        ] {
            assert_eq!(english(number), words);
        }
    }

    #[test]
    fn numbers_in_text_are_set_apart() {
        for (text, words) in [
            ("5 strategien", "fünf strategien"),
            ("3m", "drei m"),
            ("q3", "q drei"),
            ("1.000.000 euro", "eine million euro"),
            ("1.0", "eins . null"),
            ("1.0000", "eins . null null null null"),
            ("01.02.2024", "null eins . null zwei . zweitausendvierundzwanzig"),
            ("007", "null null sieben"),
            ("00", "null null"),
            ("1000000000000000", "eine billiarde"),
            ("1000000000000001", "1000000000000001"),
            ("99999999999999999999", "99999999999999999999"),
            ("٣ und m²", "drei und m zwei"),
            ("½", "½"),
        ] {
            assert_eq!(spelled(text, Numbers::German), words, "{text}");
        }
        assert_eq!(spelled("1,000.5", Numbers::English), "one thousand . five");
    }
}
