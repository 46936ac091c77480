//! What is wrong: each pattern is told once, and counted from then on.

use super::queue::Queue;
use super::{Event, Watch, Watched};
use crate::checks::{Audit, Class};
use crate::findings;
use crate::observe::Observer as _;
use crate::report::{BytesKind, Finding};
use crate::segment::{Kind, tokens};
use crate::tally::Tally;
use keyward_fact::Fact;
use keyward_rules::Rule;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

/// The most patterns that are told.
const MOST: usize = 1_000;

/// Something that is wrong, and how often it was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// The first key with it
    pub finding: Finding,
    /// How many times a key with it was looked up
    pub count: u64,
}

/// What was found by all threads.
#[derive(Debug, Default)]
pub(super) struct Found {
    watched: Watched,
    /// By what is wrong with which keys: its place in `watched.findings`, unless the rule is off
    known: HashMap<(Rule, u64), Option<usize>>,
}

impl Found {
    /// Judges a key that breaks these rules.
    pub(super) fn see(&mut self, watch: &Watch<'_>, fact: &Fact<'_>, broken: &[Rule], clock: u64) {
        let alike = alike(watch.audit, fact);
        let mut is_new = false;
        for rule in broken {
            match self.known.get(&(*rule, alike)) {
                Some(Some(place)) => self.watched.findings[*place].count += 1,
                Some(None) => {}
                None if self.known.len() >= MOST => self.watched.beyond += 1,
                None => {
                    self.known.insert((*rule, alike), None);
                    is_new = true;
                }
            }
        }
        if !is_new {
            return;
        }
        for finding in findings(watch.audit, fact, clock) {
            let place = self.known.entry((finding.rule, alike)).or_default();
            if place.is_some() {
                continue;
            }
            // What differs only in what is masked is told once.
            let told = &mut self.watched.findings;
            let is_told =
                |it: &Counted| it.finding.rule == finding.rule && it.finding.what == finding.what;
            if let Some(at) = told.iter().position(is_told) {
                told[at].count += 1;
                *place = Some(at);
            } else {
                *place = Some(told.len());
                (watch.tell)(Event::Found(&finding));
                told.push(Counted { finding, count: 1 });
            }
        }
    }

    pub(super) fn looked_up(&mut self) {
        self.watched.looked_up += 1;
    }

    pub(super) fn denied(&mut self) {
        self.watched.denied += 1;
    }

    pub(super) fn gone(&mut self) {
        self.watched.gone += 1;
    }

    pub(super) fn passed_over(&mut self) {
        self.watched.passed_over += 1;
    }

    pub(super) fn lost(&mut self) {
        self.watched.gaps += 1;
    }

    /// Adds what one server told.
    pub(super) fn add(&mut self, queue: &Queue) {
        let mut waiting = queue.lock();
        waiting.pass_over();
        self.watched.touched += waiting.touched;
        self.watched.passed_over += waiting.passed_over;
    }

    pub(super) fn take(&mut self) -> Watched {
        std::mem::take(&mut self.watched)
    }
}

/// Which keys are told together: those of a definition, or unknown ones that look alike.
fn alike(audit: &Audit, fact: &Fact<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let class = audit.classify(fact.db, fact.key, &mut Vec::new());
    class.hash(&mut hasher);
    if class == Class::Unknown {
        for token in tokens(fact.key) {
            match token.kind {
                Kind::Literal => token.bytes.hash(&mut hasher),
                value => value.word().hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

/// What an audit would say if this were the only key.
fn findings(audit: &Arc<Audit>, fact: &Fact<'_>, clock: u64) -> Vec<Finding> {
    let mut tally = Tally::new(audit.clone(), clock);
    tally.begin(fact);
    tally.end(fact);
    let (mut counts, _) = tally.into_counts();
    audit.find_neighbours(&mut counts);
    let groups = counts.leaves.groups(audit.outline.revealed);
    let mut found = findings::of_keys(&audit.outline, &counts, BytesKind::Unknown);
    found.extend(findings::unknown(&audit.outline, &counts, &groups, BytesKind::Unknown));
    found
}
