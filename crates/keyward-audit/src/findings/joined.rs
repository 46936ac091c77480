//! What two samples say of each other, where all keys were seen that could be in them.

use super::finding;
use crate::counts::Counts;
use crate::outline::{Outline, OutlinedJoin};
use crate::rare::{Compared, Rare};
use crate::report::{Finding, Source};
use keyward_rules::{Case, Rule, judge};

/// Keys are chosen by their own names: what a chosen key refers to was most likely not chosen.
const SAMPLED: &str = "only a sample of the keys was looked at: whether what they refer to is there, and \
                       which entities have two names, was not compared";
const UNSEEN: &str = "not all keys were seen: whether what they refer to is there, and which entities have \
                      two names, was not compared";
const ALONE: &str = "this is one shard of a cluster: whether what its keys refer to is there, and which \
                     entities have two names, is compared when the reports of all shards are merged";
const TOGETHER: &str = "shards of a cluster were read one by one: what their keys refer to was looked for in \
                        these shards alone";

/// The findings of rules that look at two definitions at once; or a note that says why there are none.
pub(crate) fn joined(outline: &Outline, counts: &Counts, source: &mut Source) -> Vec<Finding> {
    if outline.joins.is_empty() || outline.salt.is_none() {
        return Vec::new();
    }
    if let Some(why) = source.hides_joins() {
        source.note(why);
        return Vec::new();
    }
    if source.shards.iter().any(|shard| shard.alone) {
        source.note(TOGETHER);
    }
    let joins = outline.joins.iter().zip(&counts.joins);
    joins.filter_map(|(join, (left, right))| compared(outline, join, left, right)).collect()
}

impl Source {
    /// Why keys may be there that were not seen.
    fn hides_joins(&self) -> Option<&'static str> {
        if self.sample.is_some_and(|sample| sample.percent < 100.0) {
            return Some(SAMPLED);
        }
        if !self.complete {
            return Some(UNSEEN);
        }
        matches!(&self.shards[..], [only] if only.alone).then_some(ALONE)
    }
}

fn compared(outline: &Outline, join: &OutlinedJoin, left: &Rare, right: &Rare) -> Option<Finding> {
    let Compared { looked_at, shared, sampled } = left.compare(right);
    let count = match join.rule {
        Rule::BothNames => judge::both_names(looked_at, shared),
        _ => judge::dangling_reference(looked_at, shared),
    };
    let definition = &outline.definitions[join.definition];
    let case = Case {
        definition: Some(&definition.name),
        subject: Some(&join.subject),
        ..Case::default()
    };
    (count > 0).then(|| Finding {
        schema: Some(outline.schema_of(definition).to_owned()),
        definition: Some(definition.name.clone()),
        sampled,
        ..finding(join.rule, join.severity, &case, count, looked_at)
    })
}
