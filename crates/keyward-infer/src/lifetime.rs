//! How long keys live: what the TTLs that are left, and the times for which keys were not used, prove.
//!
//! A TTL began at the latest when a key was last used, so that what is left of it and the idle time are together at most
//! the whole of it. Where no use begins the TTL again, keys that were used later have less.

use crate::draft::{Definition, Draft, Param, ParamType, PatternPiece, Ttl};
use crate::facts::NEARLY_ALL;
use crate::names;
use crate::sketch::{Observed, Sample};
use keyward_fact::Duration;
use keyward_schema::model::Schema;
use std::collections::{BTreeMap, BTreeSet};

/// So many keys prove what idle times say, or how long the keys of one word live.
const PROOF: usize = 20;
/// So many keys make a duration one that is chosen.
const CHOSEN: usize = 5;
/// How exact clocks are: servers know idle times in seconds.
const EXACT: u64 = 2 * SECOND;
/// Keys that were not used for so long prove something.
const RESTED: u64 = 5 * EXACT;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Durations that people choose.
const HUMAN: [u64; 42] = [
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    20 * SECOND,
    30 * SECOND,
    45 * SECOND,
    MINUTE,
    2 * MINUTE,
    3 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    45 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    4 * HOUR,
    6 * HOUR,
    8 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    3 * DAY,
    5 * DAY,
    7 * DAY,
    10 * DAY,
    14 * DAY,
    21 * DAY,
    30 * DAY,
    45 * DAY,
    60 * DAY,
    90 * DAY,
    120 * DAY,
    180 * DAY,
    365 * DAY,
    730 * DAY,
    1825 * DAY,
    3650 * DAY,
];

/// The smallest duration that people choose which is not shorter; `None` if none is long enough.
pub(crate) fn human(millis: u64) -> Option<u64> {
    HUMAN.into_iter().find(|duration| *duration >= millis)
}

/// The longest duration that people choose which is not longer.
fn floor(millis: u64) -> Option<u64> {
    HUMAN.into_iter().rev().find(|duration| *duration <= millis)
}

/// How long keys live, and whether each use begins that again.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share in per cent")]
pub(crate) fn ttl(samples: &[&Sample<'_>]) -> (Ttl, bool) {
    let all: f64 = samples.iter().map(|sample| sample.weight).sum();
    let expiring = || samples.iter().filter(|sample| sample.observed.ttl.is_some());
    let share = expiring().map(|sample| sample.weight).sum::<f64>() / all;
    let Some(longest) = expiring().filter_map(|sample| least(sample.observed)).max() else {
        return (Ttl::None, false);
    };
    let observed: Vec<&Observed> = expiring().map(|sample| sample.observed).collect();
    match human(longest.max(1)) {
        None => (Ttl::Unknown, false),
        Some(within) if share < NEARLY_ALL => {
            (Ttl::Mixed { within, percent: (share * 100.0).ceil() as u8 }, false)
        }
        Some(within) => used(&observed).unwrap_or((Ttl::Within(within), false)),
    }
}

/// The least that the whole TTL can be.
fn least(observed: &Observed) -> Option<u64> {
    Some(observed.ttl?.saturating_add(observed.idle.unwrap_or(0).saturating_mul(SECOND)))
}

/// What the idle times of all keys prove together.
fn used(observed: &[&Observed]) -> Option<(Ttl, bool)> {
    let rested = |it: &&&Observed| it.idle.is_some_and(|idle| idle * SECOND >= RESTED);
    let known = observed.iter().all(|it| it.idle.is_some());
    if !known || observed.iter().filter(rested).count() < PROOF {
        return None;
    }
    let sums = || observed.iter().filter_map(|it| least(it));
    let (least, most) = (sums().min()?, sums().max()?);
    let exact = |sum: u64| HUMAN.into_iter().find(|it| sum.abs_diff(*it) <= EXACT);
    let mut chosen: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    sums().for_each(|sum| *chosen.entry(exact(sum)).or_default() += 1);
    let durations: BTreeSet<u64> = chosen.keys().flatten().copied().collect();
    let is_exact = !chosen.contains_key(&None);
    match (durations.first(), durations.len()) {
        // Nobody used a key without its TTL beginning again; whether anybody used one at all, only ages say.
        (Some(only), 1) if is_exact => {
            let began_again = |it: &&&Observed| {
                let whole = it.idle.unwrap_or(0) * SECOND + EXACT;
                it.age.is_some_and(|age| age * SECOND > whole)
            };
            let again = observed.iter().filter(began_again).count();
            Some((Ttl::Within(*only), again >= PROOF))
        }
        (Some(_), _) if is_exact && chosen.values().all(|keys| *keys >= CHOSEN) => {
            durations.last().map(|max| (Ttl::Caller(*max), false))
        }
        _ => {
            // Keys that were used and did not begin again would have less than half of it left.
            let (from, to) = (floor(least)?, human(most)?);
            let old = observed.iter().filter_map(|it| it.ttl).min()? * 2 <= from;
            (from < to && from * 2 >= to && old).then_some((Ttl::Range(from, to), false))
        }
    }
}

/// Finds parameters whose words decide how long keys live.
pub(crate) fn decide(draft: &mut Draft, schema: &Schema, samples: &[Sample<'_>]) {
    let number = |definition: &Definition| {
        let is_enum = |param: &Param| matches!(param.ty, ParamType::Enum(_));
        let number = definition.params.iter().position(is_enum);
        number.filter(|_| matches!(definition.ttl, Ttl::Within(_)))
    };
    let numbers: Vec<Option<usize>> = draft.definitions.iter().map(number).collect();
    if numbers.iter().all(Option::is_none) {
        return;
    }
    let mut longest: BTreeMap<(usize, String), (u64, usize)> = BTreeMap::new();
    let mut values = Vec::new();
    for sample in samples {
        let Some(id) = schema.compiled.parse_into(&sample.observed.key, &mut values) else {
            continue;
        };
        let word = numbers.get(id.index()).copied().flatten().and_then(|at| values.get(at));
        if let (Some(word), Some(ttl)) = (word, least(sample.observed)) {
            let entry = longest.entry((id.index(), word.to_string())).or_default();
            *entry = (entry.0.max(ttl), entry.1 + 1);
        }
    }
    for (at, number) in numbers.into_iter().enumerate() {
        let Some(number) = number else { continue };
        let definition = &mut draft.definitions[at];
        let ParamType::Enum(words) = &definition.params[number].ty else { continue };
        let ttl = |word: &String| {
            let (longest, keys) = longest.get(&(at, word.clone()))?;
            (*keys >= PROOF).then_some((word.clone(), human(*longest)?))
        };
        let Some(ttls) = words.iter().map(ttl).collect::<Option<Vec<(String, u64)>>>() else {
            continue;
        };
        let different: BTreeSet<u64> = ttls.iter().map(|(_, ttl)| *ttl).collect();
        if different.len() < 2 || different.len() < ttls.len() {
            continue;
        }
        let is_own = |(word, ttl): &(String, u64)| {
            word.parse::<Duration>().is_ok_and(|own| own.as_millis() == *ttl)
        };
        definition.ttl = Ttl::By(number);
        definition.ttls = if ttls.iter().all(is_own) { Vec::new() } else { ttls };
    }
}

/// What the words of a pattern say of keys that expire; of others it is implied.
pub(crate) fn lifecycle(definition: &Definition) -> Option<&'static str> {
    const SESSIONS: [&str; 4] = ["session", "sessions", "sess", "sid"];
    const RETAINED: [&str; 8] = [
        "revoked",
        "blacklist",
        "blocklist",
        "denylist",
        "lock",
        "locks",
        "redlock",
        "idempotency",
    ];
    const TEMPORARY: [&str; 5] = ["otp", "csrf", "captcha", "nonce", "typing"];
    let (Ttl::Within(longest) | Ttl::Range(_, longest) | Ttl::Caller(longest)) = definition.ttl
    else {
        return None;
    };
    let texts = definition.pieces.iter().filter_map(|piece| match piece {
        PatternPiece::Text(text) => Some(names::words(text)),
        PatternPiece::Param(_) => None,
    });
    let words: BTreeSet<String> = texts.flatten().collect();
    let says = |known: &[&str]| known.iter().any(|word| words.contains(*word));
    match () {
        () if says(&RETAINED) => Some("retained"),
        () if says(&SESSIONS) => Some("session"),
        () if says(&TEMPORARY) && longest <= HOUR => Some("temporary"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_that_people_choose() {
        assert_eq!(human(1), Some(SECOND));
        assert_eq!(human(6 * DAY + 1), Some(7 * DAY));
        assert_eq!(human(7 * DAY), Some(7 * DAY));
        assert_eq!(human(29 * DAY), Some(30 * DAY));
        assert_eq!(human(u64::MAX), None);
        assert_eq!((floor(HOUR + 1), floor(HOUR), floor(1)), (Some(HOUR), Some(HOUR), None));
        assert!(HUMAN.is_sorted());
    }

    /// What is said of keys with so many seconds left, idle for so many, and so old.
    fn said(keys: impl Iterator<Item = (u64, u64, u64)>) -> (Ttl, bool) {
        let observed: Vec<Observed> = keys
            .map(|(ttl, idle, age)| Observed {
                ttl: Some(ttl * SECOND),
                idle: Some(idle),
                age: Some(age),
                ..Observed::new(0, b"k", "hash")
            })
            .collect();
        let samples: Vec<Sample<'_>> =
            observed.iter().map(|observed| Sample { observed, weight: 1.0 }).collect();
        ttl(&samples.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_ttl_slides_if_each_use_of_keys_that_are_older_began_it_again() {
        let used = |idle: u64| (1800 - idle, idle, 9000);
        assert_eq!(said((0..60).map(|key| used(10 * key))), (Ttl::Within(30 * MINUTE), true));
        // They may never have been used since they were written.
        let unused = |idle: u64| (1800 - idle, idle, idle);
        assert_eq!(said((0..60).map(|key| unused(10 * key))), (Ttl::Within(30 * MINUTE), false));
        // One was used and went on to expire.
        let early = (400, 30, 9000);
        let keys = (0..60).map(|key| used(10 * key)).chain([early]);
        assert!(!said(keys).1);
    }

    #[test]
    fn idle_times_show_how_long_a_ttl_was() {
        // 25 minutes are left of a key that was not used for 20.
        let keys = (0..60).map(|key| (1500 - 7 * key, 1200 - 19 * key, 0));
        assert_eq!(said(keys), (Ttl::Within(45 * MINUTE), false));
    }

    #[test]
    fn ttls_that_are_several_durations_are_the_callers() {
        let keys = (0..60).map(|key| {
            let whole = [300, 3600, 86400][key % 3];
            (whole - 3 * key as u64, 3 * key as u64, 0)
        });
        assert_eq!(said(keys), (Ttl::Caller(DAY), false));
    }

    #[test]
    fn ttls_between_two_durations_are_a_range() {
        let keys = (0..60).map(|key| (65 + 37 * key % 55 - key, key, 0));
        assert_eq!(said(keys), (Ttl::Range(MINUTE, 2 * MINUTE), false));
    }
}
