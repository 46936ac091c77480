//! Which texts the named types of a schema hold.

use keyward_pattern::{Keyspace, Template};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Named types as a keyspace with this separator reads them.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) separator: u8,
    /// `None` where a keyspace with this separator cannot have the type
    known: RefCell<BTreeMap<String, Option<Keyspace>>>,
}

impl Types {
    pub(crate) fn new(separator: u8) -> Self {
        Types { separator, known: RefCell::default() }
    }

    /// Whether a type holds each of these texts.
    pub(crate) fn hold<'t>(&self, name: &str, mut texts: impl Iterator<Item = &'t [u8]>) -> bool {
        let mut known = self.known.borrow_mut();
        if !known.contains_key(name) {
            known.insert(name.to_owned(), only(name, self.separator));
        }
        let keyspace = known.get(name).and_then(Option::as_ref);
        keyspace.is_some_and(|keyspace| texts.all(|text| keyspace.classify(text).is_some()))
    }
}

/// A keyspace of which each key is a value of the type.
fn only(name: &str, separator: u8) -> Option<Keyspace> {
    let mut builder = Keyspace::builder(char::from(separator)).ok()?;
    let pattern = Template::parse(&format!("{{value:{name}}}")).ok()?;
    builder.define("value", &pattern, |_| None);
    builder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_holds_what_a_key_of_the_keyspace_may_have() {
        let holds = |separator, name, text: &str| {
            Types::new(separator).hold(name, [text.as_bytes()].into_iter())
        };
        assert!(holds(b':', "email", "anna@example.org"));
        assert!(!holds(b'.', "email", "anna@example.org"));
        assert!(holds(b':', "raw_ip", "2001:db8::1"));
        assert!(!holds(b':', "raw_ip", "2001:0db8::1"));
        assert!(!holds(b':', "no such type", "x"));
    }
}
