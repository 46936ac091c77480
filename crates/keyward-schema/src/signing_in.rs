//! What sessions, refresh tokens and indexes need, and options that would have no effect on them.

use crate::Diagnostic;
use crate::effect::{Written, no_effect};
use crate::model::{
    Field, Index, Invalidate, OnWrite, RefreshToken, Role, SessionRole, Ttl, Value,
};
use crate::span::Spanned;
use keyward_fact::KeyType;
use keyward_pattern::nearest;

impl Written<'_> {
    /// Reports what a session, a refresh token or an index cannot have, and what it lacks.
    pub(crate) fn signing_in(&self, errors: &mut Vec<Diagnostic>) {
        let Some(role) = self.role else { return };
        match &role.value {
            Role::Session(session) => self.session(role, session, errors),
            Role::RefreshToken(token) => self.refresh_token(token, errors),
            Role::Index(index) => self.index(index, errors),
            _ => return,
        }
        let by_index = self.table.invalidate.as_ref().filter(|it| it.value == Invalidate::Index);
        if let Some(by_index) = by_index {
            let message =
                format!("`invalidate = \"index\"` is not supported yet for a `{}`", role.name());
            errors.push(no_effect(message, &by_index.span).help("write `invalidate = \"scan\"`"));
        }
    }

    fn session(&self, role: &Spanned<Role>, session: &SessionRole, errors: &mut Vec<Diagnostic>) {
        self.session_id(role, session, errors);
        self.touched(session.touched.as_ref(), errors);
        let on_write = self.table.on_write.as_ref();
        if let Some(max_age) = &session.max_age {
            if let Some(keep) = on_write.filter(|it| it.value == OnWrite::Keep) {
                let message = "`max_age` ends a session whose TTL restarts, and `on_write = \"keep\"` never does";
                errors.push(
                    no_effect(message, &max_age.span)
                        .at(keep.span.clone(), "keeps the TTL")
                        .help("remove one of them"),
                );
            }
            if let Some(ttl) = self.ttl.filter(|ttl| matches!(ttl.value, Ttl::Caller { .. })) {
                let message = "`max_age` is not supported yet where the caller gives the TTL";
                errors.push(
                    no_effect(message, &max_age.span)
                        .at(ttl.span.clone(), "the caller's TTL")
                        .help("remove it"),
                );
            }
            let longest = self.ttl.and_then(|ttl| Some((ttl, ttl.longest()?)));
            if let Some((ttl, _)) = longest.filter(|(_, longest)| *longest >= max_age.value) {
                let message = "`max_age` must be longer than the TTL, which restarts until then";
                errors.push(
                    Diagnostic::schema(message, max_age.span.clone(), "ends the session")
                        .at(ttl.span.clone(), "the TTL")
                        .help("make `max_age` longer, or remove it: then the session ends with its TTL"),
                );
            }
            return;
        }
        let sliding = self.table.sliding.as_ref().filter(|sliding| sliding.value);
        let set = on_write.filter(|it| it.value == OnWrite::Set).map(|it| &it.span);
        for (option, span) in [("sliding", sliding.map(|it| &it.span)), ("on_write = \"set\"", set)]
        {
            let Some(span) = span else { continue };
            let message = format!(
                "`{option}` restarts the TTL, and a session without `max_age` would never end"
            );
            let help =
                "add `max_age` to `session`, the time after which it ends however often it is used";
            errors.push(Diagnostic::schema(message, span.clone(), "never ends").help(help));
        }
    }

    /// Of several parameters, one must be the id.
    fn session_id(
        &self,
        role: &Spanned<Role>,
        session: &SessionRole,
        errors: &mut Vec<Diagnostic>,
    ) {
        let params: Vec<&str> = self.table.pattern.holes().map(|hole| hole.name.as_str()).collect();
        match (&session.id, params.as_slice()) {
            (None, [_]) => {}
            (None, []) => errors.push(
                Diagnostic::schema(
                    "a session needs a parameter for its id",
                    role.span.clone(),
                    "has no id",
                )
                .at(self.table.pattern.span.clone(), "has no parameter")
                .help("add one to the pattern: `session:{session_id}`"),
            ),
            (None, _) => errors.push(
                Diagnostic::schema(
                    "which of the parameters is the id of the session?",
                    role.span.clone(),
                    "does not say",
                )
                .at(self.table.pattern.span.clone(), format!("has {} parameters", params.len()))
                .help(format!("add it: `id = \"{}\"`", params.last().unwrap_or(&""))),
            ),
            (Some(id), params) if !params.contains(&id.as_str()) => {
                let message = format!("the pattern has no parameter `{}`", id.value);
                let mut error = Diagnostic::schema(message, id.span.clone(), "unknown parameter")
                    .at(self.table.pattern.span.clone(), "the pattern");
                if let Some(near) = nearest(id, params.iter().copied()) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                errors.push(error);
            }
            _ => {}
        }
    }

    /// The store keeps a reverse in step with a set.
    fn index(&self, index: &Index, errors: &mut Vec<Diagnostic>) {
        let sorted = self.key_type.filter(|it| it.value == KeyType::Zset);
        if let (Some(reverse), Some(sorted)) = (&index.reverse, sorted) {
            let message = "`reverse` is not supported yet for an index that is a sorted set";
            errors.push(
                no_effect(message, &reverse.span)
                    .at(sorted.span.clone(), "a sorted set")
                    .help("make it a set, or remove `reverse`"),
            );
        }
        let sliding =
            self.table.sliding.as_ref().filter(|sliding| sliding.value && sorted.is_none());
        if let Some(sliding) = sliding {
            let message =
                "`sliding` is not supported for an index: a search would renew what it finds";
            errors.push(no_effect(message, &sliding.span).help("remove it"));
        }
    }

    fn refresh_token(&self, token: &RefreshToken, errors: &mut Vec<Diagnostic>) {
        self.touched(token.touched.as_ref(), errors);
        let sliding = self.table.sliding.as_ref().filter(|sliding| sliding.value);
        let on_write = self.table.on_write.as_ref().map(|it| &it.span);
        for (option, span) in [("sliding", sliding.map(|it| &it.span)), ("on_write", on_write)] {
            let Some(span) = span else { continue };
            let message = format!("`{option}` changes a TTL, and a refresh token is used once");
            errors.push(no_effect(message, span).help("remove it: each token gets the TTL anew"));
        }
    }

    /// The field that holds a time must be there and hold one.
    fn touched(&self, touched: Option<&Spanned<String>>, errors: &mut Vec<Diagnostic>) {
        let Some(touched) = touched else { return };
        let named = |field: &&Field| field.name.value == touched.value;
        let Some(field) = self.fields.iter().find(named) else {
            let message = format!("there is no field `{}`", touched.value);
            let mut error = Diagnostic::schema(message, touched.span.clone(), "unknown field");
            let known = self.fields.iter().map(|field| field.name.as_str());
            error = match nearest(touched, known) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("declare it: `fields = { last_active = \"timestamp\" }`"),
            };
            errors.push(error);
            return;
        };
        let is_time = matches!(
            field.value.value,
            Value::Timestamp | Value::Date | Value::Unix | Value::UnixMs
        );
        if !is_time {
            let message = format!("`{}` cannot hold a time", touched.value);
            errors.push(
                Diagnostic::schema(message, touched.span.clone(), "set to the time")
                    .at(field.value.span.clone(), "its type")
                    .help("make it a `timestamp`, a `unix` or a `unix_ms`"),
            );
        }
    }
}
