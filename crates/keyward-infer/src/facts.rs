//! What the keys of a family have in common besides their names.

use crate::content::Kind;
use crate::draft::{Field, Held, Holds};
use crate::sketch::Sample;
use crate::typing::UNIX;
use std::collections::{BTreeMap, BTreeSet};

/// A share of keys that is as good as all.
pub(crate) const NEARLY_ALL: f64 = 0.99;
/// A field that fewer of the hashes have is not named.
const RARE: f64 = 0.02;
/// So many names of fields that fewer values have than this share are data: people, days, products.
const SELDOM: f64 = 0.2;
const MANY_SELDOM: usize = 5;
/// A hash with more names than these, or without one that this share has, holds fields of any name.
const MOST_FIELDS: usize = 40;
const CORE: f64 = 0.5;

/// The type that all keys have, as the server's TYPE answers.
pub(crate) fn key_type(samples: &[&Sample<'_>]) -> Option<String> {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for sample in samples {
        *weights.entry(&sample.observed.key_type).or_default() += sample.weight;
    }
    let all: f64 = weights.values().sum();
    let most = weights.into_iter().max_by(|left, right| left.1.total_cmp(&right.1));
    most.filter(|(_, weight)| *weight >= NEARLY_ALL * all).map(|(name, _)| name.to_owned())
}

/// The most entries of a collection: twice as many as the longest has, rounded up to 1, 2 or 5 with zeros.
pub(crate) fn max_len(samples: &[&Sample<'_>]) -> Option<u64> {
    let longest = samples.iter().filter_map(|sample| sample.observed.length).max()?;
    let wanted = longest.saturating_mul(2).max(10);
    let mut unit: u64 = 10;
    loop {
        for step in [1, 2, 5] {
            let bound = unit.checked_mul(step)?;
            if bound >= wanted {
                return Some(bound);
            }
        }
        unit = unit.checked_mul(10)?;
    }
}

/// What values of a type hold.
pub(crate) fn holds(samples: &[&Sample<'_>], key_type: Option<&str>) -> Holds {
    let mut holds = Holds::default();
    let contents = || {
        samples
            .iter()
            .filter_map(|sample| sample.observed.content.as_ref())
            .filter(|content| content.seen > 0)
    };
    match key_type {
        Some("hash" | "stream") => fields(samples, &mut holds),
        Some("string" | "list" | "set" | "zset") => {
            let kinds = contents().flat_map(|it| &it.parts).map(|part| part.kind);
            let kind = kinds.reduce(Kind::and);
            let texts =
                || contents().flat_map(|it| &it.parts).filter_map(|part| part.text.as_deref());
            holds.value = kind.map(|kind| Held::Type(unix(kind, texts()).unwrap_or(kind.word())));
            if kind == Some(Kind::Json) {
                holds.json = json(&contents().map(|it| &*it.json).collect::<Vec<_>>());
            }
            if key_type == Some("zset") {
                holds.score = score(samples);
            }
        }
        _ => {}
    }
    holds
}

/// The names that objects have at their top level, as far as they are no data.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn json(objects: &[&[(Box<str>, Kind)]]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in objects.iter().copied().flatten() {
        *counts.entry(name).or_default() += 1;
    }
    let seldom = |count: usize| (count as f64) < SELDOM * objects.len() as f64;
    if counts.values().filter(|count| seldom(**count)).count() >= MANY_SELDOM {
        counts.retain(|_, count| !seldom(*count));
    }
    let names = counts.into_keys().map(str::to_owned);
    Some(names.collect::<Vec<_>>()).filter(|names| names.len() <= MOST_FIELDS).unwrap_or_default()
}

/// The fields that hashes have, and whether they may have others.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn fields(samples: &[&Sample<'_>], holds: &mut Holds) {
    let mut found: BTreeMap<&str, (usize, Kind, Vec<&str>)> = BTreeMap::new();
    let (mut all, mut open) = (0usize, false);
    let mut kinds = Vec::new();
    for content in samples.iter().filter_map(|sample| sample.observed.content.as_ref()) {
        if content.seen == 0 {
            continue;
        }
        all += 1;
        open |= content.open;
        for part in content.parts.iter().filter(|part| !part.name.is_empty()) {
            kinds.push(part.kind);
            let entry = found.entry(&part.name).or_insert((0, part.kind, Vec::new()));
            entry.0 += 1;
            entry.1 = entry.1.and(part.kind);
            entry.2.extend(part.text.as_deref());
        }
    }
    if all == 0 {
        return;
    }
    let share = |count: usize| count as f64 / all as f64;
    let core = found.values().any(|(count, ..)| share(*count) >= CORE);
    let names = found.values().filter(|(count, ..)| share(*count) >= RARE).count();
    // Fields that look like words may still be data: names of which each hash has others.
    let single = all == 1 && names > 12;
    if !core || names > MOST_FIELDS || single {
        let kind = kinds.into_iter().reduce(Kind::and).filter(|_| !open);
        let kind = kind.filter(|kind| !matches!(kind, Kind::Text | Kind::Bytes));
        holds.open = Some(kind.map(Kind::word));
        return;
    }
    let seldom = found.values().filter(|(count, ..)| share(*count) < SELDOM).count();
    let least = if seldom >= MANY_SELDOM { SELDOM } else { RARE };
    open |= found.values().any(|(count, ..)| share(*count) < least);
    holds.open = open.then_some(None);
    for (name, (count, kind, texts)) in found {
        if share(count) < least {
            continue;
        }
        let word = unix(kind, texts.into_iter()).unwrap_or(kind.word());
        let optional = count < all;
        holds.fields.push(Field { name: name.to_owned(), held: Held::Type(word), optional });
    }
}

/// Whether whole numbers are times.
fn unix<'t>(kind: Kind, texts: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    if kind != Kind::Uint {
        return None;
    }
    let numbers: BTreeSet<u64> = texts.filter_map(|text| text.parse().ok()).collect();
    times(&Vec::from_iter(numbers))
}

fn times(numbers: &[u64]) -> Option<&'static str> {
    let all =
        |unit: u64| numbers.len() >= 2 && numbers.iter().all(|it| UNIX.contains(&(it / unit)));
    match () {
        () if all(1) => Some("unix"),
        () if all(1000) => Some("unix_ms"),
        () => None,
    }
}

fn score(samples: &[&Sample<'_>]) -> Option<&'static str> {
    let contents = samples.iter().filter_map(|it| it.observed.content.as_ref());
    let contents: Vec<_> = contents.filter(|it| it.seen > 0).collect();
    if contents.is_empty() {
        return None;
    }
    if contents.iter().any(|it| it.fractions) {
        return Some("float");
    }
    let least = contents.iter().filter_map(|it| it.scores).map(|(least, _)| least).min()?;
    let most = contents.iter().filter_map(|it| it.scores).map(|(_, most)| most).max()?;
    let (Ok(low), Ok(high)) = (u64::try_from(least), u64::try_from(most)) else {
        return Some("int");
    };
    Some(times(&[low, high]).unwrap_or("float"))
}
