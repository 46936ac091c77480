//! Any text becomes an identifier within its limit, the same from its beginning as from its whole.
#![no_main]

use keyward_text::{Numbers, Options, Pipeline, Shorten};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::SystemTime;

const OPTIONS: Options<'_> = Options {
    abbreviations: &[("VaR", "value at risk"), ("YoY", "year-on-year & 1.000"), ("7", "at 7")],
    numbers: Some(Numbers::German),
    symbols: &[('&', "and"), ('<', "less_than"), ('*', "mal"), ('@', "at 5")],
    stop_words: &["der", "für", "the", "at", "on", "and", "5"],
    words: Some(4),
    max_len: Some(30),
    shorten: Shorten::Vowels,
    idempotent: true,
};

static PIPELINES: LazyLock<[Pipeline; 2]> = LazyLock::new(|| {
    [OPTIONS, Options { words: None, idempotent: false, ..OPTIONS }]
        .map(|options| Pipeline::new(&options).unwrap())
});

/// What the proof of a schema takes for granted of each, and the shortest that it allows. The checks below are it in code.
const RESULTS: [(&str, usize); 2] =
    [("[a-z][a-z0-9_]{1,28}[a-z0-9]", 3), ("[a-z][a-z0-9_]{0,28}[a-z0-9]", 2)];

fuzz_target!(|text: &str| {
    for (pipeline, (results, shortest)) in PIPELINES.iter().zip(RESULTS) {
        assert_eq!(pipeline.results(), results);
        let now = SystemTime::UNIX_EPOCH;
        let name = pipeline.name(text, now);
        assert!((shortest..=30).contains(&name.len()));
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('_'));
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')));
        assert_eq!(pipeline.steps(text, now).last().map(|step| &step.text), Some(&name));
    }
});
