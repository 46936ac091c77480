//! What goes wrong when a key vanishes before its time.

use crate::context::Context;
use keyward_fact::Duration;
use keyward_schema::model::{Definition, Role};
use std::collections::HashSet;

/// What another definition's role uses a definition for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// It takes a queue's failed jobs
    DeadLetter,
    /// It holds the status of a queue's jobs
    Status,
    /// It marks sessions as revoked
    Revoked,
    /// It lists a person's sessions
    Sessions,
}

/// The definitions that a definition's role uses, and what for.
pub(crate) fn uses(definition: &Definition) -> Vec<(&str, Use)> {
    let named = match definition.role.as_deref() {
        Some(Role::Queue(queue)) => {
            [(&queue.dead_letter, Use::DeadLetter), (&queue.status, Use::Status)]
        }
        Some(Role::Session(session)) => {
            [(&session.revoked, Use::Revoked), (&session.index, Use::Sessions)]
        }
        _ => return Vec::new(),
    };
    let given = named.into_iter().filter_map(|(name, used)| Some((name.as_ref()?, used)));
    given.map(|(name, used)| (name.as_str(), used)).collect()
}

/// Each index with the definition whose keys it refers to, once, whichever of the two declares it.
pub(crate) fn indexes<'a>(cx: &Context<'a>) -> Vec<(&'a Definition, &'a Definition)> {
    let pair = |definition: &'a Definition| match definition.role.as_deref()? {
        Role::Index(index) => Some((definition, cx.definition(&index.of)?)),
        Role::Session(session) => Some((cx.definition(session.index.as_ref()?)?, definition)),
        _ => None,
    };
    let mut seen = HashSet::new();
    let pairs = cx.schema.keys.iter().filter_map(pair);
    pairs.filter(|(index, of)| seen.insert((index.name.as_str(), of.name.as_str()))).collect()
}

/// How long a key may live: a session whose TTL restarts, until its `max_age`. `None` if there is no bound.
pub(crate) fn longest_life(definition: &Definition) -> Option<Duration> {
    let longest = definition.ttl.as_ref()?.longest()?;
    let max_age = match definition.role.as_deref() {
        Some(Role::Session(session)) => session.max_age.as_ref().map(|age| age.value),
        _ => None,
    };
    Some(max_age.unwrap_or(longest).max(longest))
}

/// What is lost with a key of the definition, as a label says it.
pub(crate) fn loss(cx: &Context<'_>, definition: &Definition) -> &'static str {
    match definition.role.as_ref().map(|role| &role.value) {
        Some(Role::Counter(_)) => "this counter would restart from nothing",
        Some(Role::Quota(_)) => "the used quota would be free again",
        Some(Role::RateLimit(_)) => "this limit would start again",
        Some(Role::Lock(_)) => "two could hold this lock at once",
        Some(Role::Queue(_)) => "its jobs would be lost",
        Some(Role::Session(_) | Role::RefreshToken(_)) => "a user would be logged out",
        Some(Role::Index(_)) => "the keys it refers to could no longer be found",
        Some(Role::Flag(_)) => "this flag would be lost",
        Some(Role::Ranking(_)) => "this ranking would be empty",
        None => match cx.used_for(definition) {
            Some(Use::DeadLetter) => "failed jobs would be lost",
            Some(Use::Status) => "jobs would have no status",
            Some(Use::Revoked) => "what was revoked would be valid again",
            Some(Use::Sessions) => "sessions could no longer be found",
            None => "nothing would bring it back",
        },
    }
}
