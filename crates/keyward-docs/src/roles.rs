//! What a definition is for beyond storage, and what others use it for.

use super::context::Context;
use super::prose::Prose;
use keyward_fact::{Duration, KeyType};
use keyward_schema::model::{
    Algorithm, Definition, Flag, Keep, Limit, OnFull, OnOutage, Queue, Quota, RateLimit,
    RefreshToken, Role, SessionRole, Ties,
};
use keyward_schema::span::Spanned;

impl Context<'_> {
    /// A role, in sentences.
    pub(super) fn role(&self, role: &Role) -> Vec<Prose> {
        let words = self.words;
        let plain = |phrase: &str| Prose::fill(phrase, &[]);
        match role {
            Role::Counter(counter) if counter.negative => vec![plain(words.counter_negative)],
            Role::Counter(_) => vec![plain(words.counter)],
            Role::Quota(quota) => vec![self.quota(quota)],
            Role::RateLimit(limit) => self.rate_limit(limit),
            Role::Lock(lock) => {
                let many = |phrase, count: &Option<Spanned<u64>>| {
                    count.as_ref().map(|it| Prose::say(phrase, &[&words.number(it.value)]))
                };
                let holders = many(words.lock_holders, &lock.holders);
                let fair = lock.fair.then(|| plain(words.lock_fair));
                let replicas = many(words.lock_replicas, &lock.replicas);
                let options = [holders, fair, replicas].into_iter().flatten();
                [plain(words.lock)].into_iter().chain(options).collect()
            }
            Role::Queue(queue) => self.queue(queue),
            Role::Session(session) => self.session(session),
            Role::Index(index) => {
                let of = self.definition(&index.of);
                let mut sentences = vec![match &index.by {
                    None => Prose::fill(words.index, &[of]),
                    Some(by) => Prose::fill(words.index_by, &[of, Prose::code(&by.value)]),
                }];
                if let Some(reverse) = &index.reverse {
                    sentences.push(Prose::fill(words.index_reverse, &[self.definition(reverse)]));
                }
                sentences
            }
            Role::Flag(flag) => self.flag(flag),
            Role::Ranking(ranking) => {
                let ties = ranking.ties.as_ref().map(|ties| match ties.value {
                    Ties::First => plain(words.ties_first),
                    Ties::Last => plain(words.ties_last),
                });
                std::iter::once(plain(words.ranking)).chain(ties).collect()
            }
            Role::RefreshToken(token) => self.refresh_token(token),
        }
    }

    fn flag(&self, flag: &Flag) -> Vec<Prose> {
        let words = self.words;
        let mut sentences = vec![Prose::fill(words.flag, &[])];
        if let Some(name) = &flag.overridden_by {
            sentences.push(Prose::fill(words.flag_override, &[self.definition(name)]));
        }
        let default = if flag.default { words.flag_on } else { words.flag_off };
        sentences.push(Prose::fill(default, &[]));
        sentences
    }

    fn quota(&self, quota: &Quota) -> Prose {
        let words = self.words;
        let window = quota.window.as_ref().map(|window| words.duration(window.value));
        match (quota.limit.value, &window) {
            (Limit::Fixed(limit), None) => Prose::say(words.quota, &[&words.number(limit)]),
            (Limit::Fixed(limit), Some(window)) => {
                Prose::say(words.quota_window, &[&words.number(limit), window])
            }
            (Limit::Caller, None) => Prose::say(words.quota_caller, &[]),
            (Limit::Caller, Some(window)) => Prose::say(words.quota_caller_window, &[window]),
        }
    }

    fn rate_limit(&self, limit: &RateLimit) -> Vec<Prose> {
        let words = self.words;
        let window = words.duration(limit.window.value);
        let how_many = match limit.limit.value {
            Limit::Fixed(most) => Prose::say(words.rate_limit, &[&words.number(most), &window]),
            Limit::Caller => Prose::say(words.rate_limit_caller, &[&window]),
        };
        let algorithm = match limit.algorithm {
            Algorithm::FixedWindow => words.fixed_window,
            Algorithm::SlidingWindow => words.sliding_window,
            Algorithm::Gcra => words.gcra,
        };
        let on_outage = match limit.on_outage {
            OnOutage::Open => words.outage_open,
            OnOutage::Closed => words.outage_closed,
        };
        vec![how_many, Prose::fill(algorithm, &[]), Prose::fill(on_outage, &[])]
    }

    fn queue(&self, queue: &Queue) -> Vec<Prose> {
        let words = self.words;
        let mut sentences = vec![Prose::fill(words.queue, &[])];
        if let Some(name) = &queue.dead_letter {
            sentences.push(Prose::fill(words.queue_dead_letter, &[self.definition(name)]));
        }
        if let Some(name) = &queue.status {
            sentences.push(Prose::fill(words.queue_status, &[self.definition(name)]));
        }
        sentences
    }

    fn session(&self, session: &SessionRole) -> Vec<Prose> {
        let words = self.words;
        let mut sentences = vec![Prose::fill(words.session_role, &[])];
        if let Some(name) = &session.index {
            sentences.push(Prose::fill(words.session_index, &[self.definition(name)]));
        }
        if let Some(name) = &session.revoked {
            sentences.push(Prose::fill(words.session_revoked, &[self.definition(name)]));
        }
        if let Some(max_age) = &session.max_age {
            sentences.push(Prose::say(words.session_max_age, &[&words.duration(max_age.value)]));
        }
        if let Some(field) = &session.touched {
            sentences.push(Prose::fill(words.session_touched, &[Prose::code(&field.value)]));
        }
        sentences
    }

    fn refresh_token(&self, token: &RefreshToken) -> Vec<Prose> {
        let words = self.words;
        let grace = words.duration(token.reuse_grace);
        let touched = token.touched.as_ref();
        let touched = touched.map(|it| Prose::fill(words.token_touched, &[Prose::code(&it.value)]));
        [Prose::say(words.refresh_token, &[&grace])].into_iter().chain(touched).collect()
    }

    /// What other definitions' roles use this one for.
    pub(super) fn related(&self, definition: &Definition) -> Vec<Prose> {
        let words = self.words;
        let mut related = Vec::new();
        for other in &self.schema.keys {
            let Some(role) = &other.role else { continue };
            let uses = match &role.value {
                Role::Queue(queue) => vec![
                    (queue.dead_letter.as_ref(), words.of_dead_letter),
                    (queue.status.as_ref(), words.of_status),
                ],
                Role::Session(session) => vec![
                    (session.index.as_ref(), words.of_session_index),
                    (session.revoked.as_ref(), words.of_revoked),
                ],
                Role::Index(index) => vec![
                    (Some(&index.of), words.of_index),
                    (index.reverse.as_ref(), words.of_reverse),
                ],
                Role::Flag(flag) => vec![(flag.overridden_by.as_ref(), words.of_override)],
                _ => continue,
            };
            let this = |name: &str| name == definition.name.as_str();
            let uses = uses.into_iter().filter(|(name, _)| name.is_some_and(|name| this(name)));
            related.extend(
                uses.map(|(_, phrase)| Prose::fill(phrase, &[self.definition(&other.name)])),
            );
        }
        related
    }

    /// How much it may hold.
    pub(super) fn bounds(&self, definition: &Definition) -> Vec<Prose> {
        let words = self.words;
        let mut bounds = Vec::new();
        // Where every field is declared, their number is no question.
        let is_closed = !definition.fields.is_empty() && !definition.open;
        let is_hash = definition.key_type.as_ref().is_some_and(|it| it.value == KeyType::Hash);
        if let Some(len) = definition.max_len.as_ref().filter(|_| !(is_hash && is_closed)) {
            let keep = definition.keep.as_ref().map(|keep| keep.value);
            let list = definition.key_type.as_ref().is_some_and(|ty| ty.value == KeyType::List);
            let phrase = match (definition.on_full, keep) {
                (OnFull::Refuse, _) => words.max_len_refuse,
                (OnFull::Trim, Some(Keep::First)) => words.max_len_keep_first,
                (OnFull::Trim, None) if list => words.max_len_trim,
                (OnFull::Trim, _) => words.max_len_keep_last,
            };
            bounds.push(Prose::say(phrase, &[&words.number(len.value)]));
        }
        if let Some(others) = &definition.others {
            bounds.push(Prose::fill(words.others_of, &[self.value(&others.value)]));
        }
        if let Some(bytes) = &definition.max_bytes {
            bounds.push(Prose::say(words.max_bytes, &[&words.size(bytes.value)]));
        }
        bounds
    }

    /// What the runtime does for a cache.
    pub(super) fn cache(&self, definition: &Definition) -> Vec<Prose> {
        let words = self.words;
        let options = &definition.cache;
        let timed = |phrase: &'static str, time: Option<Duration>| {
            time.map(|time| Prose::say(phrase, &[&words.duration(time)]))
        };
        let value = |it: &Option<keyward_schema::Spanned<Duration>>| it.as_ref().map(|it| it.value);
        let early = options.early_refresh.as_ref().is_some_and(|early| early.value);
        let java = self.schema.generate.java.as_ref().filter(|java| java.spring);
        let java = java.filter(|_| definition.is_spring_cache());
        let in_spring = java.and_then(|java| java.cache_name(definition, &self.schema.keyspace));
        [
            timed(words.l1, value(&options.l1)),
            early.then(|| Prose::fill(words.early_refresh, &[])),
            timed(words.stale_if_error, value(&options.stale_if_error)),
            timed(words.stale_if_slow, value(&options.stale_if_slow)),
            timed(words.negative_ttl, value(&options.negative_ttl)),
            timed(words.load_lock, value(&options.load_lock)),
            in_spring.map(|name| Prose::fill(words.spring_cache, &[Prose::code(&name)])),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
