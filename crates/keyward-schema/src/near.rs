//! Why a key belongs to no definition: the one it nearly has, and where they part.

use crate::model::{Definition, Schema};
use crate::segment::{Fitting, Segment, segments};
use keyward_pattern::{DefinitionId, Keyspace, Template, nearest};
use std::net::Ipv6Addr;

/// The definitions that unknown keys are held against.
///
/// ```
/// use keyward_schema::{Neighbours, Parting, read};
///
/// let schema = read(r#"
/// version = 1
/// [keyspace]
/// name = "shop"
/// [keys.cart]
/// pattern = "cart:{user_id:uint}:items"
/// "#).schema.expect("a schema without errors");
/// let (schemas, keyspaces) = ([schema.clone()], [schema.compiled]);
///
/// let near = Neighbours::new(&schemas, &keyspaces).nearest(b"cart:7:itmes").unwrap();
/// assert_eq!(*near.definition.name, "cart");
/// assert_eq!(near.segment, 3);
/// assert_eq!(near.parting, Parting::Word { found: "itmes".into(), expected: "items".into() });
/// ```
#[derive(Debug)]
pub struct Neighbours<'a> {
    candidates: Vec<Candidate<'a>>,
    fitting: Fitting,
}

/// A definition that a key nearly belongs to.
#[derive(Debug, Clone)]
pub struct Neighbour<'a> {
    /// Its schema
    pub schema: &'a Schema,
    /// The definition
    pub definition: &'a Definition,
    /// The segment where they part, counted from 1, the prefix's included
    pub segment: usize,
    /// How they part
    pub parting: Parting,
}

/// How a key parts from a definition's pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parting {
    /// Another word stands where the pattern has one
    Word {
        /// What the key has
        found: String,
        /// What the pattern has
        expected: String,
    },
    /// An IPv6 address stands there as it is, colons included
    RawAddress {
        /// The address
        address: Ipv6Addr,
    },
    /// A hash tag without its braces
    Braces {
        /// The segment as it should be
        tagged: String,
    },
    /// No value of the parameter
    Value {
        /// The segment of the pattern
        expected: String,
        /// What the key has
        found: String,
        /// The parameter's type, if the segment has only one parameter
        ty: Option<String>,
        /// What is wrong with it, if that can be said
        why: Option<String>,
    },
    /// The key ends where the pattern goes on
    Short {
        /// The segment of the pattern
        expected: String,
    },
    /// The key goes on where the pattern ends
    Long {
        /// What the key has
        found: String,
    },
    /// Every segment fits, but the key is longer than `max_key_len` allows
    TooLong {
        /// How many bytes it has
        len: usize,
        /// How many it may have
        max: u64,
    },
    /// Every segment fits, but not all of them together
    Together,
}

/// Why no definition is near.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NothingNear {
    /// There are no definitions
    Empty,
    /// The key does not even have the prefix that all keys have
    Prefix(String),
    /// No pattern has this word there
    Word(String),
}

#[derive(Debug)]
struct Candidate<'a> {
    schema: &'a Schema,
    declared: &'a Definition,
    segments: Vec<Segment<'a>>,
    /// How many segments the prefix fills
    prefix: usize,
    separator: u8,
}

/// How near a definition is; the greater the nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// How many segments fit from the start
    leading: usize,
    /// Whether the first that does not fit looks like a slip of the pen
    slip: bool,
    /// How many fit at all
    fitting: usize,
    /// Whether there are as many as there should be
    same_length: bool,
}

impl<'a> Neighbours<'a> {
    /// The keyspaces are those of the schemas.
    pub fn new(schemas: &'a [Schema], keyspaces: &'a [Keyspace]) -> Self {
        let each = schemas.iter().zip(keyspaces).flat_map(|(schema, keyspace)| {
            (0..).zip(&schema.keys).map(move |(number, _)| Candidate::new(schema, keyspace, number))
        });
        Neighbours { candidates: each.collect(), fitting: Fitting::default() }
    }

    /// The definition nearest to a key that belongs to none.
    pub fn nearest(&mut self, key: &[u8]) -> Result<Neighbour<'a>, NothingNear> {
        let mut best: Option<(Score, &Candidate<'a>)> = None;
        for candidate in &self.candidates {
            let score = candidate.score(key, &mut self.fitting);
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, candidate));
            }
        }
        let Some((score, candidate)) = best else { return Err(NothingNear::Empty) };
        if score.slip || score.leading > candidate.prefix || score.fitting > score.leading {
            return Ok(Neighbour {
                schema: candidate.schema,
                definition: candidate.declared,
                segment: score.leading + 1,
                parting: candidate.parting(key, score.leading),
            });
        }
        Err(self.nothing(key, score, candidate))
    }

    fn nothing(&self, key: &[u8], score: Score, candidate: &Candidate<'a>) -> NothingNear {
        let prefix = candidate.schema.keyspace.prefix.as_ref();
        let several = self.candidates.iter().any(|it| !std::ptr::eq(it.schema, candidate.schema));
        if let Some(prefix) = prefix.filter(|_| !several && score.leading < candidate.prefix) {
            return NothingNear::Prefix(prefix.as_str().to_owned());
        }
        let word = candidate.split(key).get(score.leading).map(|word| lossy(word));
        NothingNear::Word(word.unwrap_or_default())
    }
}

impl<'a> Candidate<'a> {
    fn new(schema: &'a Schema, keyspace: &'a Keyspace, number: u32) -> Self {
        let declared = &schema.keys[number as usize];
        let params = keyspace.definition(DefinitionId(number)).params();
        let separator = keyspace.separator();
        let prefix = keyspace.prefix().map_or(&[][..], Template::parts);
        let parts = prefix.iter().chain(declared.pattern.parts());
        Candidate {
            schema,
            declared,
            segments: segments(parts, separator, params),
            prefix: segments(prefix.iter(), separator, params).len() - 1,
            separator,
        }
    }

    /// The key's segments; what takes the rest in the pattern takes it here too.
    fn split<'k>(&self, key: &'k [u8]) -> Vec<&'k [u8]> {
        let rest = self.segments.iter().position(Segment::takes_rest);
        let most = rest.map_or(usize::MAX, |at| at + 1);
        key.splitn(most, |byte| *byte == self.separator).collect()
    }

    fn score(&self, key: &[u8], fitting: &mut Fitting) -> Score {
        let words = self.split(key);
        let pairs = self.segments.iter().zip(&words);
        let fits: Vec<bool> =
            pairs.map(|(segment, word)| fitting.fits(segment, self.separator, word)).collect();
        let leading = fits.iter().take_while(|fits| **fits).count();
        let expected = self.segments.get(leading).and_then(Segment::literal);
        let slip = match (expected, words.get(leading).map(|word| str::from_utf8(word))) {
            (Some(expected), Some(Ok(word))) => nearest(word, [expected.as_str()]).is_some(),
            _ => false,
        };
        Score {
            leading,
            slip,
            fitting: fits.iter().filter(|fits| **fits).count(),
            same_length: words.len() == self.segments.len(),
        }
    }

    /// What is wrong at the first segment that does not fit.
    fn parting(&self, key: &[u8], at: usize) -> Parting {
        let words = self.split(key);
        let (segment, word) = match (self.segments.get(at), words.get(at)) {
            (Some(segment), Some(word)) => (segment, *word),
            (Some(segment), None) => return Parting::Short { expected: segment.pattern() },
            (None, Some(word)) => return Parting::Long { found: lossy(word) },
            (None, None) => {
                let max = self.schema.keyspace.max_key_len.as_ref().map(|max| max.value);
                let exceeded = max.filter(|max| key.len() as u64 > *max);
                return exceeded
                    .map_or(Parting::Together, |max| Parting::TooLong { len: key.len(), max });
            }
        };
        if let Some(expected) = segment.literal() {
            return Parting::Word { found: lossy(word), expected };
        }
        if segment.wants_ip()
            && let Some(address) = raw_address(&words[at..])
        {
            return Parting::RawAddress { address };
        }
        if let Some(tagged) = segment.with_tag(word)
            && Fitting::default().fits(segment, self.separator, tagged.as_bytes())
        {
            return Parting::Braces { tagged };
        }
        Parting::Value {
            expected: segment.pattern(),
            found: lossy(word),
            ty: segment.param_type(),
            why: segment.why_not(self.separator, word),
        }
    }
}

/// An IPv6 address that was put into a key as it is: the classic mistake.
fn raw_address(words: &[&[u8]]) -> Option<Ipv6Addr> {
    (2..=words.len().min(8)).rev().find_map(|count| {
        let text = words[..count].join(&b':');
        str::from_utf8(&text).ok()?.parse::<Ipv6Addr>().ok()
    })
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
