use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition without a `doc`.
    ///
    /// ## Why is this bad
    /// A pattern shows how a key is spelt, not what it is for, who reads it, or what happens
    /// without it. Newcomers ask exactly that.
    ///
    /// ## Example
    /// ```toml
    /// [keys.folder_listing]
    /// pattern = "folder:{folder_id}:listing"
    /// ttl = "5m"
    /// ```
    ///
    /// ## Use instead
    /// ```toml
    /// [keys.folder_listing]
    /// doc = "One folder's listing, so that browsing needs no database query."
    /// pattern = "folder:{folder_id}:listing"
    /// ttl = "5m"
    /// ```
    Care, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in &cx.schema.keys {
        if definition.doc.as_ref().is_some_and(|doc| !doc.trim().is_empty()) {
            continue;
        }
        out.add(
            Finding::new(format!("`{}` is not documented", definition.name.value))
                .about(definition)
                .at(&definition.name.span, "has no `doc`")
                .help("add a sentence on what it is for: `doc = \"…\"`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::example;

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[undocumented]: `folder_listing` is not documented
          ╭▸ keyward.toml:2:7
          │
        2 │ [keys.folder_listing]
          │       ━━━━━━━━━━━━━━ has no `doc`
          │
          ├ help: add a sentence on what it is for: `doc = "…"`
          ╰ note: `keyward explain undocumented`
        "#);
    }
}
