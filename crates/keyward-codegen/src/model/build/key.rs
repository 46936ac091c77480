//! Definitions: what is stored under a key, for how long, and what happens to it.

use super::event::resolution;
use super::param::enum_words;
use super::pattern::parts;
use super::{Building, prefix_params, text};
use crate::model::name::Names;
use crate::model::{Behaviour, Field, Key, Link, Name, Param, Queue, Session, Ttl, Value};
use keyward_fact::Duration;
use keyward_schema::model::{
    Algorithm, Definition, JsonType, Keep, Limit, OnFull, OnOutage, OnWrite, Role, Ties,
};
use keyward_schema::{Spanned, model};

impl Building<'_> {
    pub(super) fn key(&self, number: usize, params: Vec<Param>) -> Key {
        let schema = self.schema;
        let definition = &schema.keys[number];
        let prefix = schema.keyspace.prefix.as_ref().map(|prefix| &prefix.value);
        let prefix_params = prefix_params(schema);
        let compiled = schema.compiled.definitions().nth(number);
        let constant = prefix.filter(|_| prefix_params == 0).map(ToString::to_string);
        let whole = |text: &str| format!("{}{text}", constant.clone().unwrap_or_default());
        let parts = parts(&definition.pattern);
        let literal_len = parts.iter().filter_map(|part| part.literal.as_ref()).map(String::len);
        let prefix_len = prefix.map_or(0, |prefix| {
            let parts = self::parts(prefix);
            parts.iter().filter_map(|part| part.literal.as_ref()).map(String::len).sum()
        });
        let fields = &definition.fields;
        let mut field_names = Names::default();
        Key {
            number,
            name: self.key_names[number].clone(),
            doc: text(definition.doc.as_ref()),
            owner: text(definition.owner.as_ref()),
            group: text(definition.group.as_ref()),
            lifecycle: definition.lifecycle.name(),
            role: definition.role.as_ref().map(|role| role.name()),
            pattern: format!(
                "{}{}",
                prefix.map(ToString::to_string).unwrap_or_default(),
                definition.pattern.value
            ),
            params: params.into_iter().skip(prefix_params).collect(),
            literal_len: literal_len.sum::<usize>() + prefix_len,
            parts,
            glob: compiled.and_then(|it| it.glob_named(&[]).ok()).unwrap_or_default(),
            shadowed: compiled.is_some_and(|it| it.is_partial()),
            tagged: compiled.is_some_and(|it| it.has_tag()),
            examples: definition.examples.iter().map(|example| whole(example)).collect(),
            ty: definition.key_type.as_ref().map(|ty| ty.name().to_owned()),
            value: definition.value.as_ref().map(|value| self.value(value)),
            fields: fields
                .iter()
                .map(|field| Field {
                    name: field_names.add(&field.name),
                    doc: text(field.doc.as_ref()),
                    value: self.value(&field.value),
                    optional: field.optional,
                    ttl: field.ttl.as_ref().map(|ttl| ttl_of(ttl)),
                    keeps_ttl: field.on_write.as_ref().map_or(definition.on_write, |it| it.value)
                        == OnWrite::Keep,
                })
                .collect(),
            open: definition.open,
            others: definition.others.as_ref().map(|value| self.value(value)),
            member: definition.member.as_ref().map(|value| self.value(value)),
            score: definition.score.as_ref().map(|value| self.value(value)),
            ttl: definition.ttl.as_ref().map(|ttl| ttl_of(ttl)),
            max_len: definition.max_len.as_ref().map(|len| len.value),
            max_bytes: definition.max_bytes.as_ref().map(|size| size.bytes()),
            cache_name: self.cache_name(definition),
            behaviour: Behaviour {
                queue: self.queue(definition),
                session: self.session(definition),
                index: self.index(definition),
                ..behaviour(definition)
            },
            former: Vec::new(),
            links: self.links(definition),
            fields_at_run_time: self.has_fields_at_run_time(definition),
        }
    }

    fn links(&self, definition: &Definition) -> Vec<Link> {
        let Some(role) = &definition.role else { return Vec::new() };
        let number = |name: &str| self.schema.keys.iter().position(|key| *key.name == *name);
        let link = |(what, name): (_, &Spanned<String>)| Some(Link { what, key: number(name)? });
        role.links().into_iter().filter_map(link).collect()
    }

    /// What an index holds that the store maintains: a set that no session does.
    fn index(&self, definition: &Definition) -> Option<(bool, bool)> {
        let Some(Role::Index(index)) = definition.role.as_deref() else { return None };
        let lists = |other: &Definition| match other.role.as_deref() {
            Some(Role::Session(session)) => {
                session.index.as_ref().is_some_and(|it| it.value == *definition.name)
            }
            _ => false,
        };
        let is_set = definition.key_type.as_deref() == Some(&keyward_fact::KeyType::Set);
        if !is_set || self.schema.keys.iter().any(lists) {
            return None;
        }
        let holds_keys =
            |it: &Definition| matches!(it.member.as_deref(), Some(model::Value::Key(_)));
        let named =
            |name: &Spanned<String>| self.schema.keys.iter().find(|key| *key.name == name.value);
        let reverse = index.reverse.as_ref().and_then(named);
        Some((holds_keys(definition), reverse.is_some_and(holds_keys)))
    }

    fn session(&self, definition: &Definition) -> Option<Session> {
        let Some(Role::Session(session)) = definition.role.as_deref() else { return None };
        let named = |name: &Option<Spanned<String>>| {
            let name = name.as_ref()?;
            self.schema.keys.iter().find(|key| key.name.value == name.value)
        };
        let mut holes = definition.pattern.holes();
        let id = session.id.as_ref();
        let id = holes.position(|hole| id.is_none_or(|id| hole.name == id.value)).unwrap_or(0);
        let index = named(&session.index);
        Some(Session {
            id,
            max_age_ms: session.max_age.as_ref().map(|age| age.value.as_millis()),
            revoked: named(&session.revoked).map(|it| mark(it.value.as_deref())),
            listed_as_key: index
                .is_some_and(|index| matches!(index.member.as_deref(), Some(model::Value::Key(_)))),
            score_ms: index.and_then(|index| index.score.as_deref()).map(|score| match score {
                model::Value::UnixMs => 1,
                _ => 1000,
            }),
        })
    }

    /// Whether a role must know the fields of its hash when a program runs: its own, or that of another
    /// definition that refers to it.
    fn has_fields_at_run_time(&self, definition: &Definition) -> bool {
        let refers = |other: &Definition| {
            let links = other.role.as_ref().map(|role| role.links()).unwrap_or_default();
            links.iter().any(|(what, name)| {
                matches!(*what, "status" | "of") && name.value == definition.name.value
            })
        };
        matches!(definition.role.as_deref(), Some(Role::Session(_) | Role::RefreshToken(_)))
            || self.schema.keys.iter().any(refers)
    }

    fn queue(&self, definition: &Definition) -> Option<Queue> {
        let Some(Role::Queue(queue)) = definition.role.as_deref() else { return None };
        let find = |name: &Option<Spanned<String>>| {
            self.schema
                .keys
                .iter()
                .find(|key| Some(&key.name.value) == name.as_ref().map(|it| &it.value))
        };
        let (dead, status) = (find(&queue.dead_letter), find(&queue.status));
        let own = |name: &str| definition.params.iter().any(|param| *param.name == *name);
        let free = status.and_then(|status| status.params.iter().find(|param| !own(&param.name)));
        let job_id = queue.job_id.as_ref().map(|id| id.value.clone());
        Some(Queue {
            lease_ms: queue.lease().as_millis(),
            timeout_ms: queue.timeout.as_ref().map(|it| it.as_millis()),
            max_attempts: dead.map(|_| queue.max_attempts()),
            max_crashes: dead.map(|_| queue.max_crashes()),
            backoff_ms: queue.backoff().as_millis(),
            max_backoff_ms: queue.max_backoff().as_millis(),
            retain_ms: queue.retain.as_ref().map(|it| it.as_millis()),
            per_group: queue.per_group.as_ref().map(|it| it.value),
            job_id: job_id.or_else(|| free.map(|param| param.name.value.clone())),
            dead_as_is: self.schema.buries_values(definition).is_some(),
        })
    }

    fn cache_name(&self, definition: &Definition) -> Option<String> {
        let java = self.schema.generate.java.as_ref();
        let id = || Some(definition.name.value.clone());
        let name = || java.map_or_else(id, |it| it.cache_name(definition, &self.schema.keyspace));
        definition.is_spring_cache().then(name).flatten()
    }

    fn value(&self, value: &model::Value) -> Value {
        let mut made = Value {
            kind: "text",
            words: Vec::new(),
            json_type: None,
            items: None,
            zstd: false,
            of: None,
            keys: Vec::new(),
        };
        made.kind = match value {
            model::Value::Text => "text",
            model::Value::Int => "int",
            model::Value::Uint => "uint",
            model::Value::Float => "float",
            model::Value::Bool => "bool",
            model::Value::Uuid => "uuid",
            model::Value::Timestamp => "timestamp",
            model::Value::Date => "date",
            model::Value::Unix => "unix",
            model::Value::UnixMs => "unix_ms",
            model::Value::Bytes => "bytes",
            model::Value::Enum(words) => {
                made.words = enum_words(words, str::to_owned);
                "enum"
            }
            model::Value::Json { of, zstd } => {
                made.zstd = *zstd;
                match of {
                    Some(JsonType::Named(name)) => made.json_type = Some(name.clone()),
                    Some(JsonType::Array(items)) => made.items = Some(Box::new(self.value(items))),
                    None => {}
                }
                "json"
            }
            model::Value::Ref { definition, param } => {
                made.of = self.referred(definition, param);
                "ref"
            }
            model::Value::Key(names) => {
                made.keys = self.numbers(names);
                "key"
            }
        };
        made
    }
}

fn behaviour(definition: &Definition) -> Behaviour {
    let millis = |duration: &Option<Spanned<Duration>>| {
        duration.as_ref().map(|duration| duration.value.as_millis())
    };
    let cache = &definition.cache;
    let mut made = Behaviour {
        jitter: definition.jitter.as_ref().map_or(0.0, |jitter| jitter.value.clamp(0.0, 100.0)),
        keep_ttl: definition.on_write == OnWrite::Keep,
        sliding: definition.sliding,
        refuse_when_full: definition.on_full == OnFull::Refuse,
        keep: definition.keep.as_ref().map(|keep| match keep.value {
            Keep::First => "first",
            Keep::Last => "last",
        }),
        invalidate: definition.invalidate.as_ref().map(|how| resolution(how.value)),
        indexes: Vec::new(),
        l1_ms: millis(&cache.l1),
        early_refresh: cache.early_refresh.as_ref().is_some_and(|on| on.value),
        stale_ms: millis(&cache.stale_if_error),
        slow_ms: millis(&cache.stale_if_slow),
        refreshed: definition.refreshed,
        negative_ms: millis(&cache.negative_ttl),
        load_lock_ms: millis(&cache.load_lock),
        limit: None,
        window_ms: None,
        algorithm: None,
        closed_on_outage: false,
        negative: false,
        on_by_default: false,
        ties: None,
        fair: false,
        holders: None,
        replicas: None,
        queue: None,
        session: None,
        index: None,
        reuse_grace_ms: None,
        touched: None,
    };
    let touched = |name: &Option<Spanned<String>>| {
        let name = name.as_ref()?;
        let field = definition.fields.iter().find(|field| field.name.value == name.value)?;
        Some((name.value.clone(), time_kind(&field.value)))
    };
    let fixed = |limit: Limit| if let Limit::Fixed(limit) = limit { Some(limit) } else { None };
    match definition.role.as_ref().map(|role| &role.value) {
        Some(Role::Counter(counter)) => made.negative = counter.negative,
        Some(Role::Lock(lock)) => {
            made.fair = lock.fair;
            made.holders = lock.holders.as_ref().map(|it| it.value);
            made.replicas = lock.replicas.as_ref().map(|it| it.value);
        }
        Some(Role::Quota(quota)) => {
            made.limit = fixed(quota.limit.value);
            made.window_ms = millis(&quota.window);
        }
        Some(Role::RateLimit(limit)) => {
            made.limit = fixed(limit.limit.value);
            made.window_ms = Some(limit.window.value.as_millis());
            made.algorithm = Some(match limit.algorithm {
                Algorithm::FixedWindow => "fixed-window",
                Algorithm::SlidingWindow => "sliding-window",
                Algorithm::Gcra => "gcra",
            });
            made.closed_on_outage = limit.on_outage == OnOutage::Closed;
        }
        Some(Role::Flag(flag)) => made.on_by_default = flag.default,
        Some(Role::Ranking(ranking)) => {
            made.ties = ranking.ties.as_ref().map(|ties| match ties.value {
                Ties::First => "first",
                Ties::Last => "last",
            });
        }
        Some(Role::Session(session)) => made.touched = touched(&session.touched),
        Some(Role::RefreshToken(token)) => {
            made.touched = touched(&token.touched);
            made.reuse_grace_ms = Some(token.reuse_grace.as_millis());
        }
        _ => {}
    }
    made
}

/// How a value says when something happened.
fn time_kind(value: &model::Value) -> &'static str {
    match value {
        model::Value::Unix => "unix",
        model::Value::UnixMs => "unix_ms",
        model::Value::Date => "date",
        _ => "timestamp",
    }
}

/// What is written to mark something as revoked: the time where it holds one, or else a word of its own.
fn mark(value: Option<&model::Value>) -> String {
    match value {
        Some(model::Value::Enum(words)) => {
            format!("={}", words.first().map_or("", |word| word.as_str()))
        }
        Some(model::Value::Bool) => "=true".to_owned(),
        Some(model::Value::Int | model::Value::Uint) => "=1".to_owned(),
        Some(value) => time_kind(value).to_owned(),
        None => time_kind(&model::Value::Timestamp).to_owned(),
    }
}

fn ttl_of(ttl: &model::Ttl) -> Ttl {
    let (kind, by) = match ttl {
        model::Ttl::None => ("none", None),
        model::Ttl::Fixed(_) => ("fixed", None),
        model::Ttl::Range(..) => ("range", None),
        model::Ttl::By { param, .. } => ("by", Some(Name::new(param))),
        model::Ttl::Caller { .. } => ("caller", None),
    };
    let words = if let model::Ttl::By { values, .. } = ttl {
        values.iter().map(|(word, ttl)| (word.clone(), ttl.as_millis())).collect()
    } else {
        Vec::new()
    };
    Ttl {
        kind,
        text: ttl.to_string(),
        min_ms: ttl.shortest().map(Duration::as_millis),
        max_ms: ttl.longest().map(Duration::as_millis),
        by,
        words,
    }
}
