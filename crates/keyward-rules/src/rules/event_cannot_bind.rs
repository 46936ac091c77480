use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{Param, Type};
use keyward_schema::model::{BindingSource, Definition, Event, Invalidation, ParamDeclaration};
use keyward_schema::span::Spanned;

rule! {
    /// ## What it does
    /// Reports an invalidation whose keys cannot be built: a parameter has no value, its type may
    /// refuse the value, or it is free (`*`) and the definition does not declare how to find the
    /// keys.
    ///
    /// The parameters of the prefix are bound once for the whole store and need no binding.
    ///
    /// ## Why is this bad
    /// The event cannot know which keys to delete, so stale values stay. Redis has no
    /// `DEL perm:42:*`: the keys must be listed, by an index or by a scan.
    ///
    /// ## Example
    /// ```toml
    /// [keys.permission]
    /// pattern = "permission:{folder_id}:{user_id}"
    /// ttl = "30m"
    ///
    /// [events.folder_shared]
    /// params = { folder_id = "text" }
    /// invalidates = ["permission"]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.permission]
    /// pattern = "permission:{folder_id}:{user_id}"
    /// ttl = "30m"
    /// invalidate = "index"
    ///
    /// [events.folder_shared]
    /// params = { folder_id = "text" }
    /// invalidates = ["permission(user_id = *)"]
    /// ```
    Change, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for event in &cx.schema.events {
        for invalidation in &event.invalidates {
            let Some(definition) = cx.definition(&invalidation.definition) else { continue };
            let call = Call { cx, event, invalidation, definition };
            for finding in call.problems() {
                out.add(finding.about_event(event).about(definition));
            }
        }
    }
}

/// One invalidation of one event.
struct Call<'c, 'a> {
    cx: &'c Context<'a>,
    event: &'a Event,
    invalidation: &'a Spanned<Invalidation>,
    definition: &'a Definition,
}

/// Where a parameter's value comes from.
enum Bound<'a> {
    To(&'a ParamDeclaration),
    Word(&'a str),
    Free,
    Unknown,
    Not,
}

impl<'a> Call<'_, 'a> {
    fn problems(&self) -> Vec<Finding<'a>> {
        let mut problems = Vec::new();
        let mut free = Vec::new();
        for (index, param) in self.definition.params.iter().enumerate() {
            let by_prefix = index < self.cx.bound_by_prefix();
            match self.bound(&param.name) {
                Bound::To(source) => problems.extend(self.may_be_refused(param, source)),
                Bound::Word(word) => problems.extend(self.is_refused(param, word)),
                Bound::Free if !by_prefix => free.push(param.name.as_str()),
                Bound::Not if !by_prefix => problems.push(self.not_bound(param)),
                Bound::Free | Bound::Not | Bound::Unknown => {}
            }
        }
        if !free.is_empty() && self.definition.invalidate.is_none() {
            problems.push(self.unresolved(free[0]));
        }
        problems
    }

    fn bound(&self, param: &str) -> Bound<'a> {
        let written = self.invalidation.value.bindings.iter().find(|it| it.param == param);
        let of_event = |name: &str| self.event.params.iter().find(|it| *it.name == name);
        match written.map(|binding| &binding.source) {
            Some(BindingSource::Param(source)) => {
                of_event(source).map_or(Bound::Unknown, Bound::To)
            }
            Some(BindingSource::Word(word)) => Bound::Word(word),
            Some(BindingSource::Free) => Bound::Free,
            None => match of_event(param) {
                Some(source) => Bound::To(source),
                None if self.invalidation.rest_free => Bound::Free,
                None => Bound::Not,
            },
        }
    }

    fn not_bound(&self, param: &ParamDeclaration) -> Finding<'a> {
        let (event, name) = (&self.event.name.value, &self.definition.name.value);
        let param = &param.name.value;
        Finding::new(format!("`{event}` does not say which `{param}` of `{name}` it invalidates"))
            .at(&self.invalidation.span, format!("`{param}` is not bound"))
            .at(&self.definition.pattern.span, "the pattern")
            .help(format!(
                "add `{param}` to the event's `params`, bind it with `{param} = …`, or leave it \
                 free with `{param} = *`"
            ))
    }

    fn unresolved(&self, param: &str) -> Finding<'a> {
        let name = &self.definition.name.value;
        Finding::new(format!("`{name}` does not declare how to find its keys for every `{param}`"))
            .at(&self.invalidation.span, format!("`{param}` is free"))
            .at(&self.definition.name.span, "has no `invalidate`")
            .help("set `invalidate = \"index\"`, or `\"scan\"` if the event is rare")
    }

    fn may_be_refused(
        &self,
        param: &ParamDeclaration,
        source: &'a ParamDeclaration,
    ) -> Option<Finding<'a>> {
        let refused = self.cx.refusal(&param.param, &source.param)?;
        let (name, source_name) = (&param.name.value, &source.name.value);
        Some(
            Finding::new(format!(
                "`{source_name}` of the event `{}` may be `{refused}`, which `{name}` of `{}` refuses",
                self.event.name.value, self.definition.name.value
            ))
            .at(&self.invalidation.span, format!("binds `{name}`"))
            .at(&source.param.span, format!("`{}`", source.param.ty))
            .at(&param.param.span, format!("`{}`", param.param.ty))
            .help("give both the same type"),
        )
    }

    fn is_refused(&self, param: &ParamDeclaration, word: &str) -> Option<Finding<'a>> {
        let constant = Param::from(Type::Enum(vec![word.to_owned()]));
        self.cx.refusal(&param.param, &constant)?;
        let name = &param.name.value;
        Some(
            Finding::new(format!(
                "`{word}` is not a valid `{name}` of `{}`, so it invalidates nothing",
                self.definition.name.value
            ))
            .at(&self.invalidation.span, format!("binds `{name}`"))
            .at(&param.param.span, format!("`{}`", param.param.ty))
            .help(format!("use a value that `{name}` accepts")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[event-cannot-bind]: `folder_shared` does not say which `user_id` of `permission` it invalidates
          ╭▸ keyward.toml:8:16
          │
        3 │ pattern = "permission:{folder_id}:{user_id}"
          │           ────────────────────────────────── the pattern
          ┆
        8 │ invalidates = ["permission"]
          │                ━━━━━━━━━━━━ `user_id` is not bound
          │
          ├ help: add `user_id` to the event's `params`, bind it with `user_id = …`, or leave it free with `user_id = *`
          ╰ note: `keyward explain event-cannot-bind`
        "#);
    }

    #[test]
    fn a_free_parameter_needs_a_way_to_find_its_values() {
        let schema = r#"
[keys.permission]
pattern = "permission:{folder_id}:{user_id}"
[events.shared]
params = { folder_id = "text" }
invalidates = ["permission(*)"]
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`permission` does not declare how to find its keys for every `user_id`",]
        );
    }

    #[test]
    fn a_value_may_be_refused() {
        let schema = r#"
[keys.listing]
pattern = "folder:{folder_id:uuid}"
[events.uploaded]
params = { folder_id = "uint" }
invalidates = ["listing"]
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        error[event-cannot-bind]: `folder_id` of the event `uploaded` may be `0`, which `folder_id` of `listing` refuses
          ╭▸ keyward.toml:7:16
          │
        4 │ pattern = "folder:{folder_id:uuid}"
          │                   ──────────────── `uuid`
        5 │ [events.uploaded]
        6 │ params = { folder_id = "uint" }
          │                        ────── `uint`
        7 │ invalidates = ["listing"]
          │                ━━━━━━━━━ binds `folder_id`
          │
          ├ help: give both the same type
          ╰ note: `keyward explain event-cannot-bind`
        "#);
    }

    #[test]
    fn a_word_must_be_one_the_parameter_holds() {
        let schema = r#"
[keys.popular]
pattern = "popular:{region}"
params = { region = ["de", "us"] }
[events.synced]
invalidates = ["popular(region = 'fr')", "popular(region = 'de')"]
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["`fr` is not a valid `region` of `popular`, so it invalidates nothing",]
        );
    }

    #[test]
    fn the_prefix_is_bound_once() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{tenant:slug}:"
[keys.listing]
pattern = "folder:{folder_id}"
[events.uploaded]
params = { folder_id = "text" }
invalidates = ["listing"]
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
