//! The tables of a schema. Each is declared once: fields, forms and the words of the reference.

use crate::form::{AnyName, Form, Id, Map, OneOrMany, ParamName, table};
use crate::generate::GenerateTable;
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::layout::LayoutTable;
use crate::model::{
    Case, Date, Invalidate, Invalidation, Keep, Lifecycle, OnFull, OnWrite, Phase, RuleSet,
    Severity, Value,
};
use crate::param::ParamForm;
use crate::reading::Reading;
use crate::role::{
    CounterTable, FlagTable, IndexTable, LockTable, QueueTable, QuotaTable, RankingTable,
    RateLimitTable, SessionTable,
};
use crate::scalar::{Count, Integer, Jitter, NonEmpty, Percent, Separator};
use crate::server::ServerTable;
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use crate::ttl::TtlForm;
use crate::value::{FieldForm, GroupName};
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::Template;

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
        /// What `keyward generate` writes, and where.
        optional generate: GenerateTable,
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
        /// Keys of other software on the same server: counted, never judged.
        optional foreign: Map<Id, ForeignTable>,
        /// Renames of keys that are under way.
        optional migrations: Map<Id, MigrationTable>,
        /// Findings that are accepted for the whole keyspace.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

/// The tables that only the root file may have.
pub(crate) const ROOT_ONLY: [&str; 7] =
    ["keyspace", "layout", "server", "alerts", "generate", "defaults", "rules"];

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

    fn fix(_: &Item) -> Option<String> {
        Some("1".to_owned())
    }

    #[cfg(feature = "tools")]
    fn schema(_: &mut Schemas) -> Json {
        json!({ "const": 1 })
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
        /// The database these keys live in; an audit finds none of them elsewhere.
        optional db: Integer<0, 1_000_000>,
        /// Whether the keyspace must work on a Redis Cluster; `false` unless given.
        optional cluster: bool,
        /// The longest key that is allowed, in bytes; builders refuse longer ones and parsers do not read them.
        optional max_key_len: Integer<1, 536_870_912>,
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
        optional jitter: Jitter,
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

    #[cfg(feature = "tools")]
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
        optional group: GroupName,
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
        optional jitter: Jitter,
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
        /// What happens when `max_len` is reached: `"trim"` unless given, and for a set or a hash, which have no order, always `"refuse"`.
        optional on_full: OnFull,
        /// Which end of a list or sorted set stays when it is trimmed.
        optional keep: Keep,
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
