//! Any text as a schema: read or refused with places inside it; formatted, it still says the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let loaded = keyward_schema::read(text);
    let readable = match &loaded.schema {
        Ok(_) => true,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty());
            for label in diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels) {
                assert!(label.span.start <= label.span.end && label.span.end <= text.len());
            }
            false
        }
    };
    if let Ok(formatted) = keyward_schema::format(text) {
        assert_eq!(keyward_schema::read(&formatted).schema.is_ok(), readable);
        assert_eq!(keyward_schema::format(&formatted).as_deref().ok(), Some(formatted.as_str()));
    }
});
