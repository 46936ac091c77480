use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;
use crate::words::listed;
use keyward_schema::model::{BindingSource, Event, Invalidation};
use keyward_schema::span::Spanned;

rule! {
    /// ## What it does
    /// Reports an event that invalidates a definition that does not exist, binds a parameter that
    /// the definition does not have, or takes a value from a parameter that the event does not
    /// have.
    ///
    /// ## Why is this bad
    /// Nothing is invalidated, and stale values are served until they expire.
    ///
    /// ## Example
    /// ```toml
    /// [keys.folder_listing]
    /// pattern = "folder:{folder_id}:listing"
    /// ttl = "5m"
    ///
    /// [events.file_uploaded]
    /// params = { folder_id = "text" }
    /// invalidates = ["folder_listings"]
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.folder_listing]
    /// pattern = "folder:{folder_id}:listing"
    /// ttl = "5m"
    ///
    /// [events.file_uploaded]
    /// params = { folder_id = "text" }
    /// invalidates = ["folder_listing"]
    /// ```
    Change, Error, Minimal
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for event in &cx.schema.events {
        for invalidation in &event.invalidates {
            for finding in unknown_names(cx, event, invalidation) {
                out.add(finding.about_event(event));
            }
        }
    }
}

fn unknown_names<'a>(
    cx: &Context<'a>,
    event: &'a Event,
    invalidation: &'a Spanned<Invalidation>,
) -> Vec<Finding<'a>> {
    let (at, event_name) = (&invalidation.span, &event.name.value);
    let Some(definition) = cx.definition(&invalidation.definition) else {
        let wanted = &invalidation.definition;
        let names = cx.schema.keys.iter().map(|key| key.name.as_str());
        let message = format!("`{event_name}` invalidates `{wanted}`, which does not exist");
        let finding = Finding::new(message).at(at, "no such definition");
        return vec![match cx.nearest(wanted, names) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help("name a definition of `[keys]`"),
        }];
    };
    let name = &definition.name.value;
    let mut findings = Vec::new();
    for binding in &invalidation.bindings {
        let params: Vec<_> = definition.params.iter().map(|param| param.name.as_str()).collect();
        if !params.contains(&binding.param.as_str()) {
            let message = format!("`{name}` has no parameter `{}`", binding.param);
            let finding = Finding::new(message).at(at, "bound here");
            findings.push(finding.about(definition).help(match params.as_slice() {
                [] => format!("write `{name}`: it has no parameters"),
                params => format!("it has {}", listed(params, 8)),
            }));
        }
        let BindingSource::Param(source) = &binding.source else { continue };
        let given: Vec<_> = event.params.iter().map(|param| param.name.as_str()).collect();
        if !given.contains(&source.as_str()) {
            let message = format!("the event `{event_name}` has no parameter `{source}`");
            let finding = Finding::new(message).at(at, "used here").about(definition);
            findings.push(match cx.nearest(source, given) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help(format!("add `{source}` to the event's `params`")),
            });
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        error[event-unknown]: `file_uploaded` invalidates `folder_listings`, which does not exist
          ╭▸ keyward.toml:8:16
          │
        8 │ invalidates = ["folder_listings"]
          │                ━━━━━━━━━━━━━━━━━ no such definition
          │
          ├ help: did you mean `folder_listing`?
          ╰ note: `keyward explain event-unknown`
        "#);
    }

    #[test]
    fn parameters_must_exist_on_both_sides() {
        let schema = r#"
[keys.listing]
pattern = "folder:{folder_id}:listing"
[events.uploaded]
params = { parent_id = "text" }
invalidates = ["listing(folder = parent_id)", "listing(folder_id = parent)"]
"#;
        assert_eq!(
            messages(&RULE, schema),
            [
                "`listing` has no parameter `folder`",
                "the event `uploaded` has no parameter `parent`",
            ]
        );
    }
}
