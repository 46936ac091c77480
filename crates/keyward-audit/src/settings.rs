//! What schemas ask of the server, and what the server shows.

use crate::checks::Audit;
use crate::counts::{Got, Memory, ServerCounts};
use crate::outline::OutlinedSetting;
use keyward_schema::model::Schema;
use std::collections::{BTreeMap, BTreeSet};

/// What a source could see of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Settings by their names in `redis.conf`, as far as they could be seen: `maxmemory` in bytes
    pub settings: BTreeMap<String, String>,
    /// Settings that could not be seen, and why
    pub unseen: BTreeMap<String, &'static str>,
    /// The memory that the server uses
    pub used_memory: Option<u64>,
}

impl Audit {
    /// The settings that the schemas ask for, to be asked of a server.
    pub(crate) fn declared_settings(&self) -> BTreeSet<String> {
        self.schemas.iter().flat_map(wanted).map(|setting| setting.name).collect()
    }
}

/// The settings that a schema asks for, and why they matter.
pub(crate) fn wanted(schema: &Schema) -> Vec<OutlinedSetting> {
    let server = &schema.server;
    let mut all = Vec::new();
    let mut want = |name: &str, want: String, why: &str| {
        all.push(OutlinedSetting { name: name.to_owned(), want, why: why.to_owned() });
    };
    if let Some(size) = &server.maxmemory {
        want("maxmemory", size.value.to_string(), "how much memory the keys may take");
    }
    if let Some(policy) = &server.maxmemory_policy {
        let why = "which keys the server may evict before their time";
        want("maxmemory-policy", policy.name().to_owned(), why);
    }
    if let Some(save) = &server.save {
        want("save", save.value.clone(), "what is left after a restart");
    }
    if let Some(appendonly) = &server.appendonly {
        let word = if appendonly.value { "yes" } else { "no" };
        want("appendonly", word.to_owned(), "what is left after a restart");
    }
    for (name, value) in &server.other {
        want(name, value.value.clone(), "the schema asks for it");
    }
    all
}

/// What the server shows of what schemas ask for.
pub(crate) fn shown(audit: &Audit, server: &ServerFacts) -> ServerCounts {
    let mut counts = ServerCounts::default();
    if audit.selective {
        return counts;
    }
    for (number, (schema, outlined)) in audit.schemas.iter().zip(&audit.outline.schemas).enumerate()
    {
        counts.settings.extend(outlined.settings.iter().enumerate().map(|(setting, wanted)| Got {
            schema: number,
            setting,
            value: server.settings.get(&wanted.name).cloned(),
            unseen: server.unseen.get(&wanted.name).map(|why| (*why).to_owned()),
        }));
        if let (Some(used), Some(maxmemory)) = (server.used_memory, maxmemory(schema, server)) {
            counts.memory.insert(Memory { schema: number, used, maxmemory });
        }
    }
    counts
}

/// What the server may use: as it says itself, or as the schema asks.
fn maxmemory(schema: &Schema, server: &ServerFacts) -> Option<u64> {
    let shown = server.settings.get("maxmemory").and_then(|text| text.parse::<u64>().ok());
    let declared = || schema.server.maxmemory.as_ref().map(|size| size.bytes());
    shown.filter(|bytes| *bytes > 0).or_else(declared).filter(|bytes| *bytes > 0)
}
