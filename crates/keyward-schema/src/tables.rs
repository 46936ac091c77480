//! The tables of a schema. Each is declared once: fields, forms and the words of the reference.

use crate::form::{AnyName, Form, Id, Map, OneOrMany, ParamName, Schemas, table, unknown_word};
use crate::layout::LayoutTable;
use crate::model::{
    Algorithm, Case, Date, Invalidate, Invalidation, Lifecycle, Limit, OnFull, OnOutage, OnWrite,
    Phase, Policy, RuleSet, Severity, Value,
};
use crate::param::ParamForm;
use crate::reading::Reading;
use crate::scalar::{Count, Integer, NonEmpty, Percent, Separator};
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use crate::ttl::TtlForm;
use crate::value::{DefinitionName, FieldForm};
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::Template;
use serde_json::{Value as Json, json};

table! {
    /// A key convention for Redis or Valkey.
    RootTable {
        /// The version of the schema language; this is version 1.
        optional version: Version,
        /// More files of this schema, relative to this one.
        optional include: Vec<Spanned<NonEmpty>>,
        /// What all keys have in common.
        optional keyspace: KeyspaceTable,
        /// The shape that every pattern follows.
        optional layout: LayoutTable,
        /// What the server must be set to.
        optional server: ServerTable,
        /// When an audit reports.
        optional alerts: AlertsTable,
        /// What holds for every definition that does not say otherwise.
        optional defaults: DefaultsTable,
        /// Which rules apply, and how.
        optional rules: RulesTable,
        /// A parameter's type, by its name.
        optional params: Map<ParamName, ParamForm>,
        /// The key definitions: a pattern each, and what stands under it.
        optional keys: Map<Id, KeyTable>,
        /// What happens in the application and invalidates keys.
        optional events: Map<Id, EventTable>,
        /// Named sets of definitions.
        optional groups: Map<Id, GroupTable>,
        /// Who answers for definitions.
        optional owners: Map<AnyName, OwnerTable>,
        /// Who uses which keys; reserved: accepted and not read yet.
        optional services: Reserved,
        /// Keys of other software on the same server: counted, never judged.
        optional foreign: Map<Id, ForeignTable>,
        /// Renames of keys that are under way.
        optional migrations: Map<Id, MigrationTable>,
        /// How human text becomes an identifier; reserved: accepted and not read yet.
        optional text: Reserved,
        /// Findings that are accepted for the whole keyspace.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

/// The tables that only the root file may have.
pub(crate) const ROOT_ONLY: [&str; 6] =
    ["keyspace", "layout", "server", "alerts", "defaults", "rules"];

/// `version = 1`
#[derive(Debug)]
pub(crate) struct Version;

impl Form for Version {
    fn what() -> String {
        "`1`".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        match item.kind {
            Kind::Integer(Some(1)) => Some(Version),
            Kind::Integer(_) => reading.error(
                &item.span,
                "this version of the schema language is not known",
                "this Keyward reads version 1",
            ),
            _ => reading.mismatch(item),
        }
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "const": 1 })
    }
}

/// A table that is kept for later: anything may stand in it.
#[derive(Debug)]
pub(crate) struct Reserved;

impl Form for Reserved {
    fn what() -> String {
        "a table".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        reading.table::<Self>(item).map(|_| Reserved)
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "object" })
    }
}

table! {
    /// `[keyspace]`: what all keys have in common.
    KeyspaceTable {
        /// The name of the keyspace.
        required name: NonEmpty,
        /// What the keyspace is, for people.
        optional doc: String,
        /// What every key starts with. A pattern: its parameters are bound once for a store, a generated module or a command.
        optional prefix: Template,
        /// What stands between two segments; `":"` unless given.
        optional separator: Separator,
        /// Whether literals may contain capitals; `"lower"` unless given.
        optional case: Case,
        /// The database these keys live in.
        optional db: Integer<0, 1_000_000>,
        /// Whether the keyspace must work on a Redis Cluster; `false` unless given.
        optional cluster: bool,
        /// The longest key that is allowed, in bytes.
        optional max_key_len: Integer<1, 536_870_912>,
    }
}

table! {
    /// `[server]`: what the server must be set to.
    ServerTable {
        /// The memory that the server may use.
        optional maxmemory: Size,
        /// What the server evicts when its memory is full.
        optional maxmemory_policy = "maxmemory-policy": Policy,
        /// When the server writes a snapshot; an empty string turns snapshots off.
        optional save: Save,
        /// Whether the server keeps an append-only file.
        optional appendonly: YesNo,
        /// Any other setting, by its name in `redis.conf`.
        rest other: Setting,
    }
}

/// `save`: the snapshot points.
#[derive(Debug)]
pub(crate) struct Save(pub(crate) String);

impl Form for Save {
    fn what() -> String {
        "snapshot points such as `\"900 1 300 10\"` or `[\"900 1\", \"300 10\"]`, or `\"\"` for none"
            .to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        let text = match &item.kind {
            Kind::String(text) => text.clone(),
            Kind::Array(_) => {
                let points: Vec<Spanned<String>> = Vec::read(item, reading)?;
                points.into_iter().map(|point| point.value).collect::<Vec<_>>().join(" ")
            }
            _ => return reading.mismatch(item),
        };
        let numbers: Vec<&str> = text.split_ascii_whitespace().collect();
        let all_numbers =
            numbers.iter().all(|number| number.parse::<u64>().is_ok_and(|number| number > 0));
        if all_numbers && numbers.len().is_multiple_of(2) {
            return Some(Save(numbers.join(" ")));
        }
        let message = format!("{} must be {}", reading.here(), Self::what());
        reading.error(&item.span, message, "not pairs of seconds and changes")
    }

    fn schema(_: &mut Schemas) -> Json {
        let text = json!({ "type": "string", "pattern": "^\\s*([0-9]+\\s+[0-9]+(\\s+|$))*$" });
        json!({ "anyOf": [text, { "type": "array", "items": text }] })
    }
}

/// A switch in `redis.conf`.
#[derive(Debug)]
pub(crate) struct YesNo(pub(crate) bool);

impl Form for YesNo {
    fn what() -> String {
        "`true`, `false`, `\"yes\"` or `\"no\"`".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        match &item.kind {
            Kind::Boolean(value) => Some(YesNo(*value)),
            Kind::String(text) => match text.as_str() {
                "yes" => Some(YesNo(true)),
                "no" => Some(YesNo(false)),
                other => unknown_word(&item.span, other, &["yes", "no"], reading),
            },
            _ => reading.mismatch(item),
        }
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "enum": [true, false, "yes", "no"] })
    }
}

/// The value of any other setting.
#[derive(Debug)]
pub(crate) struct Setting(pub(crate) String);

impl Form for Setting {
    fn what() -> String {
        "a string, a whole number, `true` or `false`".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        let text = match &item.kind {
            Kind::String(text) => text.clone(),
            Kind::Integer(Some(number)) => number.to_string(),
            Kind::Boolean(value) => if *value { "yes" } else { "no" }.to_owned(),
            _ => return reading.mismatch(item),
        };
        Some(Setting(text))
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": ["string", "integer", "boolean"] })
    }
}

table! {
    /// `[alerts]`: when an audit reports.
    AlertsTable {
        /// The share of `maxmemory` above which an audit reports.
        optional memory: Percent,
    }
}

table! {
    /// `[defaults]`: what holds for every definition that does not say otherwise.
    DefaultsTable {
        /// The TTL.
        optional ttl: TtlForm,
        /// The bound on a collection's length.
        optional max_len: Count,
        /// The bound on a value's size.
        optional max_bytes: Size,
        /// How much shorter than its TTL a key may live, so that not all expire at once.
        optional jitter: Percent,
        /// Who answers for the definition.
        optional owner: NonEmpty,
    }
}

table! {
    /// `[rules]`: which rules apply, and how.
    RulesTable {
        /// The rule set; `"recommended"` unless given.
        optional set: RuleSet,
        /// One rule, by its name: a severity, or a table.
        rest rules: RuleForm,
    }
}

table! {
    /// One rule's settings.
    RuleTable {
        /// How serious its findings are.
        optional severity: Severity,
        /// Words for rules with a word list, such as `"usr=user"` for `abbreviation`.
        optional words: Vec<Spanned<NonEmpty>>,
        /// Words that such a rule must accept.
        optional accept: Vec<Spanned<NonEmpty>>,
        /// The bound for rules with a bound in time, such as `stale-cache`.
        optional max: Duration,
    }
}

/// One rule's settings: a severity, or a table.
#[derive(Debug)]
pub(crate) enum RuleForm {
    Severity(Severity),
    Table(RuleTable),
}

impl Form for RuleForm {
    fn what() -> String {
        "`\"error\"`, `\"warn\"`, `\"off\"`, or a table".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(_) => Severity::read(item, reading).map(RuleForm::Severity),
            Kind::Table(_) => RuleTable::read(item, reading).map(RuleForm::Table),
            _ => reading.mismatch(item),
        }
    }

    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [Severity::schema(schemas), RuleTable::schema(schemas)] })
    }
}

table! {
    /// `[keys.<id>]`: a pattern, and what stands under it.
    KeyTable {
        /// What it is for.
        optional doc: String,
        /// Who answers for it.
        optional owner: NonEmpty,
        /// The group it belongs to.
        optional group: DefinitionName,
        /// The shape of the key, without the prefix: literals and `{parameters}`.
        required pattern: Template,
        /// Types of this definition's parameters; they win over `[params]`.
        optional params: Map<ParamName, ParamForm>,
        /// What kind of value stands under the key.
        optional key_type = "type": KeyType,
        /// What a string holds, or each entry of a list or stream.
        optional value: Value,
        /// The fields of a hash, or of a stream's entries.
        optional fields: Map<AnyName, FieldForm>,
        /// Whether other fields are admitted; `false` unless given.
        optional open: bool,
        /// What a set or sorted set holds.
        optional member: Value,
        /// What a sorted set is ordered by.
        optional score: Value,
        /// How long a key lives.
        optional ttl: TtlForm,
        /// How much shorter than its TTL a key may live, so that not all expire at once.
        optional jitter: Percent,
        /// What a write does to a TTL that is running; `"set"` unless given.
        optional on_write: OnWrite,
        /// Whether a read starts the TTL anew; `false` unless given.
        optional sliding: bool,
        /// What may happen to a key before its time.
        optional lifecycle: Lifecycle,
        /// The bound on a collection's length.
        optional max_len: Count,
        /// The bound on a value's size.
        optional max_bytes: Size,
        /// What happens when `max_len` is reached; `"trim"` unless given.
        optional on_full: OnFull,
        /// How a parameter that an event leaves free is resolved.
        optional invalidate: Invalidate,
        /// Keys of this definition, written like the pattern: without the prefix.
        optional examples: Vec<Spanned<String>>,
        /// Findings that are accepted for this definition.
        optional allow: Vec<Spanned<AllowTable>>,
        /// Role: a number that is counted up and down.
        optional counter: CounterTable,
        /// Role: a counter with a bound.
        optional quota: QuotaTable,
        /// Role: a limit on how often something may happen.
        optional rate_limit: RateLimitTable,
        /// Role: a lock.
        optional lock: LockTable,
        /// Role: a queue of jobs, over a list or a stream.
        optional queue: QueueTable,
        /// Role: a person's session.
        optional session: SessionTable,
        /// Role: a way to find other keys, over a set or a sorted set.
        optional index: IndexTable,
        /// Role: a switch.
        optional flag: FlagTable,
        /// Role: a board ordered by score.
        optional ranking: RankingTable,
        /// Cache: kept in the process, at most this old.
        optional l1: Duration,
        /// Cache: refreshed before it expires.
        optional early_refresh: bool,
        /// Cache: served this long past its end when the loader fails.
        optional stale_if_error: Duration,
        /// Cache: how long "there is none" is remembered.
        optional negative_ttl: Duration,
        /// Cache: one process loads at a time, for at most this long.
        optional load_lock: Duration,
    }
}

table! {
    /// `counter`: a number that is counted up and down.
    CounterTable {
        /// Whether it may fall below zero; `false` unless given.
        optional negative: bool,
    }
}

table! {
    /// `quota`: a counter with a bound.
    QuotaTable {
        /// The most that may be used: a number, or `"caller"`.
        required limit: Limit,
        /// When it starts anew; implies the TTL.
        optional window: Duration,
    }
}

table! {
    /// `rate_limit`: a limit on how often something may happen.
    RateLimitTable {
        /// How often: a number, or `"caller"`.
        required limit: Limit,
        /// In which time; implies the TTL.
        required window: Duration,
        /// How it is counted; `"fixed-window"` unless given.
        optional algorithm: Algorithm,
        /// What to answer while the server is away; `"open"` allows, and is the default.
        optional on_outage: OnOutage,
    }
}

table! {
    /// `lock`: one holder at a time.
    LockTable {}
}

table! {
    /// `queue`: jobs, delivered at least once.
    QueueTable {
        /// The definition that takes failed jobs.
        optional dead_letter: DefinitionName,
        /// The definition that holds a job's status.
        optional status: DefinitionName,
        /// The parameter of `status` that is the job's id.
        optional job_id: NonEmpty,
    }
}

table! {
    /// `session`: a person's session.
    SessionTable {
        /// The definition that lists a person's sessions.
        optional index: DefinitionName,
        /// The definition that marks a session as revoked.
        optional revoked: DefinitionName,
    }
}

table! {
    /// `index`: a way to find other keys.
    IndexTable {
        /// The definition whose keys are found.
        required of: DefinitionName,
        /// The parameter or field by which they are found.
        optional by: NonEmpty,
        /// The definition that leads back.
        optional reverse: DefinitionName,
    }
}

table! {
    /// `flag`: a switch.
    FlagTable {}
}

table! {
    /// `ranking`: a board ordered by score.
    RankingTable {}
}

impl Form for Limit {
    fn what() -> String {
        "a whole number from 1, or `\"caller\"`".to_owned()
    }

    fn read(item: &Item, reading: &mut Reading<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(text) if text == "caller" => Some(Limit::Caller),
            Kind::Integer(_) => Count::read(item, reading).map(|limit| Limit::Fixed(limit.0)),
            _ => reading.mismatch(item),
        }
    }

    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [Count::schema(schemas), { "const": "caller" }] })
    }
}

table! {
    /// `[events.<id>]`: something that happens in the application and invalidates keys.
    EventTable {
        /// When it happens.
        optional doc: String,
        /// Its parameters.
        optional params: Map<ParamName, ParamForm>,
        /// What it invalidates. Parameters of the same name bind themselves, `*` leaves one free.
        required invalidates: Vec<Spanned<Invalidation>>,
        /// Findings that are accepted for this event.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

table! {
    /// `[groups.<id>]`: a named set of definitions.
    GroupTable {
        /// What the group is.
        optional doc: String,
    }
}

table! {
    /// `[owners.<id>]`: who answers for definitions.
    OwnerTable {
        /// Who that is.
        optional doc: String,
        /// How to reach them.
        optional contact: NonEmpty,
    }
}

table! {
    /// `[foreign.<id>]`: keys of other software: counted, never judged.
    ForeignTable {
        /// Whose keys they are.
        optional doc: String,
        /// A glob over whole keys, as `SCAN MATCH` reads it.
        required glob: NonEmpty,
    }
}

table! {
    /// `[migrations.<id>]`: a rename of keys that is under way.
    MigrationTable {
        /// Why.
        optional doc: String,
        /// How far it is.
        required phase: Phase,
        /// When it began.
        optional started: Date,
        /// When the old names must be gone.
        optional remove_after: Date,
        /// For each definition its old pattern, or several: absolute, with their own types.
        required renames: Map<Id, OneOrMany<Template>>,
        /// Findings that are accepted for this migration.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

table! {
    /// A finding that is accepted.
    AllowTable {
        /// The rule's name.
        required rule: NonEmpty,
        /// Why it is accepted; cannot be empty.
        required reason: NonEmpty,
    }
}
