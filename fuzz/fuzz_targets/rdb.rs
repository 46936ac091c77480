//! Any bytes as a snapshot: read or refused with a place inside it, at once and through a window alike.
#![no_main]

use keyward_rdb::{Element, Key, Excerpt, Reader, Show, Value, Visitor};
use libfuzzer_sys::fuzz_target;

/// Keeps what it is told, in short.
#[derive(Default, PartialEq, Debug)]
struct Seen {
    keys: u64,
    elements: u64,
    lengths: u64,
}

impl Seen {
    fn excerpt(&mut self, excerpt: &Excerpt<'_>) {
        assert!(excerpt.bytes.len() as u64 <= excerpt.len);
        assert!(excerpt.bytes.len() <= 32);
        self.lengths = self.lengths.wrapping_mul(31).wrapping_add(excerpt.len);
    }
}

impl Visitor for Seen {
    fn key(&mut self, key: &Key<'_>) -> Show {
        self.keys += 1;
        if key.name.first().is_some_and(|byte| byte % 2 == 0) { Show::NOTHING } else { Show::up_to(32) }
    }

    fn element(&mut self, element: &Element<'_>) {
        self.elements += 1;
        match element {
            Element::Text(excerpt) | Element::Item(excerpt) | Element::Member(excerpt) => self.excerpt(excerpt),
            Element::Field { name, value, .. } => {
                self.excerpt(name);
                self.excerpt(value);
            }
            Element::Scored { member, score } => {
                assert!(!score.is_nan());
                self.excerpt(member);
            }
            _ => {}
        }
    }

    fn value(&mut self, _: &Key<'_>, value: &Value) {
        self.lengths = self.lengths.wrapping_mul(31).wrapping_add(value.length);
        self.lengths = self.lengths.wrapping_mul(31).wrapping_add(value.memory);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut whole = Seen::default();
    let at_once = Reader::from_slice(bytes).read(&mut whole);
    if let Err(error) = &at_once {
        assert!(error.offset() <= bytes.len() as u64, "{error}");
    }
    // What is compressed as a whole is only recognised in a stream.
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return;
    }
    let mut windowed = Seen::default();
    let streamed = Reader::from_read(bytes).and_then(|reader| reader.read(&mut windowed));
    assert_eq!(at_once.is_ok(), streamed.is_ok());
    if at_once.is_ok() {
        assert_eq!(whole, windowed);
    }
});
