//! Any bytes as the block that generated code reads keys by: refused, or read without a panic.
#![no_main]

use keyward_pattern::Tables;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (block, key) = input;
    let Some(tables) = Tables::read(&block) else { return };
    for found in [tables.find(&key), tables.find_bare(&key)].into_iter().flatten() {
        assert!(std::str::from_utf8(&key).is_ok());
        let _ = found.definition();
    }
    if let Ok(text) = std::str::from_utf8(&key) {
        for language in 0..4 {
            if let Some(value) = tables.value(language, text) {
                let mut spelling = String::new();
                tables.spell(language, &value, &mut spelling);
                let _ = tables.unspell(language, &spelling);
            }
        }
    }
});
