//! Why a key belongs to no definition: the one it nearly has, and where they part.

use super::segment::{Fitting, Segment, segments};
use crate::output::{ERROR, HELP, printable};
use keyward_pattern::{DefinitionId, Keyspace, Template, nearest};
use keyward_schema::Schema;
use keyward_schema::model::Definition;
use serde_json::{Value, json};
use std::net::Ipv6Addr;

/// The message about an unknown key.
pub(super) fn describe(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> String {
    let help = match find(key, schemas, keyspaces) {
        Near::Definition { name, pattern, reason, .. } => {
            format!("the nearest is `{name}`, `{pattern}`: {reason}")
        }
        Near::Nothing(reason) => reason,
    };
    let (error, key) = (ERROR.on("error"), shown(key));
    format!("{error}: no definition has the key `{key}`\n{}: {help}\n", HELP.on("help"))
}

/// The same for programs; `null` where no definition is near.
pub(super) fn object(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> Value {
    match find(key, schemas, keyspaces) {
        Near::Definition { name, pattern, segment, reason } => json!({
            "definition": name,
            "pattern": pattern,
            "segment": segment,
            "reason": reason,
        }),
        Near::Nothing(_) => Value::Null,
    }
}

/// A definition's whole pattern, prefix included.
pub(super) fn pattern(definition: &Definition, schema: &Schema) -> String {
    let prefix = schema.keyspace.prefix.as_ref().map_or("", |prefix| prefix.as_str());
    format!("{prefix}{}", definition.pattern.as_str())
}

enum Near {
    Definition {
        name: String,
        pattern: String,
        /// Where they part, counted from 1
        segment: usize,
        reason: String,
    },
    /// What can be said without naming a definition
    Nothing(String),
}

/// A definition that an unknown key is held against.
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

fn find(key: &[u8], schemas: &[Schema], keyspaces: &[Keyspace]) -> Near {
    let mut fitting = Fitting::default();
    let mut best: Option<(Score, Candidate<'_>)> = None;
    for (schema, keyspace) in schemas.iter().zip(keyspaces) {
        for (number, _) in (0..).zip(&schema.keys) {
            let candidate = Candidate::new(schema, keyspace, number);
            let score = candidate.score(key, &mut fitting);
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, candidate));
            }
        }
    }
    let Some((score, candidate)) = best else {
        return Near::Nothing("the schema declares no keys yet".to_owned());
    };
    if score.slip || score.leading > candidate.prefix || score.fitting > score.leading {
        return Near::Definition {
            name: candidate.declared.name.value.clone(),
            pattern: pattern(candidate.declared, candidate.schema),
            segment: score.leading + 1,
            reason: candidate.reason(key, score.leading),
        };
    }
    let prefixes: Vec<_> = schemas.iter().filter_map(|it| it.keyspace.prefix.as_ref()).collect();
    Near::Nothing(match prefixes.as_slice() {
        [prefix] if schemas.len() == 1 && score.leading < candidate.prefix => {
            format!("every key here begins with `{}`", prefix.as_str())
        }
        _ => {
            let word = candidate.split(key).get(score.leading).map(|word| shown(word));
            format!("no pattern has the word `{}` there", word.unwrap_or_default())
        }
    })
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
    fn reason(&self, key: &[u8], at: usize) -> String {
        let words = self.split(key);
        match (self.segments.get(at), words.get(at)) {
            (Some(segment), Some(word)) => {
                if let Some(text) = segment.literal() {
                    return format!("segment {} is `{}`, not `{text}`", at + 1, shown(word));
                }
                if let Some(raw) = segment.wants_ip().then(|| raw_address(&words[at..])).flatten() {
                    return raw;
                }
                if let Some(tagged) = segment.with_tag(word)
                    && Fitting::default().fits(segment, self.separator, tagged.as_bytes())
                {
                    let tagged = shown(tagged.as_bytes());
                    return format!("the braces of the hash tag are missing: write `{tagged}`");
                }
                segment.why_not(self.separator, word).unwrap_or_else(|| {
                    let (word, pattern) = (shown(word), segment.pattern());
                    format!("segment {}, `{word}`, does not fit `{pattern}`", at + 1)
                })
            }
            (Some(segment), None) => format!("it ends where `{}` is expected", segment.pattern()),
            (None, Some(word)) => format!("segment {}, `{}`, is one too many", at + 1, shown(word)),
            (None, None) => "every segment fits, but not all of them together".to_owned(),
        }
    }
}

/// What to say about an IPv6 address that was put into a key as it is: the classic mistake.
fn raw_address(words: &[&[u8]]) -> Option<String> {
    let address = (2..=words.len().min(8)).rev().find_map(|count| {
        let text = words[..count].join(&b':');
        str::from_utf8(&text).ok()?.parse::<Ipv6Addr>().ok()
    })?;
    let digits = address.to_bits();
    Some(format!("`{address}` is a raw IPv6 address, which is `{digits:032x}` in a key"))
}

/// Bytes of a key as they are shown in a message.
fn shown(bytes: &[u8]) -> String {
    const SHOWN: usize = 80;
    let text = String::from_utf8_lossy(bytes);
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    printable(&start)
}
