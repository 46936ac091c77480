//! What two samples say of each other, where all keys were seen that could be in them.

use super::share;
use crate::rare::Rare;
use crate::report::{Finding, Join, Report, Source};

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
pub(super) fn compare(report: &mut Report) -> Vec<Finding> {
    let source = &mut report.source;
    source.notes.retain(|note| ![SAMPLED, UNSEEN, ALONE, TOGETHER].contains(&note.as_str()));
    if report.state.joins.is_empty() {
        return Vec::new();
    }
    if let Some(why) = source.hides_joins() {
        source.note(why);
        return Vec::new();
    }
    if source.shards.iter().any(|shard| shard.alone) {
        source.note(TOGETHER);
    }
    report.state.joins.iter().filter_map(joined).collect()
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

/// What two samples say.
fn joined(join: &Join) -> Option<Finding> {
    let left = Rare::from_text(&join.left)?;
    let compared = left.compare(&Rare::from_text(&join.right)?);
    let count = match join.rule.as_str() {
        "both-names" => compared.shared,
        _ => compared.looked_at - compared.shared,
    };
    (count > 0).then(|| Finding {
        rule: join.rule.clone(),
        severity: join.severity,
        schema: Some(join.schema.clone()),
        definition: Some(join.definition.clone()),
        subject: Some(join.subject.clone()),
        count,
        of: compared.looked_at,
        share: share(count, compared.looked_at),
        bytes: 0,
        message: String::new(),
        help: join.help.clone(),
        examples: Vec::new(),
        sampled: compared.sampled,
        change: None,
        what: join.what.clone(),
    })
}
