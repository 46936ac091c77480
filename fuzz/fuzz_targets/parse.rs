//! Values for the parameters of one pattern: refused, or built and read back the same.
#![no_main]

use keyward_pattern::{Keyspace, Template, Value, prove};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, Vec<String>)| {
    let (pattern, values) = input;
    let Ok(template) = Template::parse(pattern) else { return };
    let mut builder = Keyspace::builder(':').unwrap();
    builder.define("d", &template, |_| None);
    let Ok(keyspace) = builder.finish() else { return };
    let definition = keyspace.definitions().next().unwrap();
    let values: Vec<Value<'_>> =
        values.iter().take(definition.params().len()).map(|value| value.as_str().into()).collect();
    let Ok(key) = definition.build(&values) else { return };
    assert_eq!(keyspace.classify(key.as_bytes()), Some(definition.id()));
    let read = definition.parse(key.as_bytes()).expect("what was built can be read");
    if prove::ambiguities(&keyspace).is_empty() {
        let again: Vec<Value<'_>> = read.iter().map(|value| value.as_ref().into()).collect();
        assert_eq!(again, values);
    }
});
