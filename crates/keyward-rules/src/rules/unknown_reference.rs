use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_schema::model::{Definition, Index, JsonType, Queue, Role, Ttl, Value};
use keyward_schema::span::{Span, Spanned};

/// How many names a message lists.
const MAX_LISTED: usize = 8;

rule! {
    /// ## What it does
    /// Reports a name that refers to nothing: a role, value or rename that names a definition or
    /// parameter that does not exist, or a TTL `by` a parameter that the pattern does not have.
    ///
    /// ## Why is this bad
    /// Nothing can use such a reference: a queue whose dead letters do not exist drops its failed
    /// jobs.
    ///
    /// ## Example
    /// ```toml
    /// [keys.jobs]
    /// pattern = "queue:{job_type}"
    /// queue = { dead_letter = "dead_job" }
    ///
    /// [keys.dead_jobs]
    /// pattern = "dead:{job_type}"
    /// type = "list"
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
    Soundness, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        let mut names = Names { cx, found: Vec::new() };
        names.of(definition);
        for finding in names.found {
            out.add(finding.about(definition));
        }
    }
    for migration in &cx.schema.migrations {
        for rename in &migration.renames {
            let mut names = Names { cx, found: Vec::new() };
            names.definition(&rename.definition, &rename.definition.span);
            for finding in names.found {
                out.add(finding.about_migration(migration));
            }
        }
    }
}

struct Names<'c, 'a> {
    cx: &'c Context<'a>,
    found: Vec<Finding<'a>>,
}

impl<'a> Names<'_, 'a> {
    fn of(&mut self, definition: &'a Definition) {
        match definition.role.as_deref() {
            Some(Role::Queue(queue)) => self.queue(queue),
            Some(Role::Session(session)) => {
                self.optional(session.index.as_ref());
                self.optional(session.revoked.as_ref());
            }
            Some(Role::Index(index)) => self.index(definition, index),
            Some(Role::Flag(flag)) => self.optional(flag.overridden_by.as_ref()),
            _ => {}
        }
        if let Some(ttl) = &definition.ttl
            && let Ttl::By { param, .. } = &ttl.value
        {
            self.param(definition, param, &ttl.span);
        }
        let fields = definition.fields.iter().map(|field| &field.value);
        let held = [&definition.value, &definition.member, &definition.score];
        for value in held.into_iter().flatten().chain(fields) {
            self.value(value, &value.span);
        }
    }

    fn queue(&mut self, queue: &Queue) {
        self.optional(queue.dead_letter.as_ref());
        self.optional(queue.status.as_ref());
        let status = queue.status.as_ref().and_then(|name| self.cx.definition(name));
        if let (Some(job_id), Some(status)) = (&queue.job_id, status) {
            self.param(status, job_id, &job_id.span);
        }
    }

    fn index(&mut self, definition: &Definition, index: &Index) {
        self.definition(&index.of, &index.of.span);
        self.optional(index.reverse.as_ref());
        let (Some(by), Some(of)) = (&index.by, self.cx.definition(&index.of)) else { return };
        let params = definition.params.iter().chain(&of.params).map(|param| param.name.as_str());
        let fields = of.fields.iter().map(|field| field.name.as_str());
        let known: Vec<_> = params.chain(fields).collect();
        if !known.contains(&by.as_str()) {
            let message = format!("`{}` has no parameter or field `{}`", index.of.value, by.value);
            self.missing(message, by, &by.span, known);
        }
    }

    fn value(&mut self, value: &Value, span: &Span) {
        match value {
            Value::Ref { definition, param } => {
                self.definition(definition, span);
                if let Some(definition) = self.cx.definition(definition) {
                    self.param(definition, param, span);
                }
            }
            Value::Key(definitions) => {
                for definition in definitions {
                    self.definition(definition, span);
                }
            }
            Value::Json { of: Some(JsonType::Array(value)), .. } => self.value(value, span),
            _ => {}
        }
    }

    fn optional(&mut self, name: Option<&Spanned<String>>) {
        if let Some(name) = name {
            self.definition(name, &name.span);
        }
    }

    fn definition(&mut self, name: &str, span: &Span) {
        if self.cx.definition(name).is_none() {
            let known = self.cx.schema.keys.iter().map(|key| key.name.as_str());
            self.missing(format!("there is no definition `{name}`"), name, span, known);
        }
    }

    fn param(&mut self, definition: &Definition, name: &str, span: &Span) {
        let known: Vec<_> = definition.params.iter().map(|param| param.name.as_str()).collect();
        if !known.contains(&name) {
            let message = format!("`{}` has no parameter `{name}`", definition.name.value);
            self.missing(message, name, span, known);
        }
    }

    fn missing<'n>(
        &mut self,
        message: String,
        name: &str,
        span: &Span,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let finding = Finding::new(message).at(span, "not found");
        self.found.push(match self.cx.nearest(name, known.iter().copied()) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None if known.is_empty() => finding.help("correct the name, or declare it"),
            None => finding.help(format!(
                "correct the name, or declare it: there is {}",
                listed(&known, MAX_LISTED)
            )),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[unknown-reference]: there is no definition `dead_job`
          ╭▸ keyward.toml:4:25
          │
        4 │ queue = { dead_letter = "dead_job" }
          │                         ━━━━━━━━━━ not found
          │
          ├ help: did you mean `dead_jobs`?
          ╰ note: `keyward explain unknown-reference`
        "#);
    }

    #[test]
    fn every_kind_of_name_must_lead_somewhere() {
        let schema = r#"
[keys.entity]
pattern = "entity:{id}"
fields = { parent = { ref = "entities.id" }, other = { ref = "entity.key" } }
[keys.words]
pattern = "words:{id}"
member = { key = "entty" }
[keys.by_word]
pattern = "word:{word}"
index = { of = "entity", by = "wrd", reverse = "entity_words" }
[keys.session]
pattern = "session:{id}"
session = { index = "sessions", revoked = "revocations" }
[migrations.v2]
phase = "dual-write"
[migrations.v2.renames]
entities = "e:{id}"
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "there is no definition `entities`",
                "`entity` has no parameter `key`",
                "there is no definition `entty`",
                "`entity` has no parameter or field `wrd`",
                "there is no definition `entity_words`",
                "there is no definition `sessions`",
                "there is no definition `revocations`",
                "there is no definition `entities`",
            ]
        );
    }

    #[test]
    fn what_there_is_is_listed() {
        let schema = r#"
[keys.session]
pattern = "session:{session_id}"
[keys.sessions_of]
pattern = "user:{user_id}:sessions"
type = "set"
member = { ref = "session.id" }
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[unknown-reference]: `session` has no parameter `id`
          ╭▸ keyward.toml:8:10
          │
        8 │ member = { ref = "session.id" }
          │          ━━━━━━━━━━━━━━━━━━━━━━ not found
          │
          ├ help: correct the name, or declare it: there is `session_id`
          ╰ note: `keyward explain unknown-reference`
        "#);
    }
}
