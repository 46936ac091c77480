//! How long a key should live that has no TTL, or too long a one.

use crate::work::between;
use keyward_schema::Schema;
use keyward_schema::model::Ttl;
use std::borrow::Cow;

/// By how much TTLs differ, in per cent, where the schema declares neither a range nor a jitter: keys that get
/// their TTL together do not end together.
const SPREAD: f64 = 10.0;

/// How long the keys of a definition live.
pub(super) struct Lifetime {
    /// The shortest and the longest, in milliseconds
    bounds: (u64, u64),
    /// The same by the word in a parameter, given by its place
    words: Option<(usize, Vec<(String, u64)>)>,
    /// By how much a TTL may be shortened, in per cent
    jitter: f64,
}

impl Lifetime {
    /// `None` where keys do not expire, or only their writer knows when.
    pub(super) fn new(schema: &Schema, number: usize) -> Option<Self> {
        let definition = schema.keys.get(number)?;
        let ttl = definition.ttl.as_ref()?;
        let longest = ttl.longest()?.as_millis();
        let shortest = match &ttl.value {
            Ttl::Range(shortest, _) => shortest.as_millis(),
            _ => longest,
        };
        let words = match &ttl.value {
            Ttl::By { param, values } => {
                let compiled = schema.compiled.definition(schema.compiled.find(&definition.name)?);
                let place = compiled.params().iter().position(|(name, _)| name == param)?;
                let words = values.iter().map(|(word, ttl)| (word.clone(), ttl.as_millis()));
                Some((place, words.collect()))
            }
            _ => None,
        };
        let jitter = definition.jitter.as_ref().map(|it| it.clamp(0.0, 100.0));
        let jitter = jitter.unwrap_or(if shortest < longest { 0.0 } else { SPREAD });
        Some(Lifetime { bounds: (shortest, longest), words, jitter })
    }

    /// The longest that a key of these values may live.
    pub(super) fn longest(&self, values: &[Cow<'_, str>]) -> u64 {
        self.bounds(values).1
    }

    /// The TTL that a key gets: the same whenever it is asked for, and another one for most keys.
    pub(super) fn spread(&self, key: &[u8], values: &[Cow<'_, str>]) -> u64 {
        let (shortest, longest) = self.bounds(values);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a TTL of at most ten years is far below 2^53"
        )]
        let cut = (shortest as f64 * self.jitter / 100.0) as u64;
        let shortest = shortest.saturating_sub(cut).max(1);
        between(key, shortest, longest)
    }

    fn bounds(&self, values: &[Cow<'_, str>]) -> (u64, u64) {
        let Some((place, words)) = &self.words else { return self.bounds };
        let known = words.iter().find(|(word, _)| values.get(*place).is_some_and(|it| it == word));
        known.map_or(self.bounds, |(_, ttl)| (*ttl, *ttl))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ttls(declared: &str) -> Vec<u64> {
        let schema = format!(
            "version = 1\n[keyspace]\nname = \"shop\"\n[keys.tick]\npattern = \"tick:{{window}}:{{id:uint}}\"\nparams = {{ window = [\"1m\", \"1h\"] }}\n{declared}\n"
        );
        let schema = keyward_schema::read(&schema).schema.unwrap();
        let Some(lifetime) = Lifetime::new(&schema, 0) else { return Vec::new() };
        let ttl = |id: u32| {
            let key = format!("tick:1m:{id}");
            lifetime.spread(key.as_bytes(), &["1m".into(), id.to_string().into()])
        };
        let mut ttls: Vec<u64> = (0..100).map(ttl).collect();
        assert_eq!(ttls, (0..100).map(ttl).collect::<Vec<_>>(), "the same for the same key");
        ttls.sort_unstable();
        ttls.dedup();
        ttls
    }

    fn bounds(declared: &str) -> (u64, u64) {
        let ttls = ttls(declared);
        assert!(ttls.len() > 90, "spread: {} of 100", ttls.len());
        (ttls[0], ttls[ttls.len() - 1])
    }

    #[test]
    fn ttls_are_spread_over_what_is_declared() {
        let (low, high) = bounds("ttl = \"1m..5m\"");
        assert!((60_000..80_000).contains(&low) && (280_000..=300_000).contains(&high));
        let (low, high) = bounds("ttl = \"100s\"\njitter = \"50%\"");
        assert!((50_000..55_000).contains(&low) && (95_000..=100_000).contains(&high));
        let (low, high) = bounds("ttl = \"100s\"");
        assert!((90_000..92_000).contains(&low) && (98_000..=100_000).contains(&high));
        let (low, high) =
            bounds("ttl = { by = \"window\", values = { 1m = \"100s\", 1h = \"1d\" } }");
        assert!(low >= 90_000 && high <= 100_000);
        assert!(bounds("ttl = { caller = true, max = \"100s\" }").1 <= 100_000);
        assert!(ttls("ttl = { caller = true }").is_empty());
        assert!(ttls("ttl = \"none\"").is_empty());
    }
}
