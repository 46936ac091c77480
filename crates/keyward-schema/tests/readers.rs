//! A declaration acts or is refused: every field of the schema language is listed here beside the code
//! that acts on it.
//!
//! The list cannot prove that a reader does what the reference says; the readers' own tests do. It makes a
//! field without any reader impossible to add unnoticed, and fails when a reader goes away.

use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// A field, the file that acts on it below `crates/`, and the expression that reads it there.
type Row = (&'static str, &'static str, &'static str);

const ACTS: &[Row] = &[
    ("accept[].rule", "keyward-rules/src/breaking/accept.rs", "accept.rule"),
    ("accept[].subject", "keyward-rules/src/breaking/accept.rs", "accept.subject"),
    ("accept[].reason", "keyward-rules/src/breaking/accept.rs", "accept.reason"),
    ("accept[].expires", "keyward-rules/src/breaking/accept.rs", "accept.expires"),
    ("groups.*.unstable", "keyward-rules/src/finding.rs", "is_unstable"),
    ("checklist[].text", "keyward-docs/src/checklist.rs", "item.text"),
    ("checklist[].level", "keyward-docs/src/checklist.rs", "item.level"),
    ("checklist[].rules", "keyward-rules/src/checklist.rs", "item.rules"),
    ("version", "keyward-schema/src/tables.rs", "Kind::Integer(Some(1))"),
    ("include", "keyward-schema/src/load.rs", ".include"),
    ("keyspace.name", "keyward-codegen/src/model/build/mod.rs", "keyspace.name"),
    ("keyspace.prefix", "keyward-schema/src/compile.rs", "builder.prefix("),
    ("keyspace.separator", "keyward-schema/src/compile.rs", "separator"),
    ("keyspace.case", "keyward-rules/src/rules/uppercase_literal.rs", "keyspace.case"),
    ("keyspace.db", "keyward-audit/src/checks/space.rs", "keyspace.db"),
    ("keyspace.cluster", "keyward-rules/src/rules/role_crosses_slots.rs", "keyspace.cluster"),
    ("keyspace.max_key_len", "keyward-schema/src/compile.rs", "builder.max_len("),
    ("layout.shape", "keyward-rules/src/fit.rs", "layout.slots"),
    ("layout.reserved", "keyward-rules/src/fit.rs", "layout.reserved"),
    ("layout.means.*", "keyward-rules/src/rules/misleading_word.rs", "layout.means"),
    ("layout.*.*", "keyward-rules/src/fit.rs", "Words::By"),
    ("layout.*.by", "keyward-rules/src/fit.rs", "Words::By"),
    ("server.maxmemory", "keyward-audit/src/settings.rs", "server.maxmemory"),
    ("server.maxmemory-policy", "keyward-audit/src/settings.rs", "server.maxmemory_policy"),
    ("server.save", "keyward-rules/src/rules/not_persisted.rs", "server.save"),
    ("server.appendonly", "keyward-audit/src/settings.rs", "server.appendonly"),
    ("server.*", "keyward-audit/src/settings.rs", "server.other"),
    ("alerts.memory", "keyward-audit/src/checks.rs", "alerts.memory"),
    ("generate.rust.out", "keyward-cli/src/commands/generate/targets.rs", ".rust"),
    ("generate.rust.values", "keyward-cli/src/commands/generate/targets.rs", ".values"),
    ("generate.typescript.out", "keyward-cli/src/commands/generate/targets.rs", ".typescript"),
    ("generate.python.out", "keyward-cli/src/commands/generate/targets.rs", ".python"),
    ("generate.java.out", "keyward-cli/src/commands/generate/targets.rs", ".java"),
    ("generate.java.package", "keyward-cli/src/commands/generate/targets.rs", ".package"),
    ("generate.java.spring", "keyward-cli/src/commands/generate/targets.rs", ".spring"),
    ("generate.java.cache_segments", "keyward-schema/src/model/generate.rs", "self.cache_segments"),
    ("generate.go.out", "keyward-cli/src/commands/generate/targets.rs", ".go"),
    ("generate.vectors.out", "keyward-cli/src/commands/generate/targets.rs", ".vectors"),
    ("defaults.ttl", "keyward-schema/src/definition.rs", "defaults.ttl"),
    ("defaults.max_len", "keyward-schema/src/definition.rs", "defaults.max_len"),
    ("defaults.max_bytes", "keyward-schema/src/definition.rs", "defaults.max_bytes"),
    ("defaults.jitter", "keyward-schema/src/definition.rs", "defaults.jitter"),
    ("defaults.owner", "keyward-schema/src/definition.rs", "defaults.owner"),
    ("rules.set", "keyward-rules/src/settings.rs", ".set"),
    ("rules.*.severity", "keyward-rules/src/settings.rs", "severity"),
    ("rules.*.words", "keyward-rules/src/rules/abbreviation.rs", "setting.words"),
    ("rules.*.accept", "keyward-rules/src/rules/abbreviation.rs", "setting.accept"),
    ("rules.*.max", "keyward-rules/src/rules/stale_cache.rs", ".max"),
    ("keys.*.owner", "keyward-rules/src/rules/missing_owner.rs", ".owner"),
    ("keys.*.group", "keyward-cli/src/selection.rs", "definition.group"),
    ("keys.*.pattern", "keyward-schema/src/compile.rs", "pattern"),
    ("keys.*.separators", "keyward-schema/src/definition.rs", "table.separators"),
    ("keys.*.type", "keyward-audit/src/checks/definition.rs", "key_type"),
    ("keys.*.type.module", "keyward-fact/src/key_type.rs", "Module("),
    ("keys.*.open", "keyward-audit/src/checks/definition.rs", "definition.open"),
    ("keys.*.score", "keyward-audit/src/checks/definition.rs", "definition.score"),
    ("keys.*.inverse", "keyward-audit/src/checks/relations.rs", "Law::Inverse"),
    ("keys.*.closure_of", "keyward-audit/src/checks/relations.rs", "Law::Closure"),
    ("keys.*.same_as", "keyward-audit/src/checks/relations.rs", "Law::Same"),
    ("keys.*.jitter", "keyward/src/store/handle.rs", "behaviour.jitter"),
    ("keys.*.on_write", "keyward/src/store/handle.rs", "behaviour.keep_ttl"),
    ("keys.*.sliding", "keyward/src/store/handle.rs", "behaviour.sliding"),
    (
        "keys.*.lifecycle",
        "keyward-rules/src/rules/lifecycle_ttl_mismatch.rs",
        "Lifecycle::Temporary",
    ),
    ("keys.*.max_len", "keyward-audit/src/checks/definition.rs", "definition.max_len"),
    ("keys.*.max_bytes", "keyward-audit/src/checks/definition.rs", "definition.max_bytes"),
    ("keys.*.on_full", "keyward/src/store/list.rs", "behaviour.refuse_when_full"),
    ("keys.*.keep", "keyward/src/store/list.rs", "behaviour.keep"),
    ("keys.*.invalidate", "keyward-codegen/src/model/build/event.rs", ".invalidate"),
    ("keys.*.examples", "keyward-rules/src/rules/example_mismatch.rs", "definition.examples"),
    ("keys.*.counter.negative", "keyward/src/store/counter.rs", "behaviour.negative"),
    ("keys.*.quota.limit", "keyward/src/store/handle.rs", "behaviour.limit"),
    ("keys.*.quota.window", "keyward/src/store/counter.rs", "behaviour.window_ms"),
    ("keys.*.rate_limit.limit", "keyward/src/store/handle.rs", "behaviour.limit"),
    ("keys.*.rate_limit.window", "keyward/src/store/limit/ask.rs", "behaviour.window_ms"),
    ("keys.*.rate_limit.algorithm", "keyward/src/store/limit/ask.rs", "behaviour.algorithm"),
    ("keys.*.rate_limit.on_outage", "keyward/src/store/limit/ask.rs", "behaviour.closed_on_outage"),
    ("keys.*.lock.fair", "keyward/src/store/lock/claim.rs", "behaviour.fair"),
    ("keys.*.lock.holders", "keyward/src/store/lock/claim.rs", "behaviour.holders"),
    ("keys.*.lock.replicas", "keyward/src/store/lock/claim.rs", "behaviour.replicas"),
    ("keys.*.queue.dead_letter", "keyward-rules/src/rules/role_mismatch.rs", "queue.dead_letter"),
    ("keys.*.queue.status", "keyward-rules/src/rules/role_mismatch.rs", "queue.status"),
    ("keys.*.queue.job_id", "keyward-rules/src/rules/unknown_reference.rs", "queue.job_id"),
    ("keys.*.queue.lease", "keyward/src/store/queue/worker.rs", "behaviour.lease_ms"),
    ("keys.*.queue.timeout", "keyward/src/store/queue/worker.rs", "behaviour.timeout_ms"),
    ("keys.*.queue.max_attempts", "keyward/src/store/queue/worker.rs", "behaviour.max_attempts"),
    ("keys.*.queue.max_crashes", "keyward/src/store/queue/worker.rs", "behaviour.max_crashes"),
    ("keys.*.queue.backoff", "keyward/src/store/queue/worker.rs", "behaviour.backoff_ms"),
    ("keys.*.queue.max_backoff", "keyward/src/store/queue/worker.rs", "behaviour.max_backoff_ms"),
    ("keys.*.queue.retain", "keyward/src/store/queue/lease.rs", "behaviour.retain_ms"),
    ("keys.*.queue.per_group", "keyward/src/store/queue/lease.rs", "behaviour.per_group"),
    ("keys.*.session.index", "keyward-rules/src/rules/role_mismatch.rs", "session.index"),
    ("keys.*.session.revoked", "keyward-rules/src/rules/role_mismatch.rs", "session.revoked"),
    ("keys.*.session.id", "keyward-codegen/src/model/build/key.rs", "session.id"),
    ("keys.*.session.max_age", "keyward/src/store/session/mod.rs", "max_age_ms"),
    ("keys.*.session.touched", "keyward/src/store/session/mod.rs", "behaviour.touched"),
    ("keys.*.refresh_token.reuse_grace", "keyward/src/store/token/mod.rs", "reuse_grace_ms"),
    ("keys.*.refresh_token.touched", "keyward/src/store/token/rotate.rs", "behaviour.touched"),
    ("keys.*.index.of", "keyward-rules/src/rules/role_mismatch.rs", "index.of"),
    ("keys.*.index.by", "keyward-rules/src/rules/role_mismatch.rs", "index.by"),
    ("keys.*.index.reverse", "keyward-rules/src/rules/role_mismatch.rs", "index.reverse"),
    ("keys.*.flag.override", "keyward-codegen/src/rust/types.rs", "\"override\""),
    ("keys.*.flag.default", "keyward/src/store/flag.rs", "behaviour.on_by_default"),
    ("keys.*.ranking.ties", "keyward/src/store/sorted_set.rs", "behaviour.ties"),
    ("keys.*.l1", "keyward/src/store/l1.rs", "behaviour.l1_ms"),
    ("keys.*.early_refresh", "keyward/src/store/cache/mod.rs", "behaviour.early_refresh"),
    ("keys.*.stale_if_error", "keyward/src/store/cache/mod.rs", "behaviour.stale_ms"),
    ("keys.*.stale_if_slow", "keyward/src/store/cache/mod.rs", "behaviour.slow_ms"),
    ("keys.*.negative_ttl", "keyward/src/store/cache/mod.rs", "behaviour.negative_ms"),
    ("keys.*.load_lock", "keyward/src/store/cache/lease.rs", "behaviour.load_lock_ms"),
    ("events.*.invalidates", "keyward-codegen/src/model/build/event.rs", "event.invalidates"),
    ("events.*.refreshes", "keyward-codegen/src/model/build/event.rs", "call.refresh"),
    ("foreign.*.glob", "keyward-audit/src/checks/space.rs", "foreign.glob"),
    ("migrations.*.phase", "keyward-audit/src/checks/space.rs", "migration.phase"),
    ("migrations.*.remove_after", "keyward-audit/src/checks/space.rs", "migration.remove_after"),
    ("migrations.*.old_ttl", "keyward-plan/src/work/migrate.rs", "migration.old_ttl"),
    ("migrations.*.quiet", "keyward-plan/src/apply.rs", "migration.quiet()"),
    ("migrations.*.renames.*", "keyward-schema/src/old_names.rs", "renames"),
    ("<rename>.pattern", "keyward-schema/src/old_names.rs", "rename.from"),
    ("<rename>.separators", "keyward-schema/src/migration.rs", "table.separators"),
    ("<rename>.convert", "keyward-plan/src/content.rs", "match (convert, self)"),
    ("<rename>.score", "keyward-plan/src/content.rs", "Score::Fixed(score)"),
    ("<rename>.recase.*", "keyward-schema/src/old_names.rs", "rename.recase"),
    ("<rename>.db", "keyward-schema/src/old_names.rs", "rename.database()"),
    ("plans.require_owner", "keyward-plan/src/make.rs", "plans.require_owner"),
    ("allow[].rule", "keyward-rules/src/allowing.rs", ".rule"),
    ("allow[].reason", "keyward-schema/src/tables.rs", "required reason: NonEmpty"),
    ("params.*", "keyward-schema/src/definition.rs", "around.params"),
    ("keys.*.params.*", "keyward-schema/src/definition.rs", "table.params"),
    ("keys.*.value", "keyward-audit/src/checks/definition.rs", "definition.value"),
    ("keys.*.fields.*", "keyward-audit/src/checks/definition.rs", "definition.fields"),
    ("keys.*.member", "keyward-audit/src/checks/definition.rs", "definition.member"),
    ("keys.*.ttl", "keyward-audit/src/checks/definition.rs", "definition.ttl"),
    ("events.*.params.*", "keyward-codegen/src/model/build/mod.rs", "event.params"),
    ("<ttl>.by", "keyward-codegen/src/model/build/key.rs", "Ttl::By"),
    ("<ttl>.values.*", "keyward-codegen/src/model/build/key.rs", "Ttl::By"),
    ("<ttl>.caller", "keyward-codegen/src/model/build/key.rs", "Ttl::Caller"),
    ("<ttl>.max", "keyward-codegen/src/model/build/key.rs", "Ttl::Caller"),
    ("<param>.type", "keyward-pattern/src/type_values.rs", "match ty"),
    ("<param>.regex", "keyward-pattern/src/type_values.rs", "Type::Regex"),
    ("<param>.any[].regex", "keyward-pattern/src/type_values.rs", "Type::Any"),
    ("<param>.key", "keyward-codegen/src/model/build/param.rs", "Type::Key(names)"),
    ("<param>.normalize", "keyward-pattern/src/language.rs", "param.normalize"),
    ("<param>.encode.*", "keyward-pattern/src/language.rs", "param.encode"),
    ("<param>.without", "keyward-pattern/src/language.rs", "param.without"),
    ("<param>.pii", "keyward-audit/src/mask.rs", "param.pii"),
    ("<param>.from", "keyward-codegen/src/model/build/param.rs", "declared.from"),
    ("text.*.extends", "keyward-schema/src/text.rs", ".extends"),
    ("text.*.abbreviations.*", "keyward-schema/src/model/text.rs", "self.abbreviations"),
    ("text.*.numbers", "keyward-schema/src/model/text.rs", "self.numbers"),
    ("text.*.symbols.*", "keyward-schema/src/model/text.rs", "self.symbols"),
    ("text.*.stop_words", "keyward-schema/src/model/text.rs", "self.stop_words"),
    ("text.*.words", "keyward-schema/src/model/text.rs", "self.words"),
    ("text.*.max_len", "keyward-schema/src/model/text.rs", "self.max_len"),
    ("text.*.shorten", "keyward-schema/src/model/text.rs", "self.shorten"),
    ("text.*.idempotent", "keyward-schema/src/model/text.rs", "self.idempotent"),
    ("text.*.examples", "keyward-schema/src/text.rs", "declared.examples"),
    ("<value>.type", "keyward-audit/src/checks/definition.rs", "definition.value"),
    ("<value>.json", "keyward-codegen/src/model/build/key.rs", "JsonType::Named"),
    ("<value>.ref", "keyward-rules/src/rules/unknown_reference.rs", "Value::Ref"),
    ("<value>.key", "keyward-rules/src/rules/unknown_reference.rs", "Value::Key"),
    ("<value>.compress", "keyward-codegen/src/model/build/key.rs", "made.zstd = *zstd"),
    ("<field>.type", "keyward-audit/src/checks/definition.rs", "field.value"),
    ("<field>.json", "keyward-codegen/src/model/build/key.rs", "JsonType::Named"),
    ("<field>.ref", "keyward-rules/src/rules/unknown_reference.rs", "Value::Ref"),
    ("<field>.key", "keyward-rules/src/rules/unknown_reference.rs", "Value::Key"),
    ("<field>.compress", "keyward-codegen/src/model/build/key.rs", "made.zstd = *zstd"),
    ("<field>.optional", "keyward-audit/src/checks/definition.rs", "field.optional"),
    ("<field>.ttl", "keyward-codegen/src/rust/field.rs", "field.ttl"),
    ("<field>.on_write", "keyward-codegen/src/model/build/key.rs", "field.on_write"),
];

/// Fields that only say something to people, and what prints them.
const TOLD: &[Row] = &[
    ("keyspace.doc", "keyward-docs/src/overview.rs", "keyspace.doc"),
    ("keys.*.doc", "keyward-docs/src/keys.rs", "definition.doc"),
    ("text.*.doc", "keyward-docs/src/texts.rs", "pipeline.doc"),
    ("events.*.doc", "keyward-docs/src/events.rs", "event.doc"),
    ("groups.*.doc", "keyward-docs/src/keys.rs", ".doc"),
    ("owners.*.doc", "keyward-docs/src/overview.rs", ".doc"),
    ("owners.*.contact", "keyward-docs/src/overview.rs", ".contact"),
    ("foreign.*.doc", "keyward-docs/src/history.rs", ".doc"),
    ("migrations.*.doc", "keyward-docs/src/history.rs", "migration.doc"),
    // It must also be before `remove_after`.
    ("migrations.*.started", "keyward-docs/src/history.rs", "migration.started"),
    ("<param>.doc", "keyward-docs/src/values.rs", ".doc"),
    ("<field>.doc", "keyward-docs/src/keys.rs", "field.doc"),
];

#[test]
fn every_field_has_a_reader() {
    let mut fields = BTreeSet::new();
    let schema = keyward_schema::json_schema();
    collect(&schema, "", &mut fields);
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        collect(definition, &format!("<{name}>"), &mut fields);
    }
    let inner: Vec<String> =
        fields.iter().map(|field| field.trim_end_matches("[]").to_owned()).collect();
    let is_table = |field: &String| {
        inner.iter().any(|other| {
            other.strip_prefix(field.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
        })
    };
    let listed: BTreeSet<&str> = ACTS.iter().chain(TOLD).map(|(field, ..)| *field).collect();
    let missing: Vec<&String> =
        fields.iter().filter(|field| !is_table(field) && !listed.contains(common(field))).collect();
    assert!(missing.is_empty(), "nothing is said to read {missing:#?}");
    let gone: Vec<&&str> = listed
        .iter()
        .filter(|listed| !fields.iter().any(|field| field == **listed || common(field) == **listed))
        .collect();
    assert!(gone.is_empty(), "the schema language has no {gone:#?}");
}

#[test]
fn every_reader_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for (field, file, expression) in ACTS.iter().chain(TOLD) {
        let text = std::fs::read_to_string(crates.join(file)).unwrap_or_default();
        if !text.contains(expression) {
            wrong.push(format!("{field}: {file} has no `{expression}`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Tables that occur in several places are listed once.
fn common(field: &str) -> &str {
    match field.find(".allow[]") {
        Some(at) => &field[at + 1..],
        None if field.starts_with("server.") && !ACTS.iter().any(|(known, ..)| *known == field) => {
            "server.*"
        }
        None => field,
    }
}

/// The paths of all fields below a part of a JSON Schema.
fn collect(schema: &Json, path: &str, fields: &mut BTreeSet<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        collect(field, &path, fields);
        fields.insert(path);
    }
    if schema["additionalProperties"].is_object() {
        let path = format!("{path}.*");
        collect(&schema["additionalProperties"], &path, fields);
        fields.insert(path);
    }
    if schema["items"].is_object() {
        collect(&schema["items"], &format!("{path}[]"), fields);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        for schema in schema[choice].as_array().into_iter().flatten() {
            collect(schema, path, fields);
        }
    }
}
