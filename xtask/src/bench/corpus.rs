//! Keyspaces and keys to measure on.

use anyhow::Result;
use keyward_pattern::{Keyspace, Param, Template, Type};

/// How many distinct keys.
pub(super) const KEYS: usize = 200_000;

/// Thirteen patterns of the kinds that the five conventions have, with a regular expression each.
const PATTERNS: [&str; 13] = [
    "folder:{id:uuid}:listing",
    "file:{id:uuid}:meta",
    "perm:{folder:uuid}:{user:uint}",
    "quota:{user:uuid}:used",
    "rl:upload:{user:uint}",
    "session:active:{id:hex(32)}",
    "content:avail:{content:uint}:{platform:word}:{region:word}",
    "cache:popular:{region:word}:{kind:word}",
    "user:profile:{user:uuid}",
    "page:cache:{path}:{locale:locale}:{theme:word}",
    "rate:{action:word}:{ip:ip}",
    "analytics:activity:{user:uint}:{day:date}",
    "word:{word}",
];

/// A set of patterns and keys of them in random order.
pub(super) struct Corpus {
    pub(super) patterns: Vec<String>,
    pub(super) keyspace: Keyspace,
    /// All keys in a row, as a reply or a file holds them
    text: Vec<u8>,
    places: Vec<std::ops::Range<usize>>,
}

impl Corpus {
    /// The thirteen patterns, or as many more as it takes: the same shapes under other first words.
    pub(super) fn new(count: usize) -> Result<Self> {
        Corpus::separated(count, ':')
    }

    /// The same with another character in place of the keyspace's separator, which stays.
    pub(super) fn separated(count: usize, separator: char) -> Result<Self> {
        let patterns: Vec<String> = (0..count)
            .map(|number| match number / PATTERNS.len() {
                0 => PATTERNS[number].to_owned(),
                copy => PATTERNS[number % PATTERNS.len()].replacen(':', &format!("{copy}:"), 1),
            })
            .collect();
        let mut builder = Keyspace::builder(':')?;
        for (number, pattern) in patterns.iter().enumerate() {
            let template = Template::parse(&respelled(pattern, separator))?;
            let without = String::from(separator).replace(':', "");
            builder.define(&format!("d{number}"), &template, |_| {
                Some(Param { without: without.clone(), ..Type::Text.into() })
            });
        }
        let keyspace = builder.finish().map_err(|mut errors| errors.remove(0))?;
        let mut random = Random::new();
        let mut keys = std::collections::HashSet::with_capacity(KEYS);
        while keys.len() < KEYS {
            let pattern = &patterns[random.below(count)];
            let key = key(pattern, &mut random).replace(':', &String::from(separator));
            keys.insert(key.into_bytes());
        }
        // A set's order is random, but sorted first it is the same in every run.
        let mut keys: Vec<Vec<u8>> = keys.into_iter().collect();
        keys.sort();
        for at in (1..keys.len()).rev() {
            keys.swap(at, random.below(at + 1));
        }
        let mut text = Vec::new();
        let mut places = Vec::with_capacity(KEYS);
        for key in &keys {
            places.push(text.len()..text.len() + key.len());
            text.extend(key);
        }
        Ok(Corpus { patterns, keyspace, text, places })
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.places.iter().map(|place| &self.text[place.clone()])
    }

    pub(super) fn mean_len(&self) -> f64 {
        self.text.len() as f64 / self.places.len() as f64
    }
}

/// A pattern with another separator; what stands in braces is left alone.
fn respelled(pattern: &str, separator: char) -> String {
    let mut depth = 0;
    let respell = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ':' if depth == 0 => return separator,
            _ => {}
        }
        c
    };
    pattern.chars().map(respell).collect()
}

/// A key of a pattern with random values.
fn key(pattern: &str, random: &mut Random) -> String {
    let mut key = String::new();
    let mut rest = pattern;
    while let Some(open) = rest.find('{') {
        let close = rest[open..].find('}').map_or(rest.len(), |at| open + at);
        key += &rest[..open];
        let ty = rest[open + 1..close].split_once(':').map_or("text", |(_, ty)| ty);
        key += &value(ty, random);
        rest = &rest[close + 1..];
    }
    key + rest
}

fn value(ty: &str, random: &mut Random) -> String {
    let words = ["netflix", "popular", "series_4k", "mobile", "login", "dark_theme", "search"];
    match ty {
        "uuid" => random.uuid(),
        "uint" => (random.next() % 100_000_000).to_string(),
        "hex(32)" => format!("{:016x}{:016x}", random.next(), random.next()),
        "word" => format!("{}_{:07}", words[random.below(words.len())], random.below(1000)),
        "locale" => ["de_DE", "en_US", "id_ID", "zh_CN"][random.below(4)].to_owned(),
        "ip" => format!(
            "{}.{}.{}.{}",
            random.below(256),
            random.below(256),
            random.below(256),
            random.below(256)
        ),
        "date" => format!(
            "20{:02}-{:02}-{:02}",
            random.below(30),
            1 + random.below(12),
            1 + random.below(28)
        ),
        _ => format!("guides/{}/{:x}", words[random.below(words.len())], random.next() >> 8),
    }
}

/// xorshift64*: the same keys in every run.
pub(super) struct Random(u64);

impl Random {
    /// The beginning of the row.
    pub(super) fn new() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xffff,
            b >> 48,
            b & 0xffff_ffff_ffff
        )
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
