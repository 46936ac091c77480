//! One `[keys.<id>]` as written → a definition with everything that is implied.

use crate::Diagnostic;
use crate::effect::{Written, is_ordered, takes_jitter};
use crate::form::quoted;
use crate::lower::{allow_list, declarations, template_params};
use crate::model::{
    Algorithm, CacheOptions, Defaults, Definition, Field, Lifecycle, Lock, Named, OnFull, OnWrite,
    ParamDeclaration, Quota, Role, Ttl, Value,
};
use crate::relation;
use crate::role;
use crate::separators::Separated;
use crate::span::{Sources, Span, Spanned};
use crate::tables::KeyTable;
use crate::ttl::{self, TtlForm};
use crate::value::Open;
use keyward_fact::{Duration, KeyType, Size};
use keyward_pattern::{Template, Type, nearest};
use std::collections::HashMap;

/// What a definition is resolved against.
pub(crate) struct Surroundings<'a> {
    pub(crate) sources: &'a Sources,
    /// The separator of the keyspace
    pub(crate) separator: char,
    pub(crate) prefix: Option<&'a Spanned<Template>>,
    pub(crate) params: &'a HashMap<&'a str, &'a ParamDeclaration>,
    pub(crate) defaults: &'a Defaults,
    pub(crate) groups: &'a [Named],
    pub(crate) owners: &'a [Named],
    /// What the definitions are that some queue or session relies on
    pub(crate) named_elsewhere: &'a HashMap<String, Lifecycle>,
}

/// The definitions that some queue or session relies on. Dead letters, job statuses and revocation
/// lists must last as long as their TTLs say; a list of sessions is worth what they are.
pub(crate) fn named_elsewhere(
    keys: &[(Spanned<String>, Spanned<KeyTable>)],
) -> HashMap<String, Lifecycle> {
    let queues = || keys.iter().filter_map(|(_, key)| key.queue.as_ref());
    let sessions = || keys.iter().filter_map(|(_, key)| key.session.as_ref());
    let retained = queues()
        .flat_map(|queue| [&queue.dead_letter, &queue.status])
        .chain(sessions().map(|session| &session.revoked))
        .flatten()
        .map(|name| (name.value.0.clone(), Lifecycle::Retained));
    sessions()
        .filter_map(|session| session.index.as_ref())
        .map(|name| (name.value.0.clone(), Lifecycle::Session))
        .chain(retained)
        .collect()
}

/// Resolves one definition.
pub(crate) fn lower(
    name: Spanned<String>,
    mut table: KeyTable,
    around: &Surroundings<'_>,
    errors: &mut Vec<Diagnostic>,
) -> Definition {
    let first = errors.len();
    refuse_no_bytes(table.max_bytes.as_ref(), errors);
    let params = params(&mut table, around, errors);
    let role = role::take(&mut table, errors);
    let key_type = key_type(&table, role.as_ref(), errors);
    let value = value(&mut table, role.as_ref());
    let score = score(&table, role.as_ref(), errors);
    let ttl = written_or_implied_ttl(&mut table, role.as_ref(), &params, around, errors);
    let lifecycle = lifecycle(&name, table.lifecycle.as_ref(), role.as_ref(), ttl.as_ref(), around);
    let cache = cache_options(&mut table, &name, lifecycle, errors);
    let fields = fields(&mut table, errors);
    let relation = relation::take(&mut table);
    let owner = table.owner.take().map(|owner| Spanned::new(owner.value.0, owner.span));
    let group = table.group.take().map(|group| Spanned::new(group.value.0, group.span));
    known_name("owner", owner.as_ref(), around.owners, errors);
    known_name("group", group.as_ref(), around.groups, errors);
    let written = Written {
        table: &table,
        key_type: key_type.as_ref(),
        role: role.as_ref(),
        value: value.as_ref(),
        score: score.as_ref(),
        ttl: ttl.as_ref(),
        cache: &cache,
        fields: &fields,
        default_bound: around.defaults.max_len.is_some(),
    };
    written.refuse_idle(errors);

    let collection = key_type.as_ref().is_some_and(|key_type| key_type.is_collection());
    let ordered = key_type.as_ref().is_none_or(|key_type| is_ordered(key_type));
    let default_on_full = if ordered { OnFull::Trim } else { OnFull::Refuse };
    let expires = ttl.as_ref().is_some_and(|ttl| ttl.expires());
    for error in &mut errors[first..] {
        error.definition.get_or_insert_with(|| name.value.clone());
    }
    let places = match role.as_ref().map(|role| &role.value) {
        Some(Role::Lock(lock)) => lock.holders.clone(),
        _ => None,
    };
    let max_len = table.max_len.map(|len| Spanned::new(len.value.0, len.span)).or(places);
    let jittered = expires && takes_jitter(role.as_ref().map(|role| &role.value));
    let jitter = table.jitter.map(|jitter| Spanned::new(jitter.value.0, jitter.span));
    Definition {
        name,
        doc: table.doc,
        owner: owner.or_else(|| around.defaults.owner.clone()),
        group,
        pattern: table.pattern,
        separators: table.separators.map(|marks| Spanned::new(marks.value.0, marks.span)),
        params,
        key_type,
        value,
        fields,
        open: table.open.as_ref().is_some_and(|open| open.value != Open::No),
        others: table.open.and_then(|open| match open.value {
            Open::Of(value) => Some(Spanned::new(value, open.span)),
            Open::No | Open::Any => None,
        }),
        member: table.member,
        score,
        relation,
        ttl,
        jitter: jitter.or_else(|| around.defaults.jitter.clone().filter(|_| jittered)),
        on_write: table.on_write.map_or(OnWrite::Set, |on_write| on_write.value),
        sliding: table.sliding.is_some_and(|sliding| sliding.value),
        lifecycle,
        lifecycle_span: table.lifecycle.map(|lifecycle| lifecycle.span),
        max_len: max_len.or_else(|| around.defaults.max_len.clone().filter(|_| collection)),
        max_bytes: table.max_bytes.or_else(|| around.defaults.max_bytes.clone()),
        on_full: table.on_full.map_or(default_on_full, |on_full| on_full.value),
        keep: table.keep,
        invalidate: table.invalidate,
        examples: table.examples.map(|examples| examples.value).unwrap_or_default(),
        role,
        cache,
        refreshed: false,
        allow: allow_list(table.allow),
    }
}

/// A bound that no value keeps is not one.
pub(crate) fn refuse_no_bytes(max_bytes: Option<&Spanned<Size>>, errors: &mut Vec<Diagnostic>) {
    if let Some(max_bytes) = max_bytes.filter(|most| most.bytes() == 0) {
        let message = "`max_bytes` must be more than 0";
        let error = Diagnostic::schema(message, max_bytes.span.clone(), "no value is that small");
        errors.push(error.help("write the size of the largest value: `64kb`"));
    }
}

/// The parameters of prefix and pattern, each with its declaration.
fn params(
    table: &mut KeyTable,
    around: &Surroundings<'_>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<ParamDeclaration> {
    let own = table.params.take().map(|map| declarations(map.value.entries)).unwrap_or_default();
    let shared = |name: &str| around.params.get(name).copied();
    let declared =
        |name: &str| own.iter().find(|param| param.name.value == name).or_else(|| shared(name));
    let mut params = Vec::new();
    if let Some(prefix) = around.prefix {
        params.extend(template_params(prefix, around.sources, shared));
    }
    let mut of_pattern = template_params(&table.pattern, around.sources, declared);
    if let Some(separators) = &table.separators {
        let written = Separated {
            separators,
            pattern: &table.pattern,
            keyspace: around.separator,
            is_old: false,
        };
        errors.extend(written.apply(&mut of_pattern));
    }
    params.extend(of_pattern);
    for unused in
        own.iter().filter(|own| !table.pattern.holes().any(|hole| hole.name == own.name.value))
    {
        let message = format!("the pattern has no parameter `{}`", *unused.name);
        let mut diagnostic =
            Diagnostic::schema(message, unused.name.span.clone(), "unknown parameter")
                .at(table.pattern.span.clone(), "the pattern");
        let known = table.pattern.holes().map(|hole| hole.name.as_str());
        if let Some(near) = nearest(&unused.name, known) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        errors.push(diagnostic);
    }
    params
}

/// The type, written or implied; a type that does not fit what is inside is an error.
fn key_type(
    table: &KeyTable,
    role: Option<&Spanned<Role>>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Spanned<KeyType>> {
    use KeyType::{Geo, Hash, HyperLogLog, List, Set, Stream, String, Zset};
    let of_role: &[KeyType] = match role.map(|role| &role.value) {
        Some(Role::Lock(Lock { holders: Some(_), .. }) | Role::Ranking(_)) => &[Zset],
        Some(
            Role::Counter(_) | Role::Quota(_) | Role::RateLimit(_) | Role::Lock(_) | Role::Flag(_),
        ) => &[String],
        Some(Role::Queue(_)) => &[List, Stream],
        Some(Role::Index(_)) => &[Set, Zset],
        Some(Role::RefreshToken(_)) => &[Hash],
        // A convention that does not say how it stores its sessions is read all the same.
        Some(Role::Session(_))
            if table.key_type.is_some() || table.value.is_some() || table.fields.is_some() =>
        {
            &[Hash, String]
        }
        Some(Role::Session(_)) | None => &[],
    };
    let role_demand =
        role.filter(|_| !of_role.is_empty()).map(|role| (role.name(), &role.span, of_role));
    let field_span = table.fields.as_ref().map(|fields| &fields.span);
    let member_span = table.member.as_ref().map(|member| &member.span);
    let score_span = table.score.as_ref().map(|score| &score.span);
    let value_span = table.value.as_ref().map(|value| &value.span);
    let members: &[KeyType] =
        if score_span.is_some() { &[Zset] } else { &[Set, Zset, Geo, HyperLogLog] };
    let demands: Vec<(&str, &Span, &[KeyType])> = [
        role_demand,
        field_span.map(|span| ("fields", span, [Hash, Stream].as_slice())),
        score_span.map(|span| ("score", span, [Zset].as_slice())),
        member_span.map(|span| ("member", span, members)),
        value_span.map(|span| ("value", span, [String, List, Stream].as_slice())),
    ]
    .into_iter()
    .flatten()
    .collect();

    if let Some(written) = &table.key_type {
        if !matches!(written.value, KeyType::Module(_)) {
            for (what, span, fitting) in &demands {
                if !fitting.contains(written) {
                    errors.push(unfitting(what, span, fitting, written));
                }
            }
        }
        return Some(written.clone());
    }
    let (what, span, fitting) = demands.first()?;
    for (other, other_span, other_fitting) in &demands[1..] {
        if !other_fitting.iter().any(|key_type| fitting.contains(key_type)) {
            errors.push(
                Diagnostic::schema(
                    format!("`{what}` and `{other}` cannot be in one definition"),
                    (*other_span).clone(),
                    format!("needs {}", names(other_fitting)),
                )
                .at((*span).clone(), format!("needs {}", names(fitting))),
            );
        }
    }
    let implied = fitting
        .iter()
        .find(|key_type| demands.iter().all(|(_, _, fitting)| fitting.contains(key_type)))
        .unwrap_or(&fitting[0]);
    Some(Spanned::new(implied.clone(), (*span).clone()))
}

fn unfitting(
    what: &str,
    span: &Span,
    fitting: &[KeyType],
    written: &Spanned<KeyType>,
) -> Diagnostic {
    Diagnostic::schema(
        format!("`{what}` does not fit the type `{}`", **written),
        span.clone(),
        format!("needs {}", names(fitting)),
    )
    .at(written.span.clone(), "this type")
}

fn names(types: &[KeyType]) -> String {
    quoted(&types.iter().map(KeyType::name).collect::<Vec<_>>())
}

/// What the value is, written or implied by the role.
fn value(table: &mut KeyTable, role: Option<&Spanned<Role>>) -> Option<Spanned<Value>> {
    table.value.take().or_else(|| {
        let role = role?;
        let implied = match &role.value {
            // Two windows in one text.
            Role::RateLimit(limit) if limit.algorithm == Algorithm::SlidingWindow => Value::Text,
            Role::Counter(_) | Role::Quota(_) | Role::RateLimit(_) => Value::Int,
            Role::Lock(Lock { holders: None, .. }) => Value::Text,
            Role::Flag(_) => Value::Bool,
            _ => return None,
        };
        Some(Spanned::new(implied, role.span.clone()))
    })
}

/// What a sorted set is ordered by: a number.
fn score(
    table: &KeyTable,
    role: Option<&Spanned<Role>>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Spanned<Value>> {
    if let Some(score) = table.score.clone() {
        let number = matches!(
            score.value,
            Value::Int | Value::Uint | Value::Float | Value::Unix | Value::UnixMs
        );
        if !number {
            errors.push(
                Diagnostic::schema("a score is a number", score.span.clone(), "not a number")
                    .help("use `float`, `int`, `uint`, `unix` or `unix_ms`"),
            );
        }
        return Some(score);
    }
    let role = role?;
    let implied = match role.value {
        Role::Ranking(_) => Value::Float,
        // When each holder expires.
        Role::Lock(Lock { holders: Some(_), .. }) => Value::UnixMs,
        _ => return None,
    };
    Some(Spanned::new(implied, role.span.clone()))
}

/// The TTL: written, else implied by the role or the lifecycle, else the default.
fn written_or_implied_ttl(
    table: &mut KeyTable,
    role: Option<&Spanned<Role>>,
    params: &[ParamDeclaration],
    around: &Surroundings<'_>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Spanned<Ttl>> {
    if let Some(written) = table.ttl.take() {
        return resolve_ttl(written, params, errors);
    }
    let implied = match role.map(|role| &role.value) {
        // What is past counts until its share of the window is over.
        Some(Role::RateLimit(limit)) if limit.algorithm == Algorithm::SlidingWindow => {
            let twice = Duration::from_millis(limit.window.value.as_millis().saturating_mul(2));
            Some(fixed(&Spanned::new(twice, limit.window.span.clone())))
        }
        Some(Role::RateLimit(limit)) => Some(fixed(&limit.window)),
        Some(Role::Quota(Quota { window: Some(window), .. })) => Some(fixed(window)),
        Some(Role::Queue(_)) => role.map(|role| Spanned::new(Ttl::None, role.span.clone())),
        _ => None,
    };
    let protected =
        table.lifecycle.as_ref().filter(|lifecycle| lifecycle.value == Lifecycle::Protected);
    implied
        .or_else(|| protected.map(|protected| Spanned::new(Ttl::None, protected.span.clone())))
        .or_else(|| around.defaults.ttl.clone())
}

fn fixed(window: &Spanned<Duration>) -> Spanned<Ttl> {
    Spanned::new(Ttl::Fixed(window.value), window.span.clone())
}

fn resolve_ttl(
    written: Spanned<TtlForm>,
    params: &[ParamDeclaration],
    errors: &mut Vec<Diagnostic>,
) -> Option<Spanned<Ttl>> {
    let by = match written.value {
        TtlForm::Plain(ttl) => return Some(Spanned::new(ttl, written.span)),
        TtlForm::By(by) => Spanned::new(by, written.span),
    };
    let Some(param) = params.iter().find(|param| param.name.value == by.by.value) else {
        let message = format!("the pattern has no parameter `{}`", *by.by);
        let mut diagnostic = Diagnostic::schema(message, by.by.span.clone(), "unknown parameter");
        let enums = params.iter().filter(|param| matches!(param.param.ty, Type::Enum(_)));
        if let Some(near) = nearest(&by.by, enums.map(|param| param.name.as_str())) {
            diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
        }
        errors.push(diagnostic);
        return None;
    };
    let words = match &param.param.ty {
        Type::Enum(words) => Some(words.as_slice()),
        _ => None,
    };
    match ttl::resolve(&by, words) {
        Ok(ttl) => Some(Spanned::new(ttl, by.span)),
        Err(error) => {
            let shown = error.labels.iter().any(|label| label.span == param.param.span);
            let error = *error;
            errors.push(if shown { error } else { error.at(param.param.span.clone(), "its type") });
            None
        }
    }
}

/// Whether a key is gone after this time.
fn lives_at_most(ttl: Option<&Spanned<Ttl>>, most: Duration) -> bool {
    ttl.and_then(|ttl| ttl.value.longest()).is_some_and(|longest| longest <= most)
}

/// What may happen to a key before its time, written or implied.
fn lifecycle(
    name: &str,
    written: Option<&Spanned<Lifecycle>>,
    role: Option<&Spanned<Role>>,
    ttl: Option<&Spanned<Ttl>>,
    around: &Surroundings<'_>,
) -> Lifecycle {
    if let Some(written) = written {
        return written.value;
    }
    let has_ttl = match ttl.map(|ttl| &ttl.value) {
        Some(Ttl::None) => return Lifecycle::Protected,
        ttl => ttl.is_some(),
    };
    match role.map(|role| &role.value) {
        Some(Role::Counter(_) | Role::Quota(_)) if has_ttl => Lifecycle::Retained,
        Some(Role::RateLimit(_)) if lives_at_most(ttl, Duration::from_hours(1)) => {
            Lifecycle::Temporary
        }
        Some(Role::Lock(_) | Role::RateLimit(_)) => Lifecycle::Retained,
        Some(Role::Session(_) | Role::RefreshToken(_)) => Lifecycle::Session,
        Some(Role::Queue(_)) => Lifecycle::Protected,
        _ if has_ttl => *around.named_elsewhere.get(name).unwrap_or(&Lifecycle::Cache),
        _ => Lifecycle::Cache,
    }
}

/// What the runtime does for a cache; on anything else it is an error.
fn cache_options(
    table: &mut KeyTable,
    name: &str,
    lifecycle: Lifecycle,
    errors: &mut Vec<Diagnostic>,
) -> CacheOptions {
    let options = CacheOptions {
        l1: table.l1.take(),
        early_refresh: table.early_refresh.take(),
        stale_if_error: table.stale_if_error.take(),
        stale_if_slow: table.stale_if_slow.take(),
        negative_ttl: table.negative_ttl.take(),
        load_lock: table.load_lock.take(),
    };
    let given = [
        ("l1", options.l1.as_ref().map(|option| &option.span)),
        ("early_refresh", options.early_refresh.as_ref().map(|option| &option.span)),
        ("stale_if_error", options.stale_if_error.as_ref().map(|option| &option.span)),
        ("stale_if_slow", options.stale_if_slow.as_ref().map(|option| &option.span)),
        ("negative_ttl", options.negative_ttl.as_ref().map(|option| &option.span)),
        ("load_lock", options.load_lock.as_ref().map(|option| &option.span)),
    ];
    if lifecycle != Lifecycle::Cache {
        for (option, span) in given.into_iter().filter_map(|(option, span)| Some((option, span?))) {
            let message = format!(
                "`{option}` is for caches, and `{name}` has the lifecycle `{}`",
                lifecycle.name()
            );
            let diagnostic = Diagnostic::schema(message, span.clone(), "only a cache has this");
            errors.push(match &table.lifecycle {
                Some(written) => diagnostic.at(written.span.clone(), "written here"),
                None => diagnostic,
            });
        }
    }
    options
}

fn fields(table: &mut KeyTable, errors: &mut Vec<Diagnostic>) -> Vec<Field> {
    let entries = table.fields.take().map(|map| map.value.entries).unwrap_or_default();
    entries
        .into_iter()
        .map(|(name, form)| {
            if name.value == "*" {
                errors.push(
                    Diagnostic::schema(
                        "fields of any name are declared by `open`",
                        name.span.clone(),
                        "would be a field called `*`",
                    )
                    .help("write `open = true` to admit fields that are not named, or `open` with their type"),
                );
            }
            let ttl = form.value.ttl.and_then(|ttl| field_ttl(ttl, errors));
            let ends = ttl.as_ref().is_some_and(|ttl| !matches!(ttl.value, Ttl::None));
            Field {
                name,
                value: Spanned::new(form.value.value, form.span),
                optional: form.value.optional || ends,
                ttl,
                on_write: form.value.on_write,
                doc: form.value.doc,
            }
        })
        .collect()
}

/// A field expires after one duration; nothing chooses within a range or by a parameter yet.
fn field_ttl(written: Spanned<TtlForm>, errors: &mut Vec<Diagnostic>) -> Option<Spanned<Ttl>> {
    if let TtlForm::Plain(ttl @ (Ttl::None | Ttl::Fixed(_))) = written.value {
        return Some(Spanned::new(ttl, written.span));
    }
    let message = "a field's TTL that is not one duration is not supported yet";
    errors.push(
        Diagnostic::schema(message, written.span, "would be the longest for every key")
            .help("write one duration, such as `ttl = \"1h\"`"),
    );
    None
}

/// Where owners or groups are declared, a name must be one of them.
pub(crate) fn known_name(
    what: &str,
    name: Option<&Spanned<String>>,
    declared: &[Named],
    errors: &mut Vec<Diagnostic>,
) {
    let Some(name) = name else { return };
    if declared.is_empty() || declared.iter().any(|known| known.name.value == name.value) {
        return;
    }
    let message = format!("there is no {what} `{}`", **name);
    let diagnostic = Diagnostic::schema(message, name.span.clone(), format!("unknown {what}"));
    errors.push(match nearest(name, declared.iter().map(|known| known.name.as_str())) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic.help(format!("declare it with `[{what}s.{}]`", **name)),
    });
}
