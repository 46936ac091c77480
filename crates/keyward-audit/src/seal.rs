//! What several tallies counted, put together and made fit to leave the process.

use crate::checks::Audit;
use crate::clock::rfc3339;
use crate::counts::{Counted, Counts, Side};
use crate::drafted::{Drafting, Underway};
use crate::leaves::{Near, Stranger};
use crate::report::{Report, Source};
use crate::settings::{self, ServerFacts};
use crate::tally::Tally;
use keyward_fact::KeyType;
use keyward_rules::judge::{Breach, Why};
use keyward_schema::{Neighbour, Neighbours};

impl Audit {
    /// The report of what several tallies counted. `now` is when it is written, in milliseconds since 1970.
    pub fn report(
        &self,
        source: Source,
        tallies: Vec<Tally>,
        server: &ServerFacts,
        now: u64,
    ) -> Report {
        let mut counts = self.counts(source, tallies, Vec::new(), server);
        counts.underway = Underway::default();
        self.hide(&mut counts);
        Report::new(Counted { outline: self.outline.clone(), counts }, rfc3339(now))
    }

    /// What several tallies counted, and what was counted earlier of the same source.
    pub(crate) fn counts(
        &self,
        mut source: Source,
        tallies: Vec<Tally>,
        mut earlier: Vec<Counts>,
        server: &ServerFacts,
    ) -> Counts {
        let mut counts = Counts::none(&self.outline);
        let mut drafting: Option<Drafting> = None;
        for tally in tallies {
            let (own, keys) = tally.into_counts();
            counts.merge(own);
            match (&mut drafting, keys) {
                (Some(all), Some(keys)) => all.merge(*keys),
                (None, keys) => drafting = keys.map(|keys| *keys),
                (Some(_), None) => {}
            }
        }
        (counts.drafted, counts.underway) =
            Underway::gather(drafting, &mut earlier, self.outline.revealed);
        for earlier in earlier {
            counts.merge(Counts { sources: Vec::new(), ..earlier });
        }
        source.lack_values(counts.unread());
        counts.sources = vec![source];
        counts.server = settings::shown(self, server);
        self.find_neighbours(&mut counts);
        counts
    }

    /// Finds the definitions that were perhaps meant by unknown keys, and hides what must not be shown of them.
    pub(crate) fn find_neighbours(&self, counts: &mut Counts) {
        let mut neighbours = Neighbours::new(&self.schemas, &self.keyspaces);
        counts.leaves.find_neighbours(|key, key_type| Stranger {
            near: neighbours.nearest(key).ok().and_then(|near| self.near(&near)),
            breach: self.breach(key, key_type),
        });
        if !self.outline.revealed {
            counts.leaves.hide();
        }
    }

    /// Forgets the keys that were kept to be compared: what may yet be wrong is masked.
    pub(crate) fn hide(&self, counts: &mut Counts) {
        let masked = |db: u64, key: &str| {
            let mut places = Vec::new();
            let class = self.classify(db, key.as_bytes(), &mut places);
            self.masked(class, key.as_bytes(), &places)
        };
        for (agreements, planned) in counts.agreements.iter_mut().zip(&self.agreements) {
            agreements.hide(planned.must_know(), |side, pair| {
                let key = if side == Side::Set { &pair.set } else { &pair.own };
                (masked(pair.db, key), self.mask.unknown(pair.element.as_bytes()))
            });
        }
        let sources = || counts.sources.iter();
        let whole = sources().all(|it| it.complete && it.shards.iter().all(|shard| !shard.alone));
        counts.chains.iter_mut().for_each(|chains| chains.hide(whole, masked));
        for (relations, planned) in counts.relations.iter_mut().zip(&self.relations) {
            relations.hide(planned.law, whole, masked, |side, link| {
                let (key, element) = planned.shown(self, side, link);
                (masked(link.db, &key), masked(link.db, element))
            });
        }
    }

    /// A neighbour without what the key has: that may be shown only where many keys have it.
    fn near(&self, neighbour: &Neighbour<'_>) -> Option<Near> {
        let is_it = |number: &usize| {
            let (schema, definition) = self.declared(&self.definitions[*number]);
            std::ptr::eq(schema, neighbour.schema) && std::ptr::eq(definition, neighbour.definition)
        };
        let definition = (0..self.definitions.len()).find(is_it)?;
        Some(Near {
            definition,
            segment: neighbour.segment,
            why: Why::new(&neighbour.parting),
            also: neighbour.also.iter().map(|(at, it)| (*at, Why::new(it))).collect(),
        })
    }

    /// The schema whose layout a key breaks, and where.
    fn breach(&self, key: &[u8], key_type: &KeyType) -> Option<(usize, Breach)> {
        let breach = |schema| Breach::find(schema, key, key_type);
        self.schemas.iter().map(breach).enumerate().find_map(|(number, it)| Some((number, it?)))
    }
}
