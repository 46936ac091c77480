//! What a definition is for beyond storage: the roles' tables, and the one that a definition has.

use crate::Diagnostic;
use crate::decoder::Decoder;
use crate::form::{Form, table};
#[cfg(feature = "tools")]
use crate::json_schema::{Json, Schemas, json};
use crate::model::{
    Algorithm, Counter, Flag, Index, Limit, Lock, OnOutage, Queue, Quota, Ranking, RateLimit,
    RefreshToken, Role, SessionRole, Ties,
};
use crate::scalar::{Count, NonEmpty, Several};
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
    if let Some(Spanned { value, span }) = table.lock.take() {
        let lock = Lock {
            fair: value.fair.is_some_and(|fair| fair.value),
            holders: value.holders.map(|it| Spanned::new(it.value.0, it.span)),
            replicas: value.replicas.map(|it| Spanned::new(it.value.0, it.span)),
        };
        roles.push(Spanned::new(Role::Lock(lock), span));
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
        let count =
            |count: Option<Spanned<Count>>| count.map(|it| Spanned::new(it.value.0, it.span));
        let queue = Queue {
            dead_letter: name(value.dead_letter),
            status: name(value.status),
            job_id: value.job_id.map(|id| Spanned::new(id.value.0, id.span)),
            lease: value.lease,
            timeout: value.timeout,
            max_attempts: count(value.max_attempts),
            max_crashes: count(value.max_crashes),
            backoff: value.backoff,
            max_backoff: value.max_backoff,
            retain: value.retain,
            per_group: count(value.per_group),
        };
        refuse_idle(&queue, errors);
        roles.push(Spanned::new(Role::Queue(Box::new(queue)), span));
    }
    if let Some(Spanned { value, span }) = table.session.take() {
        let text =
            |text: Option<Spanned<NonEmpty>>| text.map(|it| Spanned::new(it.value.0, it.span));
        let session = SessionRole {
            id: text(value.id),
            max_age: value.max_age,
            touched: text(value.touched),
            index: name(value.index),
            revoked: name(value.revoked),
        };
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
    if let Some(Spanned { value, span }) = table.refresh_token.take() {
        let token = RefreshToken {
            reuse_grace: value.reuse_grace.map_or(Duration::from_secs(10), |grace| grace.value),
            touched: value.touched.map(|it| Spanned::new(it.value.0, it.span)),
        };
        roles.push(Spanned::new(Role::RefreshToken(token), span));
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
        /// The length of the window. It sets the TTL, which is twice as long with `"sliding-window"`.
        required window: Duration,
        /// The algorithm. Default: `"fixed-window"`.
        optional algorithm: Algorithm,
        /// What to answer while the server is unreachable. Default: `"open"`, which allows.
        optional on_outage: OnOutage,
    }
}

table! {
    /// `lock`: a limited number of holders at a time, one unless `holders` says more.
    LockTable {
        /// Whether the lock goes to the client that has waited longest. Default: `false`.
        optional fair: bool,
        /// How many may hold it at once. The key is then a sorted set. Without it, one.
        optional holders: Several,
        /// How many replicas must confirm a grant before it counts. Default: none.
        optional replicas: Count,
    }
}

table! {
    /// `queue`: jobs that wait for a worker.
    QueueTable {
        /// The definition that takes failed jobs.
        optional dead_letter: DefinitionName,
        /// The definition that holds the status of a job.
        optional status: DefinitionName,
        /// The parameter of `status` that holds the id of the job. Default: the one that the queue does not have.
        optional job_id: NonEmpty,
        /// How long a job belongs to a worker that is not heard of. Default: `"30s"`.
        optional lease: Duration,
        /// How long an attempt may take; then it has failed. Default: no limit.
        optional timeout: Duration,
        /// How often a job is tried before it goes to `dead_letter`. Default: 5.
        optional max_attempts: Count,
        /// How often the worker of a job may be lost before the job goes to `dead_letter`. Default: 3.
        optional max_crashes: Count,
        /// The pause after the first failure of a job. It doubles with each. Default: `"1s"`.
        optional backoff: Duration,
        /// The longest pause between two attempts. Default: `"10m"`, or `backoff` if that is longer.
        optional max_backoff: Duration,
        /// How long a job with an id is remembered after it is done, with its result. A failed job is not: it is a dead letter. Default: not at all.
        optional retain: Duration,
        /// How many jobs of a group run at once. Default: no limit.
        optional per_group: Count,
    }
}

/// The shortest lease: a heartbeat comes three times in each.
const SHORTEST_LEASE: Duration = Duration::from_millis(100);

/// Options of a queue that would have no effect, or could not be kept.
fn refuse_idle(queue: &Queue, errors: &mut Vec<Diagnostic>) {
    let counts = [("max_attempts", &queue.max_attempts), ("max_crashes", &queue.max_crashes)];
    for (option, count) in counts {
        if let (Some(count), None) = (count, &queue.dead_letter) {
            let message =
                format!("`{option}` says when a job is dead, and there is no `dead_letter`");
            errors.push(Diagnostic::schema(message, count.span.clone(), "has no effect").help(
                format!(
                    "add `dead_letter`, or remove `{option}`: without it a job is tried for ever"
                ),
            ));
        }
    }
    if let Some(most) = queue.max_backoff.as_ref().filter(|most| most.value < queue.backoff()) {
        let mut error = Diagnostic::schema(
            "`max_backoff` is shorter than `backoff`",
            most.span.clone(),
            "the longest pause",
        );
        if let Some(first) = &queue.backoff {
            error = error.at(first.span.clone(), "the first pause");
        }
        errors.push(error.help("make it at least as long"));
    }
    if let Some(lease) = queue.lease.as_ref().filter(|lease| lease.value < SHORTEST_LEASE) {
        errors.push(
            Diagnostic::schema(
                "a lease of less than 100 ms cannot be renewed in time",
                lease.span.clone(),
                "too short",
            )
            .help("write `30s`, or whatever your workers may be silent for"),
        );
    }
}

table! {
    /// `session`: a user's session.
    SessionTable {
        /// The definition that lists the sessions of a user.
        optional index: DefinitionName,
        /// The definition that marks a session as revoked.
        optional revoked: DefinitionName,
        /// The parameter that holds the id of the session. Needed if the pattern has several.
        optional id: NonEmpty,
        /// The time after which a session ends however often it is used. With it, use restarts the TTL.
        optional max_age: Duration,
        /// The field that `touch` sets to the time.
        optional touched: NonEmpty,
    }
}

table! {
    /// `refresh_token`: a token that is used once and replaced by its successor.
    RefreshTokenTable {
        /// For how long a token that was used is answered with its successor, so that a client can repeat a request
        /// whose answer was lost. After that, using it again revokes all its successors. Default: `"10s"`.
        optional reuse_grace: Duration,
        /// The field that holds when the token before was used.
        optional touched: NonEmpty,
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
