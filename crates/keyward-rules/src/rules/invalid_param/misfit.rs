//! Keys that would belong to a definition if a parameter had a value of its type.

use keyward_pattern::{BuildErrorKind, DefinitionId, Keyspace, Part, raw_ipv6};
use keyward_schema::model::{Definition, Schema};
use std::cmp::Ordering;
use std::ops::Range;

/// Finds the definitions that unknown keys of one schema would belong to.
#[derive(Debug)]
pub struct Misfits {
    keyspace: Keyspace,
    /// The keyspace with text in place of every type
    loose: Option<Keyspace>,
    /// By definition, whether its pattern has a word: one of parameters alone would take any key
    telling: Vec<bool>,
}

/// A key that would belong to a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// The definition
    pub definition: DefinitionId,
    /// The number of the parameter that is not of its type
    pub param: usize,
    /// Whether it is an IPv6 address as it is, colons included
    pub raw_ipv6: bool,
    /// Where the parameters lie in the key
    pub places: Vec<Range<usize>>,
}

impl Misfits {
    /// The keyspace is the schema's, perhaps with the prefix bound.
    pub fn new(schema: &Schema, keyspace: &Keyspace) -> Self {
        Misfits {
            keyspace: keyspace.clone(),
            loose: keyspace.loosened(),
            telling: schema.keys.iter().map(has_word).collect(),
        }
    }

    /// The definition that an unknown key would belong to, and what is wrong with it.
    pub fn find(&self, key: &[u8]) -> Option<Misfit> {
        let text = str::from_utf8(key).ok()?;
        self.raw_address(text).or_else(|| self.wrong_type(text))
    }

    fn wrong_type(&self, key: &str) -> Option<Misfit> {
        let mut places = Vec::new();
        let id = self.loose.as_ref()?.locate(key.as_bytes(), &mut places)?;
        if !*self.telling.get(id.index())? {
            return None;
        }
        let param = self.wrong_param(id, key, &places)?;
        Some(Misfit { definition: id, param, raw_ipv6: false, places })
    }

    /// The first parameter whose value is not of its type.
    fn wrong_param(&self, id: DefinitionId, key: &str, places: &[Range<usize>]) -> Option<usize> {
        let definition = self.keyspace.definition(id);
        let names = definition.params().iter().map(|(name, _)| name.as_str());
        let values: Vec<(&str, &str)> = names
            .zip(places)
            .filter_map(|(name, place)| Some((name, key.get(place.clone())?)))
            .collect();
        let error = definition.build_named(&values).err()?;
        if !matches!(error.kind, BuildErrorKind::Invalid { .. }) {
            return None;
        }
        definition.params().iter().position(|(name, _)| *name == error.param)
    }

    /// The definition and the parameter that an IPv6 address was put into as it is.
    fn raw_address(&self, key: &str) -> Option<Misfit> {
        /// Nobody puts an address into a longer key, and every segment where one may begin costs a look at all of it.
        const LONGEST: usize = 1024;
        if self.keyspace.separator() != b':'
            || key.len() > LONGEST
            || key.bytes().filter(|byte| *byte == b':').count() < 3
        {
            return None;
        }
        let starts = std::iter::once(0).chain(key.match_indices(':').map(|(at, _)| at + 1));
        let mut places = Vec::new();
        for start in starts {
            for (len, address) in raw_ipv6(&key.as_bytes()[start..]) {
                let place = start..start + len;
                let digits = format!("{:032x}", address.to_bits());
                let mended = format!("{}{digits}{}", &key[..place.start], &key[place.end..]);
                let Some(id) = self.keyspace.locate(mended.as_bytes(), &mut places) else {
                    continue;
                };
                let Some(param) = places.iter().position(|it| it.start == place.start) else {
                    continue;
                };
                // What follows the address is as far from the end as it would be.
                let (mended, own) = (mended.len(), key.len());
                let in_key = |it: Range<usize>| match it.start.cmp(&place.start) {
                    Ordering::Less => it,
                    Ordering::Equal => place.clone(),
                    Ordering::Greater => own - (mended - it.start)..own - (mended - it.end),
                };
                let places = places.into_iter().map(in_key).collect();
                return Some(Misfit { definition: id, param, raw_ipv6: true, places });
            }
        }
        None
    }
}

fn has_word(definition: &Definition) -> bool {
    definition.pattern.parts().iter().any(|part| match part {
        Part::Literal(text) => text.bytes().filter(u8::is_ascii_alphanumeric).count() > 1,
        Part::Hole(_) => false,
    })
}
