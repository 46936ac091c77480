//! Options that would have no effect are refused, so that what is declared acts.

use crate::Diagnostic;
use crate::model::{
    CacheOptions, Definition, Field, Flag, Keep, Lifecycle, Lock, OnFull, OnWrite, Quota, Role,
    Ttl, Value,
};
use crate::span::{Span, Spanned};
use crate::tables::KeyTable;
use crate::value::Open;
use keyward_fact::KeyType;

/// A definition as it is written, with what is implied.
pub(crate) struct Written<'a> {
    pub(crate) table: &'a KeyTable,
    pub(crate) key_type: Option<&'a Spanned<KeyType>>,
    pub(crate) role: Option<&'a Spanned<Role>>,
    pub(crate) value: Option<&'a Spanned<Value>>,
    pub(crate) score: Option<&'a Spanned<Value>>,
    pub(crate) ttl: Option<&'a Spanned<Ttl>>,
    pub(crate) cache: &'a CacheOptions,
    pub(crate) fields: &'a [Field],
    /// Whether `[defaults]` has a `max_len`
    pub(crate) default_bound: bool,
}

impl Written<'_> {
    /// Reports options that would have no effect.
    pub(crate) fn refuse_idle(&self, errors: &mut Vec<Diagnostic>) {
        self.lifetime(errors);
        self.caching(errors);
        self.roles(errors);
        self.signing_in(errors);
        self.places(errors);
        let Some(key_type) = self.key_type else { return };
        bounds(self.table, key_type, errors);
        trimming(self.table, key_type, self.default_bound, errors);
        self.openness(key_type, errors);
        if key_type.value == KeyType::Stream {
            entry_fields(self.fields, errors);
        }
    }

    /// `jitter`, `on_write` and `sliding` say what happens to a TTL.
    fn lifetime(&self, errors: &mut Vec<Diagnostic>) {
        let KeyTable { jitter, on_write, sliding, .. } = self.table;
        let jitter = jitter.as_ref().map(|it| &it.span);
        let sliding = sliding.as_ref().filter(|sliding| sliding.value).map(|it| &it.span);
        let options = [
            ("jitter", jitter),
            ("on_write", on_write.as_ref().map(|it| &it.span)),
            ("sliding", sliding),
        ];
        let given = options.into_iter().filter_map(|(option, span)| Some((option, span?)));
        if let Some(never) = self.ttl.filter(|ttl| ttl.value == Ttl::None) {
            for (option, span) in given {
                let message = format!("`{option}` changes a TTL, and the key never expires");
                errors.push(
                    no_effect(message, span)
                        .at(never.span.clone(), "never expires")
                        .help(format!("remove `{option}`, or set a `ttl`")),
                );
            }
            return;
        }
        let role = self.role.map(|role| &role.value);
        let (windowed, name) = match role {
            Some(Role::RateLimit(_)) => (true, "rate_limit"),
            Some(Role::Quota(Quota { window, .. })) => (window.is_some(), "quota"),
            Some(Role::Counter(_)) => (false, "counter"),
            Some(Role::Lock(_)) => {
                for (option, span) in given {
                    let message = format!("`{option}` is not supported for a `lock`");
                    let help =
                        "remove it: a lock is renewed while it is held, and its TTL is exact";
                    errors.push(no_effect(message, span).help(help));
                }
                return;
            }
            _ => return,
        };
        if let Some(span) = jitter.filter(|_| windowed) {
            let message = format!("`jitter` shortens a TTL, and the window of a `{name}` is exact");
            errors.push(no_effect(message, span).help("remove it"));
        }
        if let Some(span) = sliding.filter(|_| name == "rate_limit") {
            let message = "`sliding` renews a TTL, and the window of a `rate_limit` ends on time";
            let help = "remove it; `algorithm = \"sliding-window\"` counts over the last window";
            errors.push(no_effect(message, span).help(help));
        }
        let set = on_write.as_ref().filter(|on_write| on_write.value == OnWrite::Set);
        if let Some(set) = set {
            let message = format!("counting in a `{name}` does not reset a running TTL");
            let help = if windowed { "remove it" } else { "write `sliding = true`, or remove it" };
            errors.push(no_effect(message, &set.span).help(help));
        }
    }

    /// What a lock with several holders contains is up to the store.
    fn places(&self, errors: &mut Vec<Diagnostic>) {
        let Some(Role::Lock(Lock { holders: Some(holders), .. })) = self.role.map(|it| &it.value)
        else {
            return;
        };
        let KeyTable { max_len, on_full, keep, member, score, .. } = self.table;
        let given = [
            ("max_len", max_len.as_ref().map(|it| &it.span)),
            ("on_full", on_full.as_ref().map(|it| &it.span)),
            ("keep", keep.as_ref().map(|it| &it.span)),
            ("member", member.as_ref().map(|it| &it.span)),
            ("score", score.as_ref().map(|it| &it.span)),
        ];
        for (option, span) in given.into_iter().filter_map(|(option, span)| Some((option, span?))) {
            let message = format!("`{option}` is not supported for a `lock`");
            let error = no_effect(message, span).at(holders.span.clone(), "how many are in it");
            errors.push(error.help("remove it: the store writes the holders itself"));
        }
    }

    /// The runtime caches strings, hashes, lists, sets and sorted sets as a whole.
    fn caching(&self, errors: &mut Vec<Diagnostic>) {
        let CacheOptions {
            l1,
            early_refresh,
            stale_if_error,
            stale_if_slow,
            negative_ttl,
            load_lock,
        } = self.cache;
        let given = [
            ("l1", l1.as_ref().map(|it| &it.span)),
            ("early_refresh", early_refresh.as_ref().map(|it| &it.span)),
            ("stale_if_error", stale_if_error.as_ref().map(|it| &it.span)),
            ("stale_if_slow", stale_if_slow.as_ref().map(|it| &it.span)),
            ("negative_ttl", negative_ttl.as_ref().map(|it| &it.span)),
            ("load_lock", load_lock.as_ref().map(|it| &it.span)),
        ];
        let given = given.into_iter().filter_map(|(option, span)| Some((option, span?)));
        let what = match (self.role.map(|role| &role.value), self.key_type) {
            (
                Some(
                    role @ (Role::Counter(_)
                    | Role::Quota(_)
                    | Role::RateLimit(_)
                    | Role::Lock(_)
                    | Role::Session(_)
                    | Role::RefreshToken(_)
                    | Role::Index(_)),
                ),
                _,
            ) => role.name().to_owned(),
            (_, Some(key_type)) if !is_whole(key_type) => key_type.name().to_owned(),
            _ => String::new(),
        };
        if !what.is_empty() {
            for (option, span) in given {
                let message = format!("`{option}` is not supported yet for a `{what}`");
                let help =
                    "remove it: only strings, hashes, lists, sets and sorted sets are cached";
                errors.push(no_effect(message, span).help(help));
            }
            return;
        }
        if self.key_type.is_none() {
            for (option, span) in given {
                let message = format!("`{option}` caches a value, and no `type` is declared");
                let help = format!("add a `type`, a `value` or `fields`, or remove `{option}`");
                errors.push(no_effect(message, span).help(help));
            }
            return;
        }
        if let (Some(slow), None) = (stale_if_slow, stale_if_error) {
            let message =
                "`stale_if_slow` serves the copy that `stale_if_error` keeps, and there is none";
            let help = "add `stale_if_error`: how long an expired value may be served";
            errors.push(no_effect(message, &slow.span).help(help));
        }
        let sliding = self.table.sliding.as_ref().filter(|sliding| sliding.value);
        if let (Some(l1), Some(sliding)) = (l1, sliding) {
            errors.push(
                no_effect(
                    "`l1` answers without the server, and `sliding` renews by reading",
                    &l1.span,
                )
                .at(sliding.span.clone(), "every read goes to the server")
                .help("remove one of them"),
            );
        }
    }

    /// A flag is on or off, and ties are decided by a fraction of a score.
    fn roles(&self, errors: &mut Vec<Diagnostic>) {
        match (self.role.map(|role| &role.value), self.value, self.score) {
            (Some(Role::Flag(_)), Some(value), _) => flag_value(value, errors),
            (Some(Role::Ranking(ranking)), _, Some(score)) => {
                let Some(ties) = &ranking.ties else { return };
                if !matches!(score.value, Value::Int | Value::Uint) {
                    errors.push(
                        Diagnostic::schema(
                            "`ties` needs scores that are whole numbers",
                            ties.span.clone(),
                            "is kept in the fraction of the score",
                        )
                        .at(score.span.clone(), "may have a fraction itself")
                        .help("write `score = \"int\"`, or remove `ties`"),
                    );
                }
            }
            _ => {}
        }
    }

    /// Only what has fields can have other fields.
    fn openness(&self, key_type: &Spanned<KeyType>, errors: &mut Vec<Diagnostic>) {
        let open = self.table.open.as_ref().filter(|open| open.value != Open::No);
        let Some(open) = open else { return };
        match key_type.value {
            KeyType::Hash => return,
            KeyType::Stream | KeyType::Module(_) if open.value == Open::Any => return,
            KeyType::Stream | KeyType::Module(_) => {
                let message = "only the undeclared fields of a `hash` have a type";
                errors.push(no_effect(message, &open.span).help("write `open = true`"));
                return;
            }
            _ => {}
        }
        let message = format!("`open` admits other fields, and a `{}` has no fields", **key_type);
        errors.push(no_effect(message, &open.span).help("remove it"));
    }
}

pub(crate) fn no_effect(message: impl Into<String>, span: &Span) -> Diagnostic {
    Diagnostic::schema(message, span.clone(), "has no effect")
}

/// A flag is on or off, or JSON that the application understands.
fn flag_value(value: &Spanned<Value>, errors: &mut Vec<Diagnostic>) {
    let (message, label) = match &value.value {
        Value::Bool | Value::Json { .. } => return,
        Value::Enum(words) => match words.iter().find(|word| Flag::meaning(word).is_none()) {
            None => return,
            Some(word) => (format!("`{word}` means neither on nor off"), "the words of a flag"),
        },
        _ => ("a flag is on or off".to_owned(), "neither"),
    };
    errors.push(Diagnostic::schema(message, value.span.clone(), label).help(
        "use `bool`, words such as `[\"enabled\", \"disabled\"]` or `[\"on\", \"off\"]`, or JSON",
    ));
}

/// Whether a TTL of this role may be shortened: a window is exact, and a lock is the application's.
pub(crate) fn takes_jitter(role: Option<&Role>) -> bool {
    let windowed = matches!(role, Some(Role::Quota(Quota { window: Some(_), .. })));
    !windowed && !matches!(role, Some(Role::RateLimit(_) | Role::Lock(_)))
}

/// Whether the runtime reads it as a whole.
fn is_whole(key_type: &KeyType) -> bool {
    use KeyType::{Hash, List, Set, String, Zset};
    matches!(key_type, String | Hash | List | Set | Zset)
}

/// Whether the runtime loads it where it is missing: a cache that is read as a whole.
pub(crate) fn is_loaded(definition: &Definition) -> bool {
    let role = definition.role.as_deref();
    definition.lifecycle == Lifecycle::Cache
        && matches!(role, None | Some(Role::Flag(_) | Role::Ranking(_)))
        && definition.key_type.as_ref().is_some_and(|key_type| is_whole(key_type))
}

/// `max_len` and `on_full` are for collections.
fn bounds(table: &KeyTable, key_type: &Spanned<KeyType>, errors: &mut Vec<Diagnostic>) {
    if key_type.is_collection() || matches!(key_type.value, KeyType::Module(_)) {
        return;
    }
    if let Some(max_len) = &table.max_len {
        errors.push(
            Diagnostic::schema(
                format!("`max_len` bounds a collection, and this is a `{}`", **key_type),
                max_len.span.clone(),
                "counts entries",
            )
            .at(key_type.span.clone(), format!("a `{}`", **key_type))
            .help("bound its size with `max_bytes`"),
        );
    }
}

/// Whether there is a first and a last entry.
pub(crate) fn is_ordered(key_type: &KeyType) -> bool {
    !matches!(key_type, KeyType::Set | KeyType::Hash)
}

/// `on_full` and `keep` say what a bound does: without one they say nothing, and what has no order cannot be
/// trimmed without losing any of its members.
fn trimming(
    table: &KeyTable,
    key_type: &Spanned<KeyType>,
    default_bound: bool,
    errors: &mut Vec<Diagnostic>,
) {
    let bounded = key_type.is_collection() && (table.max_len.is_some() || default_bound);
    let a = format!("a `{}`", **key_type);
    for (option, span) in [
        ("on_full", table.on_full.as_ref().map(|it| &it.span)),
        ("keep", table.keep.as_ref().map(|it| &it.span)),
    ] {
        let Some(span) = span.filter(|_| !bounded) else { continue };
        let message = format!("`{option}` says what `max_len` does, and there is no `max_len`");
        let diagnostic = Diagnostic::schema(message, span.clone(), "has no effect");
        errors.push(diagnostic.help(format!("add a `max_len`, or remove `{option}`")));
    }
    if !bounded {
        return;
    }
    let trims = table.on_full.as_ref().filter(|on_full| on_full.value == OnFull::Trim);
    if let (false, Some(on_full)) = (is_ordered(key_type), trims) {
        errors.push(
            Diagnostic::schema(
                format!("`on_full = \"trim\"` would remove arbitrary members: {a} has no order"),
                on_full.span.clone(),
                "removes at random",
            )
            .at(key_type.span.clone(), a.clone())
            .help("remove it: a write that does not fit is refused"),
        );
    }
    let Some(keep) = &table.keep else { return };
    let refuses = table.on_full.as_ref().is_some_and(|on_full| on_full.value == OnFull::Refuse);
    let why = if !is_ordered(key_type) {
        format!("`keep` is for what has an order, and {a} has none")
    } else if refuses {
        "`keep` says what is trimmed, and with `on_full = \"refuse\"` nothing is".to_owned()
    } else if key_type.value == KeyType::Stream && keep.value == Keep::First {
        "a stream is trimmed at its beginning: it keeps the last entries".to_owned()
    } else {
        return;
    };
    errors.push(Diagnostic::schema(why, keep.span.clone(), "has no effect").help("remove it"));
}

/// A field of a stream's entry is never written alone, and has no TTL of its own.
fn entry_fields(fields: &[Field], errors: &mut Vec<Diagnostic>) {
    for field in fields {
        if let Some(on_write) = &field.on_write {
            let message =
                "`on_write` is for a field that is written alone, and an entry is written whole";
            errors.push(no_effect(message, &on_write.span).help("remove it"));
        }
        if let Some(ttl) = &field.ttl {
            let message = "a field of a stream's entry cannot expire on its own";
            errors.push(no_effect(message, &ttl.span).help("remove it"));
        }
    }
}
