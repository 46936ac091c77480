//! Keyspaces that were made up.
#![allow(
    dead_code,
    unused_imports,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::unused_self,
    clippy::items_after_statements,
    reason = "each test uses some of it"
)]

mod keyspaces;

pub(crate) use keyspaces::KEYSPACES;

use keyward_fact::{Element, Excerpt, Expiry};
use keyward_infer::{Content, Observed, Sketch};
use std::collections::BTreeSet;

/// A keyspace with the number of the true pattern of each key.
pub(crate) struct Keyspace {
    pub(crate) keys: Vec<(Vec<u8>, usize)>,
    pub(crate) observed: Vec<Observed>,
}

impl Keyspace {
    /// Makes up the keys of a text: see the keyspaces for how it is written.
    pub(crate) fn parse(text: &str, seed: u64) -> Self {
        let mut random = Random(seed);
        let (mut keys, mut observed, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [count, key_type, ttl, pattern, fields @ ..] = &words[..] else {
                panic!("`{line}` has too few words");
            };
            let count: usize = count.parse().expect("a number of keys");
            let mut tries = 0;
            let mut made = 0;
            while made < count && tries < count * 50 {
                tries += 1;
                let key = random.key(pattern).into_bytes();
                if !known.insert(key.clone()) {
                    continue;
                }
                made += 1;
                let mut one = Observed::new(0, &key, key_type);
                if let Ok(seconds) = ttl.parse::<u64>() {
                    one.ttl = Some(seconds * (500 + random.below(500)));
                }
                one.length = Some(1 + random.below(9));
                one.content = Some(content(key_type, fields.first().copied(), &mut random));
                keys.push((key, number));
                observed.push(one);
            }
        }
        Keyspace { keys, observed }
    }

    /// A sketch of all keys.
    pub(crate) fn sketch(&self) -> Sketch {
        let mut sketch = Sketch::default();
        for one in &self.observed {
            sketch.observe(one.clone());
        }
        sketch
    }
}

fn content(key_type: &str, fields: Option<&str>, random: &mut Random) -> Content {
    let mut content = Content::default();
    let text = |text: &str| -> Vec<u8> { text.as_bytes().to_vec() };
    let number = random.below(1000).to_string();
    let show = |bytes: &[u8], content: &mut Content, named: Option<&str>| {
        let value = Excerpt::up_to(4096, bytes);
        match (key_type, named) {
            (_, Some(name)) => content.see(&Element::Field {
                name: Excerpt::up_to(4096, name.as_bytes()),
                value,
                expiry: Expiry::Never,
            }),
            ("list", _) => content.see(&Element::Item(value)),
            ("set", _) => content.see(&Element::Member(value)),
            ("zset", _) => content.see(&Element::Scored { member: value, score: 7.0 }),
            _ => content.see(&Element::Text(value)),
        }
    };
    match fields {
        Some(fields) if fields.starts_with('{') => {
            let names = fields.trim_matches(['{', '}']).split(',');
            let pairs: Vec<String> = names.map(|name| format!("\"{name}\":{number}")).collect();
            show(&text(&format!("{{{}}}", pairs.join(","))), &mut content, None);
        }
        Some(fields) => {
            fields.split(',').for_each(|name| show(number.as_bytes(), &mut content, Some(name)));
        }
        None => show(number.as_bytes(), &mut content, None),
    }
    content.finish()
}

/// Numbers that are the same in each run.
pub(crate) struct Random(u64);

const SYLLABLES: [&str; 24] = [
    "an", "be", "co", "da", "el", "fi", "go", "ha", "in", "ju", "ka", "lo", "mi", "no", "or", "pa",
    "qui", "ra", "so", "ti", "ul", "ve", "wi", "zo",
];

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (it ^ (it >> 31)) % end
    }

    fn of(&mut self, letters: &str, count: usize) -> String {
        let letters = letters.as_bytes();
        (0..count).map(|_| char::from(letters[self.below(letters.len() as u64) as usize])).collect()
    }

    fn word(&mut self, number: u64) -> String {
        let mut own = Random(number.wrapping_mul(77).wrapping_add(13));
        let count = 2 + own.below(2);
        (0..count).map(|_| SYLLABLES[own.below(24) as usize]).collect()
    }

    /// A key of a pattern: `{{` and `}}` are braces, `{name}` is a value.
    pub(crate) fn key(&mut self, pattern: &str) -> String {
        let mut out = String::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            if let Some(behind) = rest.strip_prefix("{{") {
                out.push('{');
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix("}}") {
                out.push('}');
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix('{') {
                let end = behind.find('}').expect("a closing brace");
                out.push_str(&self.value(&behind[..end]));
                rest = &behind[end + 1..];
            } else {
                let end = rest.find(['{', '}']).unwrap_or(rest.len());
                out.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
        out
    }

    fn value(&mut self, name: &str) -> String {
        let base = name.trim_end_matches(|char: char| char.is_ascii_digit());
        let number: u64 = name[base.len()..].parse().unwrap_or(0);
        const HEX: &str = "0123456789abcdef";
        match base {
            "uint" => (1 + self.below(4000)).to_string(),
            "hex" => self.of(HEX, number as usize),
            "uuid" => {
                let parts: Vec<String> = [8, 4, 4, 4, 12].map(|len| self.of(HEX, len)).into();
                parts.join("-")
            }
            "word" => {
                let at = self.below(number);
                self.word(at)
            }
            "name" => {
                let at = 1000 + self.below(300);
                self.word(at)
            }
            "slug" => {
                let pool = if number == 0 { 3000 } else { number };
                let at = self.below(pool);
                let mut own = Random(at + 99);
                let count = 1 + own.below(3);
                let words: Vec<String> = (0..count)
                    .map(|_| {
                        let at = own.below(500);
                        self.word(at)
                    })
                    .collect();
                words.join("-")
            }
            "upper" => self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 6),
            "date" => format!("2026-{:02}-{:02}", 1 + self.below(12), 1 + self.below(28)),
            "window" => ["1m", "5m", "1h", "1d"][self.below(4) as usize].to_owned(),
            "ip" => format!("10.{}.{}.{}", self.below(256), self.below(256), self.below(256)),
            "email" => format!("{}@example.org", self.value("name")),
            "nanoid" => {
                self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", 21)
            }
            "base" => self.of("abcdefghijklmnopqrstuvwxyz0123456789", 12),
            "ulid" => format!("0{}", self.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25)),
            "locale" => ["de_DE", "en_US", "fr_FR", "en_GB", "zh_CN", "pt_BR", "es_ES"]
                [self.below(7) as usize]
                .to_owned(),
            "path" => {
                let count = 1 + self.below(4);
                let words: Vec<String> = (0..count)
                    .map(|_| {
                        let at = self.below(400);
                        self.word(at)
                    })
                    .collect();
                format!("/{}", words.join("/"))
            }
            "way" => {
                let count = 1 + self.below(4);
                let words: Vec<String> = (0..count)
                    .map(|_| {
                        let at = self.below(400);
                        self.word(at)
                    })
                    .collect();
                words.join(":")
            }
            other => panic!("`{other}` is not known"),
        }
    }
}
