//! How good the keys of a library are: what the document measures, and what its best practices ask for.

use crate::convention::{Quality, analyze_key_quality};
use crate::keyspace;
use crate::kind::Kind;
use crate::naming;
use crate::query::QueryError;
use crate::server::Library;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;
use std::time::SystemTime;

/// How many keys a step of a scan looks at.
const COUNT: usize = 1000;

/// What was measured. Only the first is wrong; the rest is worth a look.
#[derive(Debug)]
pub struct Report<'k> {
    /// As the document measures it
    pub quality: Quality<'k>,
    /// Names that say nothing, such as `text1`
    pub meaningless: Vec<&'k str>,
    /// Names by the clock: the text had none, or all numbers of its name were taken
    pub fallbacks: Vec<&'k str>,
    /// Numbers that are free below the highest of their name: `ch:risk: 002`
    pub gaps: Vec<String>,
}

/// The keys of all elements.
///
/// # Errors
/// If the server cannot be asked.
pub async fn keys(library: &Library) -> Result<BTreeSet<String>, QueryError> {
    let mut found = BTreeSet::new();
    for kind in Kind::ALL {
        let mut cursor = 0_u64;
        loop {
            let mut cmd = redis::cmd("SCAN");
            cmd.arg(cursor).arg("MATCH").arg(format!("{}:*", kind.prefix()));
            cmd.arg("COUNT").arg(COUNT).arg("TYPE").arg("hash");
            let (next, names): (u64, Vec<Vec<u8>>) = library.ask(&cmd).await?;
            found.extend(names.iter().map(|name| String::from_utf8_lossy(name).into_owned()));
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(found)
}

/// Measures keys.
pub fn measure<'k>(keys: &[&'k str], longest: usize) -> Report<'k> {
    let mut numbers: BTreeMap<(Kind, &str), BTreeSet<u16>> = BTreeMap::new();
    let parsed: Vec<(&str, keyspace::ElementKey)> =
        keys.iter().filter_map(|key| Some((*key, keyspace::parse(key)?))).collect();
    for (_, key) in &parsed {
        let name = (keyspace::kind(key), keyspace::identifier(key));
        numbers.entry(name).or_default().insert(keyspace::number(key));
    }
    let gaps = numbers.iter().filter_map(|((kind, identifier), numbers)| {
        let last = numbers.last().copied().unwrap_or(0);
        let free: Vec<String> =
            (1..last).filter(|it| !numbers.contains(it)).map(|it| format!("{it:03}")).collect();
        let shown = match &free[..] {
            [] => return None,
            [first, .., last] if free.len() > 3 => {
                format!("{first} to {last}, {} of them", free.len())
            }
            _ => free.join(", "),
        };
        Some(format!("{}:{identifier}: {shown}", kind.prefix()))
    });
    let those = |is: fn(&str) -> bool| {
        let those = parsed.iter().filter(|(_, key)| is(keyspace::identifier(key)));
        those.map(|(name, _)| *name).collect()
    };
    Report {
        quality: analyze_key_quality(keys, longest),
        meaningless: those(is_meaningless),
        fallbacks: those(is_by_the_clock),
        gaps: gaps.collect(),
    }
}

/// Words for any text.
const WORDS: [&str; 23] = [
    "text",
    "content",
    "chunk",
    "document",
    "doc",
    "file",
    "page",
    "chapter",
    "section",
    "paragraph",
    "heading",
    "title",
    "untitled",
    "test",
    "inhalt",
    "dokument",
    "datei",
    "seite",
    "kapitel",
    "abschnitt",
    "absatz",
    "ueberschrift",
    "titel",
];

/// The numbers from 0 to 999, as the pipelines spell them.
static NUMBERS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let names = (0..=999).map(|number| {
        naming::name(Kind::Chapter, &format!("text {number}"), SystemTime::UNIX_EPOCH)
    });
    names.filter_map(|name| Some(name.strip_prefix("text_")?.to_owned())).collect()
});

/// A word for any text, alone or with numbers: `text1`, `chapter_eins`.
fn is_meaningless(identifier: &str) -> bool {
    let is_number =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()) || NUMBERS.contains(part);
    let mut word = identifier;
    while let Some((before, part)) = word.rsplit_once('_')
        && is_number(part)
    {
        word = before;
    }
    WORDS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// Whether it ends in a time such as `_20240101_120000`.
fn is_by_the_clock(identifier: &str) -> bool {
    let mut parts = identifier.rsplit('_');
    let are_digits = |part: Option<&str>, count: usize| {
        part.is_some_and(|it| it.len() == count && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    are_digits(parts.next(), 6) && are_digits(parts.next(), 8)
}
