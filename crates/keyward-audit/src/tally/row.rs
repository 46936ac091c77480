//! One key at a time, for lists of all keys.

use super::Pass;
use crate::checks::{Audit, Class};
use crate::mask::{Mask, Masked};
use keyward_fact::{Encoding, Fact};
use keyward_rules::Rule;
use std::fmt::Write as _;

/// Receives every key.
pub type Listener = Box<dyn FnMut(&Row<'_>) + Send>;

/// One key in a list of all keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct Row<'a> {
    /// The database
    pub db: u64,
    /// The name; where keys are shown as they are, whole and with escapes that keep all keys distinct
    pub key: &'a Masked,
    /// The bytes of the name in hexadecimal digits, where keys are shown as they are
    pub hex: Option<String>,
    /// The keyspace's name
    pub schema: Option<&'a str>,
    /// The definition, or the foreign software
    pub definition: Option<&'a str>,
    /// `defined`, `derived`, `old`, `foreign`, `unknown`
    pub class: &'static str,
    /// The type, as TYPE answers
    pub key_type: &'a str,
    /// How the server keeps it, where that is known
    pub encoding: Option<Encoding>,
    /// Bytes of a string, elements of a collection, where that is known
    pub length: Option<u64>,
    /// Bytes of key and value, where they are known
    pub bytes: Option<u64>,
    /// What is left of the TTL, in milliseconds
    pub ttl: Option<u64>,
    /// Whether it had expired
    pub expired: bool,
    /// The rules that it breaks
    pub findings: &'a [Rule],
}

impl Pass {
    /// Reports a key to the listener.
    pub(super) fn tell(&self, audit: &Audit, fact: &Fact<'_>, listener: &mut Listener) {
        let named = |number: usize| {
            let (schema, definition) = audit.declared(&audit.definitions[number]);
            (Some(schema.keyspace.name.as_str()), Some(definition.name.as_str()))
        };
        let own = |space: usize| Some(audit.outline.schemas[space].name.as_str());
        let mut findings = Vec::new();
        let (class, (schema, definition)) = match self.current.class {
            Class::Defined(number) => {
                let slots = &audit.outline.definitions[number].slots;
                findings.extend(self.current.broken.iter().map(|wrong| slots[wrong.slot].rule));
                ("defined", named(number))
            }
            Class::Derived { definition, .. } => {
                if !self.current.broken.is_empty() {
                    findings.push(Rule::LeakedDerivedKey);
                }
                ("derived", named(definition))
            }
            Class::Old { space, rename } => {
                let old = &audit.spaces[space].renames[rename];
                let severity = audit.outline.schemas[space].old_names[rename].severity;
                findings.extend(severity.map(|_| Rule::OldName));
                ("old", old.definition.map_or((own(space), None), named))
            }
            Class::Marker => ("derived", (None, None)),
            Class::Foreign { space, foreign } => {
                let name = audit.spaces[space].foreign[foreign].name.as_str();
                ("foreign", (own(space), Some(name)))
            }
            Class::Unknown => {
                if audit.outline.has_schema() && !self.current.expired {
                    let misfit = !self.current.broken.is_empty();
                    findings.push(if misfit { Rule::InvalidParam } else { Rule::UnknownKey });
                }
                ("unknown", (None, None))
            }
        };
        let reveal = audit.mask.reveal;
        let masked = if reveal {
            Mask::whole(fact.key)
        } else {
            audit.masked(self.current.class, fact.key, &self.places)
        };
        if self.current.expired {
            findings.clear();
        }
        findings.dedup();
        listener(&Row {
            db: fact.db,
            key: &masked,
            hex: reveal.then(|| hex(fact.key)),
            schema,
            definition,
            class,
            key_type: fact.key_type.name(),
            encoding: fact.encoding,
            length: fact.length,
            bytes: fact.bytes,
            ttl: self.current.remaining,
            expired: self.current.expired,
            findings: &findings,
        });
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
