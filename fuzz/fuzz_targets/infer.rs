//! Any bytes as keys, one a line: what is drafted from them is a schema that can be read and is sound, and the same in
//! the other order.
#![no_main]

use keyward_infer::{Observed, Options, Sketch, infer, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let keys: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let sketch = |keys: &mut dyn Iterator<Item = &&[u8]>| {
        let mut sketch = Sketch::default();
        for key in keys {
            sketch.observe(Observed::new(0, key, "string"));
        }
        sketch
    };
    let draft = infer(&sketch(&mut keys.iter()), &Options::default());
    let text = write(&draft, "fuzz");
    let schema = keyward_schema::read(&text).schema.expect("a schema");
    assert!(keyward_rules::unsound(&[&schema]).is_empty());
    assert_eq!(infer(&sketch(&mut keys.iter().rev()), &Options::default()), draft);
});
