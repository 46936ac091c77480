use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use keyward_pattern::Template;
use keyward_schema::model::{Definition, Invalidation, Named, ParamDeclaration};
use keyward_schema::span::{Span, Spanned};
use std::collections::HashSet;

rule! {
    /// ## What it does
    /// Reports an entry of `[params]`, `[text]`, `[groups]` or `[owners]` that nothing uses, and an `invalidate`
    /// where no event leaves a parameter of the definition free.
    ///
    /// ## Why is this bad
    /// The author believes that it has an effect. A type declared for `usr_id` does not apply to
    /// `{user_id}`, which still accepts any text.
    ///
    /// ## Example
    /// ```toml
    /// [params]
    /// usr_id = "uuid"
    ///
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [params]
    /// user_id = "uuid"
    ///
    /// [keys.profile]
    /// pattern = "profile:{user_id}"
    /// ttl = "1h"
    /// ```
    Care, Warn, Recommended
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    let mut used = Used::default();
    used.collect(cx);
    for param in &cx.schema.params {
        let name = param.name.as_str();
        if used.spans.contains(&param.param.span) || used.typed_in_place.contains(name) {
            continue;
        }
        let what = if used.overridden.contains(name) {
            "every definition declares its own type for it"
        } else {
            "no pattern contains it"
        };
        let help = match cx.nearest(name, used.untyped.iter().copied()) {
            Some(near) => format!("did you mean `{near}`, which is used but not declared?"),
            None => "remove it".to_owned(),
        };
        let message = format!("the parameter `{name}` is not used");
        out.add(Finding::new(message).at(&param.name.span, what).help(help));
    }
    out.extend(unused_pipelines(cx));
    let groups = cx.schema.keys.iter().filter_map(|key| key.group.as_ref());
    out.extend(unused_names("group", &cx.schema.groups, groups));
    let owners = cx.schema.keys.iter().filter_map(|key| key.owner.as_ref());
    let owners = owners.chain(&cx.schema.defaults.owner);
    out.extend(unused_names("owner", &cx.schema.owners, owners));
    out.extend(cx.schema.keys.iter().filter_map(|key| unused_resolution(cx, key)));
}

/// A text pipeline makes values of parameters, or lends its options to one that does.
fn unused_pipelines<'a>(cx: &Context<'a>) -> impl Iterator<Item = Finding<'a>> {
    let schema = cx.schema;
    let params = schema.keys.iter().flat_map(|key| &key.params);
    let params = params.chain(schema.events.iter().flat_map(|event| &event.params));
    let mut used: HashSet<&str> =
        params.filter_map(|param| param.from.as_ref()).map(|from| from.as_str()).collect();
    // Those that are extended by used ones, however far.
    for _ in &schema.texts {
        let extended = schema.texts.iter().filter(|it| used.contains(it.name.as_str()));
        let extended: Vec<&str> =
            extended.filter_map(|it| it.extends.as_ref()).map(|name| name.as_str()).collect();
        let before = used.len();
        used.extend(extended);
        if used.len() == before {
            break;
        }
    }
    schema.texts.iter().filter(move |it| !used.contains(it.name.as_str())).map(|it| {
        let name = it.name.value.as_str();
        Finding::new(format!("the text pipeline `{name}` is not used"))
            .at(&it.name.span, "no parameter takes its results")
            .help(format!("write `from = \"{name}\"` at a parameter, or remove it"))
    })
}

/// `invalidate` says how a parameter is found that an event leaves free.
fn unused_resolution<'a>(cx: &Context<'a>, key: &'a Definition) -> Option<Finding<'a>> {
    let written = key.invalidate.as_ref()?;
    let mut calls = cx.schema.events.iter().flat_map(|event| &event.invalidates);
    let leaves_free = |call: &Invalidation| {
        call.definition == *key.name && key.pattern.holes().any(|hole| call.leaves_free(&hole.name))
    };
    if calls.any(|call| leaves_free(&call.value)) {
        return None;
    }
    let message = format!("nothing uses `invalidate` of `{}`", key.name.value);
    let what = "no event leaves one of its parameters free";
    Some(Finding::new(message).about(key).at(&written.span, what).help("remove it"))
}

/// What patterns make of the parameters.
#[derive(Default)]
struct Used<'a> {
    /// Where the types stand that some pattern uses
    spans: HashSet<&'a Span>,
    /// Parameters whose type stands in a pattern
    typed_in_place: HashSet<&'a str>,
    /// Parameters with a type of the definition's own
    overridden: HashSet<&'a str>,
    /// Parameters for which there is no type
    untyped: Vec<&'a str>,
}

impl<'a> Used<'a> {
    fn collect(&mut self, cx: &Context<'a>) {
        if let Some(prefix) = &cx.schema.keyspace.prefix {
            let declared = &cx.schema.params;
            let by_name = declared.iter().filter(|it| has(prefix, it.name.as_str()));
            self.spans.extend(by_name.map(|it| &it.param.span));
        }
        for key in &cx.schema.keys {
            self.pattern(&key.pattern, &key.params);
        }
        for rename in cx.schema.migrations.iter().flat_map(|it| &it.renames) {
            self.pattern(&rename.from, &rename.params);
        }
    }

    fn pattern(&mut self, pattern: &'a Spanned<Template>, params: &'a [ParamDeclaration]) {
        for hole in pattern.holes() {
            let Some(param) = params.iter().find(|it| *it.name == hole.name) else { continue };
            let (span, within) = (&param.param.span, &pattern.span);
            let in_pattern =
                span.file == within.file && (within.start..within.end).contains(&span.start);
            self.spans.insert(span);
            self.overridden.insert(&hole.name);
            if hole.ty.is_some() {
                self.typed_in_place.insert(&hole.name);
            } else if in_pattern {
                self.untyped.push(&hole.name);
            }
        }
    }
}

fn has(template: &Template, name: &str) -> bool {
    template.holes().any(|hole| hole.name == name)
}

fn unused_names<'a>(
    kind: &str,
    declared: &'a [Named],
    used: impl Iterator<Item = &'a Spanned<String>>,
) -> impl Iterator<Item = Finding<'a>> {
    let used: HashSet<&str> = used.map(|name| name.as_str()).collect();
    declared.iter().filter(move |it| !used.contains(it.name.as_str())).map(move |it| {
        Finding::new(format!("the {kind} `{}` is not used", it.name.value))
            .at(&it.name.span, format!("no definition has this {kind}"))
            .help("remove it")
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, findings, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[unused-declaration]: the parameter `usr_id` is not used
          ╭▸ keyward.toml:3:1
          │
        3 │ usr_id = "uuid"
          │ ━━━━━━ no pattern contains it
          │
          ├ help: did you mean `user_id`, which is used but not declared?
          ╰ note: `keyward explain unused-declaration`
        "#);
    }

    #[test]
    fn groups_and_owners_count() {
        let schema = r#"
[defaults]
owner = "platform"
[groups.cache]
[groups.session]
[owners.platform]
[owners.browse]
[keys.profile]
pattern = "profile:{user_id}"
group = "session"
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[unused-declaration]: the group `cache` is not used
          ╭▸ keyward.toml:5:9
          │
        5 │ [groups.cache]
          │         ━━━━━ no definition has this group
          │
          ├ help: remove it
          ╰ note: `keyward explain unused-declaration`

        warning[unused-declaration]: the owner `browse` is not used
          ╭▸ keyward.toml:8:9
          │
        8 │ [owners.browse]
          │         ━━━━━━ no definition has this owner
          │
          ├ help: remove it
          ╰ note: `keyward explain unused-declaration`
        "#);
    }

    #[test]
    fn a_text_pipeline_is_used_by_a_parameter_or_by_another_one() {
        let schema = r#"
[text.heading]
max_len = 30
[text.content]
extends = "heading"
[text.title]
[text.subtitle]
extends = "title"
[keys.page]
pattern = "page:{name}"
params = { name = { type = "word", from = "content" } }
ttl = "1h"
"#;
        assert_eq!(
            messages(&RULE, schema),
            ["the text pipeline `title` is not used", "the text pipeline `subtitle` is not used"]
        );
    }

    #[test]
    fn an_invalidate_that_no_event_needs_is_reported() {
        let schema = |call: &str| {
            format!(
                "[keys.page]\npattern = \"page:{{user_id:uint}}:{{path:slug}}\"\nttl = \"1h\"\n\
                 invalidate = \"scan\"\n[events.changed]\nparams = {{ user_id = \"uint\", path = \"slug\" }}\n\
                 invalidates = [\"{call}\"]\n"
            )
        };
        assert_eq!(messages(&RULE, &schema("page(path = *)")), [""; 0]);
        assert_eq!(messages(&RULE, &schema("page")), ["nothing uses `invalidate` of `page`"]);
    }

    #[test]
    fn the_prefix_and_old_names_use_parameters() {
        let schema = r#"
[keyspace]
name = "shop"
prefix = "{tenant}:"
[params]
tenant = "slug"
username = "slug"
[keys.profile]
pattern = "profile:{id}"
[migrations.v2]
phase = "cleanup"
[migrations.v2.renames]
profile = "user:{username}"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }

    #[test]
    fn a_type_that_is_always_overridden_is_unused() {
        let schema = r#"
[params]
id = "uuid"
kind = { type = "word", doc = "what it is" }
[keys.profile]
pattern = "profile:{id}:{kind:slug}"
params = { id = "uint" }
"#;
        insta::assert_snapshot!(findings(&RULE, schema), @r#"
        warning[unused-declaration]: the parameter `id` is not used
          ╭▸ keyward.toml:4:1
          │
        4 │ id = "uuid"
          │ ━━ every definition declares its own type for it
          │
          ├ help: remove it
          ╰ note: `keyward explain unused-declaration`
        "#);
    }
}
