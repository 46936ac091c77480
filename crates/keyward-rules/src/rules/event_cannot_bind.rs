use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::{Param, Type, prove};
use keyward_schema::model::{BindingSource, Definition, Event, Invalidation, ParamDeclaration};
use keyward_schema::span::Spanned;

rule! {
    /// ## What it does
    /// Reports an invalidation whose keys cannot be built: a parameter that nothing binds, a value
    /// that the parameter's type may refuse, or a free parameter (`*`) of a definition that does
    /// not say how it is resolved.
    ///
    /// The parameters of the prefix are bound once for the whole store, and need no binding.
    ///
    /// ## Why is this bad
    /// The event cannot know which keys to remove, and stale values stay. Redis has no
    /// `DEL perm:42:*`: someone must list the keys, by an index or by a scan.
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
        Finding::new(format!("nothing says how to find every `{param}` of `{name}`"))
            .at(&self.invalidation.span, format!("`{param}` is free"))
            .at(&self.definition.name.span, "has no `invalidate`")
            .help("set `invalidate = \"index\"`, or `\"scan\"` where it happens rarely")
    }

    fn may_be_refused(
        &self,
        param: &ParamDeclaration,
        source: &'a ParamDeclaration,
    ) -> Option<Finding<'a>> {
        let separator = *self.cx.schema.keyspace.separator;
        let refused = prove::accepts_all(separator, &param.param, &source.param).err()?;
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
        let separator = *self.cx.schema.keyspace.separator;
        prove::accepts_all(separator, &param.param, &constant).err()?;
        let name = &param.name.value;
        Some(
            Finding::new(format!(
                "`{word}` is no `{name}` of `{}`, so it invalidates nothing",
                self.definition.name.value
            ))
            .at(&self.invalidation.span, format!("binds `{name}`"))
            .at(&param.param.span, format!("`{}`", param.param.ty))
            .help(format!("use a word that `{name}` can hold")),
        )
    }
}
