//! What holds for every text and every pipeline.

#![allow(missing_docs, reason = "a test")]

use keyward_text::{Numbers, Options, Pipeline, Shorten};
use proptest::prelude::*;
use regex::Regex;
use std::time::{Duration, SystemTime};

/// Text with what steps look for, more often than chance would have it.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[a-zA-ZäöüÄÖÜß]{1,12}",
        "[0-9.,]{1,18}",
        "[ \n\t_]{1,3}",
        proptest::sample::select(vec![
            "# ",
            "## ",
            "- ",
            "1. ",
            "> ",
            "**",
            "*",
            "`",
            "[",
            "](",
            ")",
            "[^",
            "](x \"y\")",
            "---\n",
            "==\n",
            "\\",
            "<",
            ">",
            "<a:b>",
            "VaR",
            "(VaR)",
            "YoY",
            "YoY-",
            "G5",
            "\u{2}",
            "\u{3}",
            "\u{2} at \u{3}",
            "at ",
            "@",
            "value at risk ",
            "der ",
            "für ",
            "&",
            "%",
            "€",
            "e\u{301}",
            "u\u{308}",
            "\u{338}",
            "\u{200d}",
            "\0",
            "🦄",
            "北京",
            "שלום",
            "한국",
            "\u{1112}\u{1161}\u{11ab}",
            " ##\n",
        ])
        .prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..160).prop_map(|pieces| pieces.concat())
}

#[derive(Debug, Clone, Copy)]
struct Switches {
    dictionaries: bool,
    numbers: Option<Numbers>,
    words: Option<usize>,
    max_len: Option<usize>,
    shorten: Shorten,
    idempotent: bool,
}

fn switches() -> impl Strategy<Value = Switches> {
    (
        any::<bool>(),
        proptest::option::of(prop_oneof![Just(Numbers::German), Just(Numbers::English)]),
        proptest::option::of(1..40_usize),
        proptest::option::of(Options::MIN_LEN..200),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(dictionaries, numbers, words, max_len, vowels, idempotent)| Switches {
            dictionaries,
            numbers,
            words,
            max_len,
            shorten: if vowels && max_len.is_some() { Shorten::Vowels } else { Shorten::Cut },
            idempotent,
        })
}

fn pipeline(switches: Switches) -> Pipeline {
    let mut options = Options {
        numbers: switches.numbers,
        words: switches.words,
        max_len: switches.max_len,
        shorten: switches.shorten,
        idempotent: switches.idempotent,
        ..Options::default()
    };
    if switches.dictionaries {
        options.abbreviations = &[
            ("VaR", "value at risk"),
            ("ä", "das andere"),
            ("YoY", "year-on-year & 1.000"),
            ("G5", "group-of 5, für 北京"),
            ("7", "_at @ 7"),
        ];
        options.symbols = &[
            ('&', "and"),
            ('%', "prozent"),
            ('*', "mal"),
            ('=', "gleich"),
            ('<', "less_than"),
            ('@', "at 5"),
        ];
        options.stop_words = &["der", "für", "and", "at", "of", "5", "than"];
    }
    Pipeline::new(&options).unwrap()
}

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_704_110_400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_result_is_in_the_language_and_within_the_limit(text in text(), switches in switches()) {
        let pipeline = pipeline(switches);
        let name = pipeline.name(&text, noon());
        // What the proof of a schema takes for granted.
        let results = Regex::new(&format!("^(?:{})$", pipeline.results())).unwrap();
        prop_assert!(results.is_match(&name), "{name}");
        prop_assert!(name.len() >= 2, "{name}");
        prop_assert!(switches.max_len.is_none_or(|max| name.len() <= max), "{name}");
        prop_assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        prop_assert!(name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{name}");
        prop_assert!(!name.ends_with('_') && !name.contains("__"), "{name}");
    }

    #[test]
    fn composed_and_decomposed_text_have_one_name(text in text(), switches in switches()) {
        use unicode_normalization::UnicodeNormalization;
        let pipeline = pipeline(switches);
        let composed = pipeline.name(&text.nfc().collect::<String>(), noon());
        prop_assert_eq!(&composed, &pipeline.name(&text.nfd().collect::<String>(), noon()));
        prop_assert_eq!(&composed, &pipeline.name(&text, noon()));
    }

    #[test]
    fn a_name_stays_where_that_is_declared(text in text(), switches in switches()) {
        let pipeline = pipeline(Switches { idempotent: true, ..switches });
        let name = pipeline.name(&text, noon());
        prop_assert_eq!(pipeline.name(&name, noon()), name);
    }

    /// `name` reads the beginning only, `steps` the whole text.
    #[test]
    fn the_last_step_is_the_name(text in text(), switches in switches()) {
        let pipeline = pipeline(switches);
        let steps = pipeline.steps(&text, noon());
        prop_assert_eq!(&steps.last().unwrap().text, &pipeline.name(&text, noon()));
    }

    /// Long forms and words for symbols in any form: whatever is accepted makes names, and loses no word to stop words.
    #[test]
    fn any_dictionary_makes_names(
        long in "[a-z0-9.,&_\u{1}-\u{4} \n-]{1,20}",
        symbol in prop_oneof![Just('&'), any::<char>()],
        spoken in "[a-z0-9_ ]{1,8}",
        numbers in proptest::option::of(Just(Numbers::German)),
        around in "[a-z ]{0,6}",
    ) {
        let plain = Options {
            abbreviations: &[("VaR", &long)],
            symbols: &[(symbol, &spoken)],
            numbers,
            ..Options::default()
        };
        let Ok(unfiltered) = Pipeline::new(&plain) else { return Ok(()) };
        let whole = unfiltered.name("VaR", noon());
        // A word with digits is several words where numbers are spelled.
        let words = whole.split('_').filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
        let words: Vec<&str> = words.collect();
        let pipeline = Pipeline::new(&Options { stop_words: &words, ..plain }).unwrap();
        let text = format!("{around} VaR{symbol}VaR {around}");
        let name = pipeline.name(&text, noon());
        let results = Regex::new(&format!("^(?:{})$", pipeline.results())).unwrap();
        prop_assert!(results.is_match(&name), "{name:?}");
        prop_assert_eq!(pipeline.name("VaR", noon()), whole);
    }
}

#[test]
fn a_long_text_has_the_name_of_its_whole() {
    let pipelines = [Some(4), None].map(|words| {
        pipeline(Switches {
            dictionaries: true,
            numbers: Some(Numbers::German),
            words,
            max_len: Some(30),
            shorten: Shorten::Vowels,
            idempotent: true,
        })
    });
    for text in [
        "der ".repeat(5_000) + "Zins",
        "€ ".repeat(5_000) + "Zins steigt",
        "a".repeat(30_000),
        "[".repeat(30_000),
        "](".repeat(10_000),
        "u\u{308} ".repeat(5_000),
        "> ".repeat(10_000) + "Zins",
        ">".repeat(30_000) + "Zins",
        "1.000".repeat(5_000),
        "*a".repeat(10_000),
        "\u{301}".repeat(10_000),
    ] {
        for pipeline in &pipelines {
            let steps = pipeline.steps(&text, noon());
            assert_eq!(steps.last().unwrap().text, pipeline.name(&text, noon()));
        }
    }
}

#[test]
fn a_limit_that_no_fallback_fits_is_refused() {
    let new = |max_len| Pipeline::new(&Options { max_len: Some(max_len), ..Options::default() });
    assert!(new(Options::MIN_LEN).is_ok());
    assert_eq!(
        new(Options::MIN_LEN - 1).unwrap_err().to_string(),
        "`max_len`: 16 is too short: names by the clock, such as `e_20240101_120000`, need 17"
    );
}

#[test]
fn an_option_that_cannot_act_is_refused() {
    let words = Options { words: Some(0), ..Options::default() };
    assert_eq!(Pipeline::new(&words).unwrap_err().to_string(), "`words`: at least one word stays");
    let shorten = Options { shorten: Shorten::Vowels, ..Options::default() };
    assert_eq!(Pipeline::new(&shorten).unwrap_err().to_string(), "`shorten`: it needs `max_len`");
}
