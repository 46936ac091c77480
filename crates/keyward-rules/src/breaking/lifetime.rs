//! How the TTLs of two versions compare.

use super::Pair;
use keyward_fact::Duration;
use keyward_schema::model::Ttl;
use std::collections::BTreeSet;

/// What a change of a TTL does to keys, seen from each of its words or ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lifetimes {
    /// Some keys live longer: how long they lived at most, and live now; `None` without end
    pub(crate) longer: Option<(Option<Duration>, Option<Duration>)>,
    /// Some keys live shorter
    pub(crate) shorter: Option<(Option<Duration>, Option<Duration>)>,
}

/// Compares the TTLs of a definition; nothing where one of them is not declared.
pub(crate) fn lifetimes(pair: &Pair<'_>) -> Lifetimes {
    let (Some(old), Some(new)) = (&pair.old.ttl, &pair.new.ttl) else {
        return Lifetimes::default();
    };
    let mut found = Lifetimes::default();
    let mut compare = |was: Option<Duration>, is: Option<Duration>| {
        // No end is later than any.
        let end = |ttl: Option<Duration>| ttl.map_or(u64::MAX, Duration::as_millis);
        if end(is) > end(was) {
            found.longer.get_or_insert((was, is));
        } else if end(is) < end(was) {
            found.shorter.get_or_insert((was, is));
        }
    };
    match (&old.value, &new.value) {
        (Ttl::By { values: was, .. }, Ttl::By { values: is, .. }) => {
            let of = |values: &[(String, Duration)], word: &str| {
                values.iter().find(|(known, _)| known == word).map(|(_, ttl)| *ttl)
            };
            let words: BTreeSet<&str> = was.iter().map(|(word, _)| word.as_str()).collect();
            for word in words {
                if let (Some(was), Some(is)) = (of(was, word), of(is, word)) {
                    compare(Some(was), Some(is));
                }
            }
        }
        // What only the caller knows cannot be compared.
        (Ttl::Caller { max: None }, _) | (_, Ttl::Caller { max: None }) => {}
        (was, is) => {
            compare(was.longest(), is.longest());
            if let (Some(was), Some(is)) = (was.shortest(), is.shortest())
                && found.longer.is_none()
            {
                compare_shortest(&mut found, was, is);
            }
        }
    }
    found
}

/// A range whose longest TTL stays may still let keys expire earlier.
fn compare_shortest(found: &mut Lifetimes, was: Duration, is: Duration) {
    if is < was {
        found.shorter.get_or_insert((Some(was), Some(is)));
    }
}
