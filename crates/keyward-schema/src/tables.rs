//! The tables of a schema. Each is declared once: fields, forms and the words of the reference.

use crate::decoder::Decoder;
use crate::form::{AnyName, FieldSpec, Form, Id, Map, ParamName, Table as _, table};
use crate::generate::GenerateTable;
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::layout::LayoutTable;
use crate::migration::MigrationTable;
use crate::model::{
    Case, Date, Invalidate, Invalidation, Keep, Level, Lifecycle, OnFull, OnWrite, RuleSet,
    Severity, Value,
};
use crate::param::{ParamForm, Separators};
use crate::role::{
    CounterTable, FlagTable, IndexTable, LockTable, QueueTable, QuotaTable, RankingTable,
    RateLimitTable, RefreshTokenTable, SessionTable,
};
use crate::scalar::{Count, Integer, Jitter, NonEmpty, Percent, Separator};
use crate::server::ServerTable;
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use crate::text::TextTable;
use crate::ttl::TtlForm;
use crate::value::{DefinitionName, FieldForm, GroupName, Open};
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::Template;

table! {
    /// A key convention for Redis or Valkey.
    RootTable {
        /// The version of the schema language: `1`.
        optional version: Version,
        /// More files of this schema. Paths are relative to this file.
        optional include: Vec<Spanned<NonEmpty>>,
        /// Settings that apply to all keys: name, prefix, separator.
        optional keyspace: KeyspaceTable,
        /// The shape that every pattern must follow.
        optional layout: LayoutTable,
        /// The settings that the server must have.
        optional server: ServerTable,
        /// The limits above which an audit reports.
        optional alerts: AlertsTable,
        /// The code that `keyward generate` writes, and the folders it writes to.
        optional generate: GenerateTable,
        /// Values for every definition that does not set its own.
        optional defaults: DefaultsTable,
        /// Which rules apply, and how.
        optional rules: RulesTable,
        /// The types of parameters, by name.
        optional params: Map<ParamName, ParamForm>,
        /// How human text becomes an identifier, by name.
        optional text: Map<Id, TextTable>,
        /// The key definitions: each has a pattern and declares what is stored under it.
        optional keys: Map<Id, KeyTable>,
        /// Events of the application that invalidate keys.
        optional events: Map<Id, EventTable>,
        /// Named sets of definitions.
        optional groups: Map<Id, GroupTable>,
        /// The owners of definitions.
        optional owners: Map<AnyName, OwnerTable>,
        /// Keys of other software on the same server: counted, never judged.
        optional foreign: Map<Id, ForeignTable>,
        /// Renames of keys in progress.
        optional migrations: Map<Id, MigrationTable>,
        /// What `keyward plan` asks for.
        optional plans: PlansTable,
        /// The team's check-list: which rules decide each item.
        optional checklist: Vec<Spanned<ChecklistTable>>,
        /// Findings that are accepted for the whole keyspace.
        optional allow: Vec<Spanned<AllowTable>>,
        /// Breaking changes that are accepted until a date.
        optional accept: Vec<Spanned<AcceptTable>>,
    }
}

/// Where a field belongs that a table does not have, if one or two others have it.
pub(crate) fn belongs_elsewhere(field: &str) -> Option<String> {
    let tables: [(&str, Vec<FieldSpec>); 10] = [
        ("keyspace", KeyspaceTable::fields()),
        ("layout", LayoutTable::fields()),
        ("server", ServerTable::fields()),
        ("alerts", AlertsTable::fields()),
        ("generate", GenerateTable::fields()),
        ("defaults", DefaultsTable::fields()),
        ("keys.NAME", KeyTable::fields()),
        ("events.NAME", EventTable::fields()),
        ("migrations.NAME", MigrationTable::fields()),
        ("plans", PlansTable::fields()),
    ];
    let has = |fields: &[FieldSpec]| fields.iter().any(|it| it.key == field);
    let found: Vec<&str> =
        tables.iter().filter(|(_, fields)| has(fields)).map(|(name, _)| *name).collect();
    match found.as_slice() {
        [only] => Some(format!("it belongs in `[{only}]`")),
        [first, second] => Some(format!("it belongs in `[{first}]` or `[{second}]`")),
        _ => None,
    }
}

/// The tables that only the root file may have.
pub(crate) const ROOT_ONLY: [&str; 8] =
    ["keyspace", "layout", "server", "alerts", "generate", "defaults", "rules", "plans"];

/// `version = 1`
#[derive(Debug)]
pub(crate) struct Version;

impl Form for Version {
    fn what() -> String {
        "`1`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match item.kind {
            Kind::Integer(Some(1)) => Some(Version),
            Kind::Integer(_) => decoder.error(
                &item.span,
                "this version of the schema language is not known",
                "this Keyward reads version 1",
            ),
            _ => decoder.mismatch(item),
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
    /// `[keyspace]`: settings that apply to all keys.
    KeyspaceTable {
        /// The name of the keyspace.
        required name: NonEmpty,
        /// A description for people.
        optional doc: String,
        /// The text that every key starts with. It is a pattern: its parameters are bound once for a store, a generated module or a command.
        optional prefix: Template,
        /// The character between two segments. Default: `":"`.
        optional separator: Separator,
        /// Whether the text of patterns may contain capital letters. Default: `"lower"`.
        optional case: Case,
        /// The number of the database that holds these keys. An audit counts keys in other databases as unknown.
        optional db: Integer<0, 1_000_000>,
        /// Whether the keyspace is on a Redis Cluster. Default: `false`.
        optional cluster: bool,
        /// The maximum length of a key, in bytes. Builders refuse longer keys, and parsers do not match them.
        optional max_key_len: Integer<1, 536_870_912>,
    }
}

table! {
    /// `[alerts]`: the limits above which an audit reports.
    AlertsTable {
        /// The share of `maxmemory` above which an audit reports.
        optional memory: Percent,
    }
}

table! {
    /// `[defaults]`: values for every definition that does not set its own.
    DefaultsTable {
        /// The TTL.
        optional ttl: TtlForm,
        /// The maximum number of entries in a collection.
        optional max_len: Count,
        /// The maximum size of a value.
        optional max_bytes: Size,
        /// By how much a TTL may be shortened at random, so that keys do not all expire at once.
        optional jitter: Jitter,
        /// The owner of the definition.
        optional owner: NonEmpty,
    }
}

table! {
    /// `[rules]`: which rules apply, and how.
    RulesTable {
        /// The rule set. Default: `"recommended"`.
        optional set: RuleSet,
        /// One rule, by name: a severity, or a table.
        rest rules: RuleForm,
    }
}

table! {
    /// The settings of one rule.
    RuleTable {
        /// The severity of its findings.
        optional severity: Severity,
        /// Words to add to the word list of the rule, such as `"usr=user"` for `abbreviation`.
        optional words: Vec<Spanned<NonEmpty>>,
        /// Words that the rule accepts.
        optional accept: Vec<Spanned<NonEmpty>>,
        /// The maximum duration, for rules that have one, such as `stale-cache`.
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

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(_) => Severity::read(item, decoder).map(RuleForm::Severity),
            Kind::Table(_) => RuleTable::read(item, decoder).map(RuleForm::Table),
            _ => decoder.mismatch(item),
        }
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [Severity::schema(schemas), RuleTable::schema(schemas)] })
    }
}

table! {
    /// `[keys.<id>]`: a pattern, and what is stored under it.
    KeyTable {
        /// What the keys are for.
        optional doc: String,
        /// The owner of the definition.
        optional owner: NonEmpty,
        /// The group it belongs to.
        optional group: GroupName,
        /// The shape of the key, without the prefix: literals and `{parameters}`.
        required pattern: Template,
        /// Further characters that separate the parameters of the pattern: no text parameter contains one of them.
        optional separators: Separators,
        /// The types of this definition's parameters. They override `[params]`.
        optional params: Map<ParamName, ParamForm>,
        /// The Redis type of the value.
        optional key_type = "type": KeyType,
        /// What a string, or each entry of a list or stream, holds.
        optional value: Value,
        /// The fields of a hash, or of the entries of a stream.
        optional fields: Map<AnyName, FieldForm>,
        /// Whether undeclared fields are allowed, or what each of them holds. Default: `false`.
        optional open: Open,
        /// What each member of a set or sorted set holds.
        optional member: Value,
        /// The score that orders a sorted set.
        optional score: Value,
        /// Relation: the relation in the opposite direction. Its own id: it is symmetric.
        optional inverse: DefinitionName,
        /// Relation: holds all keys that this relation reaches in one or more steps.
        optional closure_of: DefinitionName,
        /// Relation: holds the same keys as this relation, perhaps in an order.
        optional same_as: DefinitionName,
        /// How long a key lives.
        optional ttl: TtlForm,
        /// By how much a TTL may be shortened at random, so that keys do not all expire at once.
        optional jitter: Jitter,
        /// What a write does to a running TTL: `"set"` restarts it, `"keep"` leaves it. Default: `"set"`.
        optional on_write: OnWrite,
        /// Whether a read restarts the TTL. Default: `false`.
        optional sliding: bool,
        /// Whether a key may be lost before its TTL ends.
        optional lifecycle: Lifecycle,
        /// The maximum number of entries in a collection.
        optional max_len: Count,
        /// The maximum size of a value.
        optional max_bytes: Size,
        /// What happens when `max_len` is reached. Default: `"trim"`; for a set or a hash, which have no order, always `"refuse"`.
        optional on_full: OnFull,
        /// Which end of a list or sorted set is kept when it is trimmed.
        optional keep: Keep,
        /// How the keys are found when an event leaves a parameter free.
        optional invalidate: Invalidate,
        /// Example keys, written like the pattern, without the prefix.
        optional examples: Vec<Spanned<String>>,
        /// Findings that are accepted for this definition.
        optional allow: Vec<Spanned<AllowTable>>,
        /// Role: a number that goes up and down.
        optional counter: CounterTable,
        /// Role: a counter with a maximum.
        optional quota: QuotaTable,
        /// Role: a limit on how often something may happen.
        optional rate_limit: RateLimitTable,
        /// Role: a lock.
        optional lock: LockTable,
        /// Role: a queue of jobs, over a list or a stream.
        optional queue: QueueTable,
        /// Role: a user's session.
        optional session: SessionTable,
        /// Role: a way to find other keys, over a set or a sorted set.
        optional index: IndexTable,
        /// Role: a flag that is on or off.
        optional flag: FlagTable,
        /// Role: a ranking ordered by score.
        optional ranking: RankingTable,
        /// Role: a token that is used once and replaced by its successor, over a hash.
        optional refresh_token: RefreshTokenTable,
        /// Cache: also kept in the process, for at most this long.
        optional l1: Duration,
        /// Cache: refreshed before it expires.
        optional early_refresh: bool,
        /// Cache: served for this long after it expired, if the loader fails.
        optional stale_if_error: Duration,
        /// Cache: if loading takes longer than this, the expired value is served meanwhile. Needs `stale_if_error`.
        optional stale_if_slow: Duration,
        /// Cache: for how long a missing value is remembered.
        optional negative_ttl: Duration,
        /// Cache: only one process loads a value at a time, for at most this long.
        optional load_lock: Duration,
    }
}

table! {
    /// `[events.<id>]`: an event of the application that invalidates keys.
    EventTable {
        /// When the event happens.
        optional doc: String,
        /// The parameters of the event, and their types.
        optional params: Map<ParamName, ParamForm>,
        /// The definitions that it invalidates. Parameters with the same name are bound automatically; `*` leaves one free.
        optional invalidates: Vec<Spanned<Invalidation>>,
        /// The cached definitions that are loaded again: the old value is served until one caller has loaded the new one.
        optional refreshes: Vec<Spanned<Invalidation>>,
        /// Findings that are accepted for this event.
        optional allow: Vec<Spanned<AllowTable>>,
    }
}

table! {
    /// `[groups.<id>]`: a named set of definitions.
    GroupTable {
        /// What the group is.
        optional doc: String,
        /// Whether its definitions may change at any time: `keyward breaking` does not report their changes. Default: `false`.
        optional unstable: bool,
    }
}

table! {
    /// `[owners.<id>]`: an owner of definitions.
    OwnerTable {
        /// Who the owner is.
        optional doc: String,
        /// How to reach the owner.
        optional contact: NonEmpty,
    }
}

table! {
    /// `[foreign.<id>]`: keys of other software: counted, never judged.
    ForeignTable {
        /// Whose keys they are.
        optional doc: String,
        /// A glob over whole keys, with the syntax of `SCAN MATCH`; `\xHH` is a byte in hex.
        required glob: NonEmpty,
    }
}

table! {
    /// `[plans]`: what `keyward plan` asks for.
    PlansTable {
        /// Whether `keyward plan apply` needs a named approval by each owner in the plan. Default: `false`.
        optional require_owner: bool,
    }
}

table! {
    /// `[[checklist]]`: an item of the team's check-list.
    ChecklistTable {
        /// The item, in the team's words.
        required text: NonEmpty,
        /// Whether it must hold or should. Default: `"must"`.
        optional level: Level,
        /// The rules that decide it. Without any, people do.
        optional rules: Vec<Spanned<NonEmpty>>,
    }
}

table! {
    /// `[[accept]]`: a breaking change that is accepted until a date.
    AcceptTable {
        /// The name of the rule, one that `keyward breaking` applies.
        required rule: NonEmpty,
        /// What changes, as the finding names it: a definition such as `cart`, or a part of it such as `cart.total`; an event, a migration, a setting, or the keyspace.
        required subject: NonEmpty,
        /// Why it is accepted; cannot be empty.
        required reason: NonEmpty,
        /// The last day on which it is accepted.
        required expires: Date,
    }
}

table! {
    /// A finding that is accepted.
    AllowTable {
        /// The name of the rule.
        required rule: NonEmpty,
        /// Why it is accepted; cannot be empty.
        required reason: NonEmpty,
    }
}
