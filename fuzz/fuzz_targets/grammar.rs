//! Any text is a pattern or an error inside it; a pattern compiles or says why not, and keeps its promises.
#![no_main]

use keyward_pattern::{Keyspace, Template, prove};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => {
            assert!(error.span.end <= text.len().max(1));
            return;
        }
    };
    assert_eq!(template.as_str(), text);
    let mut builder = Keyspace::builder(':').unwrap();
    builder.define("d", &template, |_| None);
    let Ok(keyspace) = builder.finish() else { return };
    let definition = keyspace.definitions().next().unwrap();
    assert!(definition.max_len().is_none_or(|max| max >= definition.min_len()));
    for ambiguity in prove::ambiguities(&keyspace) {
        assert!(ambiguity.witness.is_empty() || ambiguity.left != ambiguity.right);
    }
    prove::overlaps(&keyspace);
});
