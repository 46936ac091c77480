use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_fact::KeyType;
use keyward_pattern::{Param, Type};
use keyward_schema::model::{
    Definition, Field, Flag, Index, ParamDeclaration, Queue, Role, SessionRole, Value,
};
use keyward_schema::span::{Span, Spanned};

rule! {
    /// ## What it does
    /// Reports a role that names a definition which cannot serve it: dead letters that are
    /// not a list, a status that is not a hash with the words of a job's life, a session index that
    /// cannot list sessions, an index or a reverse that holds keys of another definition, an override
    /// that is not a flag or not for one flag, or any of them with a parameter whose value the role does
    /// not know.
    ///
    /// ## Why is this bad
    /// Whoever moves a failed job to the dead letters, or adds a session to its index, has only the
    /// values of that job or session. If they are not enough, the job is lost, and "log out
    /// everywhere" leaves somebody logged in.
    ///
    /// ## Example
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = { dead_letter = "dead_jobs" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "dead:{job_type}:{worker}"
    /// type = "set"
    /// ttl = "7d"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = { dead_letter = "dead_jobs" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "dead:{job_type}"
    /// type = "list"
    /// ttl = "7d"
    /// ```
    Shape, Error, Recommended
}

/// The words of a status.
const WORDS: [&str; 4] = ["pending", "processing", "completed", "failed"];
/// The fields of a status that the store writes with every change; it writes others where they are optional.
const WRITTEN: [&str; 4] = ["status", "created_at", "updated_at", "attempts"];

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let mut check = RoleCheck { cx, definition, found: Vec::new() };
        match definition.role.as_deref() {
            Some(Role::Queue(queue)) => check.queue(queue),
            Some(Role::Session(session)) => check.session(session),
            Some(Role::Index(index)) => check.index(index),
            Some(Role::Flag(flag)) => check.flag(flag),
            _ => {}
        }
        out.extend(check.found);
    }
}

/// A definition with a role, and what its partners cannot do.
struct RoleCheck<'c, 'a> {
    cx: &'c Context<'a>,
    definition: &'a Definition,
    found: Vec<Finding<'a>>,
}

/// The definition that a role names, and the name as it stands there.
type Partner<'a> = (&'a Definition, &'a Spanned<String>);

impl<'a> RoleCheck<'_, 'a> {
    fn queue(&mut self, queue: &'a Queue) {
        if let Some(dead) = self.partner(queue.dead_letter.as_ref()) {
            let part = format!("take the failed jobs of `{}`", self.definition.name.value);
            let help = "make it a list: so are the dead letters of a stream";
            self.kind(dead, &part, help, |key_type| *key_type == KeyType::List);
            self.params(dead, &[]);
        }
        if let Some(status) = self.partner(queue.status.as_ref()) {
            let fits = |key_type: &KeyType| matches!(key_type, KeyType::Hash | KeyType::Module(_));
            self.kind(status, "hold the status of a job", "make it a hash", fits);
            self.status(status);
        }
    }

    /// A status holds what the store writes: one of four words, and in no field what nobody writes.
    fn status(&mut self, (status, named): Partner<'a>) {
        if status.fields.is_empty() {
            return;
        }
        let name = &status.name.value;
        let mut report = |span: &'a Span, why: String, help: String| {
            let finding = Finding::new(format!("`{name}` cannot hold the status of a job: {why}"))
                .about(self.definition)
                .about(status)
                .at(&named.span, "named here")
                .at(span, "does not fit")
                .help(help);
            self.found.push(finding);
        };
        match status.fields.iter().find(|field| *field.name == "status") {
            None => report(
                &status.name.span,
                "it has no field `status`".to_owned(),
                format!("add `status = {WORDS:?}`"),
            ),
            Some(field) => {
                let lacks = match &field.value.value {
                    Value::Text => None,
                    Value::Enum(words) => {
                        WORDS.iter().find(|word| !words.iter().any(|it| it == *word))
                    }
                    _ => Some(&WORDS[0]),
                };
                if let Some(word) = lacks {
                    let why = format!("its field `status` cannot be `{word}`");
                    report(&field.value.span, why, format!("make it {WORDS:?}"));
                }
            }
        }
        let unwritten =
            status.fields.iter().filter(|it| !it.optional && !WRITTEN.contains(&it.name.as_str()));
        for field in unwritten {
            let why = format!("its field `{}` is not always written", field.name.value);
            let help =
                "make it optional with a `?`: the store writes only the fields that it knows"
                    .to_owned();
            report(&field.name.span, why, help);
        }
    }

    fn session(&mut self, session: &'a SessionRole) {
        if let Some(revoked) = self.partner(session.revoked.as_ref()) {
            self.params(revoked, &[]);
            let part = "mark a session as revoked";
            let help = "make it a string that holds a `timestamp`";
            let fits =
                |key_type: &KeyType| matches!(key_type, KeyType::String | KeyType::Module(_));
            self.kind(revoked, part, help, fits);
            let holds = |value: &Value| {
                use Value::{Bool, Date, Enum, Int, Text, Timestamp, Uint, Unix, UnixMs};
                matches!(
                    value,
                    Timestamp | Unix | UnixMs | Date | Text | Bool | Enum(_) | Int | Uint
                )
            };
            self.held(revoked, revoked.0.value.as_ref(), part, help, holds);
        }
        if let Some(index) = self.partner(session.index.as_ref()) {
            let fits = |key_type: &KeyType| {
                use KeyType::{Module, Set, Zset};
                matches!(key_type, Set | Zset | Module(_))
            };
            let part = "list the sessions";
            self.kind(index, part, "make it a set or a sorted set", fits);
            let holds = |value: &Value| matches!(value, Value::Unix | Value::UnixMs);
            let help = "make the score a `unix` or a `unix_ms`: when a session ends";
            self.held(index, index.0.score.as_ref(), part, help, holds);
            self.members(index.0, &self.definition.name, index.1);
            if !self.definition.fields.is_empty() && !self.definition.open {
                self.params(index, &self.definition.fields);
            }
        }
    }

    fn index(&mut self, index: &'a Index) {
        if *index.of == *self.definition.name {
            let name = &self.definition.name.value;
            let finding = Finding::new(format!("`{name}` is an index of itself"))
                .about(self.definition)
                .at(&index.of.span, "the definition it indexes")
                .help("name the definition whose keys are the members");
            self.found.push(finding);
            return;
        }
        self.members(self.definition, &index.of, &index.of);
        if let (Some(by), Some(of)) = (&index.by, self.cx.definition(&index.of)) {
            let param = of.params.iter().find(|param| *param.name == by.value);
            let field = of.fields.iter().find(|field| *field.name == by.value);
            if let (Some(_), Some(field)) = (param, field) {
                let (by_name, of_name) = (&by.value, &of.name.value);
                let message = format!(
                    "`{by_name}` of `{of_name}` is ambiguous: it is both a parameter and a field"
                );
                let finding = Finding::new(message)
                    .about(self.definition)
                    .about(of)
                    .at(&by.span, "may be either")
                    .at(&field.name.span, "the field")
                    .at(&of.pattern.span, "the parameter")
                    .help("rename the field, or remove it");
                self.found.push(finding);
            }
        }
        if let Some(reverse) = self.partner(index.reverse.as_ref()) {
            let fits = |key_type: &KeyType| matches!(key_type, KeyType::Set | KeyType::Module(_));
            self.kind(reverse, "refer back", "make it a set", fits);
            self.reverse(reverse, &index.of);
            self.members(reverse.0, &self.definition.name, reverse.1);
        }
    }

    fn flag(&mut self, flag: &'a Flag) {
        let Some((partner, named)) = self.partner(flag.overridden_by.as_ref()) else { return };
        let (name, other) = (&self.definition.name.value, &partner.name.value);
        let is_word =
            partner.value.as_ref().is_none_or(|it| !matches!(it.value, Value::Json { .. }));
        let is_flag = matches!(partner.role.as_deref(), Some(Role::Flag(_))) && is_word;
        if !is_flag || other == name {
            let finding = Finding::new(format!("`{other}` cannot override `{name}`"))
                .about(self.definition)
                .about(partner)
                .at(&named.span, "named here")
                .at(&partner.name.span, "is not another flag that is on or off")
                .help("name a definition with `flag = {}` that is `true` or `false`, or two words");
            self.found.push(finding);
            return;
        }
        let has = |own: &ParamDeclaration| partner.params.iter().any(|it| *it.name == *own.name);
        if let Some(own) = self.definition.params.iter().find(|own| !has(own)) {
            let param = &own.name.value;
            let message = format!("`{other}` would override every `{param}` of `{name}`");
            let finding = Finding::new(message)
                .about(self.definition)
                .about(partner)
                .at(&partner.pattern.span, format!("has no `{param}`"))
                .at(&named.span, "named here")
                .help(format!("add `{{{param}}}` to the pattern of `{other}`"));
            self.found.push(finding);
        }
    }

    /// The key of a reverse must be built from a member, and the index from what the reverse holds.
    fn reverse(&mut self, (reverse, named): Partner<'a>, of: &str) {
        let prefix = self.cx.schema.keyspace.prefix.as_ref();
        let in_prefix =
            |name: &str| prefix.is_some_and(|it| it.holes().any(|hole| hole.name == name));
        let own = |it: &'a Definition| {
            it.params.iter().filter(move |it| !in_prefix(&it.name)).collect::<Vec<_>>()
        };
        let holds_keys = |it: &Definition| matches!(it.member.as_deref(), Some(Value::Key(_)));
        let finding = |message: String, help: String| {
            Finding::new(message)
                .about(self.definition)
                .about(reverse)
                .at(&named.span, "named here")
                .at(&reverse.pattern.span, "its pattern")
                .help(help)
        };
        let mut found = Vec::new();
        let (name, params) = (&reverse.name.value, own(reverse));
        if holds_keys(self.definition) {
            let Some(of) = self.cx.definition(of) else { return };
            for param in params {
                let known = |it: &&ParamDeclaration| {
                    *it.name == *param.name
                        || format!("{of}_{}", *it.name, of = of.name.value) == *param.name
                };
                if !of.params.iter().any(|it| known(&it)) {
                    let (param, of) = (&param.name.value, &of.name.value);
                    let message =
                        format!("`{name}` cannot be built: a key of `{of}` has no `{param}`");
                    let help =
                        format!("name the parameter as `{of}` does, or `{of}_` and that name");
                    found.push(finding(message, help));
                }
            }
        } else if params.len() != 1 {
            let message = format!("`{name}` cannot be built from a member, which is one value");
            found.push(finding(
                message,
                "give it one parameter, or make the member a key".to_owned(),
            ));
        }
        if !holds_keys(reverse) && own(self.definition).len() != 1 {
            let index = &self.definition.name.value;
            let message = format!("a member of `{name}` does not say which `{index}` it means");
            found.push(finding(message, format!("make its member `{{ key = \"{index}\" }}`")));
        }
        self.found.extend(found);
    }

    fn partner(&self, name: Option<&'a Spanned<String>>) -> Option<Partner<'a>> {
        let name = name?;
        Some((self.cx.definition(name)?, name))
    }

    /// The partner's type must be one that can do its part; unknown types are not judged.
    fn kind(
        &mut self,
        (partner, named): Partner<'a>,
        part: &str,
        help: &str,
        fits: impl Fn(&KeyType) -> bool,
    ) {
        let Some(key_type) = partner.key_type.as_ref().filter(|it| !fits(it)) else { return };
        let name = &partner.name.value;
        let finding = Finding::new(format!("`{name}` cannot {part}: it is a {}", key_type.value))
            .about(self.definition)
            .about(partner)
            .at(&named.span, "named here")
            .at(&key_type.span, format!("makes it a {}", key_type.value))
            .help(help);
        self.found.push(finding);
    }

    /// What the partner holds must be something that its part can write.
    fn held(
        &mut self,
        (partner, named): Partner<'a>,
        held: Option<&'a Spanned<Value>>,
        part: &str,
        help: &str,
        fits: impl Fn(&Value) -> bool,
    ) {
        let Some(value) = held.filter(|value| !fits(value)) else { return };
        let name = &partner.name.value;
        let finding = Finding::new(format!("`{name}` cannot {part}: it holds something else"))
            .about(self.definition)
            .about(partner)
            .at(&named.span, "named here")
            .at(&value.span, "what it holds")
            .help(help);
        self.found.push(finding);
    }

    /// The keys that a collection holds must be those of the definition.
    fn members(&mut self, collection: &'a Definition, of: &str, named: &'a Spanned<String>) {
        let Some(member) = &collection.member else { return };
        let Value::Key(names) = &member.value else { return };
        if names.iter().any(|name| name == of) || self.cx.definition(of).is_none() {
            return;
        }
        let name = &collection.name.value;
        let finding = Finding::new(format!("`{name}` does not hold keys of `{of}`"))
            .about(self.definition)
            .about(collection)
            .at(&member.span, "what it holds")
            .at(&named.span, "what the role needs")
            .help(format!("make the member `{{ key = \"{of}\" }}`, or name what it holds"));
        self.found.push(finding);
    }

    /// The partner's key must be built from the values that the definition has.
    fn params(&mut self, (partner, named): Partner<'a>, fields: &'a [Field]) {
        for param in &partner.params {
            let own = self.definition.params.iter().find(|own| *own.name == *param.name);
            let field = fields.iter().find(|field| *field.name == *param.name);
            let source = match (own, field) {
                (Some(own), _) => Some((own.param.value.clone(), &own.param.span)),
                (None, Some(field)) => {
                    self.as_param(&field.value).map(|it| (it, &field.value.span))
                }
                (None, None) => {
                    self.found.push(self.not_known((partner, named), param, fields));
                    continue;
                }
            };
            let Some((source, span)) = source else { continue };
            let Some(value) = self.cx.refusal(&param.param, &source) else { continue };
            let (name, other) = (&param.name.value, &partner.name.value);
            let finding = Finding::new(format!(
                "`{name}` of `{}` may be `{value}`, which `{other}` refuses",
                self.definition.name.value
            ))
            .about(self.definition)
            .about(partner)
            .at(&param.param.span, format!("`{}`", param.param.ty))
            .at(span, format!("`{}`", source.ty))
            .help("give both the same type");
            self.found.push(finding);
        }
    }

    fn not_known(
        &self,
        (partner, named): Partner<'a>,
        param: &ParamDeclaration,
        fields: &'a [Field],
    ) -> Finding<'a> {
        let (name, param) = (&self.definition.name.value, &param.name.value);
        let params = self.definition.params.iter().map(|it| it.name.as_str());
        let known = params.chain(fields.iter().map(|it| it.name.as_str()));
        let what = if fields.is_empty() { "parameter" } else { "parameter or field" };
        let help = match self.cx.nearest(param, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("use only parameters that `{name}` has, or add `{param}` to it")
            }
        };
        Finding::new(format!(
            "`{}` cannot be built: `{name}` has no {what} `{param}`",
            partner.name.value
        ))
        .about(self.definition)
        .about(partner)
        .at(&partner.pattern.span, format!("needs `{param}`"))
        .at(&named.span, "named here")
        .help(help)
    }

    /// The values of a field as those of a parameter, where the field says enough about them.
    fn as_param(&self, value: &Value) -> Option<Param> {
        let ty = match value {
            Value::Int => Type::Int,
            Value::Uint => Type::Uint,
            Value::Uuid => Type::Uuid,
            Value::Date => Type::Date,
            Value::Unix => Type::Unix,
            Value::UnixMs => Type::UnixMs,
            Value::Enum(words) => Type::Enum(words.clone()),
            Value::Ref { definition, param } => {
                let params = &self.cx.definition(definition)?.params;
                let param = params.iter().find(|it| *it.name == *param)?;
                return Some(param.param.value.clone());
            }
            _ => return None,
        };
        Some(ty.into())
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn what_decides_an_index_is_a_parameter_or_a_field_and_not_both() {
        let with = |field: &str| {
            format!(
                "[keys.doc]\npattern = \"doc:{{author}}:{{id}}\"\nttl = \"1h\"\nfields = {{ {field} = \"text\" }}\n\
                 [keys.docs]\npattern = \"docs:{{author}}\"\nttl = \"1h\"\nindex = {{ of = \"doc\", by = \"author\" }}\n"
            )
        };
        assert_eq!(
            messages(&RULE, &with("author")),
            ["`author` of `doc` is ambiguous: it is both a parameter and a field"]
        );
        assert_eq!(messages(&RULE, &with("title")), [""; 0]);
    }

    #[test]
    fn an_override_is_a_flag_for_one_flag() {
        let with = |over: &str| {
            format!(
                "[keys.feature]\npattern = \"feature:{{name}}\"\nttl = \"none\"\nflag = {{ override = \"own\" }}\n\
                 [keys.own]\nttl = \"1h\"\n{over}\n"
            )
        };
        let good = "pattern = \"own:{user}:{name}\"\nflag = {}";
        assert_eq!(messages(&RULE, &with(good)), [""; 0]);
        let json = "pattern = \"own:{user}:{name}\"\nflag = {}\nvalue = \"json\"";
        for other in ["pattern = \"own:{user}:{name}\"\nvalue = \"bool\"", json] {
            assert_eq!(messages(&RULE, &with(other)), ["`own` cannot override `feature`"]);
        }
        assert_eq!(
            messages(&RULE, &with("pattern = \"own:{user}\"\nflag = {}")),
            ["`own` would override every `name` of `feature`"]
        );
    }

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[role-mismatch]: `dead_jobs` cannot take the failed jobs of `jobs`: it is a set
          ╭▸ keyward.toml:4:25
          │
        4 │ queue = { dead_letter = "dead_jobs" }
          │                         ━━━━━━━━━━━ named here
          ┆
        8 │ type = "set"
          │        ───── makes it a set
          │
          ├ help: make it a list: so are the dead letters of a stream
          ╰ note: `keyward explain role-mismatch`

        error[role-mismatch]: `dead_jobs` cannot be built: `jobs` has no parameter `worker`
          ╭▸ keyward.toml:7:11
          │
        4 │ queue = { dead_letter = "dead_jobs" }
          │                         ─────────── named here
          ┆
        7 │ pattern = "dead:{job_type}:{worker}"
          │           ━━━━━━━━━━━━━━━━━━━━━━━━━━ needs `worker`
          │
          ├ help: use only parameters that `jobs` has, or add `worker` to it
          ╰ note: `keyward explain role-mismatch`
        "#);
    }

    #[test]
    fn dead_letters_are_a_list_and_a_status_is_a_hash() {
        let schema = r#"
[keys.jobs]
pattern = "queue:{job_type}"
type = "stream"
queue = { dead_letter = "dead", status = "status", job_id = "job_id" }
[keys.mails]
pattern = "mails:{job_type}"
type = "stream"
queue = { dead_letter = "dead_mails" }
[keys.dead]
pattern = "dead:{job_type}"
type = "stream"
[keys.dead_mails]
pattern = "dead_mails:{job_type}"
type = "list"
[keys.status]
pattern = "status:{job_id}"
type = "set"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`dead` cannot take the failed jobs of `jobs`: it is a stream",
                "`status` cannot hold the status of a job: it is a set"
            ]
        );
    }

    #[test]
    fn a_status_holds_what_the_store_writes() {
        let with = |fields: &str| {
            format!(
                "[keys.jobs]\npattern = \"jobs\"\nqueue = {{ status = \"status\" }}\n\
                 [keys.status]\npattern = \"status:{{id}}\"\nttl = \"1d\"\nfields = {{ {fields} }}\n"
            )
        };
        let words = r#"status = ["pending", "processing", "completed", "failed"]"#;
        assert_eq!(
            messages(&RULE, &with(&format!("{words}, created_at = \"unix\", note = \"text?\""))),
            [""; 0]
        );
        assert_eq!(messages(&RULE, &with("status = \"text\"")), [""; 0]);
        assert_eq!(
            messages(&RULE, &with(r#"status = ["pending", "done"], started_at = "unix""#)),
            [
                "`status` cannot hold the status of a job: its field `status` cannot be `processing`",
                "`status` cannot hold the status of a job: its field `started_at` is not always written",
            ]
        );
        assert_eq!(
            messages(&RULE, &with("error = \"text?\"")),
            ["`status` cannot hold the status of a job: it has no field `status`"]
        );
    }

    #[test]
    fn a_session_knows_its_parameters_and_fields() {
        let schema = r#"
[keys.session]
pattern = "session:{session_id:uuid}"
fields = { user_id = "uuid", agent = "text" }
session = { index = "sessions", revoked = "revoked" }
[keys.sessions]
pattern = "sessions:{user_id:uint}:{device}"
type = "stream"
[keys.revoked]
pattern = "revoked:{token}"
value = "bool"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[role-mismatch]: `sessions` cannot list the sessions: it is a stream
          ╭▸ keyward.toml:6:21
          │
        6 │ session = { index = "sessions", revoked = "revoked" }
          │                     ━━━━━━━━━━ named here
          ┆
        9 │ type = "stream"
          │        ──────── makes it a stream
          │
          ├ help: make it a set or a sorted set
          ╰ note: `keyward explain role-mismatch`

        error[role-mismatch]: `sessions` cannot be built: `session` has no parameter or field `device`
          ╭▸ keyward.toml:8:11
          │
        6 │ session = { index = "sessions", revoked = "revoked" }
          │                     ────────── named here
        7 │ [keys.sessions]
        8 │ pattern = "sessions:{user_id:uint}:{device}"
          │           ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ needs `device`
          │
          ├ help: use only parameters that `session` has, or add `device` to it
          ╰ note: `keyward explain role-mismatch`

        error[role-mismatch]: `user_id` of `session` may be `aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa`, which `sessions` refuses
          ╭▸ keyward.toml:8:21
          │
        5 │ fields = { user_id = "uuid", agent = "text" }
          │                      ────── `uuid`
          ┆
        8 │ pattern = "sessions:{user_id:uint}:{device}"
          │                     ━━━━━━━━━━━━━━ `uint`
          │
          ├ help: give both the same type
          ╰ note: `keyward explain role-mismatch`

        error[role-mismatch]: `revoked` cannot be built: `session` has no parameter `token`
           ╭▸ keyward.toml:11:11
           │
         6 │ session = { index = "sessions", revoked = "revoked" }
           │                                           ───────── named here
           ┆
        11 │ pattern = "revoked:{token}"
           │           ━━━━━━━━━━━━━━━━━ needs `token`
           │
           ├ help: use only parameters that `session` has, or add `token` to it
           ╰ note: `keyward explain role-mismatch`
        "#);
    }

    #[test]
    fn what_a_session_holds_may_be_unknown() {
        let schema = r#"
[keys.session]
pattern = "session:{session_id}"
value = { json = "Session" }
session = { index = "sessions", revoked = "revoked" }
[keys.sessions]
pattern = "sessions:{user_id}"
member = { ref = "session.session_id" }
[keys.revoked]
pattern = "revoked:{session_id}"
value = "bool"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_reverse_is_built_from_a_member() {
        let with = |reverse: &str, index: &str| {
            format!(
                "[keys.page]\npattern = \"page:{{kind}}:{{id}}\"\n\
                 [keys.pages]\npattern = \"{index}\"\nmember = {{ key = \"page\" }}\n\
                 index = {{ of = \"page\", reverse = \"tags\" }}\n\
                 [keys.tags]\npattern = \"{reverse}\"\nmember = \"text\"\ntype = \"set\"\n"
            )
        };
        assert_eq!(messages(&RULE, &with("tags:{id}", "pages:{tag}")), [""; 0]);
        assert_eq!(messages(&RULE, &with("tags:{page_id}", "pages:{tag}")), [""; 0]);
        assert_eq!(
            messages(&RULE, &with("tags:{author}", "pages:{tag}")),
            ["`tags` cannot be built: a key of `page` has no `author`"]
        );
        assert_eq!(
            messages(&RULE, &with("tags:{id}", "pages:{site}:{tag}")),
            ["a member of `tags` does not say which `pages` it means"]
        );
    }

    #[test]
    fn an_index_holds_what_it_is_an_index_of() {
        let schema = r#"
[keys.page]
pattern = "page:{id}"
[keys.author]
pattern = "author:{name}"
[keys.pages]
pattern = "pages:{tag}"
member = { key = "author" }
index = { of = "page", reverse = "tags" }
[keys.tags]
pattern = "tags:{id}"
member = "text"
type = "hyperloglog"
[keys.own]
pattern = "own:{id}"
index = { of = "own" }
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`pages` does not hold keys of `page`",
                "`tags` cannot refer back: it is a hyperloglog",
                "`own` is an index of itself"
            ]
        );
    }
}
