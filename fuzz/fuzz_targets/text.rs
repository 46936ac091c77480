//! Any text becomes an identifier within its limit, the same from its beginning as from its whole.
#![no_main]

use keyward_text::{Numbers, Options, Pipeline, Shorten};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::SystemTime;

const OPTIONS: Options<'_> = Options {
    abbreviations: &[("VaR", "value at risk")],
    numbers: Some(Numbers::German),
    symbols: &[('&', "and"), ('<', "less_than"), ('*', "mal")],
    stop_words: &["der", "für", "the"],
    words: Some(4),
    max_len: Some(30),
    shorten: Shorten::Vowels,
    idempotent: true,
};

static PIPELINES: LazyLock<[Pipeline; 2]> = LazyLock::new(|| {
    [OPTIONS, Options { words: None, idempotent: false, ..OPTIONS }]
        .map(|options| Pipeline::new(&options).unwrap())
});

fuzz_target!(|text: &str| {
    for pipeline in PIPELINES.iter() {
        let now = SystemTime::UNIX_EPOCH;
        let name = pipeline.name(text, now);
        assert!((2..=30).contains(&name.len()));
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('_'));
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')));
        assert_eq!(pipeline.steps(text, now).last().map(|step| &step.text), Some(&name));
    }
});
