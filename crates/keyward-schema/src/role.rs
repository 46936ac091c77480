//! What a definition is for beyond storage: the roles' tables, and the one that a definition has.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, table};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{
    Algorithm, Counter, Flag, Index, Limit, Lock, OnOutage, Queue, Quota, Ranking, RateLimit, Role,
    SessionRole, Ties,
};
use crate::scalar::{Count, NonEmpty};
use crate::span::Spanned;
use crate::syntax::{Item, Kind};
use crate::tables::KeyTable;
use crate::value::DefinitionName;
use keyward_fact::Duration;

/// The role; a second one is an error.
pub(crate) fn take(table: &mut KeyTable, errors: &mut Vec<Diagnostic>) -> Option<Spanned<Role>> {
    let name = |name: Option<Spanned<DefinitionName>>| {
        name.map(|name| Spanned::new(name.value.0, name.span))
    };
    let mut roles: Vec<Spanned<Role>> = Vec::new();
    if let Some(Spanned { value, span }) = table.counter.take() {
        let negative = value.negative.is_some_and(|negative| negative.value);
        roles.push(Spanned::new(Role::Counter(Counter { negative }), span));
    }
    if let Some(Spanned { value, span }) = table.quota.take() {
        let quota = Quota { limit: value.limit, window: value.window };
        roles.push(Spanned::new(Role::Quota(quota), span));
    }
    if let Some(Spanned { value, span }) = table.rate_limit.take() {
        let limit = RateLimit {
            limit: value.limit,
            window: value.window,
            algorithm: value.algorithm.map_or(Algorithm::FixedWindow, |algorithm| algorithm.value),
            on_outage: value.on_outage.map_or(OnOutage::Open, |on_outage| on_outage.value),
        };
        roles.push(Spanned::new(Role::RateLimit(limit), span));
    }
    if let Some(Spanned { span, .. }) = table.lock.take() {
        roles.push(Spanned::new(Role::Lock(Lock {}), span));
    }
    if let Some(Spanned { value, span }) = table.queue.take() {
        if let (Some(job_id), None) = (&value.job_id, &value.status) {
            errors.push(
                Diagnostic::schema(
                    "`job_id` names a parameter of `status`, and there is no `status`",
                    job_id.span.clone(),
                    "has no effect",
                )
                .help("add `status`, the definition of a job's status, or remove `job_id`"),
            );
        }
        let queue = Queue {
            dead_letter: name(value.dead_letter),
            status: name(value.status),
            job_id: value.job_id.map(|id| Spanned::new(id.value.0, id.span)),
        };
        roles.push(Spanned::new(Role::Queue(queue), span));
    }
    if let Some(Spanned { value, span }) = table.session.take() {
        let session = SessionRole { index: name(value.index), revoked: name(value.revoked) };
        roles.push(Spanned::new(Role::Session(session), span));
    }
    if let Some(Spanned { value, span }) = table.index.take() {
        let index = Index {
            of: Spanned::new(value.of.value.0, value.of.span),
            by: value.by.map(|by| Spanned::new(by.value.0, by.span)),
            reverse: name(value.reverse),
        };
        roles.push(Spanned::new(Role::Index(index), span));
    }
    if let Some(Spanned { value, span }) = table.flag.take() {
        let flag = Flag {
            overridden_by: name(value.overridden_by),
            default: value.default.is_some_and(|default| default.value),
        };
        roles.push(Spanned::new(Role::Flag(flag), span));
    }
    if let Some(Spanned { value, span }) = table.ranking.take() {
        roles.push(Spanned::new(Role::Ranking(Ranking { ties: value.ties }), span));
    }
    roles.sort_by(|a, b| a.span.cmp(&b.span));
    if let [first, second, ..] = roles.as_slice() {
        let message =
            format!("a definition has one role, not `{}` and `{}`", first.name(), second.name());
        errors.push(
            Diagnostic::schema(message, second.span.clone(), "a second role")
                .at(first.span.clone(), "the first")
                .help("move the other role to its own definition"),
        );
    }
    roles.into_iter().next()
}

table! {
    /// `counter`: a number that goes up and down.
    CounterTable {
        /// Whether it may fall below zero. Default: `false`.
        optional negative: bool,
    }
}

table! {
    /// `quota`: a counter with a maximum.
    QuotaTable {
        /// The maximum: a number, or `"caller"` if the application passes it.
        required limit: Limit,
        /// The time after which it restarts. It sets the TTL.
        optional window: Duration,
    }
}

table! {
    /// `rate_limit`: a limit on how often something may happen.
    RateLimitTable {
        /// The maximum within the window: a number, or `"caller"` if the application passes it.
        required limit: Limit,
        /// The length of the window. It sets the TTL.
        required window: Duration,
        /// The algorithm. Default: `"fixed-window"`.
        optional algorithm: Algorithm,
        /// What to answer while the server is unreachable. Default: `"open"`, which allows.
        optional on_outage: OnOutage,
    }
}

table! {
    /// `lock`: one holder at a time. The application takes and releases it.
    LockTable {}
}

table! {
    /// `queue`: jobs that wait for a worker.
    QueueTable {
        /// The definition that takes failed jobs.
        optional dead_letter: DefinitionName,
        /// The definition that holds the status of a job.
        optional status: DefinitionName,
        /// The parameter of `status` that holds the id of the job.
        optional job_id: NonEmpty,
    }
}

table! {
    /// `session`: a user's session.
    SessionTable {
        /// The definition that lists the sessions of a user.
        optional index: DefinitionName,
        /// The definition that marks a session as revoked.
        optional revoked: DefinitionName,
    }
}

table! {
    /// `index`: a way to find other keys.
    IndexTable {
        /// The definition whose keys it finds.
        required of: DefinitionName,
        /// The parameter or field by which it finds them.
        optional by: NonEmpty,
        /// The definition that refers back.
        optional reverse: DefinitionName,
    }
}

table! {
    /// `flag`: on or off.
    FlagTable {
        /// The definition that overrides it for one user, itself a `flag`.
        optional overridden_by = "override": DefinitionName,
        /// Whether it is on if nothing is stored. Default: `false`.
        optional default: bool,
    }
}

table! {
    /// `ranking`: entries ordered by score.
    RankingTable {
        /// Of members with the same score, the one that reached it first or last ranks higher. Without it, the server orders them by their bytes.
        optional ties: Ties,
    }
}

impl Form for Limit {
    fn what() -> String {
        "a whole number from 1, or `\"caller\"`".to_owned()
    }

    fn read(item: &Item, decoder: &mut Decoder<'_>) -> Option<Self> {
        match &item.kind {
            Kind::String(text) if text == "caller" => Some(Limit::Caller),
            Kind::Integer(_) => Count::read(item, decoder).map(|limit| Limit::Fixed(limit.0)),
            _ => decoder.mismatch(item),
        }
    }

    fn fix(item: &Item) -> Option<String> {
        Count::fix(item)
    }

    #[cfg(feature = "tools")]
    fn schema(schemas: &mut Schemas) -> Json {
        json!({ "anyOf": [Count::schema(schemas), { "const": "caller" }] })
    }
}
