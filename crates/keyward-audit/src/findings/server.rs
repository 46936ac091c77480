//! What is wrong with the server.

use super::finding;
use crate::counts::{Counts, Got, Memory};
use crate::outline::{Outline, OutlinedSchema};
use crate::report::Finding;
use crate::share::share;
use keyward_fact::Size;
use keyward_rules::{Case, Rule, judge};

/// Settings that are not as asked for, and memory that runs short.
pub(crate) fn of_server(outline: &Outline, counts: &Counts) -> Vec<Finding> {
    let settings = counts.server.settings.iter();
    let settings = settings.filter_map(|it| setting(&outline.schemas[it.schema], it));
    let memories = counts.server.memory.iter();
    let memories = memories.filter_map(|it| memory(&outline.schemas[it.schema], it));
    settings.chain(memories).collect()
}

fn setting(schema: &OutlinedSchema, it: &Got) -> Option<Finding> {
    let (wanted, got) = (&schema.settings[it.setting], it.value.as_ref()?);
    if !judge::server_setting(&wanted.name, &wanted.want, got) {
        return None;
    }
    let case = Case {
        subject: Some(&wanted.name),
        detail: Some(&wanted.want),
        near: Some(got),
        definition: None,
    };
    let finding = finding(Rule::ServerSetting, schema.server_setting?, &case, 1, 1);
    Some(about(schema, finding))
}

/// Whether the server uses more of its memory than the schema allows.
fn memory(schema: &OutlinedSchema, Memory { used, maxmemory, .. }: &Memory) -> Option<Finding> {
    let (bound, share) = (schema.memory?, share(*used, *maxmemory));
    if !judge::memory_high(bound, share) {
        return None;
    }
    let (used, maxmemory) = (Size::from_bytes(*used).human(), Size::from_bytes(*maxmemory).human());
    let near = format!("{:.1} % ({used} of {maxmemory})", share * 100.0);
    let detail = format!("{bound} %");
    let case = Case { near: Some(&near), detail: Some(&detail), ..Case::default() };
    let finding = finding(Rule::MemoryHigh, schema.memory_high?, &case, 1, 1);
    Some(Finding { share, ..about(schema, finding) })
}

/// It is about one server, not about so many keys.
fn about(schema: &OutlinedSchema, finding: Finding) -> Finding {
    let message = finding.what.clone();
    Finding { schema: Some(schema.name.clone()), message, ..finding }
}
