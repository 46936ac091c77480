//! What the last audit of each server saw.

use super::exposition::{Exposition, Kind, float};
use super::{MOST, Seen};
use crate::state::Auditing;
use keyward_audit::Report;
use keyward_audit::report::{Definition, Distribution, Finding, Severity, Unit};
use std::collections::{BTreeMap, HashMap};

/// A share of keys, and what it is at most.
type Share = (&'static str, fn(&Distribution) -> u64);

/// Shares of keys for which a distribution has a series.
const SHARES: [Share; 3] = [("0.5", |it| it.p50), ("0.9", |it| it.p90), ("0.99", |it| it.p99)];

/// What is read of a definition's keys: their bytes, idle times or frequencies.
type Measure = (&'static str, &'static str, fn(&Definition) -> Option<&Distribution>);

const MEASURES: [Measure; 3] = [
    ("keyward_definition_key_bytes", "So many bytes or fewer has this share of the keys", |it| {
        it.facts.sizes.as_ref()
    }),
    (
        "keyward_definition_idle_seconds",
        "For so many seconds or fewer this share of the keys was not used, where the policy is LRU",
        |it| it.facts.idle.as_ref(),
    ),
    (
        "keyward_definition_access_frequency",
        "So often or less, on the server's logarithmic scale, this share of the keys was used, where the policy is LFU",
        |it| it.facts.freq.as_ref(),
    ),
];

pub(super) fn write(out: &mut Exposition, servers: &[Seen], now: u64) {
    audits(out, servers, now);
    totals(out, servers);
    let each: Vec<(&str, &Report)> =
        servers.iter().filter_map(|(name, it)| Some((name.as_str(), it.report()?))).collect();
    definitions(out, &each);
    owners(out, &each);
    migrations_and_queues(out, servers);
}

fn audits(out: &mut Exposition, servers: &[Seen], now: u64) {
    let audits = || servers.iter().filter_map(|(name, it)| Some((name, it.audit.as_ref()?)));
    out.family("keyward_audit_age_seconds", Kind::Gauge, "Seconds since the last audit ended");
    for (server, audit) in audits() {
        let age = float(now.saturating_sub(audit.at)) / 1000.0;
        out.sample(&[("server", server)], age);
    }
    out.family("keyward_audit_duration_seconds", Kind::Gauge, "How long the last audit took");
    for (server, audit) in audits() {
        out.sample(&[("server", server)], float(audit.took) / 1000.0);
    }
    out.family("keyward_audit_complete", Kind::Gauge, "Whether the last audit saw everything");
    for (server, audit) in audits() {
        out.sample(&[("server", server)], f64::from(u8::from(audit.report.source.complete)));
    }
    out.family("keyward_audit_failing", Kind::Gauge, "Whether the audit after the last one failed");
    for (server, current) in servers {
        let failing = matches!(current.auditing, Auditing::Failed { .. });
        out.sample(&[("server", server)], f64::from(u8::from(failing)));
    }
}

fn totals(out: &mut Exposition, servers: &[Seen]) {
    let reports = || servers.iter().filter_map(|(name, it)| Some((name, it.report()?)));
    let classes = |report: &Report| {
        let summary = &report.summary;
        [("defined", summary.defined), ("unknown", summary.unknown), ("foreign", summary.foreign)]
    };
    out.family("keyward_keys", Kind::Gauge, "Keys, by whether a schema declares them");
    for (server, report) in reports() {
        for (class, count) in classes(report) {
            out.sample(&[("server", server), ("class", class)], float(count.keys));
        }
    }
    out.family("keyward_bytes", Kind::Gauge, "Bytes of keys, by whether a schema declares them");
    for (server, report) in reports() {
        for (class, count) in classes(report) {
            out.known(&[("server", server), ("class", class)], count.bytes);
        }
    }
    out.family(
        "keyward_compliance_ratio",
        Kind::Gauge,
        "The share of judged keys that are as declared",
    );
    for (server, report) in reports() {
        if let Some(compliance) = report.summary.compliance {
            out.sample(&[("server", server)], compliance);
        }
    }
    out.family("keyward_findings", Kind::Gauge, "Findings, by rule");
    for (server, report) in reports() {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for finding in &report.findings {
            *counts.entry((finding.rule.name(), finding.severity.name())).or_default() += 1;
        }
        for ((rule, severity), count) in counts {
            let labels = [("server", server.as_str()), ("rule", rule), ("severity", severity)];
            out.sample(&labels, float(count));
        }
    }
}

fn definitions(out: &mut Exposition, reports: &[(&str, &Report)]) {
    let chosen: Vec<(&str, Vec<&Definition>)> =
        reports.iter().map(|(server, report)| (*server, largest(report))).collect();
    let mut family = |name: &str, help: &str, number: &dyn Fn(&Definition) -> Option<u64>| {
        out.family(name, Kind::Gauge, help);
        for (server, definitions) in &chosen {
            for definition in definitions {
                out.known(&labels(server, definition), number(definition));
            }
        }
    };
    family(
        "keyward_definition_keys",
        "Keys of its own pattern, without old names and derived keys",
        &|it| Some(it.facts.keys),
    );
    family("keyward_definition_bytes", "Bytes of keys of its own pattern", &|it| it.facts.bytes);
    family("keyward_definition_keys_without_ttl", "Keys without a TTL", &|it| {
        Some(it.facts.ttl.none)
    });
    out.family(
        "keyward_definition_keys_expiring",
        Kind::Gauge,
        "Keys that expire within so many seconds",
    );
    for (server, definitions) in &chosen {
        for definition in definitions.iter().filter(|it| it.facts.ttl.expiring > 0) {
            let mut within = 0_u64;
            for bucket in &definition.facts.ttl.buckets {
                within = within.saturating_add(bucket.keys);
                if let Some(up_to) = bucket.up_to {
                    let bound = up_to.to_string();
                    let labels = with(labels(server, definition), ("within", &bound));
                    out.sample(&labels, float(within));
                }
            }
        }
    }
    for (name, help, measure) in MEASURES {
        out.family(name, Kind::Gauge, help);
        for (server, definitions) in &chosen {
            for definition in definitions.iter().filter(|it| it.facts.keys > 0) {
                let Some(distribution) = measure(definition) else { continue };
                for (share, of) in SHARES {
                    let labels = with(labels(server, definition), ("share", share));
                    out.sample(&labels, float(of(distribution)));
                }
            }
        }
    }
    out.family("keyward_definition_findings", Kind::Gauge, "Findings");
    let mut wrong = HashMap::new();
    for (server, report) in reports {
        for finding in &report.findings {
            if let (Some(schema), Some(definition)) = (&finding.schema, &finding.definition) {
                let entry = wrong.entry((*server, schema.as_str(), definition.as_str()));
                let (findings, keys): &mut (u64, u64) = entry.or_default();
                *findings += 1;
                *keys = keys.saturating_add(broken(finding));
            }
        }
    }
    let of = |server: &str, it: &Definition| {
        wrong.get(&(server, it.schema.as_str(), it.name.as_str())).copied().unwrap_or_default()
    };
    for (server, definitions) in &chosen {
        for definition in definitions {
            out.sample(&labels(server, definition), float(of(server, definition).0));
        }
    }
    out.family(
        "keyward_definition_compliance_ratio",
        Kind::Gauge,
        "At least this share of keys is as declared: a key that breaks two rules counts twice against it",
    );
    for (server, definitions) in &chosen {
        for definition in definitions.iter().filter(|it| it.facts.keys > 0) {
            let share = compliance(definition.facts.keys, of(server, definition).1);
            out.sample(&labels(server, definition), share);
        }
    }
    out.family(
        "keyward_definitions_left_out",
        Kind::Gauge,
        "Definitions without series of their own, since there are too many",
    );
    for ((server, report), (_, chosen)) in reports.iter().zip(&chosen) {
        out.sample(&[("server", server)], float((report.definitions.len() - chosen.len()) as u64));
    }
}

/// The definitions that have series of their own.
fn largest(report: &Report) -> Vec<&Definition> {
    let mut definitions: Vec<&Definition> = report.definitions.iter().collect();
    if definitions.len() > MOST {
        definitions.sort_by_key(|it| std::cmp::Reverse((it.facts.bytes, it.facts.keys)));
        definitions.truncate(MOST);
    }
    definitions
}

fn labels<'l>(server: &'l str, definition: &'l Definition) -> [(&'static str, &'l str); 5] {
    [
        ("server", server),
        ("schema", &definition.schema),
        ("definition", &definition.name),
        ("group", definition.group.as_deref().unwrap_or_default()),
        ("owner", definition.owner.as_deref().unwrap_or_default()),
    ]
}

/// One label more.
fn with<'l>(
    [server, schema, definition, group, owner]: [(&'l str, &'l str); 5],
    more: (&'l str, &'l str),
) -> [(&'l str, &'l str); 6] {
    [server, schema, definition, group, owner, more]
}

/// Keys that a finding counts against compliance.
fn broken(finding: &Finding) -> u64 {
    if finding.severity != Severity::Error {
        return 0;
    }
    match finding.in_keys {
        Some(keys) => keys.count,
        None if finding.unit == Unit::Keys => finding.count,
        None => 0,
    }
}

fn compliance(keys: u64, broken: u64) -> f64 {
    float(keys.saturating_sub(broken)) / float(keys.max(1))
}

fn owners(out: &mut Exposition, reports: &[(&str, &Report)]) {
    out.family(
        "keyward_owner_compliance_ratio",
        Kind::Gauge,
        "At least this share of an owner's keys is as declared",
    );
    for (server, report) in reports {
        let mut owners: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for definition in &report.definitions {
            if let Some(owner) = &definition.owner {
                let (keys, _) = owners.entry(owner).or_default();
                *keys = keys.saturating_add(definition.facts.keys);
            }
        }
        for finding in &report.findings {
            if let Some((_, wrong)) = finding.owner.as_deref().and_then(|it| owners.get_mut(it)) {
                *wrong = wrong.saturating_add(broken(finding));
            }
        }
        for (owner, (keys, wrong)) in
            owners.into_iter().filter(|(_, (keys, _))| *keys > 0).take(MOST)
        {
            out.sample(&[("server", server), ("owner", owner)], compliance(keys, wrong));
        }
    }
}

fn migrations_and_queues(out: &mut Exposition, servers: &[Seen]) {
    out.family("keyward_old_name_keys", Kind::Gauge, "Keys that still have an old name");
    for (server, current) in servers {
        for migration in current.migrations.iter() {
            for old in &migration.old_names {
                let labels = [
                    ("server", server.as_str()),
                    ("schema", &migration.schema),
                    ("migration", &migration.name),
                    ("definition", &old.definition),
                ];
                out.known(&labels, old.keys);
            }
        }
    }
    out.family(
        "keyward_migration_days_left",
        Kind::Gauge,
        "Days until `remove_after`; negative when it is over",
    );
    for (server, current) in servers {
        for migration in current.migrations.iter() {
            if let Some(days) = migration.days_left {
                let labels = [
                    ("server", server.as_str()),
                    ("schema", &migration.schema),
                    ("migration", &migration.name),
                ];
                #[allow(clippy::cast_precision_loss, reason = "days are few")]
                out.sample(&labels, days as f64);
            }
        }
    }
    out.family("keyward_queue_jobs", Kind::Gauge, "Jobs of all queues of a definition, by state");
    for (server, current) in servers {
        let mut jobs: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for queue in &current.queues.each {
            let states = [
                ("waiting", queue.waiting),
                ("due", queue.due),
                ("running", queue.running),
                ("ended", queue.ended),
                ("dead", queue.dead),
            ];
            for (state, count) in states {
                if let Some(count) = count {
                    let jobs = jobs.entry((&queue.definition, state)).or_default();
                    *jobs = jobs.saturating_add(count);
                }
            }
        }
        for ((definition, state), count) in jobs {
            let labels =
                [("server", server.as_str()), ("definition", definition), ("state", state)];
            out.sample(&labels, float(count));
        }
    }
}
