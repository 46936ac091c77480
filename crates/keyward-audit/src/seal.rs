//! What several tallies counted, put together and made fit to leave the process.

use crate::clock::rfc3339;
use crate::counts::{Counted, Counts};
use crate::leaves::{Near, Stranger};
use crate::plan::Audit;
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
        let counts = self.counts(source, tallies, Vec::new(), server);
        Report::new(Counted { outline: self.outline.clone(), counts }, rfc3339(now))
    }

    /// What several tallies counted, and what was counted earlier of the same source.
    pub(crate) fn counts(
        &self,
        mut source: Source,
        tallies: Vec<Tally>,
        earlier: Vec<Counts>,
        server: &ServerFacts,
    ) -> Counts {
        let mut counts = Counts::none(&self.outline);
        for tally in tallies {
            counts.merge(tally.into_counts());
        }
        for earlier in earlier {
            counts.merge(Counts { sources: Vec::new(), ..earlier });
        }
        source.lack_values(counts.unread());
        counts.sources = vec![source];
        counts.server = settings::shown(self, server);
        if self.outline.has_schema() {
            let mut neighbours = Neighbours::new(&self.schemas, &self.keyspaces);
            counts.leaves.find_neighbours(|key, key_type| Stranger {
                near: neighbours.nearest(key).ok().and_then(|near| self.near(&near)),
                breach: self.breach(key, key_type),
            });
        } else {
            counts.leaves.find_neighbours(|_, _| Stranger::default());
        }
        if !self.outline.revealed {
            counts.leaves.hide();
        }
        counts
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
