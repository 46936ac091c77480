//! Why a key belongs to no definition: the one it nearly has, and where they part.

use crate::model::{Definition, Schema};
use crate::segment::{Fitting, Segment, segments};
use keyward_pattern::{DefinitionId, Keyspace, nearest, raw_ipv6};
use std::net::Ipv6Addr;

/// The definitions that unknown keys are compared with.
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
    /// The segments after it that do not fit either, and how; only where there are as many as there should be
    pub also: Vec<(usize, Parting)>,
}

/// How a key parts from a definition's pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parting {
    /// Another word is where the pattern has one
    Word {
        /// What the key has
        found: String,
        /// What the pattern has
        expected: String,
    },
    /// An IPv6 address is there as it is, colons included
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
    /// The key ends where the pattern continues
    Short {
        /// The segment of the pattern
        expected: String,
    },
    /// The key continues where the pattern ends
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

/// How a segment of a key fits that of a pattern; the later the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// It looks like a slip of the pen
    Slip,
    /// In other capitals
    Capitals,
    Yes,
}

/// How near a definition is; the greater the nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    /// Whether the key has a word of the definition's own: without one, nothing is near
    related: bool,
    /// How many segments fit from the start, in whatever capitals
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
        if score.related {
            let mut partings = candidate.partings(key, &mut self.fitting);
            let (segment, parting) = partings.remove(0);
            let (schema, definition) = (candidate.schema, candidate.declared);
            return Ok(Neighbour { schema, definition, segment, parting, also: partings });
        }
        Err(self.nothing(key, score, candidate))
    }

    /// The key that was meant, with its definition, where only words of the pattern are misspelt and one definition
    /// alone has such words. What the prefix says is never taken for a slip, and neither are other digits: there they
    /// tell keyspaces and versions apart.
    ///
    /// ```
    /// # use keyward_schema::{Neighbours, read};
    /// let schema = read("version = 1\n[keyspace]\nname = \"shop\"\n[keys.cart]\npattern = \"cart:{id:uint}:items\"\n")
    ///     .schema
    ///     .expect("a schema without errors");
    /// let mut neighbours =
    ///     Neighbours::new(std::slice::from_ref(&schema), std::slice::from_ref(&schema.compiled));
    /// let (cart, key) = neighbours.corrected(b"Cart:7:itmes").unwrap();
    /// assert_eq!((cart.name.as_str(), key.as_str()), ("cart", "cart:7:items"));
    /// assert!(neighbours.corrected(b"order:7:items").is_none());
    /// ```
    pub fn corrected(&mut self, key: &[u8]) -> Option<(&'a Definition, String)> {
        let mut only = None;
        for candidate in &self.candidates {
            if let Some(meant) = candidate.corrected(key, &mut self.fitting)
                && only.replace((candidate.declared, meant)).is_some()
            {
                return None;
            }
        }
        only
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
        let prefix = || keyspace.prefix().into_iter();
        Candidate {
            schema,
            declared,
            segments: segments(prefix().chain([&declared.pattern.value]), separator, params),
            prefix: segments(prefix(), separator, params).len() - 1,
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
        let fits = self.fits(&words, fitting);
        let leading = fits.iter().take_while(|fit| **fit >= Fit::Capitals).count();
        let own = || self.segments.iter().zip(&fits).skip(self.prefix);
        let mut own_words = own().filter(|(segment, _)| segment.literal().is_some()).peekable();
        // Where a definition has no words of its own, the prefix is all that it can share.
        let nameless = own_words.peek().is_none()
            && self.prefix > 0
            && leading >= self.prefix
            && words.len() == self.segments.len();
        Score {
            related: nameless || own_words.any(|(_, fit)| *fit != Fit::No),
            leading,
            slip: fits.get(leading) == Some(&Fit::Slip),
            fitting: fits.iter().filter(|fit| **fit >= Fit::Capitals).count(),
            same_length: words.len() == self.segments.len(),
        }
    }

    fn fits(&self, words: &[&[u8]], fitting: &mut Fitting) -> Vec<Fit> {
        /// Shorter words are near to too many others.
        const LEAST: usize = 3;
        let fit = |(segment, word): (&Segment<'_>, &&[u8])| {
            if fitting.fits(segment, self.separator, word) {
                return Fit::Yes;
            }
            match (segment.literal(), str::from_utf8(word)) {
                (Some(expected), _) if expected.as_bytes().eq_ignore_ascii_case(word) => {
                    Fit::Capitals
                }
                (Some(expected), Ok(word))
                    if expected.len() >= LEAST && nearest(word, [expected.as_str()]).is_some() =>
                {
                    Fit::Slip
                }
                (None, _) if fitting.fits(segment, self.separator, &word.to_ascii_lowercase()) => {
                    Fit::Capitals
                }
                _ => Fit::No,
            }
        };
        self.segments.iter().zip(words).map(fit).collect()
    }

    /// The key with the words of the pattern, where only these are misspelt.
    fn corrected(&self, key: &[u8], fitting: &mut Fitting) -> Option<String> {
        let words = self.split(key);
        if words.len() != self.segments.len() {
            return None;
        }
        let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
        let fits = self.fits(&words, fitting);
        let mut meant = Vec::new();
        for (at, (segment, fit)) in self.segments.iter().zip(&fits).enumerate() {
            let word = str::from_utf8(words[at]).ok()?;
            let expected = segment.literal().filter(|it| digits(it) == digits(word));
            meant.push(match fit {
                Fit::Yes => word.to_owned(),
                Fit::Slip | Fit::Capitals if at >= self.prefix => expected?,
                _ => return None,
            });
        }
        let separator = char::from(self.separator).to_string();
        fits.iter().any(|fit| *fit != Fit::Yes).then(|| meant.join(&separator))
    }

    /// The segments that do not fit, counted from 1, and what is wrong with them: at least one.
    fn partings(&self, key: &[u8], fitting: &mut Fitting) -> Vec<(usize, Parting)> {
        let words = self.split(key);
        let fits = self.fits(&words, fitting);
        let first = fits.iter().take_while(|fit| **fit == Fit::Yes).count();
        let mut all = vec![(first + 1, self.parting(key, first))];
        if words.len() == self.segments.len() {
            let others = (first + 1..fits.len()).filter(|at| fits[*at] != Fit::Yes);
            all.extend(others.map(|at| (at + 1, self.parting(key, at))));
        }
        all
    }

    /// What is wrong at a segment that does not fit.
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
        let start: usize = words[..at].iter().map(|word| word.len() + 1).sum();
        if segment.wants_ip()
            && self.separator == b':'
            && let Some((_, address)) = raw_ipv6(&key[start..]).next()
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

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = r#"
version = 1
[keyspace]
name = "shop"
prefix = "shop:"
[keys.note]
pattern = "{owner:text}:{id:uint}"
[keys.cart]
pattern = "cart:{user_id:uint}:items"
[keys.price]
pattern = "price:{sku:slug}"
"#;

    /// The definition, and the segments that do not fit.
    fn near(key: &str) -> Option<(String, Vec<usize>)> {
        let schema = crate::read(SHOP).schema.expect("a schema without errors");
        let (schemas, keyspaces) = ([schema.clone()], [schema.compiled]);
        let near = Neighbours::new(&schemas, &keyspaces).nearest(key.as_bytes()).ok()?;
        let others = near.also.iter().map(|(at, _)| *at);
        let segments = std::iter::once(near.segment).chain(others).collect();
        Some((near.definition.name.value.clone(), segments))
    }

    #[test]
    fn a_definition_without_a_word_in_common_is_not_near() {
        assert_eq!(near("other:thing:7"), None);
        assert_eq!(near("shop:invoice:7:lines"), None);
        assert_eq!(near("shop:invoice:x"), Some(("note".to_owned(), vec![3])));
    }

    #[test]
    fn wrong_capitals_alone_find_the_right_one() {
        let cart = || Some(("cart".to_owned(), vec![1, 2, 4]));
        assert_eq!(near("SHOP:CART:7:ITEMS"), cart());
        assert_eq!(near("shop:Cart:7:items"), Some(("cart".to_owned(), vec![2])));
    }

    #[test]
    fn a_key_is_corrected_where_only_words_are_misspelt_and_one_definition_has_them() {
        let schema = format!("{SHOP}[keys.card]\npattern = \"card:{{id:uint}}:v1\"\n");
        let schema = crate::read(&schema).schema.expect("a schema without errors");
        let mut neighbours =
            Neighbours::new(std::slice::from_ref(&schema), std::slice::from_ref(&schema.compiled));
        let mut corrected = |key: &str| neighbours.corrected(key.as_bytes()).map(|(_, key)| key);
        assert_eq!(corrected("shop:Cart:7:itmes").as_deref(), Some("shop:cart:7:items"));
        assert_eq!(corrected("shop:prise:a-b").as_deref(), Some("shop:price:a-b"));
        for (key, why) in [
            ("shop:cart:x:itmes", "a value does not fit"),
            ("shop:cart:7", "a segment is missing"),
            ("shop:order:7:items", "another word"),
            ("shopp:cart:7:items", "another keyspace"),
            ("SHOP:cart:7:items", "another keyspace"),
            ("shop:card:7:v2", "another version"),
            ("shop:cart:7:items", "nothing is misspelt"),
        ] {
            assert_eq!(corrected(key), None, "{why}: {key}");
        }
        let twice = "version = 1\n[keyspace]\nname = \"shop\"\n[keys.cart]\npattern = \"cart:{id}\"\n\
                     [keys.card]\npattern = \"card:{id}\"\n";
        let twice = crate::read(twice).schema.expect("a schema without errors");
        let mut neighbours =
            Neighbours::new(std::slice::from_ref(&twice), std::slice::from_ref(&twice.compiled));
        assert!(neighbours.corrected(b"cars:7").is_none(), "two have such a word");
    }

    #[test]
    fn every_segment_that_differs_is_named() {
        assert_eq!(near("shop:crat:7:itmes"), Some(("cart".to_owned(), vec![2, 4])));
        assert_eq!(near("shop:cart:x:itmes"), Some(("cart".to_owned(), vec![3, 4])));
    }
}
