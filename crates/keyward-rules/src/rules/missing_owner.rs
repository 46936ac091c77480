use crate::context::Context;
use crate::finding::{Finding, Findings};
use crate::rule::rule;

rule! {
    /// ## What it does
    /// Reports a definition without an `owner`, its own or from `[defaults]`.
    ///
    /// ## Why is this bad
    /// When its keys fill the memory at night, someone must know whom to call.
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
    /// owner = "browse"
    /// pattern = "folder:{folder_id}:listing"
    /// ttl = "5m"
    /// ```
    Care, Warn, Strict
}

fn check<'a>(cx: &Context<'a>, out: &mut Findings<'a>) {
    for definition in cx.schema.keys.iter().filter(|definition| definition.owner.is_none()) {
        out.add(
            Finding::new(format!("`{}` has no owner", definition.name.value))
                .about(definition)
                .at(&definition.name.span, "nobody is named here or in `[defaults]`")
                .help("add an `owner`, here or in `[defaults]`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::harness::{example, messages};

    #[test]
    fn the_example_is_reported() {
        insta::assert_snapshot!(example(&RULE), @r#"
        warning[missing-owner]: `folder_listing` has no owner
          ╭▸ keyward.toml:2:7
          │
        2 │ [keys.folder_listing]
          │       ━━━━━━━━━━━━━━ nobody is named here or in `[defaults]`
          │
          ├ help: add an `owner`, here or in `[defaults]`
          ╰ note: `keyward explain missing-owner`
        "#);
    }

    #[test]
    fn a_default_is_enough() {
        let schema = r#"
[defaults]
owner = "platform"
[keys.a]
pattern = "a"
"#;
        assert_eq!(messages(&RULE, schema), [""; 0]);
    }
}
